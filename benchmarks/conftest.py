# SPDX-License-Identifier: MIT
"""Every `bench_*` function here gets its cases, devices and `measure` from the harness."""

pytest_plugins = ["frobench.suite.launch.plugin"]
