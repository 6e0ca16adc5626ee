# SPDX-License-Identifier: MIT
"""Tests of `reports.files`."""
