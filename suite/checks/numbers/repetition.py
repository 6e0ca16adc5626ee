# SPDX-License-Identifier: MIT
"""Rules about launches that are too few, or too much alike."""

import math
from collections.abc import Iterator

from frobench.suite.checks.rule import Fault
from frobench.suite.statistics import LEAST_LAUNCHES
from frobench.suite.stored.run import Case, Run, Severity
from frobench.suite.units import counted

SEVERITY: Severity = "warning"

ORDER_CHANCE = 0.001
"""Random orders are all alike with this probability, at most, before it is called a fault."""


def few_launches(run: Run) -> Iterator[Fault]:
    """Fewer launches were made than a 95% interval needs.

    Values stand without an interval, so nothing can be compared with them. Measure again
    with more `--launches`; a run that was interrupted is finished with `--resume`.
    """
    launches, needed = len(run.frobench.launches), f"where an interval needs {LEAST_LAUNCHES}"
    if launches < LEAST_LAUNCHES:
        yield Fault(f"{counted(launches, 'launch')}, {needed}")
        return
    for case in run.benchmarks:
        measured = sum(count > 0 for count in case.extra_info.launches)
        if measured < LEAST_LAUNCHES:
            yield Fault(f"measured in {counted(measured, 'launch')}, {needed}", case.fullname)


def incomplete_run(run: Run) -> Iterator[Fault]:
    """The run ended before its last launch did.

    Some cases have fewer samples than others. Finish it with `--resume`.
    """
    if not run.frobench.complete:
        yield Fault("interrupted before every planned launch ended")


def missing_launch(run: Run, case: Case) -> Iterator[str]:
    """A case has no samples in some launches of a run that counts as complete.

    It was left out there for want of memory, or these launches were taken out: the slowest one
    missing makes a case look faster. Measure again.
    """
    absent = [n for n, count in enumerate(case.extra_info.launches, 1) if not count]
    if absent and run.frobench.complete:
        yield f"no samples in launch {', '.join(map(str, absent))}"


def fixed_order(run: Run) -> Iterator[Fault]:
    """All launches measured the cases in the same order.

    Then what one case leaves behind (a warm cache, a hot chip) always falls on the same
    next one. Let `frobench run` choose the order, which it draws anew for every launch.
    """
    orders = [case.extra_info.order for case in run.benchmarks]
    repeats = len(run.frobench.launches) - 1
    by_chance = -math.lgamma(len(orders) + 1) * repeats
    same = all(len({*positions} - {0}) == 1 for positions in orders)  # 0 is a launch without it
    if same and by_chance < math.log(ORDER_CHANCE):
        yield Fault(f"{len(orders)} cases came in the same order in all {repeats + 1} launches")
