# SPDX-License-Identifier: MIT
"""Whether a comparison decides anything, and the exit code that a program waits for."""

import math
from collections import Counter
from collections.abc import Collection, Sequence
from statistics import median_high

from msgspec import Struct

from suite.compare.model import CaseComparison, RunComparison, VersionComparison
from suite.compare.runs import compare_runs
from suite.compare.verdicts.levels import Levels
from suite.statistics import LEAST_LAUNCHES
from suite.stored.names import name_of
from suite.stored.run import Run
from suite.units import counted, format_value

DIFFERS, UNDECIDED = 4, 3
"""Exit codes: a case became slower, or a result was not reproduced; nothing was decided."""
BLUNT = 0.25
"""A slow-down that most cases must be able to show where runs are said to agree."""


class Agreement(Struct, frozen=True):
    """What a run that was measured again says of the first.

    The two agree unless a case is faster or slower, so that identical machines disagree in at most
    5%.
    """

    cases: int  # how many the first run has
    comparison: RunComparison

    @property
    def compared(self) -> list[CaseComparison]:
        """The cases that were compared."""
        return [case for case in self.comparison.cases if case.p_value is not None]

    @property
    def different(self) -> list[CaseComparison]:
        """The cases that became faster or slower."""
        return [case for case in self.compared if case.differs]

    @property
    def doubt(self) -> str | None:
        """Why the comparison decides nothing; ``None`` where it does.

        It does not where fewer than half of the cases were compared, or where most of these are too
        noisy to show a slow-down of a quarter.
        """
        if reason := nothing_compared(self.comparison):
            return reason
        compared = len(self.compared)
        if compared < self.cases / 2:
            return f"only {compared} of {counted(self.cases, 'case')} could be compared"
        if typical_change(self.compared) > BLUNT:
            cases, sharp = counted(compared, "case"), format_value(BLUNT, "1")
            return f"in most of {cases} no slow-down of {sharp} would have shown"
        return None

    @property
    def agrees(self) -> bool | None:
        """Whether the runs agree; ``None`` where there is a doubt."""
        return None if self.doubt else not self.different

    @property
    def exit_code(self) -> int:
        """Return 0 if the runs agree, 4 if they do not, and 3 where there is a doubt."""
        return {True: 0, False: DIFFERS, None: UNDECIDED}[self.agrees]


def agreement(
    first: Run, again: Run, others: Sequence[Levels] = (), across: Collection[str] = ()
) -> Agreement:
    """Compare a run with the same cases measured again; the arguments are as for `compare_runs`."""
    return Agreement(len(first.benchmarks), compare_runs(first, again, others, across))


def typical_change(cases: Sequence[CaseComparison]) -> float:
    """Return the smallest slow-down that half of some cases would have shown."""
    changes = [case.smallest_change for case in cases]
    return median_high([math.inf if change is None else change for change in changes])


def exit_code(comparison: RunComparison | VersionComparison, *, allow_missing: bool = False) -> int:
    """Return 4 where a case is slower, 3 where no case or not every headline case was compared.

    allow_missing : let headline cases be missing, as long as any case was compared
    """
    if any(case.word == "slower" for case in comparison.cases):
        return DIFFERS
    undecided = nothing_compared(comparison) or (not allow_missing and missing(comparison))
    return UNDECIDED if undecided else 0


def nothing_compared(comparison: RunComparison | VersionComparison) -> str | None:
    """Say why no case could be compared, if none could."""
    cases = comparison.cases
    if any(case.p_value is not None for case in cases):
        return None
    if isinstance(comparison, RunComparison) and (differences := comparison.differences):
        facts = ", ".join(each.fact for each in differences)
        if len(differences) == 1:
            return f"{facts} differs, which moves numbers"
        return f"{counted(len(differences), 'fact')} differ that move numbers: {facts}"
    if comparison.faults:
        return comparison.faults[0]
    if not cases:
        return "the runs have no case in common"
    return _why_untested(cases)


def missing(comparison: RunComparison | VersionComparison) -> list[tuple[str, str]]:
    """Return the headline cases of the base that could not be compared, each with the reason."""
    cases = [
        (name_of(case.fullname), case.reason or f"fewer than {LEAST_LAUNCHES} launches measured it")
        for case in comparison.cases
        if case.headline and case.p_value is None
    ]
    if isinstance(comparison, RunComparison):
        cases += [
            (name_of(case.fullname), case.reason)
            for case in comparison.unmatched
            if case.headline and case.measured_in == "base"
        ]
    return cases


def _why_untested(cases: Sequence[CaseComparison]) -> str | None:
    if all(case.is_disturbed for case in cases):
        return cases[0].reason
    launches = [min(case.base.launches, case.new.launches) for case in cases if case.reason is None]
    if launches:
        return f"a verdict needs {LEAST_LAUNCHES} launches, and there are {max(launches)}"
    kinds = Counter((case.reason or "").partition(":")[0] for case in cases)
    named = (f"{kind} ({counted(many, 'case')})" for kind, many in kinds.most_common(3))
    return f"no case could be measured as it was: {', '.join(named)}"
