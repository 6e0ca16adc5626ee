# SPDX-License-Identifier: MIT
"""What comparisons say, as typed structs; `frobench compare --json` prints them."""

from typing import Literal

from msgspec import Struct

from suite.stored.basics import VerdictWord
from suite.stored.differences import Difference, Likeness
from suite.stored.run import Estimate, Project

Side = Literal["base", "new"]


class CaseComparison(Struct, frozen=True, kw_only=True):
    """One case in two runs, or two versions of its body in one.

    base, new : seconds
    headline : whether the answers need this case; the verdict does not depend on it
    ratio : new / base with its interval, widened by the allowance; below 1 is faster
    clock : how many times as slow the cores ran in the new run, where the ratio is relative to
        them; ``None`` where it is not
    p_value : of the case among all that were judged together; ``None`` where nothing was tested
    smallest_change, allowance : see `suite.compare.rank_tests.Comparison`
    overlap : whether the intervals of base and new overlap; ``None`` where one has none
    reason : why the case is incomparable, or, beginning with "disturbed: ", why it is unresolved
    """

    fullname: str
    group: str
    headline: bool
    word: VerdictWord
    base: Estimate
    new: Estimate
    ratio: Estimate
    p_value: float | None
    smallest_change: float | None
    allowance: float
    clock: float | None = None
    overlap: bool | None
    reason: str | None

    @property
    def differs(self) -> bool:
        """Whether the case is faster or slower."""
        return self.word in {"faster", "slower"}

    @property
    def is_disturbed(self) -> bool:
        """Whether nothing is said because the runs were disturbed unlike."""
        return self.word == "unresolved" and self.reason is not None


class Unmatched(Struct, frozen=True):
    """A case that only one of the runs measured; the reason is what the other run says of it."""

    fullname: str
    measured_in: Side
    reason: str
    headline: bool


class RunComparison(Struct, frozen=True, kw_only=True):
    """Two runs, case by case in the order of the base run.

    base, new : names of the runs
    faults : errors of a whole run, as its checks found them; any makes every case incomparable
    environments : in a word, how the machines and their software compare
    differences : facts that matter and differ; any makes every case incomparable
    across : facts whose difference is the question, with their values, equal ones too
    harmless : facts that differ and prevent no verdict
    learned_from : other stored runs of the machine from which the allowances were learned
    overlapping, with_intervals : cases whose two intervals overlap, and cases with both
    base_project, new_project : whose code was measured, where that is stored; that the commits
        differ keeps no case from its verdict
    """

    base: str
    new: str
    cases: list[CaseComparison]
    unmatched: list[Unmatched]
    faults: list[str]
    environments: Likeness
    differences: list[Difference]
    across: list[Difference]
    harmless: list[Difference]
    counts: dict[VerdictWord, int]
    learned_from: int
    overlapping: int
    with_intervals: int
    base_project: Project | None = None
    new_project: Project | None = None


class VersionComparison(Struct, frozen=True, kw_only=True):
    """The cases of a run whose body was measured beside another version of it, the base.

    faults : errors of the whole run; any makes every case incomparable
    """

    run: str
    cases: list[CaseComparison]
    faults: list[str]
    counts: dict[VerdictWord, int]


class CaseRatio(Struct, frozen=True, kw_only=True):
    """One case on two machines; the devices may differ in name, not in kind.

    place : the kinds of the devices that take part, such as ``accelerator``
    base, new : seconds
    speed : how many times as fast the new machine is, base / new, with its interval; ``None`` where
        the two are not of the same thing
    reason : why they are not
    """

    base_case: str
    new_case: str
    group: str
    place: str
    base: Estimate
    new: Estimate
    speed: Estimate | None
    reason: str | None


class MachineComparison(Struct, frozen=True, kw_only=True):
    """Two machines side by side, without a verdict.

    faults : errors of a whole run; with any there is no ratio
    differences : facts that differ and move numbers
    """

    base: str
    new: str
    base_machine: str
    new_machine: str
    ratios: list[CaseRatio]
    unmatched: list[Unmatched]
    faults: list[str]
    differences: list[Difference]
