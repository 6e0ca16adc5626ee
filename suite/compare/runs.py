# SPDX-License-Identifier: MIT
"""Two stored runs to a verdict for each case.

A regression verdict needs the same benchmark on the same machine in the same state. What
differs in the environment is listed: what moves numbers makes every case incomparable, unless the
difference is itself the question, and the rest is named apart. Where only one of the runs was
disturbed, nothing is said of a case.
Whether the intervals of a case overlap is counted in any case.
"""

from collections import Counter
from collections.abc import Collection, Sequence

from suite.compare.across import stated
from suite.compare.alike import absence, failures, faults, other_thing
from suite.compare.disturbance import disturbances
from suite.compare.model import RunComparison, Side, Unmatched
from suite.compare.spent import other_time, settings_that_differ
from suite.compare.verdicts.judge import Candidate, judge
from suite.compare.verdicts.levels import Levels
from suite.compare.verdicts.wander import Known, wander
from suite.statistics import estimate, launch_medians
from suite.stored.differences import compare_environments, likeness
from suite.stored.run import Case, Run


def compare_runs(
    base: Run, new: Run, others: Sequence[Levels] = (), across: Collection[str] = ()
) -> RunComparison:
    """Compare two runs case by case. All cases together share 5% of false alarms.

    others : other stored runs, the newest first (see `suite.compare.others`). From those of the
        same machine in the same state it is learned how far separate runs of identical code lie
        apart; with fewer than three of them, that is assumed
    across : facts of the environment whose difference is the question, and makes no case
        incomparable
    """
    differing = compare_environments(base.frobench.environment, new.frobench.environment)
    differences = [each for each in differing if each.matters and each.fact not in across]
    errors = [*faults(base, " in base"), *faults(new, " in new")]
    whole = "the environments differ in what matters" if differences else next(iter(errors), None)
    failed = failures(new, " in new") | failures(base, " in base")
    disturbed = disturbances(base, new)
    after = {case.fullname: case for case in new.benchmarks}
    candidates = [
        _candidate(
            case,
            late,
            whole
            or failed.get(case.fullname)
            or other_thing(case, late)
            or other_time(base, new, case, late),
            disturbed.get(case.fullname),
        )
        for case in base.benchmarks
        if (late := after.get(case.fullname))
    ]
    separate = base.frobench.run != new.frobench.run
    known = wander(base, new, others) if separate else Known({}, 0)
    cases = judge(candidates, known.cases)
    overlaps = [case.overlap for case in cases if case.overlap is not None]
    return RunComparison(
        base=base.frobench.run,
        new=new.frobench.run,
        cases=cases,
        unmatched=_unmatched(base, new, "base") + _unmatched(new, base, "new"),
        faults=errors,
        environments=likeness(differing),
        differences=differences,
        across=stated(across, base, new),
        harmless=[
            *(each for each in differing if not each.matters and each.fact not in across),
            *settings_that_differ(base, new),
        ],
        counts=dict(Counter(case.word for case in cases)),
        learned_from=known.runs,
        overlapping=sum(overlaps),
        with_intervals=len(overlaps),
        base_project=base.frobench.project or None,
        new_project=new.frobench.project or None,
    )


def _candidate(old: Case, late: Case, reason: str | None, disturbed: str | None) -> Candidate:
    base, new = (launch_medians(each.stats.data, each.extra_info.launches) for each in (old, late))
    return Candidate(old, estimate(base), estimate(new), (base, new), reason, disturbed)


def _unmatched(run: Run, other: Run, side: Side) -> list[Unmatched]:
    measured = {case.fullname for case in other.benchmarks}
    return [
        Unmatched(case.fullname, side, absence(case, other), case.extra_info.headline)
        for case in run.benchmarks
        if case.fullname not in measured
    ]
