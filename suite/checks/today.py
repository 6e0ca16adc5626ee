# SPDX-License-Identifier: MIT
"""Rules about stored runs of another version, of a benchmark or of the program."""

from collections import Counter
from collections.abc import Iterator

from frobench.suite.checkout import BENCHMARKS
from frobench.suite.checks.rule import Fault
from frobench.suite.stored.differences import benchmark_of
from frobench.suite.stored.types import MINOR, SCHEMA, Run, Severity
from frobench.suite.units import counted
from frobench.suite.version import version_in

SEVERITY: Severity = "info"


def newer_file(run: Run) -> Iterator[Fault]:
    """The file was written by a newer Frobench, which may have added fields.

    What they say is ignored here. Update Frobench to see it.
    """
    minor = run.frobench.minor
    if isinstance(minor, int) and minor > MINOR:
        yield Fault(f"schema {SCHEMA}.{minor}; this Frobench knows {SCHEMA}.{MINOR}")


def other_version(run: Run) -> Iterator[Fault]:
    """A benchmark was measured with another body, work or parameters than it has today.

    The figures stand for what was measured; nothing measured today can be compared with them.
    """
    names = ((benchmark_of(case.fullname), case.extra_info.version) for case in run.benchmarks)
    for (benchmark, version), cases in Counter(names).items():
        module, _, function = benchmark.partition("::")
        folder, _, file = module.rpartition("/")
        if folder != BENCHMARKS.name:  # a user's own, whose source is not here
            continue
        try:
            now = version_in(BENCHMARKS / file, function)
        except (LookupError, SyntaxError):
            now = "there is none"
        if now != version:
            yield Fault(f"{counted(cases, 'case')} of {function} version {version}; today {now}")
