# SPDX-License-Identifier: MIT
"""What `reproduce` says of two runs, in lines for people."""

import math
from collections.abc import Sequence

from suite.compare.agreement import Agreement, typical_change
from suite.compare.model import CaseComparison, RunComparison
from suite.stored.names import name_of
from suite.terminal import comparison_words
from suite.units import counted, format_value


def lines(agreement: Agreement) -> list[str]:
    """Say whether two runs agree, and why, a line each."""
    comparison, compared, different = (
        agreement.comparison,
        agreement.compared,
        agreement.different,
    )
    answer = {True: "agrees", False: "does not agree", None: "cannot say"}[agreement.agrees]
    cases = f"{len(comparison.cases)} of {counted(agreement.cases, 'case')} measured again"
    return [
        f"{answer}: {cases}; {agreement.doubt or _differing(compared, different)}",
        *comparison_words.across(comparison),
        *comparison_words.differing(comparison.differences),
        *comparison_words.changed(different),
        *([_sharpness(compared)] if compared else []),
        *comparison_words.allowances(comparison),
        *_not_compared(comparison),
        *comparison_words.overlapping(comparison),
    ]


def _differing(compared: Sequence[CaseComparison], different: Sequence[CaseComparison]) -> str:
    verb = "differ" if len(different) > 1 else "differs"
    return f"of {counted(len(compared), 'case')} {len(different) or 'none'} {verb}"


def _sharpness(cases: Sequence[CaseComparison]) -> str:
    """Say how small a change most cases would have shown: to agree is easy where all is noise."""
    typical = typical_change(cases)
    if typical == math.inf:
        return "in most of these cases so few launches could not have shown any slow-down"
    return f"in half of these cases a slow-down of {format_value(typical, '1', 2)} would have shown"


def _not_compared(comparison: RunComparison) -> list[str]:
    absent = comparison_words.grouped(
        (name_of(case.fullname), case.reason) for case in comparison.unmatched
    )
    refused = (
        []
        if comparison.differences or comparison.faults
        else comparison_words.undecided(comparison.cases)
    )
    return [*(f"not measured here: {line}" for line in absent), *refused]
