# SPDX-License-Identifier: MIT
"""Rules about files of a newer version of the program."""

from collections.abc import Iterator

from frobench.suite.checks.rule import Fault
from frobench.suite.stored.types import MINOR, SCHEMA, Run, Severity

SEVERITY: Severity = "info"


def newer_file(run: Run) -> Iterator[Fault]:
    """The file was written by a newer Frobench, which may have added fields.

    What they say is ignored here. Update Frobench to see it.
    """
    minor = run.frobench.minor
    if isinstance(minor, int) and minor > MINOR:
        yield Fault(f"schema {SCHEMA}.{minor}; this Frobench knows {SCHEMA}.{MINOR}")
