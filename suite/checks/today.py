# SPDX-License-Identifier: MIT
"""Rules about stored runs of benchmarks that have changed since."""

from collections.abc import Iterator
from pathlib import Path

from suite.checkout import CHECKOUT
from suite.checks.rule import Fault
from suite.stored.run import Run, Severity
from suite.units import counted
from suite.version import version_in

SEVERITY: Severity = "info"

FOLDER = Path("benchmarks")
"""The folder that the names of the suite's cases begin in, and where it lies."""


def other_version(run: Run) -> Iterator[Fault]:
    """A benchmark was measured with another body, work or parameters than it has today.

    The figures stand for what was measured; nothing measured today can be compared with them.
    """
    stored: dict[tuple[str, str], int] = {}
    for case in run.benchmarks:
        key = case.fullname.partition("[")[0], case.extra_info.version
        stored[key] = stored.get(key, 0) + 1
    for (benchmark, version), cases in stored.items():
        module, _, function = benchmark.partition("::")
        if Path(module).parent != FOLDER:  # somebody's own
            continue
        try:
            today = f"today {version_in(CHECKOUT / module, function)}"
        except (LookupError, SyntaxError):
            today = "today there is none"
        if not today.endswith(version):
            yield Fault(f"{counted(cases, 'case')} of {function} version {version}; {today}")
