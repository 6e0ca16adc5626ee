# SPDX-License-Identifier: MIT
"""Comparisons for people: tables and sentences."""

from collections.abc import Iterable, Sequence
from statistics import median

from frobench.suite.compare.gate import doubt, missing
from frobench.suite.compare.matching import (
    CaseComparison,
    Matched,
    Pair,
    RunComparison,
    Unmatched,
    kind,
)
from frobench.suite.compare.verdicts import compare_values
from frobench.suite.project.git import describe
from frobench.suite.statistics import LEAST_LAUNCHES, case_medians, estimate
from frobench.suite.stored.differences import Difference
from frobench.suite.stored.machine_identity import name_of
from frobench.suite.stored.types import Scalar, VerdictWord
from frobench.suite.terminal.output import Table
from frobench.suite.units import RATIO, counted, format_estimate, format_point, format_value

FINDS = "finds"


def of_cases(cases: Iterable[CaseComparison], base: str, new: str) -> Table:
    """Return a row for each case, in the order given."""
    columns = {base: ">", new: ">", f"{new} / {base}": "<", "verdict": "<", FINDS: ">"}
    rows = [
        (
            case.group,
            name_of(case.fullname),
            format_point(case.base, "s"),
            format_point(case.new, "s"),
            "-" if case.word == "incomparable" else format_estimate(case.ratio, RATIO),
            case.word,
            finds(case.smallest_change),
        )
        for case in cases
    ]
    return Table(columns, rows)


def of_pairs(pairs: Iterable[Pair]) -> Table:
    """Return a row for each case that two machines measured, its devices named by their kinds."""
    rows = []
    for case, other, reason in pairs:
        base, new = case_medians(case), case_medians(other)
        if reason is None:
            speed = compare_values(new, base).ratio
            name, both = kind(name_of(case.fullname)), (estimate(base), estimate(new))
            cells = [format_point(one, "s") for one in both]
            rows.append((case.group, name, *cells, format_estimate(speed, RATIO)))
    return Table({"base": ">", "new": ">", "new, times as fast": "<"}, rows)


def finds(change: float | None) -> str:
    """Spell the smallest change that would have been found, a large one as a factor."""
    if change is None:
        return "-"
    large = change >= 1
    return format_value(1 + change, RATIO, 2) if large else f"+{format_value(change, '1', 2)}"


def legend(cases: Sequence[CaseComparison]) -> list[str]:
    """Explain what a table of cases does not say by itself."""
    lines = [
        f"{FINDS}: the smallest slow-down that would have been found in 90% of such comparisons"
    ]
    if any(case.smallest_change is None and case.reason is None for case in cases):
        lines.append("  (-: too few to find even a factor of 1,000; measure with more --launches)")
    if any(case.p_value is not None for case in cases):
        lines.append("verdicts: in all cases together a false alarm in at most 5% of comparisons")
    return lines


MOST_NAMED = 10
"""Cases named one by one in a line of a summary, at most."""
ORDER: tuple[VerdictWord, ...] = ("slower", "faster", "unresolved", "same", "incomparable")
PACKAGES = "software.packages."
MACHINE = frozenset({"accelerators", "cpu.model"})
"""Facts by which two machines are of different kinds."""


def of_runs(comparison: RunComparison) -> list[str]:
    """Say what a comparison of two runs comes to, a line each."""
    lines = projects(comparison) + across(comparison)
    if comparison.differences:
        lines += ["What differs and moves numbers:", *_differing(comparison.differences)]
        if not MACHINE.isdisjoint(each.fact for each in comparison.differences):
            lines.append("`frobench compare --purchase` shows two machines side by side")
    else:
        lines += [*_verdicts(comparison), *allowances(comparison)]
    if comparison.harmless:
        lines.append(f"differs harmlessly: {_facts(comparison.harmless)}")
    return [*lines, *unmatched(comparison.unmatched)]


def of_machines(matched: Matched, differences: Sequence[Difference]) -> list[str]:
    """Say what differs between two machines, and what each lacks."""
    lines = ["No verdicts: above 1, a case takes less time on the new machine."]
    if differences:
        lines += ["What differs and moves numbers:", *_differing(differences)]
    else:
        lines.append("Nothing differs that is known to move numbers.")
    if not matched.faults:
        others = ((kind(name_of(pair.base.fullname)), pair.reason) for pair in matched.pairs)
        lines += [f"no ratio: {line}" for line in grouped(others)]
    return [*lines, *unmatched(matched.unmatched)]


def refusals(comparison: RunComparison, *, allow_missing: bool = False) -> list[str]:
    """Say what makes the exit code 3, and what to do about it."""
    lines = [f"not compared, headline: {line}" for line in grouped(missing(comparison))]
    if (reason := doubt(comparison)) is not None:
        if all(case.p_value is None for case in comparison.cases):
            return [f"cannot say: {reason}{_advice(comparison)}"]
        return [f"{cannot_say(comparison)}: {reason}", *lines]
    if lines and not allow_missing:
        lines.append("`--allow-missing` lets a comparison pass without headline cases")
    return lines


