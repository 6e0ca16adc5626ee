# SPDX-License-Identifier: MIT
"""Rules about rates that no machine of the kind can reach.

The limits leave room for what honest machines do; `doubts` names rates that are a little too good.
"""

from collections.abc import Iterator

from frobench.suite.checks.ceilings import (
    UNITS,
    CeilingOf,
    link_ceiling,
    memory_ceiling,
    peak_ceiling,
)
from frobench.suite.checks.facts import efficiencies, highest_rate, spell
from frobench.suite.checks.rule import Fault
from frobench.suite.stored.run import Case, Run, Severity

SEVERITY: Severity = "error"

MOST_EFFICIENT = 1.25
"""Work of each of several devices relative to a single one's, at most: a display or a lack of
memory may slow the single one."""


def above_peak(run: Run, case: Case) -> Iterator[str]:
    """A case computes faster than its devices can in its precision.

    Its clock stopped too early, its work or its times are in the wrong unit, or its precision is
    not the one that it names: TF32 passes for float32. Do not use it.
    """
    yield from _above(run, case, "flops", peak_ceiling)


def above_memory(run: Run, case: Case) -> Iterator[str]:
    """A case reads and writes faster than the memory and the caches of its devices can.

    Its clock stopped too early, or its bytes or its times are in the wrong unit. Do not use it.
    """
    yield from _above(run, case, "bytes", memory_ceiling)


def above_link(run: Run, case: Case) -> Iterator[str]:
    """A copy is faster than the fastest link that such devices have.

    Its clock stopped too early, or its bytes or its times are in the wrong unit. Do not use it.
    """
    yield from _above(run, case, "bytes", link_ceiling)


def above_one(run: Run) -> Iterator[Fault]:
    """Several devices are more times as fast as one than they are many, in every launch.

    Of several devices some were not waited for, or the single one was slowed. Wait for every
    device that takes part, and let all do the same work.
    """
    for case, shares in efficiencies(run, MOST_EFFICIENT):
        many = len(case.extra_info.devices)
        message = f"{many} devices are at least {many * min(shares):.1f} times as fast as one"
        yield Fault(message, case.fullname)


def _above(run: Run, case: Case, work: str, ceiling_of: CeilingOf) -> Iterator[str]:
    """Compare the highest rate: no chance makes a device do more."""
    rate = highest_rate(case, work)
    if rate and (ceiling := ceiling_of(run, case)) and rate > ceiling.most:
        most = spell(ceiling.most, UNITS[work])
        yield f"{spell(rate, UNITS[work])}, where {most} is more than {ceiling.why}"
