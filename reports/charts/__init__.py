# SPDX-License-Identifier: MIT
"""Plots drawn as SVG, and the words that replace them."""
