# SPDX-License-Identifier: MIT
"""Tests of `suite.compare`."""
