# SPDX-License-Identifier: MIT
"""Where this code lies: in a clone, where `frobench/suite` is a link, or where it is installed.

It imports nothing of others, since every command needs it, `--help` among them.
"""

from pathlib import Path

CHECKOUT = Path(__file__).parents[2].resolve()
"""The folder that `frobench/` lies in, from which Python imports it."""
SUITE, REPORTS, BENCHMARKS = (
    (CHECKOUT / "frobench" / name).resolve() for name in ("suite", "reports", "benchmarks")
)
"""Folders of the harness, of what makes pages, and of Frobench's own benchmarks."""
SOURCES = ("frobench/*.py", "frobench/suite/**/*.py", "frobench/benchmarks/*.py")
"""Files below it that move numbers when they are changed."""
