# SPDX-License-Identifier: MIT
"""Whether a comparison decides anything, and the exit code that a program waits for."""

from collections import Counter
from collections.abc import Sequence

from suite.compare.model import CaseComparison, RunComparison, VersionComparison
from suite.statistics import LEAST_LAUNCHES
from suite.stored.differences import Difference
from suite.stored.names import name_of
from suite.units import counted

DIFFERS, UNDECIDED = 4, 3
"""Exit codes: a case became slower, or a result was not reproduced; nobody can say."""
MOST_REASONS = 3
"""Reasons that are named of those why no case could be compared, the most frequent ones."""


def exit_code(comparison: RunComparison | VersionComparison, *, allow_missing: bool = False) -> int:
    """Return the exit code of a comparison: 4, 3 or 0.

    It is 4 where a case is slower, headline or not. Else it is 3 where no case could be compared,
    or a headline case of the base could not.

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
    if isinstance(comparison, RunComparison) and comparison.differences:
        return differing(comparison.differences)
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


def differing(differences: Sequence[Difference]) -> str:
    """Say which facts differ so that no case of two runs can be compared."""
    facts = ", ".join(each.fact for each in differences)
    if len(differences) == 1:
        return f"{facts} differs, which moves numbers"
    return f"{counted(len(differences), 'fact')} differ that move numbers: {facts}"


def _why_untested(cases: Sequence[CaseComparison]) -> str | None:
    """Say why none of some cases could be compared."""
    if all(case.is_disturbed for case in cases):
        return cases[0].reason
    launches = [min(case.base.launches, case.new.launches) for case in cases if case.reason is None]
    if launches:
        return f"a verdict needs {LEAST_LAUNCHES} launches, and there are {max(launches)}"
    kinds = Counter((case.reason or "").partition(":")[0] for case in cases)
    named = ", ".join(
        f"{kind} ({counted(number, 'case')})" for kind, number in kinds.most_common(MOST_REASONS)
    )
    return f"no case could be measured as it was: {named}"
