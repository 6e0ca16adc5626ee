# SPDX-License-Identifier: MIT
"""Tests of `suite.nodes`."""
