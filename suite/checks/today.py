# SPDX-License-Identifier: MIT
"""Rules about stored runs of benchmarks that have changed since."""

from collections import Counter
from collections.abc import Iterator

from suite.checks import sources
from suite.checks.rule import Fault
from suite.stored.names import benchmark_of
from suite.stored.run import Run, Severity
from suite.units import counted

SEVERITY: Severity = "info"


def other_version(run: Run) -> Iterator[Fault]:
    """A benchmark was measured with another body, work or parameters than it has today.

    The figures stand for what was measured; nothing measured today can be compared with them.
    """
    names = ((benchmark_of(case.fullname), case.extra_info.version) for case in run.benchmarks)
    for (benchmark, version), cases in Counter(names).items():
        module, _, function = benchmark.partition("::")
        if source := sources.source(module):
            today = f"today {sources.version(source, function) or 'there is none'}"
            if not today.endswith(version):
                yield Fault(f"{counted(cases, 'case')} of {function} version {version}; {today}")
