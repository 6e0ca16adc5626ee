# SPDX-License-Identifier: MIT
"""Benchmarks that go wrong in every way that a run must survive."""

pytest_plugins = ["frobench.suite.launch.plugin"]
