# SPDX-License-Identifier: MIT
"""What comparisons say, as typed structs; `frobench compare --json` prints them."""

from typing import Literal

from msgspec import Struct

from frobench.suite.stored.basics import VerdictWord
from frobench.suite.stored.differences import Difference, Likeness
from frobench.suite.stored.run import Estimate, Project

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
    smallest_change: float | None  # as the allowance, see `suite.compare.rank_tests.Comparison`
    allowance: float
    clock: float | None = None  # the cores' time, new / base, if the ratio is relative to it
    overlap: bool | None  # of the intervals of base and new; None where one has none
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
    """Two runs, by their names, case by case in the order of the base run."""

    base: str
    new: str
    cases: list[CaseComparison]
    unmatched: list[Unmatched]
    faults: list[str]  # errors of a whole run; any makes every case incomparable
    environments: Likeness
    differences: list[Difference]  # facts that move numbers; any makes every case incomparable
    across: list[Difference]  # facts whose difference is the question, equal ones too
    harmless: list[Difference]  # facts that differ and prevent no verdict
    counts: dict[VerdictWord, int]
    learned_from: int  # other stored runs of the machine, from which the allowances were learned
    overlapping: int  # cases whose two intervals overlap
    with_intervals: int  # cases with both
    base_project: Project | None = None  # whose code was measured, where that is stored; another
    new_project: Project | None = None  # commit keeps no case from its verdict


class VersionComparison(Struct, frozen=True, kw_only=True):
    """The cases of a run whose body was measured beside another version of it, the base."""

    run: str
    cases: list[CaseComparison]
    faults: list[str]  # as for `RunComparison`
    counts: dict[VerdictWord, int]


class CaseRatio(Struct, frozen=True, kw_only=True):
    """One case on two machines; the devices may differ in name, not in kind."""

    base_case: str
    new_case: str
    group: str
    place: str  # the kinds of the devices that take part, such as "accelerator"
    base: Estimate
    new: Estimate
    speed: Estimate | None  # base / new; None where the two are not of the same thing
    reason: str | None  # why they are not


class MachineComparison(Struct, frozen=True, kw_only=True):
    """Two machines side by side, without a verdict."""

    base: str
    new: str
    base_machine: str
    new_machine: str
    ratios: list[CaseRatio]
    unmatched: list[Unmatched]
    faults: list[str]  # errors of a whole run; with any there is no ratio
    differences: list[Difference]  # facts that differ and move numbers
