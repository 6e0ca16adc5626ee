# SPDX-License-Identifier: MIT
"""Tests of `suite.stored`."""
