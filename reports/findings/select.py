# SPDX-License-Identifier: MIT
"""Cases asked for by function and parameters, launch by launch, and why one is missing.

Cases of one launch share a process, its clock and its neighbours. So everything is computed
within each launch, and only what comes out is estimated over launches.
"""

import operator
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import compress, product
from statistics import median
from typing import Any, NoReturn, Self, TypeVar

import numpy as np
import pandas as pd

from frobench.reports.findings.finding import RATIO, Point, Series
from frobench.reports.table.launches import ByLaunch, Numbers, facts
from frobench.suite.compare.runs import launch_ratios
from frobench.suite.statistics import Medians, estimate
from frobench.suite.stored.machine_identity import function_of, is_cpu, nodes_of
from frobench.suite.stored.types import Case, Run, Scalar
from frobench.suite.units import counted

Key = TypeVar("Key")
Made = TypeVar("Made")
Known = np.ndarray[Any, np.dtype[np.bool_]]
Indices = np.ndarray[Any, np.dtype[np.intp]]


class NotMeasuredError(Exception):
    """What an answer needs is not in the run; the message is the reason, as a reader sees it."""


@dataclass(frozen=True)
class Curve:
    """A number for each launch (rows) and each size (columns, ascending).

    cases : full names of the cases behind each column
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

    def by_size(self) -> "Curve":
        """Return the numbers times their sizes."""
        return Curve(self.numbers * self.sizes, self.launches, self.cases)

    def level(self, by_launch: pd.Series, *cases: str) -> "Curve":
        """Return a number that is the same at every size of this curve."""
        table = pd.DataFrame(dict.fromkeys(self.sizes, by_launch))
        return Curve.of(table, dict.fromkeys(self.sizes, cases))

    @property
    def sizes(self) -> list[float]:
        """The sizes, ascending."""
        return list(self.cases)

    @property
    def smallest(self) -> float:
        """The smallest size."""
        return min(self.cases)

    @property
    def largest(self) -> float:
        """The largest size."""
        return max(self.cases)

    def on(self, sizes: Sequence[float]) -> "Curve":
        """Return the curve on some of its sizes."""
        columns = [self.sizes.index(x) for x in sizes]
        return Curve(self.numbers[:, columns], self.launches, {x: self.cases[x] for x in sizes})

    def ends(self) -> "Curve":
        """Return the curve on its smallest and largest size."""
        return self.on(list(dict.fromkeys((self.smallest, self.largest))))

    def at(self, x: float) -> pd.Series:
        """Return a column: the launches that have a number there."""
        numbers = self._column(x)
        known = ~np.isnan(numbers)
        return pd.Series(numbers[known], self.launches[known])

    def _column(self, x: float) -> Numbers:
        if x not in self.cases:
            raise NotMeasuredError(f"no launch has what is asked of size {x:,.10g}")
        return self.numbers[:, self.sizes.index(x)]

    @cached_property
    def highest(self) -> float:
        """The size with the largest estimate."""
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

    Numbers are called as in `reports.table.launches.ByLaunch`. A number that no case with the
    asked parameters has raises `NotMeasuredError`.
    """

    def __init__(self, run: Run, exercise: str, medians: Medians | None = None) -> None:
        self.run = run
        self.exercise = exercise
        passed = [
            (case, row)
            for case, row in facts(run, exercise)
            if row["status"] == "passed" and not _is_disguised(case)
        ]
        self._cases = [case for case, _ in passed]
        self._facts = {case.fullname: row for case, row in passed}
        self._named: dict[tuple[Scalar, Scalar], list[str]] = {}  # by function and device, or None
        for name, row in self._facts.items():
            for key in product((row["function"], None), (row["device"], None)):
                self._named.setdefault(key, []).append(name)
        self._column = {name: column for column, name in enumerate(self._facts)}
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
        values = [self._facts[name].get(column) for name in self.names(**where)]
        return [value for value in dict.fromkeys(values) if not pd.isna(value)]

    def curve(self, over: str, what: str = "seconds", **where: Scalar) -> Curve:
        """Return a column of the frame by launch and by a parameter that is a size."""
        key = over, what, frozenset(where.items())
        if key not in self._curves:
            sizes = {name: self._facts[name].get(over) for name in self.names(**where)}
            sized = (
                (float(size), name)
                for name, size in sizes.items()
                if isinstance(size, int | float) and size > 0
            )
            self._curves[key] = self.by_size(sized, what, **where)
        return self._curves[key]

    def by_size(self, names: Iterable[tuple[float, str]], what: str, **where: Scalar) -> Curve:
        """Return a column of the frame by launch for cases, their full names behind their sizes."""
        measured = self._known(what)
        anywhere = np.any(measured, axis=0).tolist()
        cases = {size: (name,) for size, name in names if anywhere[self._column[name]]}
        if not cases:
            raise NotMeasuredError(self.reason(**where))
        cases = dict(sorted(cases.items()))
        columns = [self._column[name] for (name,) in cases.values()]
        launches = np.flatnonzero(measured[:, columns].any(axis=1))
        return Curve(self._numbers[what][launches][:, columns], launches, cases)

    def one(self, what: str = "seconds", **where: Scalar) -> pd.Series:
        """Return a column of the frame by launch for the one case with these parameters."""
        for name in self.names(**where):
            column = self._column[name]
            launches = np.flatnonzero(self._known(what)[:, column])
            if launches.size:
                return pd.Series(self._numbers[what][launches, column], launches)
        raise NotMeasuredError(self.reason(**where))

    def _known(self, what: str) -> Known:
        """Tell for each launch (rows) and case whether there is a number in a column."""
        if what not in self._measured:
            self._measured[what] = ~np.isnan(self._numbers[what])
        return self._measured[what]

    def proof(self, over: str, **where: Scalar) -> list[Curve]:
        """Return the part of the shareable time that lanes shared, and their times.

        These are seconds of the body, and of its control in turn; see `suite.concurrency`.
        """
        names = "concurrency", "at_once", "in_turn"
        return self._lanes("no control strictly in turn", over, *names, **where)

    def busy(self, over: str, **where: Scalar) -> Curve:
        """Return the seconds of work of all lanes together, without launch gaps."""
        (curve,) = self._lanes("the devices' busy time was not measured", over, "busy", **where)
        return curve

    def _lanes(self, missing: str, over: str, *names: str, **where: Scalar) -> list[Curve]:
        try:
            return [self.curve(over, f"part_{name}", **where) for name in names]
        except NotMeasuredError:
            if not self.names(**where):
                raise
            raise NotMeasuredError(missing) from None

    def where(self, **where: Scalar) -> list[Case]:
        """Return the cases with these parameters themselves, in the order of the run."""
        return [self._cases[self._column[name]] for name in self.names(**where)]

    def beside(self, **where: Scalar) -> pd.Series:
        """Return what a case with these parameters takes beside its other version, by launch."""
        for case in self.where(**where):
            if case.extra_info.against is not None:
                ratios = launch_ratios(case, case.extra_info.against)
                return pd.Series(ratios, dtype=float).dropna()
        raise NotMeasuredError(self.reason(**where))

    def devices(self) -> list[str]:
        """Return the devices, or groups of them, that the cases ran on, the CPU last."""
        return sorted(self.values("device"), key=is_cpu)

    def title(self, device: str) -> str:
        """Name a device as people do."""
        return device_title(self.run, device)

    def the(self, device: str) -> str:
        """Name a device as it stands in a sentence."""
        return the_device(self.run, device)

    def reason(self, **where: Scalar) -> str:
        """Say why no case with these parameters was measured."""
        reasons = dict.fromkeys(
            reason
            for reason, known in self.missing
            if all(known.get(name, value) == value for name, value in where.items())
        )
        if reasons:
            first, *others = reasons
            return f"{first}; and {counted(len(others), 'other reason')}" if others else first
        if not self.run.frobench.complete:
            return "the run ended before it"
        if expression := self.run.frobench.settings.expression:
            return f"not among the cases that -k {expression!r} selects"
        return "the run has no such case"

    def accelerator(self) -> str:
        """Return the first accelerator that was measured; raises if it was left out on purpose."""
        chosen = [name for name in self.run.frobench.settings.devices if not is_cpu(name)]
        if chosen:
            return chosen[0]
        present = self.run.frobench.environment.accelerators
        raise NotMeasuredError("the run left the accelerator out" if present else "no accelerator")

    def no_accelerator(self, function: str) -> NoReturn:
        """Say why nothing was measured on an accelerator, in place of an answer."""
        self.accelerator()
        raise NotMeasuredError(self.reason(function=function))

    @cached_property
    def missing(self) -> list[tuple[str, dict[str, Scalar]]]:
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


