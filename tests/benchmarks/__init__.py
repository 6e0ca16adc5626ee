# SPDX-License-Identifier: MIT
"""Tests of the benchmarks: what they count, and that wrong arithmetic fails."""
