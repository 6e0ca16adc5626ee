# SPDX-License-Identifier: MIT
"""Cases of two runs side by side: which match, and why others do not."""

import re
from collections.abc import Callable, Container, Iterator, Mapping
from functools import lru_cache
from statistics import median
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from frobench.suite.stored.differences import Difference
from frobench.suite.stored.machine_identity import benchmark_of, is_cpu
from frobench.suite.stored.types import Case, Estimate, Project, Run, Scalar, VerdictWord
from frobench.suite.units import counted

Side = Literal["base", "new"]


class CaseComparison(Struct, frozen=True, kw_only=True):
    """One case in two runs, or two versions of its body in one; times are in seconds."""

    fullname: str
    group: str
    headline: bool  # whether the answers need this case; the verdict does not depend on it
    word: VerdictWord
    base: Estimate
    new: Estimate
    ratio: Estimate  # new / base, its interval widened by the allowance; below 1 is faster
    p_value: float | None  # among all that were judged together; None where nothing was tested
    smallest_change: float | None  # as the allowance, see `suite.compare.verdicts.Comparison`
    allowance: float
    reason: str | None  # why it is incomparable, or, after "disturbed: ", unresolved

    @property
    def differs(self) -> bool:
        """Whether the case is faster or slower."""
        return self.word in {"faster", "slower"}

    @property
    def is_disturbed(self) -> bool:
        """Whether nothing is said because the runs were disturbed unlike."""
        return self.word == "unresolved" and self.reason is not None


class Unmatched(Struct, frozen=True):
    """A case that only one of the runs measured."""

    fullname: str
    measured_in: Side
    reason: str  # what the other run says of it
    headline: bool

    @property
    def failed_in(self) -> Side | None:
        """The run that the case failed in, if it did."""
        if not self.reason.startswith("failed"):
            return None
        return "new" if self.measured_in == "base" else "base"


class RunComparison(Struct, frozen=True, kw_only=True):
    """Two runs, or two versions in one, by name; case by case in the order of the base run."""

    base: str
    new: str
    cases: list[CaseComparison]
    faults: list[str]  # errors of a whole run; any makes every case incomparable
    counts: dict[VerdictWord, int]
    unmatched: list[Unmatched] = []
    differences: list[Difference] = []  # that move numbers; any makes every case incomparable
    across: list[Difference] = []  # facts whose difference is the question, equal ones too
    harmless: list[Difference] = []  # facts that differ and prevent no verdict
    learned_from: int = 0  # other stored runs of the machine, from which the allowances are learned
    base_project: Project | None = None  # whose code was measured, where that is stored; another
    new_project: Project | None = None  # commit keeps no case from its verdict


Names = Callable[[str], str]
"""Makes those names equal that count as equal: `str` none, `kind` those of accelerators."""
MUCH_LONGER = 2.0
"""Times the time for a case in a launch from which an accelerator was in another state: one that
works on end becomes slower."""
_ACCELERATOR = re.compile(r"[a-z]\w*:\d+")


class Pair(NamedTuple):
    """A case in two runs, and the reason if its times cannot be compared."""

    base: Case
    new: Case
    reason: str | None


class Matched(NamedTuple):
    """The cases of two runs."""

    pairs: list[Pair]  # in the order of the base run
    unmatched: list[Unmatched]
    faults: list[str]  # errors of a whole run; with any, each pair has a reason


def match(
    base: Run, new: Run, keyed: Callable[[Run], Mapping[Any, Case]], names: Names = str
) -> Matched:
    """Pair the cases that have the same key in two runs."""
    before, after = keyed(base), keyed(new)
    errors = [*faults(base, " in base"), *faults(new, " in new")]
    failed_before, failed_after = failures(base, " in base"), failures(new, " in new")
    pairs = []
    for key, old in before.items():
        if late := after.get(key):
            failed = failed_before.get(old.fullname) or failed_after.get(late.fullname)
            reason = next(iter(errors), None) or failed or other_thing(old, late, names)
            pairs.append(Pair(old, late, reason))
    only_before = _absent(before, after, new, "base", names)
    return Matched(pairs, only_before + _absent(after, before, base, "new", names), errors)


