# SPDX-License-Identifier: MIT
"""How pages are made: by several processes, kept from last time, each failure on its own."""
