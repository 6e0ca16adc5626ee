# SPDX-License-Identifier: MIT
"""Tests of `reports.figures`."""
