# SPDX-License-Identifier: MIT
"""Tests of `suite.datasheets`."""
