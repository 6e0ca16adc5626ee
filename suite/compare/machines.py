# SPDX-License-Identifier: MIT
"""Two machines side by side: what to expect of one that one thinks of buying.

Two machines differ in everything at once, so nothing here is a verdict. A case is held
against the one that does the same work on a device of the same kind, whatever its name:
accelerator against accelerator, CPU against CPU.
"""

from typing import NamedTuple

from suite.compare.alike import absent, failures, faults, kind, other_thing
from suite.compare.model import CaseRatio, MachineComparison, Unmatched
from suite.compare.rank_tests import compare_values
from suite.statistics import case_medians, estimate
from suite.stored.differences import compare_environments
from suite.stored.run import Case, Run, Scalar

Key = tuple[str, tuple[tuple[str, Scalar], ...]]


class Pair(NamedTuple):
    """The same work on two machines, or the reason why the two are not of the same thing."""

    base: Case
    new: Case
    reason: str | None


class Matched(NamedTuple):
    """The cases of two machines."""

    pairs: list[Pair]  # in the order of the base run
    unmatched: list[Unmatched]
    faults: list[str]  # errors of a whole run; with any, each pair has a reason


def compare_machines(base: Run, new: Run) -> MachineComparison:
    """Hold two machines beside each other, case by case."""
    environments = base.frobench.environment, new.frobench.environment
    matched = match(base, new)
    return MachineComparison(
        base=base.frobench.run,
        new=new.frobench.run,
        base_machine=environments[0].machine,
        new_machine=environments[1].machine,
        ratios=[_ratio(pair) for pair in matched.pairs],
        unmatched=matched.unmatched,
        faults=matched.faults,
        differences=[each for each in compare_environments(*environments) if each.matters],
    )


def match(base: Run, new: Run) -> Matched:
    """Pair each case with the one that does the same work, whatever its device's name."""
    before, after = by_key(base), by_key(new)
    failed_before, failed_after = failures(base, " in base"), failures(new, " in new")
    errors = [*faults(base, " in base"), *faults(new, " in new")]
    pairs = []
    for key, old in before.items():
        if late := after.get(key):
            failed = failed_before.get(old.fullname) or failed_after.get(late.fullname)
            reason = next(iter(errors), None) or failed or other_thing(old, late, names=kind)
            pairs.append(Pair(old, late, reason))
    only_before = absent(before, after, new, "base", names=kind)
    return Matched(pairs, only_before + absent(after, before, base, "new", names=kind), errors)


def by_key(run: Run) -> dict[Key, Case]:
    """Return the cases by what they do, the first where a machine has two kinds of accelerator."""
    cases: dict[Key, Case] = {}
    for case in run.benchmarks:
        params = case.params | {"device": device_kind(case)}
        cases.setdefault((case.fullname.partition("[")[0], tuple(sorted(params.items()))), case)
    return cases


def device_kind(case: Case) -> str:
    """Return the kinds of the devices that take part, such as ``accelerator``."""
    return kind(str(case.params.get("device", case.extra_info.device)))


def _ratio(pair: Pair) -> CaseRatio:
    old, late, reason = pair
    base, new = case_medians(old), case_medians(late)
    return CaseRatio(
        base_case=old.fullname,
        new_case=late.fullname,
        group=old.group,
        place=device_kind(old),
        base=estimate(base),
        new=estimate(new),
        speed=None if reason else compare_values(new, base).ratio,
        reason=reason,
    )
