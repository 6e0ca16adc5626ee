# SPDX-License-Identifier: MIT
"""How long calls, cases and a whole run should take, before they are made."""
