# SPDX-License-Identifier: MIT
"""Benchmarks whose truth is known, or whose device does not survive them."""

pytest_plugins = ["frobench.suite.launch.plugin"]