def common_sizes(curves: Iterable[Curve], reason: str) -> list[float]:
    """Return the sizes that all curves have, ascending; where there is none, raise the reason."""
    first, *others = [set(curve.sizes) for curve in curves] or [set[float]()]
    common = first.intersection(*others)
    if not common:
        raise NotMeasuredError(reason)
    return sorted(common)


def measured(compute: Callable[[Key], Made], keys: Iterable[Key]) -> dict[Key, Made]:
    """Return what a function makes of each key, as far as its cases were measured."""
    made = {}
    for key in keys:
        with suppress(NotMeasuredError):
            made[key] = compute(key)
    return made


def device_title(run: Run, device: str) -> str:
    """Name a device as people do: its model, or CPU; a group by its nodes and what each has."""
    names = device.split("+")
    accelerators = run.frobench.environment.accelerators
    if (group := nodes_of(device)) is not None:
        nodes, each = group
        kind = device.partition("/")[0]
        name = next((known.name for known in accelerators if known.type == kind), kind)
        return counted(nodes, "node") + ("" if is_cpu(device) else f" with {each}{RATIO} {name}")
    if is_cpu(device):
        return "CPU" if len(names) == 1 else "two halves of the CPU"
    models = {known.place: known.name for known in accelerators}
    title = models.get(names[0], names[0])
    return title if len(names) == 1 else f"{len(names)}{RATIO} {title}"


def the_device(run: Run, device: str) -> str:
    """Name a device as it stands in a sentence: the CPU, the NVIDIA H200, 4 nodes."""
    title = device_title(run, device)
    return title if "+" in device or nodes_of(device) else f"the {title}"


_remembered: ContextVar[tuple[Run, Callable[[str], Cases]] | None]
_remembered = ContextVar("remembered", default=None)


@contextmanager
def remembered(run: Run, medians: Medians | None = None) -> Iterator[None]:
    """Select the cases of each exercise of a run only once inside the block; do not change it.

    medians : see `reports.table.launches.ByLaunch`
    """
    token = _remembered.set((run, cache(lambda exercise: Cases(run, exercise, medians))))
    try:
        yield
    finally:
        _remembered.reset(token)


def cases_of(run: Run, exercise: str) -> Cases:
    """Return the cases of an exercise, those that are known if the run is `remembered`."""
    used, select = _remembered.get() or (None, None)
    return select(exercise) if select and used is run else Cases(run, exercise)
