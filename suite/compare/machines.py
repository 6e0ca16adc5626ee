# SPDX-License-Identifier: MIT
"""Two machines side by side: what to expect of one that one thinks of buying.

Two machines differ in everything at once, so nothing here is a verdict. A case is held
against the one that does the same work on a device of the same kind, whatever its name:
accelerator against accelerator, CPU against CPU.
"""

import math
from collections.abc import Iterator
from statistics import fmean

from suite.comparability import compare_environments
from suite.compare.alike import absence, failures, faults, kind, other_thing
from suite.compare.model import CaseRatio, MachineComparison, Mean, Side, Unmatched
from suite.model import Case, Run, Scalar
from suite.statistics import compare_values, estimate, launch_medians

Key = tuple[str, tuple[tuple[str, Scalar], ...]]
Pair = tuple[Case, Case]


def compare_machines(base: Run, new: Run) -> MachineComparison:
    """Hold two machines beside each other, case by case, and by exercise and kind of device."""
    found = compare_environments(base.frobench.environment, new.frobench.environment)
    before, after = _by_key(base), _by_key(new)
    pairs = [(case, after[key]) for key, case in before.items() if key in after]
    failed = failures(new, " in new") | failures(base, " in base")
    errors = [*faults(base, " in base"), *faults(new, " in new")]
    whole = next(iter(errors), None)
    cases = [
        _ratio(old, late, whole or failed.get(old.fullname) or failed.get(late.fullname))
        for old, late in pairs
    ]
    alike = [pair for pair, case in zip(pairs, cases, strict=True) if case.ratio is not None]
    every = [_heading(case) for case in (before | after).values()]
    return MachineComparison(
        base=base.frobench.run,
        new=new.frobench.run,
        base_machine=base.frobench.environment.machine,
        new_machine=new.frobench.environment.machine,
        cases=cases,
        means=list(_means(alike, every)),
        unmatched=[
            *_unmatched(before, after, new, "base"),
            *_unmatched(after, before, base, "new"),
        ],
        faults=errors,
        differences=[each for each in found if each.matters],
    )


def _by_key(run: Run) -> dict[Key, Case]:
    """Return the cases by what they do, the first where a machine has two kinds of accelerator."""
    found: dict[Key, Case] = {}
    for case in run.benchmarks:
        params = case.params | {"device": kind(_device(case))}
        found.setdefault((case.fullname.partition("[")[0], tuple(sorted(params.items()))), case)
    return found


def _device(case: Case) -> str:
    return str(case.params.get("device", case.extra_info.device))


def _heading(case: Case) -> tuple[str, str]:
    return case.group, kind(_device(case))


def _ratio(old: Case, late: Case, failure: str | None) -> CaseRatio:
    reason = failure or other_thing(old, late, names=kind)
    base, new = _medians(old), _medians(late)
    return CaseRatio(
        base_case=old.fullname,
        new_case=late.fullname,
        group=old.group,
        place=kind(_device(old)),
        base=estimate(base),
        new=estimate(new),
        ratio=None if reason else compare_values(base, new).ratio,
        reason=reason,
    )


def _medians(case: Case) -> list[float | None]:
    return launch_medians(case.stats.data, case.extra_info.launches)


def _means(pairs: list[Pair], every: list[tuple[str, str]]) -> Iterator[Mean]:
    """Take the common cases of each exercise and kind of device together."""
    for group, place in dict.fromkeys(_heading(old) for old, _ in pairs):
        mine = [pair for pair in pairs if _heading(pair[0]) == (group, place)]
        olds, lates = zip(*mine, strict=True)
        base, new = _geometric_means(olds), _geometric_means(lates)
        if base and new:
            yield Mean(
                group=group,
                place=place,
                ratio=compare_values(base, new).ratio,
                cases=len(mine),
                every=every.count((group, place)),
            )


def _geometric_means(cases: tuple[Case, ...]) -> list[float]:
    """Return the geometric mean of the cases' times, for each launch that measured them all."""
    launches = zip(*(_medians(case) for case in cases), strict=True)
    known = ([seconds for seconds in launch if seconds is not None] for launch in launches)
    return [math.exp(fmean(map(math.log, launch))) for launch in known if len(launch) == len(cases)]


def _unmatched(
    mine: dict[Key, Case], others: dict[Key, Case], other: Run, side: Side
) -> list[Unmatched]:
    """Name the cases that only one machine measured, with what the other says of them."""
    return [
        Unmatched(case.fullname, side, absence(case, other, kind))
        for key, case in mine.items()
        if key not in others
    ]
