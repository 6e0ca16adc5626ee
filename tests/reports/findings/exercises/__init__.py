# SPDX-License-Identifier: MIT
"""Tests of `reports.findings.exercises`."""
