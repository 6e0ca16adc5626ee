# SPDX-License-Identifier: MIT
"""Two machines side by side: what to expect of one that one thinks of buying.

Two machines differ in everything at once, so nothing here is a verdict. A case is held
against the one that does the same work on a device of the same kind, whatever its name:
accelerator against accelerator, CPU against CPU.
"""

from suite.compare.model import CaseRatio, MachineComparison
from suite.compare.pairing import Pair, device_kind, match
from suite.compare.rank_tests import compare_values
from suite.statistics import estimate, launch_medians
from suite.stored.differences import compare_environments
from suite.stored.run import Run


def compare_machines(base: Run, new: Run) -> MachineComparison:
    """Hold two machines beside each other, case by case."""
    differing = compare_environments(base.frobench.environment, new.frobench.environment)
    matched = match(base, new)
    return MachineComparison(
        base=base.frobench.run,
        new=new.frobench.run,
        base_machine=base.frobench.environment.machine,
        new_machine=new.frobench.environment.machine,
        ratios=[_ratio(pair) for pair in matched.pairs],
        unmatched=matched.unmatched,
        faults=matched.faults,
        differences=[each for each in differing if each.matters],
    )


def _ratio(pair: Pair) -> CaseRatio:
    old, late, reason = pair
    base, new = (launch_medians(case.stats.data, case.extra_info.launches) for case in (old, late))
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
