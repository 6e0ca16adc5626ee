# SPDX-License-Identifier: MIT
"""Benchmarks of the campaign of faults: cheap ones, and ones that misbehave."""

pytest_plugins = ["frobench.suite.launch.plugin"]
