# SPDX-License-Identifier: MIT
"""The gate: whether a comparison decides anything, and its exit code.

`compare`, `reproduce` and `history` end by it.
"""

from collections import Counter

from frobench.suite.compare.matching import CaseComparison, RunComparison
from frobench.suite.exit_codes import CANNOT, SLOWER
from frobench.suite.statistics import LEAST_LAUNCHES
from frobench.suite.stored.machine_identity import name_of
from frobench.suite.units import counted, format_value

BLUNT = 0.25
"""A slow-down that most cases must be able to show for a comparison to decide anything."""


def agreement(comparison: RunComparison, cases: int) -> tuple[str, int]:
    """Say whether a run that was measured again agrees with the first; return the exit code too.

    The two agree unless a case is faster or slower, so that identical machines disagree in at most
    5%.

    cases : how many the first run has
    """
    measured = f"{len(comparison.cases)} of {counted(cases, 'case')} measured again"
    if different := sum(case.differs for case in comparison.cases):
        return f"does not agree: {measured}, {different} different", SLOWER
    if reason := doubt(comparison, cases):
        return f"cannot say: {measured}; {reason}", CANNOT
    return f"agrees: {measured}, none different", 0


def exit_code(comparison: RunComparison, *, allow_missing: bool = False) -> int:
    """Return 4 where a case is slower; 3 where there is a doubt, or a headline case is missing.

    allow_missing : let headline cases be missing
    """
    if any(case.word == "slower" for case in comparison.cases):
        return SLOWER
    undecided = doubt(comparison) or (not allow_missing and missing(comparison))
    return CANNOT if undecided else 0


def doubt(comparison: RunComparison, expected: int | None = None) -> str | None:
    """Say why a comparison decides nothing, if it does not.

    It does not where most cases failed in a run, fewer than half were compared, or most of these
    are too noisy to show a slow-down of a quarter.

    expected : the number of cases to be compared; without it, of those that no run left out
    """
    facts = [each.fact for each in comparison.differences]
    compared = [case for case in comparison.cases if case.p_value is not None]
    if not compared and (comparison.faults or facts):
        differ = f"{', '.join(facts)} differ{'s' * (len(facts) == 1)}, which moves numbers"
        return "; ".join(comparison.faults) or differ
    failed = Counter(case.failed_in for case in comparison.unmatched if case.failed_in)
    every = expected or len(comparison.cases) + failed.total()
    if not every:
        return "the runs have no case in common"
    for side, many in failed.most_common(1):
        if many > every / 2:
            return f"{many} of {counted(every, 'case')} failed in {side}"
    if len(compared) < every / 2:
        reasons = Counter(map(_untested, comparison.cases))
        why = [reason for reason, _ in reasons.most_common() if reason][:1]
        return ": ".join(
            [f"only {len(compared)} of {counted(every, 'case')} could be compared", *why]
        )
    if sum(map(_is_blunt, compared)) > len(compared) / 2:
        cases, sharp = counted(len(compared), "case"), format_value(BLUNT, "1")
        most = "most of " * (len(compared) > 1)
        return f"in {most}{cases} no slow-down of {sharp} would have shown"
    return None


def may_pass_again(comparison: RunComparison) -> bool:
    """Tell whether a comparison was disturbed or too blunt, so that other launches may decide."""
    return any(
        case.is_disturbed or (case.p_value is not None and _is_blunt(case))
        for case in comparison.cases
    )


def _is_blunt(case: CaseComparison) -> bool:
    """Tell whether no slow-down of a quarter would have shown."""
    return case.smallest_change is None or case.smallest_change > BLUNT


def missing(comparison: RunComparison) -> list[tuple[str, str]]:
    """Return the headline cases that could not be compared, each with the reason.

    What the new run measures for the first time has nothing to be compared with.
    """
    cases = [
        (name_of(case.fullname), reason)
        for case in comparison.cases
        if case.headline and (reason := _untested(case))
    ]
    absent = [
        (name_of(case.fullname), case.reason)
        for case in comparison.unmatched
        if case.headline and (case.measured_in == "base" or case.failed_in)
    ]
    return cases + absent


def _untested(case: CaseComparison) -> str:
    """Say why a case was not compared; nothing if it was."""
    if case.p_value is not None:
        return ""
    return case.reason or f"fewer than {LEAST_LAUNCHES} launches measured it"
