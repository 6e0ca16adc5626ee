# SPDX-License-Identifier: MIT
"""Benchmarks of which some do not survive, on a real GPU."""

pytest_plugins = ["frobench.suite.launch.plugin"]
