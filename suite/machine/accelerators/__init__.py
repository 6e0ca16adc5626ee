# SPDX-License-Identifier: MIT
"""Accelerators as torch, their drivers and the system describe them."""
