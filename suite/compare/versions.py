# SPDX-License-Identifier: MIT
"""Two versions of one body, measured beside each other in every launch, to a verdict.

Sample by sample the two stand side by side, so what a launch, a clock or a neighbour does
to one it does to the other, and far smaller changes show than between two runs.
"""

import math
from collections import Counter

from suite.compare.alike import failures, faults
from suite.compare.model import VersionComparison
from suite.compare.verdicts.judge import Candidate, judge
from suite.statistics import estimate, launch_medians
from suite.stored.run import Case, Run


def compare_versions(run: Run) -> VersionComparison:
    """Compare, in each case that has another version of its body, the body with that version.

    The verdicts follow the same rule as those of two runs, without an allowance: what moves one
    version moves the other.
    """
    errors = faults(run, "")
    whole, failed = next(iter(errors), None), failures(run, "")
    cases = judge(
        [
            _candidate(case, case.extra_info.against, whole or failed.get(case.fullname))
            for case in run.benchmarks
            if case.extra_info.against is not None
        ]
    )
    return VersionComparison(
        run=run.frobench.run,
        cases=cases,
        faults=errors,
        counts=dict(Counter(case.word for case in cases)),
    )


def launch_ratios(case: Case, against: list[float]) -> list[float | None]:
    """Return body / other version within each launch: the median over its pairs of samples.

    Logs are taken first, so that exchanging the versions inverts every ratio exactly.
    """
    logs = [math.log(new / old) for new, old in zip(case.stats.data, against, strict=True)]
    medians = launch_medians(logs, case.extra_info.launches)
    return [None if value is None else math.exp(value) for value in medians]


def _candidate(case: Case, against: list[float], reason: str | None) -> Candidate:
    launches = case.extra_info.launches
    base, new = (estimate(launch_medians(data, launches)) for data in (against, case.stats.data))
    return Candidate(case, base, new, (launch_ratios(case, against),), reason)
