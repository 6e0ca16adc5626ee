# SPDX-License-Identifier: MIT
"""The command: the verbs of `suite` and `reports` under one name, each imported when called."""

import sys
from importlib.util import find_spec

from frobench.hiding import hidden

for _package in ("suite", "reports"):
    if _hidden := hidden(find_spec(_package)):
        sys.stderr.write(f"frobench: {_hidden}\n")
        sys.exit(3)  # as `suite.exit_codes.CANNOT`, which is hidden

# ruff: noqa: E402 - the packages below are imported once they are known to be Frobench's
from suite.absent import absent
from suite.exit_codes import CANNOT

try:
    import click as _click  # noqa: F401 - said in one line where it is missing
except ModuleNotFoundError:
    sys.stderr.write(f"frobench: {absent('click')}\n")
    sys.exit(CANNOT)

from frobench.command import __version__, main

__all__ = ["__version__", "main"]
