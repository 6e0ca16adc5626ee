# SPDX-License-Identifier: MIT
# ruff: noqa: INP001 - a folder of scripts that pytest collects, not a package
"""A benchmark whose time on the simulated accelerator is known."""

import gc

pytest_plugins = ["suite.plugin"]

# All that is imported stays until the end. Looking through it for garbage, as pytest and Python
# do there, would take as long again as these cases.
gc.freeze()
