# SPDX-License-Identifier: MIT
"""Whether a run that was measured again agrees with the first."""

import math
from collections.abc import Sequence
from statistics import median_high

from msgspec import Struct

from suite.compare import words
from suite.compare.judge import differs
from suite.compare.model import CaseComparison, RunComparison
from suite.compare.runs import compare_runs
from suite.model import Run
from suite.names import name_of
from suite.statistics import LEAST_LAUNCHES
from suite.units import counted, format_value


class Agreement(Struct, frozen=True):
    """What a run that was measured again says of the first.

    agrees : ``None`` where nobody can say
    lines : the answer and its reasons, a line each
    comparison : of the first run with the one that was measured again
    """

    agrees: bool | None
    lines: list[str]
    comparison: RunComparison


def agreement(first: Run, again: Run) -> Agreement:
    """Say whether two runs of the same cases agree.

    They do unless a headline case is faster or slower after Holm's correction, so that
    identical machines disagree in at most 5%. Exploratory cases count where the first run has
    no other. Nobody can say on another machine, or in another state of it, nor where fewer
    than half of the cases that count were compared, or all of these are unresolved.
    """
    found = compare_runs(first, again)
    headline = {case.fullname for case in first.benchmarks if case.extra_info.headline}
    counting = headline or {case.fullname for case in first.benchmarks}
    tested = [case for case in found.cases if case.p_value is not None]
    decisive = [case for case in tested if case.fullname in counting]
    different = [case for case in decisive if differs(case)]
    others = [case for case in tested if case not in decisive and differs(case)]

    what = "headline case" if headline else "case"
    doubt = _why_not(found, tested) or _too_little(decisive, len(counting), what)
    answer = "cannot say" if doubt else "does not agree" if different else "agrees"
    measured = f"{len(found.cases)} of {counted(len(first.benchmarks), 'case')} measured again"
    lines = [f"{answer}: {measured}; {doubt or _differing(decisive, different, what)}"]
    lines += [*words.differing(found.differences), *words.changed(different)]
    lines += [_sharpness(decisive)] if decisive else []
    if others:
        lines += ["exploratory, and not counted:", *words.changed(others)]
    lines += [*_not_compared(found), *words.overlapping(found)]
    return Agreement(None if doubt else not different, lines, found)


def _differing(
    decisive: Sequence[CaseComparison], different: Sequence[CaseComparison], what: str
) -> str:
    verb = "differ" if len(different) > 1 else "differs"
    cases = counted(len(decisive), what)
    return f"of {cases} {len(different) or 'none'} {verb}, after Holm's correction"


def _too_little(decisive: Sequence[CaseComparison], every: int, what: str) -> str | None:
    """Say why the cases that were tested are too little to agree or not, if they are."""
    if len(decisive) < every / 2:
        return f"only {len(decisive)} of {counted(every, what)} could be compared"
    if all(case.word == "unresolved" for case in decisive):
        return f"{counted(len(decisive), what)} compared, and nothing resolved"
    return None


def _sharpness(cases: Sequence[CaseComparison]) -> str:
    """Say how small a change most cases would have shown: to agree is easy where all is noise."""
    changes = [case.smallest_change for case in cases]
    typical = median_high([math.inf if change is None else change for change in changes])
    if typical == math.inf:
        return "in most of these cases so few launches could not have shown any slow-down"
    return f"in half of these cases a slow-down of {format_value(typical, '1', 2)} would have shown"


def _why_not(found: RunComparison, tested: Sequence[CaseComparison]) -> str | None:
    """Say why no case could be tested, if none could."""
    if found.differences:
        return "another machine, or another state of it; what differs and moves numbers:"
    if found.faults:
        return found.faults[0]
    if tested:
        return None
    comparable = [case for case in found.cases if case.reason is None]
    if not comparable:
        return "no case could be measured as it was"
    most = max(_launches(case) for case in comparable)
    return f"a verdict needs {LEAST_LAUNCHES} launches, and there are {most}"


def _launches(case: CaseComparison) -> int:
    return min(case.base.launches, case.new.launches)


def _not_compared(found: RunComparison) -> list[str]:
    absent = words.grouped((name_of(one.fullname), one.reason) for one in found.unmatched)
    refused = [] if found.differences or found.faults else words.incomparable(found.cases)
    return [*(f"not measured here: {line}" for line in absent), *refused]
