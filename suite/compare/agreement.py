# SPDX-License-Identifier: MIT
"""Whether a run that was measured again agrees with the first."""

import math
from collections.abc import Collection, Sequence
from statistics import median_high

from msgspec import Struct

from suite.compare.false_alarms.levels import Levels
from suite.compare.gate import DIFFERS, UNDECIDED, nothing_compared
from suite.compare.model import CaseComparison, RunComparison
from suite.compare.runs import compare_runs
from suite.stored.names import name_of
from suite.stored.run import Run
from suite.terminal import comparison_words
from suite.units import counted, format_value

BLUNT = 0.25
"""A slow-down that most cases must be able to show where runs are said to agree."""


class Agreement(Struct, frozen=True):
    """What a run that was measured again says of the first.

    agrees : ``None`` where nobody can say
    lines : the answer and its reasons, a line each
    comparison : of the first run with the one that was measured again
    """

    agrees: bool | None
    lines: list[str]
    comparison: RunComparison

    @property
    def exit_code(self) -> int:
        """Return 0 if the runs agree, 4 if they do not, and 3 where nobody can say."""
        return {True: 0, False: DIFFERS, None: UNDECIDED}[self.agrees]


def agreement(
    first: Run, again: Run, others: Sequence[Levels] = (), across: Collection[str] = ()
) -> Agreement:
    """Say whether two runs of the same cases agree.

    They do unless a case is faster or slower, so that identical machines disagree in at most 5%.
    Nobody can say on another machine, or in another state of it, where the runs were disturbed
    unlike, nor where fewer than half of the cases were compared, or most of these are so noisy
    that not even a slow-down of a quarter would have shown.

    others, across : as for `compare_runs`
    """
    found = compare_runs(first, again, others, across)
    tested = [case for case in found.cases if case.p_value is not None]
    different = [case for case in tested if case.differs]
    doubt = nothing_compared(found) or _too_little(tested, len(first.benchmarks))
    answer = "cannot say" if doubt else "does not agree" if different else "agrees"
    measured = f"{len(found.cases)} of {counted(len(first.benchmarks), 'case')} measured again"
    lines = [f"{answer}: {measured}; {doubt or _differing(tested, different)}"]
    lines += [
        *comparison_words.across(found),
        *comparison_words.differing(found.differences),
        *comparison_words.changed(different),
    ]
    lines += [_sharpness(tested)] if tested else []
    lines += comparison_words.allowances(found)
    lines += [*_not_compared(found), *comparison_words.overlapping(found)]
    return Agreement(None if doubt else not different, lines, found)


def _differing(tested: Sequence[CaseComparison], different: Sequence[CaseComparison]) -> str:
    verb = "differ" if len(different) > 1 else "differs"
    return f"of {counted(len(tested), 'case')} {len(different) or 'none'} {verb}"


def _too_little(tested: Sequence[CaseComparison], every: int) -> str | None:
    """Say why the cases that were tested are too little to agree or not, if they are."""
    if len(tested) < every / 2:
        return f"only {len(tested)} of {counted(every, 'case')} could be compared"
    if _typical_change(tested) > BLUNT:
        sharp = format_value(BLUNT, "1")
        return f"in most of {counted(len(tested), 'case')} no slow-down of {sharp} would have shown"
    return None


def _sharpness(cases: Sequence[CaseComparison]) -> str:
    """Say how small a change most cases would have shown: to agree is easy where all is noise."""
    typical = _typical_change(cases)
    if typical == math.inf:
        return "in most of these cases so few launches could not have shown any slow-down"
    return f"in half of these cases a slow-down of {format_value(typical, '1', 2)} would have shown"


def _typical_change(cases: Sequence[CaseComparison]) -> float:
    """Return the smallest change that half of some cases would have shown."""
    changes = [case.smallest_change for case in cases]
    return median_high([math.inf if change is None else change for change in changes])


def _not_compared(found: RunComparison) -> list[str]:
    absent = comparison_words.grouped(
        (name_of(one.fullname), one.reason) for one in found.unmatched
    )
    refused = [] if found.differences or found.faults else comparison_words.undecided(found.cases)
    return [*(f"not measured here: {line}" for line in absent), *refused]
