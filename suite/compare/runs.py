# SPDX-License-Identifier: MIT
"""Two stored runs to a verdict for each case.

A regression verdict needs the same benchmark on the same machine in the same state. What
differs in the environment is listed: what moves numbers makes every case incomparable,
the rest is named apart. Whether the intervals of a case overlap is counted in any case.
"""

from collections import Counter
from functools import partial

from suite.comparability import compare_environments, likeness
from suite.compare.alike import absence, failures, faults, other_thing
from suite.compare.judge import Candidate, differs, judge
from suite.compare.model import RunComparison, Side, Unmatched, VersionComparison
from suite.model import Case, Run
from suite.statistics import compare_values, estimate, launch_medians

_SLOWER = 4


def compare_runs(base: Run, new: Run) -> RunComparison:
    """Compare two runs case by case.

    Headline cases share 5% of false alarms by Holm's method. All others are exploratory:
    each has 5% of its own.
    """
    found = compare_environments(base.frobench.environment, new.frobench.environment)
    differences = [each for each in found if each.matters]
    errors = [*faults(base, " in base"), *faults(new, " in new")]
    whole = "the environments differ in what matters" if differences else next(iter(errors), None)
    after = {case.fullname: case for case in new.benchmarks}
    pairs = [(case, after[case.fullname]) for case in base.benchmarks if case.fullname in after]
    failed = failures(new, " in new") | failures(base, " in base")
    cases = judge(
        [
            _candidate(old, late, whole or failed.get(old.fullname) or other_thing(old, late))
            for old, late in pairs
        ]
    )
    overlaps = [case.overlap for case in cases if case.overlap is not None]
    return RunComparison(
        base=base.frobench.run,
        new=new.frobench.run,
        cases=cases,
        unmatched=_unmatched(base, new, "base") + _unmatched(new, base, "new"),
        faults=errors,
        environments=likeness(found),
        differences=differences,
        harmless=[each for each in found if not each.matters],
        counts=dict(Counter(case.word for case in cases)),
        overlapping=sum(overlaps),
        with_intervals=len(overlaps),
    )


def exit_code(comparison: RunComparison | VersionComparison) -> int:
    """Return 4 where a case is slower, else 0.

    An exploratory case counts only if it is slower after Holm's correction too: of forty
    that did not change, one is called slower by its own 5%.
    """
    slower = any(case.word == "slower" and differs(case) for case in comparison.cases)
    return _SLOWER if slower else 0


def _candidate(old: Case, late: Case, reason: str | None) -> Candidate:
    base, new = (launch_medians(each.stats.data, each.extra_info.launches) for each in (old, late))
    return Candidate(old, estimate(base), estimate(new), partial(compare_values, base, new), reason)


def _unmatched(run: Run, other: Run, side: Side) -> list[Unmatched]:
    measured = {case.fullname for case in other.benchmarks}
    return [
        Unmatched(case.fullname, side, absence(case, other))
        for case in run.benchmarks
        if case.fullname not in measured
    ]