def cannot_say(comparison: RunComparison) -> str:
    """Return the words before a doubt: where a case differs, the comparison does conclude."""
    return "besides" if any(case.differs for case in comparison.cases) else "cannot say"


def projects(comparison: RunComparison) -> list[str]:
    """Say which commits of which project were measured, if a run tells."""
    measured = (comparison.base_project, comparison.new_project)
    if not any(measured):
        return []
    base, new = (describe(project) if project else "not told" for project in measured)
    return [f"code measured: {base}" + (f" -> {new}" if new != base else ", in both")]


def across(comparison: RunComparison) -> list[str]:
    """Name the differences that the verdicts are about."""
    return [
        f"compared across {each.fact}: {_spelled(each.base)} -> {_spelled(each.new)}"
        if each.base != each.new
        else f"{each.fact} is equal in both runs: {_spelled(each.base)}"
        for each in comparison.across
    ]


def undecided(cases: Sequence[CaseComparison]) -> list[str]:
    """Say which cases are incomparable or disturbed, and why."""
    return [
        f"{word}: {line}"
        for word in ("unresolved", "incomparable")
        for line in grouped(
            (name_of(case.fullname), case.reason) for case in cases if case.word == word
        )
    ]


def allowances(comparison: RunComparison) -> list[str]:
    """Say how far separate runs of the machine may differ by themselves, and how it is known."""
    allowed = [case.allowance for case in comparison.cases if case.p_value is not None]
    if not any(allowed):
        return []
    middle, most = (format_value(size, "1", digits=2) for size in (median(allowed), max(allowed)))
    known = "assumed; it is learned where the folder holds three more runs of this machine"
    if comparison.learned_from:
        known = f"learned from {counted(comparison.learned_from, 'other run')} of this machine"
    return [
        f"allowed between separate runs: {middle} in half of the cases, at most {most} ({known})"
    ]


def unmatched(cases: Sequence[Unmatched], base: str = "base", new: str = "new") -> list[str]:
    """Name the cases that only one run measured, with what the other says of them."""
    reasons_of: dict[str, list[tuple[str, str]]] = {}
    called = {"base": base, "new": new}
    for case in sorted(cases, key=lambda case: case.measured_in):
        where = f"only in {called[case.measured_in]}"
        if case.failed_in is not None:
            where = f"failed in {called[case.failed_in]}"
        reason = case.reason.removeprefix("failed there: ")
        reasons_of.setdefault(where, []).append((name_of(case.fullname), reason))
    return [f"{where}: {line}" for where, pairs in reasons_of.items() for line in grouped(pairs)]


def grouped(reasons: Iterable[tuple[str, str | None]]) -> list[str]:
    """Return a line for each reason, with the names that it holds for, the first few of many."""
    names_of: dict[str, list[str]] = {}
    for name, reason in reasons:
        if reason:
            names_of.setdefault(reason, []).append(name)
    lines = []
    for reason, names in names_of.items():
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        lines.append(f"{', '.join(names[:MOST_NAMED])}{more}: {reason}")
    return lines


def _changed(cases: Iterable[CaseComparison]) -> list[str]:
    differing = sorted((c for c in cases if c.differs), key=lambda case: ORDER.index(case.word))
    return [
        f"  {one.word}: {one.group} {name_of(one.fullname)}: {format_estimate(one.ratio, RATIO)}"
        for one in differing
    ]


def _differing(differences: Iterable[Difference]) -> list[str]:
    return [f"  {each.fact}: {_spelled(each.base)} -> {_spelled(each.new)}" for each in differences]


def _spelled(value: Scalar) -> str:
    """Spell a fact; a file that lacks it does not know it."""
    words = {None: "unknown", True: "yes", False: "no"}
    return words[value] if value is None or isinstance(value, bool) else str(value)


def _advice(comparison: RunComparison) -> str:
    if comparison.faults or not comparison.cases:
        return ""
    if comparison.differences:
        options = " ".join(f"--across {each.fact}" for each in comparison.differences)
        return f"; to compare across that, add `{options}`"
    if all(case.is_disturbed for case in comparison.cases):
        return "; measure both again side by side: `--retry 1`, or `frobench history`"
    if any(case.reason is None for case in comparison.cases):
        return f"; measure with `--launches {LEAST_LAUNCHES}` or more"
    return ""


def _verdicts(comparison: RunComparison) -> list[str]:
    cases, counts = comparison.cases, comparison.counts
    where = "with two versions" if comparison.base == comparison.new else "in both runs"
    words = ", ".join(f"{counts[word]} {word}" for word in ORDER if word in counts)
    every = f"{counted(len(cases), 'case')} {where}{words and f': {words}'}"
    return [every, *_changed(cases), *([] if comparison.faults else undecided(cases))]


def _facts(differences: Sequence[Difference]) -> str:
    named = [each.fact for each in differences if not each.fact.startswith(PACKAGES)]
    packages = sum(each.fact.startswith(PACKAGES) for each in differences)
    return ", ".join([*named, *([counted(packages, "package")] if packages else [])])
