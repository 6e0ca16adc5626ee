# SPDX-License-Identifier: MIT
"""Cases asked for by function and parameters, launch by launch, and why one is missing.

Cases of one launch share a process, its clock and its neighbours. So everything is computed
within each launch, and only what comes out is estimated over launches.
"""

import operator
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress, product
from statistics import median
from typing import Any, Self

import numpy as np
import pandas as pd

from reports.findings.finding import RATIO, Point, Series
from reports.table.frame import facts, function_of
from reports.table.launches import ByLaunch, Medians, Numbers
from suite.statistics import estimate
from suite.stored.names import is_cpu, nodes_of
from suite.stored.run import Case, Run, Scalar
from suite.units import counted

Known = np.ndarray[Any, np.dtype[np.bool_]]
Indices = np.ndarray[Any, np.dtype[np.intp]]


class NotMeasuredError(Exception):
    """What an answer needs is not in the run; the message is the reason, as a reader sees it."""


@dataclass(frozen=True)
class Curve:
    """A number for each launch (rows) and each size (columns, ascending).

    Parameters
    ----------
    cases
        Full names of the cases behind each column.
    """

    numbers: Numbers
    launches: Indices
    cases: Mapping[float, tuple[str, ...]]

    @classmethod
    def of(cls, table: pd.DataFrame, cases: Mapping[float, tuple[str, ...]]) -> "Curve":
        """Return the curve of a table."""
        return cls(table[list(cases)].to_numpy(), table.index.to_numpy(), cases)

    @cached_property
    def table(self) -> pd.DataFrame:
        """The numbers with launches as index."""
        return pd.DataFrame(self.numbers, self.launches, self.sizes)

    def __truediv__(self, other: Self) -> "Curve":
        """Return ratios within each launch, where both have a number."""
        return self._combine(operator.truediv, other)

    def __sub__(self, other: Self) -> "Curve":
        """Return differences within each launch, where both have a number."""
        return self._combine(operator.sub, other)

    def __add__(self, other: Self) -> "Curve":
        """Return sums within each launch, where both have a number."""
        return self._combine(operator.add, other)

    def _combine(self, how: Callable[[Numbers, Numbers], Numbers], other: Self) -> "Curve":
        both = [size for size in self.cases if size in other.cases]
        launches, *rows = np.intersect1d(self.launches, other.launches, return_indices=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            numbers = how(self.on(both).numbers[rows[0]], other.on(both).numbers[rows[1]])
        known = np.any(~np.isnan(numbers), axis=0).tolist()
        if not any(known):
            raise NotMeasuredError("no launch measured a size on both sides")
        names = {x: (*self.cases[x], *other.cases[x]) for x in compress(both, known)}
        return Curve(numbers[:, known], launches, names)

    @property
    def sizes(self) -> list[float]:
        """The sizes, ascending."""
        return list(self.cases)

    def on(self, sizes: Sequence[float]) -> "Curve":
        """Return the curve on some of its sizes."""
        columns = [self.sizes.index(x) for x in sizes]
        return Curve(self.numbers[:, columns], self.launches, {x: self.cases[x] for x in sizes})

    def ends(self) -> "Curve":
        """Return the curve on its smallest and largest size."""
        return self.on(list(dict.fromkeys((self.sizes[0], self.sizes[-1]))))

    def at(self, x: float) -> pd.Series:
        """Return a column: the launches that have a number there."""
        numbers = self._column(x)
        known = ~np.isnan(numbers)
        return pd.Series(numbers[known], self.launches[known])

    def _column(self, x: float) -> Numbers:
        if x not in self.cases:
            raise NotMeasuredError(f"no launch has what is asked of size {x:,.10g}")
        return self.numbers[:, self.sizes.index(x)]

    def highest(self) -> float:
        """Return the size with the largest estimate."""
        medians = [median(column[~np.isnan(column)].tolist()) for column in self.numbers.T]
        return self.sizes[medians.index(max(medians))]

    def point(self, x: float, name: str = "") -> Point:
        """Return the estimate over launches in a column, as a point of a plot, maybe renamed."""
        numbers = self._column(x)
        return Point(name or x, estimate(numbers[~np.isnan(numbers)].tolist()), self.cases[x])

    def series(self, label: str) -> Series:
        """Return the estimates over launches as a series of a plot."""
        return Series(label, tuple(self.point(x) for x in self.cases))


class Cases:
    """The cases of one exercise of one run that passed, in the precision that they are named after.

    Numbers are called as in `reports.table.launches.ByLaunch`.
    """

    def __init__(self, run: Run, exercise: str, medians: Medians | None = None) -> None:
        self.run = run
        self.exercise = exercise
        found = [
            each
            for each in facts(run, exercise)
            if each[1]["status"] == "passed" and not _is_disguised(each[0])
        ]
        self._cases = [case for case, _ in found]
        self._facts = {case.fullname: one for case, one in found}
        self._named: dict[tuple[Scalar, Scalar], list[str]] = {}  # by function and device, or None
        for name, one in self._facts.items():
            for key in product((one["function"], None), (one["device"], None)):
                self._named.setdefault(key, []).append(name)
        self._place = {name: place for place, name in enumerate(self._facts)}
        self._numbers = ByLaunch(self._cases, medians)
        self._measured: dict[str, Known] = {}
        self._curves: dict[Hashable, Curve] = {}

    def names(self, **where: Scalar) -> tuple[str, ...]:
        """Return the full names of the cases with these parameters, in the order of the run."""
        among = self._named.get((where.pop("function", None), where.pop("device", None)), ())
        wanted = where.items()  # a view: what two tables have in common is found out at once
        return tuple(name for name in among if wanted <= self._facts[name].items())

    def values(self, column: str, **where: Scalar) -> list[Any]:
        """Return the distinct values of a column among the cases, in the order of the run."""
        found = [self._facts[name].get(column) for name in self.names(**where)]
        return [value for value in dict.fromkeys(found) if not pd.isna(value)]

    def curve(self, over: str, what: str = "seconds", **where: Scalar) -> Curve:
        """Return a column of the frame by launch and by a parameter that is a size.

        Raises
        ------
        NotMeasuredError
            No case has these parameters, such a size and this column.
        """
        key = over, what, frozenset(where.items())
        if key in self._curves:
            return self._curves[key]
        sizes = {name: self._facts[name].get(over) for name in self.names(**where)}
        sized = (
            (float(size), name)
            for name, size in sizes.items()
            if isinstance(size, int | float) and size > 0
        )
        found = self.by_size(sized, what)
        if found is None:
            raise NotMeasuredError(self.reason(**where))
        self._curves[key] = found
        return found

    def by_size(self, names: Iterable[tuple[float, str]], what: str = "seconds") -> Curve | None:
        """Return a column of the frame by launch for cases with their sizes, if any has it.

        Parameters
        ----------
        names
            Full names of cases that passed, each behind its size.
        """
        measured = self._known(what)
        anywhere = np.any(measured, axis=0).tolist()
        found = {size: (name,) for size, name in names if anywhere[self._place[name]]}
        if not found:
            return None
        cases = dict(sorted(found.items()))
        places = [self._place[name] for (name,) in cases.values()]
        launches = np.flatnonzero(measured[:, places].any(axis=1))
        return Curve(self._numbers[what][launches][:, places], launches, cases)

    def one(self, what: str = "seconds", **where: Scalar) -> pd.Series:
        """Return a column of the frame by launch for the one case with these parameters.

        Raises
        ------
        NotMeasuredError
            No case has these parameters and this column.
        """
        for name in self.names(**where):
            place = self._place[name]
            launches = np.flatnonzero(self._known(what)[:, place])
            if launches.size:
                return pd.Series(self._numbers[what][launches, place], launches)
        raise NotMeasuredError(self.reason(**where))

    def _known(self, what: str) -> Known:
        """Tell for each launch (rows) and case whether there is a number in a column."""
        if what not in self._measured:
            self._measured[what] = ~np.isnan(self._numbers[what])
        return self._measured[what]

    def passed(self) -> list[Case]:
        """Return the cases themselves, in the order of the run."""
        return self._cases

    def devices(self) -> list[str]:
        """Return the devices, or groups of them, that the cases ran on, the CPU first."""
        return sorted(self.values("device"), key=lambda device: not is_cpu(device))

    def reason(self, **where: Scalar) -> str:
        """Say why no case with these parameters was measured."""
        reasons = dict.fromkeys(
            reason
            for reason, known in self._missing
            if all(known.get(name, value) == value for name, value in where.items())
        )
        if reasons:
            first, *others = reasons
            return f"{first}; and {len(others)} other reasons" if others else first
        if not self.run.frobench.complete:
            return "the run ended before it"
        if expression := self.run.frobench.settings.expression:
            return f"not among the cases that -k {expression!r} selects"
        return "the run has no such case"

    def accelerator(self) -> str:
        """Return the first accelerator that was measured.

        Raises
        ------
        NotMeasuredError
            There is none, or it was left out on purpose.
        """
        chosen = [name for name in self.run.frobench.settings.devices if not is_cpu(name)]
        if chosen:
            return chosen[0]
        present = self.run.frobench.environment.accelerators
        raise NotMeasuredError("the run left the accelerator out" if present else "no accelerator")

    @cached_property
    def _missing(self) -> list[tuple[str, dict[str, Scalar]]]:
        """Why cases were not measured, and their parameters."""
        return [
            (outcome.reason, {**outcome.params, "function": function_of(outcome.fullname)})
            for outcome in self.run.frobench.outcomes
            if outcome.status != "passed" and outcome.reason and outcome.group == self.exercise
        ]


def _is_disguised(case: Case) -> bool:
    """Tell whether TF32 was allowed and float32 was made: older and other devices have no TF32."""
    check = case.extra_info.check
    asked = case.params.get("dtype")
    return asked == "tfloat32" and check is not None and check.precision == "float32"


def device_title(run: Run, device: str) -> str:
    """Name a device as people do: its model, or CPU; a group by its nodes and what each has."""
    names = device.split("+")
    if (group := nodes_of(device)) is not None:
        nodes, each = group
        return f"{counted(nodes, 'node')}{'' if is_cpu(device) else _each_with(run, device, each)}"
    if is_cpu(device):
        return "CPU" if len(names) == 1 else "two halves of the CPU"
    models = {f"{one.type}:{one.index}": one.name for one in run.frobench.environment.accelerators}
    titles = [models.get(name, name) for name in names]
    return titles[0] if len(names) == 1 else f"{len(names)}{RATIO} {titles[0]}"


def _each_with(run: Run, device: str, each: int) -> str:
    """Name what each node of a group has."""
    kind = device.partition("/")[0]
    known = run.frobench.environment.accelerators
    name = next((one.name for one in known if one.type == kind), kind)
    return f" with {each}{RATIO} {name}"


def the_device(run: Run, device: str) -> str:
    """Name a device as it stands in a sentence: the CPU, the NVIDIA H200, 4 nodes."""
    title = device_title(run, device)
    return title if "+" in device or nodes_of(device) else f"the {title}"
