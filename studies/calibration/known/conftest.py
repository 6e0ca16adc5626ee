# SPDX-License-Identifier: MIT
# ruff: noqa: INP001 - a folder of scripts that pytest collects, not a package
"""Benchmarks whose times on the simulated accelerator are known."""

import gc

pytest_plugins = ["frobench.suite.launch.plugin"]

# All that is imported stays until the end. Looking through it for garbage, as pytest does there,
# would take as long as these cases.
gc.freeze()
