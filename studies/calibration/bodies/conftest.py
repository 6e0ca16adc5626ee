# SPDX-License-Identifier: MIT
# ruff: noqa: INP001 - a folder of scripts that pytest collects, not a package
"""Benchmarks whose difference is known, to be measured on this machine."""

pytest_plugins = ["frobench.suite.launch.plugin"]
