# SPDX-License-Identifier: MIT
"""What a history says, for people: a table of commits and a sentence for each case."""

from collections.abc import Iterator, Sequence
from textwrap import shorten

from frobench.suite.compare.gate import doubt
from frobench.suite.compare.multiple_testing import overlap
from frobench.suite.history.change_search import Culprit, Findings
from frobench.suite.history.commits import Commit
from frobench.suite.history.history import History
from frobench.suite.stored.machine_identity import name_of
from frobench.suite.stored.types import Estimate
from frobench.suite.terminal.comparison import cannot_say, of_cases, undecided, unmatched
from frobench.suite.terminal.output import Table
from frobench.suite.units import RATIO, counted, format_estimate, format_value

LONGEST_SUBJECT = 40
"""Characters of a commit's subject in a table."""
SMALL = 0.05
"""A change up to which nothing is found is small, so that no more launches are advised."""
MORE_LAUNCHES = 4
"""Times the launches that halve an interval."""


def tables(history: History) -> Iterator[Table]:
    """Yield the commits that were measured for each case that changed, or the cases if none did."""
    commits, findings, comparison, _ = history
    if not findings.changed:
        yield of_cases(comparison.cases, commits[0].short, commits[-1].short)
    for case in findings.changed:
        columns = {"subject": "<", "commit / first": "<", "verdict": "<"}
        yield Table(columns, [*_rows(case, commits, findings)])


def refusals(history: History) -> Iterator[str]:
    """Yield what makes the exit code 3, and which cases were not compared."""
    comparison, (first, *_, last) = history.comparison, history.commits
    if reason := doubt(comparison):
        yield f"{cannot_say(comparison)}: {reason}"
    yield from unmatched(comparison.unmatched, first.short, last.short)
    yield from undecided(comparison.cases)


def sentences(history: History) -> Iterator[str]:
    """Yield what was found, and what to do next."""
    commits, findings, _, _ = history
    for position, reason in sorted(findings.broken.items()):
        yield f"skipped: {commits[position].named}: {reason}"
    if findings.ends and not findings.changed:
        yield from _nothing(findings)
    culprits = {culprit.case: culprit for culprit in findings.culprits}
    for case in findings.changed:
        yield _sentence(culprits[case], commits, findings)
        yield f"Next: {_next(culprits[case], commits, findings)}"


def _rows(case: str, commits: Sequence[Commit], findings: Findings) -> Iterator[tuple[str, ...]]:
    culprit = next(culprit for culprit in findings.culprits if culprit.case == case)
    word = _word(findings.ends[case].ratio)
    for position, commit in enumerate(commits):
        ratio = findings.beside_first.get(position, {}).get(case)
        if position == 0:
            cells = ("", "first")
        elif position in findings.broken:
            cells = ("", "skipped")
        elif ratio is not None:
            cells = (format_estimate(ratio, RATIO), word if position >= culprit.at else "as first")
        elif position == culprit.at:
            cells = ("", "changed")
        else:  # it was not measured for this case
            continue
        subject = shorten(commit.subject, LONGEST_SUBJECT, placeholder="...")
        yield name_of(case), commit.short, subject, *cells


def _sentence(culprit: Culprit, commits: Sequence[Commit], findings: Findings) -> str:
    ends, ratio = findings.ends[culprit.case].ratio, culprit.ratio
    became = f"{name_of(culprit.case)} became {_word(ends)}"
    found = commits[culprit.at].named
    if ratio is None:
        first, last = commits[0], commits[-1]
        return (
            f"{became} between {first.short} and {last.short}: {_takes(ends)}. At which commit "
            f"cannot be resolved; {found} is the likeliest."
        )
    if skipped := culprit.at - culprit.before - 1:
        return (
            f"{became} between {commits[culprit.before].short} and {found}: {_takes(ratio)}. "
            f"{counted(skipped, 'commit')} between them could not be measured."
        )
    rest = ""
    if overlap(ratio, ends) is False:
        rest = f" Over the whole range {_takes(ends)}, so other commits changed it too."
    return f"{became} at commit {found}: {_takes(ratio)}.{rest}"


def _word(ratio: Estimate) -> str:
    return "slower" if ratio.value > 1 else "faster"


def _takes(ratio: Estimate) -> str:
    return f"it takes {format_estimate(ratio, RATIO)} as long"


def _next(culprit: Culprit, commits: Sequence[Commit], findings: Findings) -> str:
    at, before = commits[culprit.at], commits[culprit.before]
    if culprit.ratio is None:
        return _again(findings)
    if culprit.at > culprit.before + 1:
        return f"`git log {before.short}..{at.short}`"
    if at.parents > 1:
        return f"the same command with `--range '{at.short}^1..{at.short}^2'`, which it merged"
    return f"`git show {at.short}`"


def _again(findings: Findings) -> str:
    return f"the same command with `--launches {MORE_LAUNCHES * findings.launches}`"


def _nothing(findings: Findings) -> Iterator[str]:
    limits = {
        case: max(abs(ratio.high - 1), abs(1 - ratio.low))
        for case, end in findings.ends.items()
        if (ratio := end.ratio).low is not None and ratio.high is not None
    }
    widest = max(limits, key=lambda case: limits[case])
    limit = format_value(limits[widest], "1", digits=2)
    if limits[widest] <= SMALL:
        yield f"Nothing changed beyond {limit}."
        return
    yield f"No change is conclusive; up to {limit} is not ruled out ({name_of(widest)})."
    yield f"Next: {_again(findings)}"
