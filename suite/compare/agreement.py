# SPDX-License-Identifier: MIT
"""Whether a run that was measured again agrees with the first."""

import math
from statistics import median_high

from msgspec import Struct

from suite.compare import words
from suite.compare.judge import differs
from suite.compare.model import CaseComparison, RunComparison
from suite.compare.runs import compare_runs
from suite.model import Run
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
    identical machines disagree in at most 5%. Exploratory cases count where no other was
    compared. On another machine, or in another state of it, nobody can say.
    """
    found = compare_runs(first, again)
    tested = [case for case in found.cases if case.p_value is not None]
    details = [*_not_compared(found), *words.overlapping(found)]
    if not tested:
        facts = words.differing(found.differences)
        return Agreement(None, [f"cannot say: {_why_not(found)}", *facts, *details], found)
    headline = [case for case in tested if case.headline]
    decisive = headline or tested
    different = [case for case in decisive if differs(case)]
    others = [case for case in tested if case not in decisive and differs(case)]
    answer = "does not agree" if different else "agrees"
    number = len(different) or "none"
    cases = counted(len(decisive), "headline case" if headline else "case")
    verb = "differ" if len(different) > 1 else "differs"
    first_line = f"{answer}: of {cases} {number} {verb}, after Holm's correction"
    lines = [first_line, *words.changed(different), _sharpness(decisive)]
    if others:
        lines += ["exploratory, and not counted:", *words.changed(others)]
    return Agreement(not different, [*lines, *details], found)


def _sharpness(cases: list[CaseComparison]) -> str:
    """Say how small a change most cases would have shown: to agree is easy where all is noise."""
    changes = [case.smallest_change for case in cases]
    typical = median_high([math.inf if change is None else change for change in changes])
    if typical == math.inf:
        return "in most of these cases so few launches could not have shown any slow-down"
    return f"in half of these cases a slow-down of {format_value(typical, '1', 2)} would have shown"


def _why_not(found: RunComparison) -> str:
    """Say why no case could be tested."""
    if found.differences:
        return "another machine, or another state of it; what differs and moves numbers:"
    comparable = [case for case in found.cases if case.reason is None]
    if not comparable:
        return "no case could be measured as it was"
    most = max(_launches(case) for case in comparable)
    return f"a verdict needs {LEAST_LAUNCHES} launches, and there are {most}"


def _launches(case: CaseComparison) -> int:
    return min(case.base.launches, case.new.launches)


def _not_compared(found: RunComparison) -> list[str]:
    absent = words.grouped((words.name_of(one.fullname), one.reason) for one in found.unmatched)
    refused = [] if found.differences else words.incomparable(found.cases)
    return [*(f"not measured here: {line}" for line in absent), *refused]
