# SPDX-License-Identifier: MIT
"""Tests of several nodes, which are started on this machine; `nox -s cluster` runs them."""