@lru_cache(maxsize=2**12)  # a run has few names of devices, and thousands of places for them
def kind(name: str) -> str:
    """Replace the names of accelerators, such as ``cuda:0``, by what they are."""
    return _ACCELERATOR.sub("accelerator", name)


def failures(run: Run, where: str) -> dict[str, str]:
    """Return why samples count for nothing, by the case's full name; `where` names the run."""
    reasons = {case: error for case, error in _errors(run, where) if case is not None}
    reasons |= {
        outcome.fullname: f"failed{where}: {outcome.reason}"
        for outcome in run.frobench.outcomes
        if outcome.status == "failed"
    }
    for case in run.benchmarks:
        check = case.extra_info.check
        if check is not None and not check.passed:
            reasons[case.fullname] = f"wrong result{where}: {check.compared}"
    return reasons


def faults(run: Run, where: str) -> list[str]:
    """Return why no sample of a run counts, a line each: the errors that name no case."""
    return [error for case, error in _errors(run, where) if case is None]


def other_thing(old: Case, late: Case, names: Names = str) -> str | None:
    """Say why two measurements of a case are not of the same thing, or ``None``."""
    before, after = old.extra_info, late.extra_info
    if before.version != after.version:
        return f"another version of the benchmark: {before.version} -> {after.version}"
    if [*map(names, before.devices)] != [*map(names, after.devices)]:
        return f"other devices: {', '.join(before.devices)} -> {', '.join(after.devices)}"
    if before.search and after.search and before.search.shape != after.search.shape:
        shapes = (" x ".join(map(str, search.shape)) for search in (before.search, after.search))
        return f"another shape was found: {' -> '.join(shapes)}"
    if before.check and after.check and before.check.precision != after.check.precision:
        return f"other precision: {before.check.precision} -> {after.check.precision}"
    return None


def other_time(base: Run, new: Run, old: Case, late: Case) -> str | None:
    """Say if a case on an accelerator was sampled for another time, or return ``None``.

    A call so short that both runs stop at the same number of samples took no other time.
    """
    if all(map(is_cpu, old.extra_info.devices)):
        return None
    seconds = [run.frobench.settings.case_seconds for run in (base, new)]
    counts = [median(list(filter(None, case.extra_info.launches)) or [1]) for case in (old, late)]
    if min(max(pair) / min(pair) for pair in (seconds, counts)) < MUCH_LONGER:
        return None
    before, after = seconds
    return f"another time for a case on an accelerator: {before:g} s -> {after:g} s in a launch"


def _absent(
    mine: Mapping[Any, Case], theirs: Container[Any], other: Run, side: Side, names: Names
) -> list[Unmatched]:
    return [
        Unmatched(case.fullname, side, _absence(case, other, names), case.extra_info.headline)
        for key, case in mine.items()
        if key not in theirs
    ]


def _absence(case: Case, other: Run, names: Names) -> str:
    needed, there = (
        sum(kind(name) == "accelerator" for name in devices)
        for devices in (case.extra_info.devices, other.frobench.settings.devices)
    )
    if needed > there:
        return f"{counted(there, 'accelerator')} measured there"
    for outcome in other.frobench.outcomes:
        if names(outcome.fullname) == names(case.fullname):
            return f"{outcome.status} there: {outcome.reason}"
    return "not selected there"


def _errors(run: Run, where: str) -> Iterator[tuple[str | None, str]]:
    for conclusion in run.frobench.conclusions:
        if conclusion.severity == "error":
            yield conclusion.case, f"{conclusion.code}{where}: {conclusion.message}"


Key = tuple[str, tuple[tuple[str, Scalar], ...]]


def match_machines(base: Run, new: Run) -> Matched:
    """Pair each case with the one that does the same work, whatever its device's name."""
    return match(base, new, by_key, kind)


def by_key(run: Run) -> dict[Key, Case]:
    """Return the cases by what they do, the first where a machine has two kinds of accelerator."""
    cases: dict[Key, Case] = {}
    for case in run.benchmarks:
        params = case.params | {"device": device_kind(case)}
        cases.setdefault((benchmark_of(case.fullname), tuple(sorted(params.items()))), case)
    return cases


def device_kind(case: Case) -> str:
    """Return the kinds of the devices that take part, such as ``accelerator``."""
    return kind(str(case.params.get("device", case.extra_info.device)))
