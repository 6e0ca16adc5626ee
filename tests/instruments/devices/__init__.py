# SPDX-License-Identifier: MIT
"""Simulated devices and clocks, and what is measured on them."""
