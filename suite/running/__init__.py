# SPDX-License-Identifier: MIT
"""How a run goes on: its plan, its launches, its journal, and what becomes of them."""
