# SPDX-License-Identifier: MIT
"""Plots drawn as SVG that follows the page's theme and fits every width."""
