# SPDX-License-Identifier: MIT
"""Two machines side by side: what to expect of one that one thinks of buying.

Two machines differ in everything at once, so nothing here is a verdict. A case is held
against the one that does the same work on a device of the same kind, whatever its name:
accelerator against accelerator, CPU against CPU.
"""

import math
from collections.abc import Iterator
from statistics import fmean

from suite.compare.model import CaseRatio, MachineComparison, Mean
from suite.compare.pairing import Pair, by_key, match, place
from suite.compare.rank_tests import compare_values
from suite.statistics import estimate, launch_medians
from suite.stored.differences import compare_environments
from suite.stored.run import Case, Run


def compare_machines(base: Run, new: Run) -> MachineComparison:
    """Hold two machines beside each other, case by case, and by exercise and kind of device."""
    found = compare_environments(base.frobench.environment, new.frobench.environment)
    matched = match(base, new)
    alike = [pair for pair in matched.pairs if pair.reason is None]
    every = [_heading(case) for case in (by_key(base) | by_key(new)).values()]
    return MachineComparison(
        base=base.frobench.run,
        new=new.frobench.run,
        base_machine=base.frobench.environment.machine,
        new_machine=new.frobench.environment.machine,
        cases=[_ratio(pair) for pair in matched.pairs],
        means=list(_means(alike, every)),
        unmatched=matched.unmatched,
        faults=matched.faults,
        differences=[each for each in found if each.matters],
    )


def _heading(case: Case) -> tuple[str, str]:
    return case.group, place(case)


def _ratio(pair: Pair) -> CaseRatio:
    old, late, reason = pair
    base, new = _medians(old), _medians(late)
    return CaseRatio(
        base_case=old.fullname,
        new_case=late.fullname,
        group=old.group,
        place=place(old),
        base=estimate(base),
        new=estimate(new),
        ratio=None if reason else compare_values(base, new).ratio,
        reason=reason,
    )


def _medians(case: Case) -> list[float | None]:
    return launch_medians(case.stats.data, case.extra_info.launches)


def _means(pairs: list[Pair], every: list[tuple[str, str]]) -> Iterator[Mean]:
    """Take the common cases of each exercise and kind of device together."""
    for group, kinds in dict.fromkeys(_heading(pair.base) for pair in pairs):
        mine = [pair for pair in pairs if _heading(pair.base) == (group, kinds)]
        base = _geometric_means([pair.base for pair in mine])
        new = _geometric_means([pair.new for pair in mine])
        if base and new:
            yield Mean(
                group=group,
                place=kinds,
                ratio=compare_values(base, new).ratio,
                cases=len(mine),
                every=every.count((group, kinds)),
            )


def _geometric_means(cases: list[Case]) -> list[float]:
    """Return the geometric mean of the cases' times, for each launch that measured them all."""
    launches = zip(*(_medians(case) for case in cases), strict=True)
    known = ([seconds for seconds in launch if seconds is not None] for launch in launches)
    return [math.exp(fmean(map(math.log, launch))) for launch in known if len(launch) == len(cases)]
