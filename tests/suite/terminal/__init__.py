# SPDX-License-Identifier: MIT
"""Tests of `suite.terminal`."""
