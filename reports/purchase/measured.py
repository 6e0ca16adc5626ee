# SPDX-License-Identifier: MIT
"""Stored runs as comparisons take them: which cases can stand in a ratio, and their launches."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from reports.purchase.comparison import Amount, AxisValue, Rate
from reports.purchase.ratios import Launches, Values
from reports.summary.device_axes import device_axes
from reports.summary.headlines import figures
from reports.table.equipment import equipment
from reports.table.exercise_names import ON_CPU, exercise
from reports.table.workloads import Part, kind_of, on_cpu, part_of
from suite import checks
from suite.compare.alike import failures, faults
from suite.compare.pairing import by_key
from suite.statistics import LEAST_LAUNCHES, launch_medians
from suite.stored.names import is_cpu
from suite.stored.run import Case, Run
from suite.units import counted


@dataclass(frozen=True)
class Measured:
    """A run with those of its cases that can stand in a ratio.

    A case that failed or has an error cannot, nor any of a run with an error; nor, where others
    have the six launches of an interval, one that has fewer.

    Parameters
    ----------
    cases
        By full name, each with its row in `launches`.
    left_out
        Why the other cases have no ratio, by full name.
    parts
        By full name, the part of the workloads that a case belongs to, and its kind; of cases on
        an accelerator, or on the CPU where no other was measured.
    rates
        The best ones of its device; none of a run with an error.
    axes, load
        What its first device does, and draws under load; none of a run with an error.
    """

    run: Run
    launches: Launches
    cases: dict[str, tuple[Case, int]]
    left_out: dict[str, str]
    parts: dict[str, tuple[Part, str]]
    rates: list[Rate]
    axes: list[AxisValue]
    load: Amount | None

    @property
    def on_accelerator(self) -> bool:
        """Whether a case needs an accelerator."""
        return any(not exercise(case).endswith(ON_CPU) for case, _ in self.cases.values())

    @classmethod
    def of(cls, run: Run) -> "Measured":
        """Look at each case once, the first where a machine has several equal devices."""
        cases = {case.fullname: case for case in by_key(run).values()}
        seconds = {name: _seconds(case) for name, case in cases.items()}
        most = max((_known(one) for one in seconds.values()), default=0)
        least = LEAST_LAUNCHES if most >= LEAST_LAUNCHES else 1
        whole = next(iter(faults(run, "")), None)
        failed = failures(run, "")
        left_out = {
            name: reason
            for name, one in seconds.items()
            if (reason := whole or failed.get(name) or _too_few(_known(one), least))
        }
        names = [name for name in seconds if name not in left_out]
        launches = Launches.of(together([seconds[name] for name in names]))
        kept = {name: (cases[name], row) for row, name in enumerate(names)}
        parts = _parts([case for case, _ in kept.values()])
        rates, (axes, load) = ([], ([], None)) if whole else (_rates(run), _axes(run))
        return cls(run, launches, kept, left_out, parts, rates, axes, load)


def _parts(cases: Sequence[Case]) -> dict[str, tuple[Part, str]]:
    alone = all(map(on_cpu, cases))
    known = ((case, part_of(case)) for case in cases if on_cpu(case) == alone)
    return {case.fullname: (part, kind_of(case)) for case, part in known if part}


def joules(case: Case) -> list[float] | None:
    """Return what a call took in each launch, NaN where one did not tell; ``None`` where none."""
    told = case.extra_info.energy.joules if case.extra_info.energy else []
    found = [one if one and one > 0 else math.nan for one in told]
    return found if _known(found) else None


def together(rows: Sequence[Sequence[float]]) -> Values:
    """Put the launches of cases together, without those in which nothing was measured."""
    values = np.array(rows, dtype=float, ndmin=2)
    return values[:, ~np.isnan(values).all(axis=0)]


def _rates(run: Run) -> list[Rate]:
    bought = equipment(run.frobench.environment, run.frobench.settings.devices)
    found: dict[str, Rate] = {}
    for one in figures(checks.credible(run)):
        mine = is_cpu(one.place) == (not bought.accelerators)
        if mine and (one.quantity, one.unit) == ("matmul", "FLOP/s"):
            ends = one.value.low, one.value.high
            rate = Rate(precision=one.precision, value=one.value.value, low=ends[0], high=ends[1])
            found.setdefault(one.precision, rate)
    return list(found.values())


def _axes(run: Run) -> tuple[list[AxisValue], Amount | None]:
    known = device_axes(checks.credible(run))
    axes = [
        AxisValue(
            name=one.name,
            precision=one.precision,
            unit=one.unit,
            value=one.value.value,
            low=one.value.low,
            high=one.value.high,
        )
        for one in known.axes
    ]
    drawn = known.watts
    load = Amount(value=drawn.value, low=drawn.low, high=drawn.high) if drawn else None
    return axes, load


def _seconds(case: Case) -> list[float]:
    medians = launch_medians(case.stats.data, case.extra_info.launches)
    return [one if one is not None and one > 0 else math.nan for one in medians]


def _known(values: Iterable[float]) -> int:
    return sum(not math.isnan(value) for value in values)


def _too_few(known: int, least: int) -> str | None:
    return f"measured in {counted(known, 'launch')}" if known < least else None
