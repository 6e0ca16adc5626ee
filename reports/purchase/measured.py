# SPDX-License-Identifier: MIT
"""Stored runs as comparisons take them: which cases can stand in a ratio, and their launches."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from frobench.reports.purchase.comparison import Amount, AxisValue, Rate
from frobench.reports.purchase.ratios import Launches
from frobench.reports.summary.device_axes import device_axes
from frobench.reports.table.launches import Numbers
from frobench.reports.table.times import ON_CPU, left_out, parts_of
from frobench.reports.table.workloads import on_cpu
from frobench.suite import checks
from frobench.suite.compare.pairs import by_key, faults
from frobench.suite.statistics import case_medians
from frobench.suite.stored.types import Case, Estimate, Run


@dataclass(frozen=True)
class Measured:
    """A run with those of its cases that can stand in a ratio (`reports.table.times.left_out`).

    cases : by full name, each with its row in `launches`
    left_out : why the other cases have no ratio, by full name
    parts : by full name, the part of the workloads that a case belongs to, and its kind; of cases
        on an accelerator, or on the CPU where no other was measured
    rates : the best ones of its device; none of a run with an error
    axes, load : what its first device does, and draws under load; none of a run with an error
    """

    run: Run
    launches: Launches
    cases: dict[str, tuple[Case, int]]
    left_out: dict[str, str]
    parts: dict[str, tuple[str, str]]
    rates: list[Rate]
    axes: list[AxisValue]
    load: Amount | None

    @classmethod
    def of(cls, run: Run) -> "Measured":
        """Look at each case once, the first where a machine has several equal devices."""
        cases = {case.fullname: case for case in by_key(run).values()}
        medians = {name: case_medians(case) for name, case in cases.items()}
        why = left_out(run, medians)
        names = [name for name in cases if name not in why]
        launches = Launches.of(together([_positive(medians[name]) for name in names]))
        kept = {name: (cases[name], row) for row, name in enumerate(names)}
        alone = all(on_cpu(cases[name]) for name in names)
        parts = {
            name: (part.removesuffix(ON_CPU), kind)
            for name, (part, kind) in parts_of(run).items()
            if name in kept and part.endswith(ON_CPU) == alone
        }
        rates, (axes, load) = ([], ([], None)) if faults(run, "") else (_rates(run), _axes(run))
        return cls(run, launches, kept, why, parts, rates, axes, load)


def joules(case: Case) -> list[float] | None:
    """Return what a call took in each launch, NaN where one did not tell; ``None`` where none."""
    found = _positive(case.extra_info.energy.joules if case.extra_info.energy else [])
    return None if all(map(math.isnan, found)) else found


def together(rows: Sequence[Sequence[float]]) -> Numbers:
    """Put the launches of cases together, without those in which nothing was measured."""
    values = np.array(rows, dtype=float, ndmin=2)
    return values[:, ~np.isnan(values).all(axis=0)]


def _rates(run: Run) -> list[Rate]:
    axes = device_axes(checks.credible(run)).axes
    compute = (one for one in axes if one.name == "compute")
    return [Rate(one.precision, *_with_ends(one.value)) for one in compute]


def _axes(run: Run) -> tuple[list[AxisValue], Amount | None]:
    known = device_axes(checks.credible(run))
    axes = [
        AxisValue(one.name, one.precision, one.unit, *_with_ends(one.value)) for one in known.axes
    ]
    return axes, Amount(*_with_ends(known.watts)) if known.watts else None


def _with_ends(value: Estimate) -> tuple[float, float | None, float | None]:
    return value.value, value.low, value.high


def _positive(values: Iterable[float | None]) -> list[float]:
    return [one if one is not None and one > 0 else math.nan for one in values]
