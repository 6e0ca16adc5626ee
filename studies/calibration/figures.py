# SPDX-License-Identifier: MIT
"""What the studies find: figures in tables, each beside its goal where it has one."""

from typing import Self

from msgspec import Struct

RATIO = "\N{MULTIPLICATION SIGN}"
"""The unit of ratios (see `suite.units`)."""
LUCK = 0.001
"""The probability with which a sampled share that is as it should be may be called a miss."""


class Goal(Struct, frozen=True, omit_defaults=True):
    """The least and the most that a figure may be."""

    least: float | None = None
    most: float | None = None

    def holds(self, value: float) -> bool:
        """Tell whether a value is what it should be."""
        enough = self.least is None or value >= self.least
        return enough and (self.most is None or value <= self.most)


class Figure(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A number with its place in a table.

    unit : as `suite.units.format_value` has them
    met : whether it is what it should be; ``None`` without a goal
    trials : how often was tried what it is the share of
    """

    row: str
    column: str
    value: float
    unit: str = ""
    goal: Goal | None = None
    met: bool | None = None
    trials: int | None = None

    @classmethod
    def of(
        cls, row: str, column: str, value: float, unit: str = "", goal: Goal | None = None
    ) -> Self:
        """Judge a number that was not sampled, or that has to reach its goal as it is."""
        met = None if goal is None else goal.holds(value)
        return cls(row=row, column=column, value=value, unit=unit, goal=goal, met=met)


class Table(Struct, kw_only=True, omit_defaults=True):
    """Figures that are shown together.

    title : what was done, without a full stop
    rows : what a row stands for
    note : what is said below the table
    """

    title: str
    rows: str
    figures: list[Figure]
    note: str = ""


class Study(Struct, kw_only=True):
    """What one study found.

    date, commit, machine : when, of which revision of the suite, and on which kind of machine
    seconds : how long it took
    """

    date: str
    commit: str
    machine: str
    seconds: float
    tables: list[Table]

    @property
    def missed(self) -> list[Figure]:
        """The figures that are not what they should be."""
        return [one for table in self.tables for one in table.figures if one.met is False]


def most_by_luck(share: float, trials: int) -> float:
    """Return what a true share is seen to exceed in one of a thousand samples at most."""
    from scipy.stats import binom  # noqa: PLC0415 - half a second, and not for reading figures

    return float(binom.ppf(1 - LUCK, trials, share)) / trials


def errors(row: str, column: str, hits: int, trials: int, most: float | None = None) -> Figure:
    """Judge a sampled share of errors, which should be `most` at most, luck allowed for."""
    return Figure(
        row=row,
        column=column,
        value=hits / trials,
        unit="1",
        goal=None if most is None else Goal(most=most),
        met=None if most is None else hits / trials <= most_by_luck(most, trials),
        trials=trials,
    )


def bounded(
    row: str, hits: int, trials: int, most: float | None = None, bound: float | None = None
) -> list[Figure]:
    """Judge a share of errors, and its upper 95% bound by Clopper and Pearson.

    most, bound : of the share, and of the bound
    """
    from scipy.stats import beta  # noqa: PLC0415 - as above

    upper = float(beta.ppf(0.95, hits + 1, trials - hits)) if hits < trials else 1.0
    return [
        errors(row, "share", hits, trials, most),
        Figure.of(row, "of", trials, "n"),
        Figure.of(row, "upper bound", upper, "1", None if bound is None else Goal(most=bound)),
    ]
