# SPDX-License-Identifier: MIT
"""Benchmarks of the campaign of faults: cheap ones, and ones that misbehave."""

pytest_plugins = ["suite.launch.plugin"]
