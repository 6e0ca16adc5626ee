# SPDX-License-Identifier: MIT
"""Two runs side by side: their findings, and what the command prints of them."""
