# SPDX-License-Identifier: MIT
"""What an exercise answers with: findings, and plots that carry their own table."""

from dataclasses import dataclass
from typing import Literal, Self

from frobench.suite import units
from frobench.suite.stored.types import Estimate

RATIO = units.RATIO

ABSENT = "Not measured: "
"""How the answer of a finding begins that lacks what it needs; the reason follows."""
PlotKind = Literal["curve", "points", "dots", "stack"]


@dataclass(frozen=True)
class Finding:
    """An answer computed from cases.

    name : short and stable, so that runs can be compared by it
    answer : one sentence with the number and its interval, or the reason why there is none
    value : the estimate behind the sentence, in ``unit``; ``None`` where nothing was measured or
        the answer is not a number
    label : what ``value`` is, in a few words
    by_launch : the values of the launches that the estimate was made from
    cases : full names of the cases it was computed from
    rule_of_thumb : what to do; empty where the number supports no advice
    brief : the answer without further clauses; empty where it has no number
    at_least : whether the answer leads with the largest launch, which stands however wide the
        interval is
    """

    name: str
    question: str
    answer: str
    value: Estimate | None = None
    unit: str = ""
    label: str = ""
    by_launch: tuple[float, ...] = ()
    cases: tuple[str, ...] = ()
    rule_of_thumb: str = ""
    brief: str = ""
    at_least: bool = False

    @classmethod
    def missing(cls, name: str, question: str, reason: object) -> Self:
        """Return an answer that says only why there is none."""
        return cls(name, question, f"{ABSENT}{reason}.")

    @property
    def absent(self) -> str:
        """Why there is no answer; empty where there is one."""
        reason = self.answer.removeprefix(ABSENT).removesuffix(".")
        return reason if self.answer.startswith(ABSENT) else ""


@dataclass(frozen=True)
class Axis:
    """What an axis shows, and in which unit (empty for a plain number)."""

    label: str
    unit: str = ""


@dataclass(frozen=True)
class Point:
    """One estimate at a size or in a category, with the cases behind it."""

    x: float | str
    y: Estimate
    cases: tuple[str, ...] = ()


@dataclass(frozen=True)
class Series:
    """Points that belong together: a line, a kind of dot, or a part of a stack."""

    label: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Plot:
    """A chart and its table in one.

    kind : ``curve`` or single ``points`` over sizes, ``dots`` over categories, or parts that
        ``stack`` to a whole
    reference_label, reference : a level worth a line of its own, such as a speed-up of 1, if named
    whole : for a stack, the sum as it was measured by itself
    lines : for curves and points, what bounds them, such as the rate of a link, one for each
        series in order if there are as many
    result : what the chart shows, where a sentence says it better than the title
    """

    name: str
    title: str
    kind: PlotKind
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    reference_label: str = ""
    reference: float = 1.0
    whole: Series | None = None
    lines: tuple[Series, ...] = ()
    result: str = ""

    @property
    def shows_more_than_one(self) -> bool:
        """Whether there is something to draw: a curve of a single size is a number, not a line."""
        return self.kind != "curve" or any(len(series.points) > 1 for series in self.series)


def exercise_title(name: str) -> str:
    """Return an exercise's name as every page has it: ``norm_logging`` is "Norm logging"."""
    return name.replace("_", " ").capitalize()
