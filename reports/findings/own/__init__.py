# SPDX-License-Identifier: MIT
"""Benchmarks without rules of their own."""
