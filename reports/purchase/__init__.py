# SPDX-License-Identifier: MIT
"""The page that compares machines, for readers who choose between them."""
