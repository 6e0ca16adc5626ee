# SPDX-License-Identifier: MIT
"""Whether a run that was measured again agrees with the first."""

import math
from collections.abc import Collection, Sequence
from statistics import median_high

from msgspec import Struct
from msgspec.structs import replace

from suite.compare.gate import DIFFERS, UNDECIDED, nothing_compared
from suite.compare.model import CaseComparison, RunComparison
from suite.compare.runs import compare_runs
from suite.compare.verdicts.levels import Levels
from suite.stored.run import Run
from suite.units import counted, format_value

BLUNT = 0.25
"""A slow-down that most cases must be able to show where runs are said to agree."""


class Agreement(Struct, frozen=True):
    """What a run that was measured again says of the first.

    cases : how many the first run has
    comparison : of the first run with the one that was measured again
    doubt : why nobody can say whether the two agree; ``None`` where somebody can
    """

    cases: int
    comparison: RunComparison
    doubt: str | None

    @property
    def compared(self) -> list[CaseComparison]:
        """The cases that were compared."""
        return [case for case in self.comparison.cases if case.p_value is not None]

    @property
    def different(self) -> list[CaseComparison]:
        """The cases that became faster or slower."""
        return [case for case in self.compared if case.differs]

    @property
    def agrees(self) -> bool | None:
        """Whether the runs agree; ``None`` where nobody can say."""
        return None if self.doubt else not self.different

    @property
    def exit_code(self) -> int:
        """Return 0 if the runs agree, 4 if they do not, and 3 where nobody can say."""
        return {True: 0, False: DIFFERS, None: UNDECIDED}[self.agrees]


def agreement(
    first: Run, again: Run, others: Sequence[Levels] = (), across: Collection[str] = ()
) -> Agreement:
    """Compare a run with the same cases measured again.

    The two agree unless a case is faster or slower, so that identical machines disagree in at most
    5%. Nobody can say on another machine, or in another state of it, where the runs were disturbed
    unlike, nor where fewer than half of the cases were compared, or most of these are so noisy
    that not even a slow-down of a quarter would have shown.

    others, across : as for `compare_runs`
    """
    comparison = compare_runs(first, again, others, across)
    unjudged = Agreement(len(first.benchmarks), comparison, doubt=None)
    return replace(unjudged, doubt=nothing_compared(comparison) or _too_little(unjudged))


def typical_change(cases: Sequence[CaseComparison]) -> float:
    """Return the smallest slow-down that half of some cases would have shown."""
    changes = [case.smallest_change for case in cases]
    return median_high([math.inf if change is None else change for change in changes])


def _too_little(agreement: Agreement) -> str | None:
    """Say why the cases that were compared are too little to agree or not, if they are."""
    compared = agreement.compared
    if len(compared) < agreement.cases / 2:
        return f"only {len(compared)} of {counted(agreement.cases, 'case')} could be compared"
    if typical_change(compared) > BLUNT:
        sharp = format_value(BLUNT, "1")
        number = counted(len(compared), "case")
        return f"in most of {number} no slow-down of {sharp} would have shown"
    return None
