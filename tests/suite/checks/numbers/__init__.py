# SPDX-License-Identifier: MIT
"""Tests of `suite.checks.numbers`."""
