# SPDX-License-Identifier: MIT
# ruff: noqa: INP001 - a folder of scripts that pytest collects, not a package
"""Benchmarks of bodies that other tools time too."""

pytest_plugins = ["frobench.suite.launch.plugin"]
