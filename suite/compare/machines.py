# SPDX-License-Identifier: MIT
"""Two machines side by side: what to expect of one that one thinks of buying.

Two machines differ in everything, so nothing here is a verdict. A case is compared with the one
that does the same work on a device of the same kind, whatever its name.
"""

from frobench.suite.compare.alike import Matched, Pair, kind, match
from frobench.suite.compare.model import CaseRatio, MachineComparison
from frobench.suite.compare.rank_tests import compare_values
from frobench.suite.statistics import case_medians, estimate
from frobench.suite.stored.differences import compare_environments
from frobench.suite.stored.names import benchmark_of
from frobench.suite.stored.run import Case, Run, Scalar

Key = tuple[str, tuple[tuple[str, Scalar], ...]]


def compare_machines(base: Run, new: Run) -> MachineComparison:
    """Hold two machines beside each other, case by case."""
    environments = base.frobench.environment, new.frobench.environment
    matched = match_machines(base, new)
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


def match_machines(base: Run, new: Run) -> Matched:
    """Pair each case with the one that does the same work, whatever its device's name."""
    return match(base, new, by_key, kind)


def by_key(run: Run) -> dict[Key, Case]:
    """Return the cases by what they do, the first where a machine has two kinds of accelerator."""
    cases: dict[Key, Case] = {}
    for case in run.benchmarks:
        params = case.params | {"device": device_kind(case)}
        cases.setdefault((benchmark_of(case.fullname), tuple(sorted(params.items()))), case)
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
