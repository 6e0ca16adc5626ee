# SPDX-License-Identifier: MIT
"""The index page: every stored run in one table that a script searches."""
