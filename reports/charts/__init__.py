# SPDX-License-Identifier: MIT
"""Plots drawn as SVG, and the words that stand for them."""
