# SPDX-License-Identifier: MIT
"""Tests of `reports.fleet`."""
