# SPDX-License-Identifier: MIT
"""Two versions of one body, measured beside each other in every launch, to a verdict.

Sample by sample the two stand side by side, so what a launch, a clock or a neighbour does
to one it does to the other, and far smaller changes show than between two runs.
"""

import math
from collections import Counter
from functools import partial
from statistics import fmean, median

from suite.compare.alike import failures
from suite.compare.judge import Candidate, judge
from suite.compare.model import VersionComparison
from suite.model import Case, Run
from suite.statistics import compare_pairs, estimate, launch_medians


def compare_versions(run: Run) -> VersionComparison:
    """Compare, in each case that has another version of its body, the body with that version.

    The verdicts follow the same rule as those of two runs.
    """
    failed = failures(run, "")
    cases = judge(
        [
            _candidate(case, case.extra_info.against, failed.get(case.fullname))
            for case in run.benchmarks
            if case.extra_info.against is not None
        ]
    )
    return VersionComparison(
        run=run.frobench.run, cases=cases, counts=dict(Counter(case.word for case in cases))
    )


def launch_ratios(case: Case, against: list[float]) -> list[float | None]:
    """Return body / other version within each launch, from samples that are pairs by place.

    The body comes first in every second pair. A launch's ratio is the geometric mean of two:
    the median over the pairs in which it came first, and over those in which it came second.
    So whatever coming first costs or saves falls out, also where one kind is a pair ahead.
    """
    logs = [math.log(new / old) for new, old in zip(case.stats.data, against, strict=True)]
    ratios: list[float | None] = []
    for count in case.extra_info.launches:
        mine, logs = logs[:count], logs[count:]
        halves = [half for half in (mine[::2], mine[1::2]) if half]
        ratios.append(math.exp(fmean(map(median, halves))) if halves else None)
    return ratios


def _candidate(case: Case, against: list[float], reason: str | None) -> Candidate:
    launches = case.extra_info.launches
    base, new = (estimate(launch_medians(data, launches)) for data in (against, case.stats.data))
    compare = partial(compare_pairs, launch_ratios(case, against))
    return Candidate(case, base, new, compare, reason)
