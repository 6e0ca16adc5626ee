# SPDX-License-Identifier: MIT
"""Answers and questions in few words, for the rows of a page and the lines of a terminal.

What the numbers do not support is no headline: of an interval wider than a factor of two only the
ends are named, and of launches in two modes both. A ratio is formed within each launch, so that
modes of the launches are none of its own.
"""

import re

from frobench.reports.findings.finding import RATIO, Finding
from frobench.reports.table.launches import TWO_MODES, two_modes
from frobench.suite.stored.types import Run
from frobench.suite.units import format_ends, format_estimate

TOO_WIDE = "wide interval"
"""Marks such a number."""
MOST_WORDS = 13
"""Words of a question."""
PRECISIONS = {
    "bfloat16": "bf16",
    "float16": "fp16",
    "tfloat32": "tf32",
    "float32": "fp32",
    "float64": "fp64",
    "float8_e4m3fn": "fp8",
}
"""Precisions as people call them; others keep their name."""
_PRECISION = re.compile(r"\b(?:b?float16|t?float32|float64|float8_e4m3fn)\b")


def precisions(text: str) -> str:
    """Call the precisions in a text as people do."""
    return _PRECISION.sub(lambda found: PRECISIONS[found[0]], text)


def answer(run: Run, finding: Finding) -> str:
    """Return an answer in one plain sentence."""
    return _here(run, precisions(_sentence(finding)))


def _here(run: Run, text: str) -> str:
    """Call the accelerators of a run by what they are, where all have one name.

    Where there is none, everything was measured on the CPU, which need not be said.
    """
    names = {one.name for one in run.frobench.environment.accelerators}
    if not names:
        return text.replace(" on the CPU", "")
    return text.replace(f"the {names.pop()}", "this GPU") if len(names) == 1 else text


def doubts(finding: Finding, marks: tuple[str, ...], *, in_modes: bool) -> tuple[str, ...]:
    """Return the words that belong beside an answer.

    marks : those of the cases behind it
    in_modes : whether the launches of such a case are in two modes
    """
    wide = finding.value is not None and finding.value.is_wide
    words = (*([TWO_MODES] if in_modes else []), *marks, *([TOO_WIDE] if wide else []))
    return tuple(dict.fromkeys(words))


def rule(finding: Finding) -> str:
    """Return the rule of thumb of an answer; empty where it has none."""
    return precisions(finding.rule_of_thumb)


def _sentence(finding: Finding) -> str:
    value = finding.value
    if value is None:
        return finding.answer
    printed = format_estimate(value, finding.unit)
    if finding.unit != RATIO and (found := two_modes(finding.by_launch)):
        return finding.brief.replace(printed, found.text(finding.unit), 1)
    if value.is_wide and not finding.at_least:
        ends = format_ends(value, finding.unit)
        return f"Not conclusive: {finding.brief.replace(printed, ends, 1)}"
    return finding.brief


def question(run: Run, asked: str, stored: str) -> str:
    """Return the question of a row, of at most `MOST_WORDS` words.

    asked, stored : of the leading answer, and of the exercise, which may have none: the first is
        taken that is short enough as it is, or else up to a comma or a colon
    """
    texts = [_here(run, text) for text in (asked, stored) if text]
    cut = (f"{re.split('[,:] ', text)[0].rstrip('?')}?" for text in texts)
    fitting = (text for text in (*texts, *cut) if len(text.split()) <= MOST_WORDS)
    return next(fitting, f"{' '.join(texts[0].split()[: MOST_WORDS - 1])} \N{HORIZONTAL ELLIPSIS}")
