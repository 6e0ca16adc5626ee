# SPDX-License-Identifier: MIT
"""Tests of `suite.measure`."""
