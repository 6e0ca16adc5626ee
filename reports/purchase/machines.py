# SPDX-License-Identifier: MIT
"""Stored runs of several machines to the comparison that a buyer sees."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

import numpy as np

from reports.findings.finding import exercise_title
from reports.purchase.comparison import (
    Comparison,
    Exercise,
    Less,
    Machine,
    PartSpeeds,
    Rent,
    ScoredPart,
)
from reports.purchase.measured import Measured, joules, together
from reports.purchase.prices import HOUR, Price, total
from reports.purchase.ratios import Launches, Ratios, Rows, against
from reports.summary import views
from reports.table.centres import Values
from reports.table.equipment import around, equipment
from reports.table.exercise_names import ON_CPU, exercise
from reports.table.facts import machine_title
from reports.table.workloads import table
from suite.compare.alike import faults, kind
from suite.compare.machines import Pair, match
from suite.stored.names import name_of
from suite.terminal.comparison_words import grouped

SUFFIX = ".html"
DECIMALS, DIGITS = 9, 6
"""To which logs are rounded, and variances: further ones differ between processors."""


def compare_measured(
    measured: Mapping[str, Measured], reference: str, prices: Sequence[Price] = ()
) -> Comparison:
    """Hold machines beside a reference, which is among them.

    Parameters
    ----------
    measured
        By the address of each run's page, seen from the site's root.
    reference
        The address of one of them.
    prices
        Of devices; without any, no price is known.
    """
    base = measured[reference]
    exercises = _exercises(base)
    return Comparison(
        approximate=False,
        reference=reference.removesuffix(SUFFIX),
        exercises=exercises,
        workloads=table().workloads,
        parts=_parts(base),
        machines=[
            _machine(address, _Beside(base, one, exercises), prices)
            for address, one in measured.items()
        ],
    )


def _exercises(base: Measured) -> list[Exercise]:
    """Return the reference's exercises; those on the CPU have weight where there are no others."""
    counts = Counter(exercise(case) for case, _ in base.cases.values())
    elsewhere = any(not name.endswith(ON_CPU) for name in counts)
    return [
        Exercise(
            name=name,
            title=_title(name),
            total=number,
            weight=0.0 if elsewhere and name.endswith(ON_CPU) else 1.0,
        )
        for name, number in counts.items()
    ]


def _parts(base: Measured) -> list[ScoredPart]:
    """Return the parts that the reference measured, in the table's order."""
    totals = Counter(part.name for part, _ in base.parts.values())
    return [
        ScoredPart(name=part.name, title=part.title, total=totals[part.name], weights=part.weights)
        for part in table().parts
        if totals[part.name]
    ]


def _title(name: str) -> str:
    words = exercise_title(name.removesuffix(ON_CPU))
    return f"{words}, on the CPU" if name.endswith(ON_CPU) else words


@dataclass(frozen=True)
class _Beside:
    """A machine beside the reference; the reference is as fast as itself, and surely so."""

    base: Measured
    one: Measured
    exercises: list[Exercise]

    @cached_property
    def matched(self) -> tuple[list[Pair], dict[str, str], list[str]]:
        """The cases that have a ratio; why others of the reference have none; what is beyond."""
        found = match(self.base.run, self.one.run)
        common, missing = [], {}
        for pair in found.pairs:
            reason = self.one.left_out.get(pair.new.fullname) or pair.reason
            if reason:
                missing[pair.base.fullname] = reason
            elif pair.base.fullname in self.base.cases:
                common.append(pair)
        missing |= {
            each.fullname: each.reason for each in found.unmatched if each.measured_in == "base"
        }
        beyond = [
            each.fullname
            for each in found.unmatched
            if each.measured_in == "new" and each.fullname in self.one.cases
        ]
        known = {name: why for name, why in missing.items() if name in self.base.cases}
        return common, known, beyond

    @cached_property
    def rows(self) -> dict[str, Rows]:
        """The common cases' rows, by exercise; none where there is no common case."""
        rows: dict[str, list[tuple[int, int]]] = {one.name: [] for one in self.exercises}
        for pair in self.matched[0]:
            mine, its = self.base.cases[pair.base.fullname], self.one.cases[pair.new.fullname]
            rows[exercise(pair.base)].append((mine[1], its[1]))
        return dict(rows)

    def ratios(self) -> Ratios:
        if self.base is self.one:
            return _itself(len(self.exercises))
        weights = [each.weight for each in self.exercises]
        return against(self.base.launches, self.one.launches, list(self.rows.values()), weights)

    def parts(self) -> PartSpeeds:
        """Return how fast the machine is in the parts of the workloads."""
        names = [part.name for part in _parts(self.base)]
        rows: dict[str, list[tuple[int, int]]] = {name: [] for name in names}
        kinds: dict[str, list[str]] = {name: [] for name in names}
        for pair in self.matched[0]:
            if known := self.base.parts.get(pair.base.fullname):
                part, kind = known
                mine, its = self.base.cases[pair.base.fullname], self.one.cases[pair.new.fullname]
                rows[part.name].append((mine[1], its[1]))
                kinds[part.name].append(kind)
        counts = {name: len(its) for name, its in rows.items()}
        if self.base is self.one:
            found = _itself(len(names))
        else:
            sides = self.base.launches, self.one.launches
            shares = [*map(_shares, kinds.values())]
            found = against(*sides, list(rows.values()), [1.0] * len(names), shares)
        spread = None if found.covariance is None else _rounded(found.covariance)
        return PartSpeeds(
            logs=_logs(names, found),
            covariance=spread and [row[: i + 1] for i, row in enumerate(spread)],
            quantile=_quantile(found),
            counts=counts,
        )

    def bound(
        self, choose: Callable[[Iterable[float]], float], logs: Mapping[str, float]
    ) -> dict[str, float | None]:
        """Return what the logs would be if all that is missing were like the best (worst) there."""
        found: dict[str, float | None] = {}
        for each in self.exercises:
            on_cpu = each.name.endswith(ON_CPU)
            alike = [log for name, log in logs.items() if name.endswith(ON_CPU) == on_cpu]
            ratios = [
                float(self.base.launches.centre[mine] - self.one.launches.centre[its])
                for mine, its in self.rows[each.name]
            ]
            if ratios:
                filled = [*ratios, *[choose(ratios)] * (each.total - len(ratios))]
                found[each.name] = round(fmean(filled), DECIMALS)
            else:
                found[each.name] = choose(alike) if alike else None
        return found

    def energy(self) -> Less | None:
        """Compare the joules of a call, over the cases with weight that tell them on both sides."""
        counting = {each.name for each in self.exercises if each.weight > 0}
        pairs = [pair for pair in self.matched[0] if exercise(pair.base) in counting]
        both = [(joules(pair.base), joules(pair.new)) for pair in pairs]
        told = [(mine, its) for mine, its in both if mine is not None and its is not None]
        if not told:
            return None
        sides = [Launches.of(together(side)) for side in zip(*told, strict=True)]
        every = [(row, row) for row in range(len(told))]
        same = self.base is self.one
        ratios = _itself(1) if same else against(sides[0], sides[1], [every], [1.0])
        return Less(
            log=round(float(ratios.logs[0]), DECIMALS),
            variance=None if ratios.covariance is None else _rounded(ratios.covariance)[0][0],
            quantile=_quantile(ratios),
            cases=len(told),
        )


def _shares(kinds: Sequence[str]) -> list[float]:
    """Return how much each case counts: every kind the same, and every case of a kind."""
    cases = Counter(kinds)
    return [1 / len(cases) / cases[kind] for kind in kinds]


def _logs(names: Iterable[str], ratios: Ratios) -> dict[str, float]:
    return {
        name: round(float(log), DECIMALS)
        for name, log in zip(names, ratios.logs, strict=True)
        if not np.isnan(log)
    }


def _itself(exercises: int) -> Ratios:
    return Ratios(np.zeros(exercises), np.zeros((exercises, exercises)), 0.0)


def _rent(price: Price) -> Rent:
    return Rent(
        price=price.price,
        currency=price.currency,
        date=price.date,
        kind=price.kind,
        source=price.source,
    )


def _machine(address: str, beside: _Beside, prices: Sequence[Price]) -> Machine:
    base, one = beside.base.run.frobench, beside.one.run.frobench
    bought = equipment(one.environment, one.settings.devices)
    price, rent = total(prices, bought), total(prices, bought, HOUR)
    _, missing, beyond = beside.matched
    if beside.base is beside.one:
        missing = beside.one.left_out
    ratios = beside.ratios()
    logs = _logs(beside.rows, ratios)
    return Machine(
        run=address.removesuffix(SUFFIX),
        title=machine_title(beside.one.run),
        href=address,
        device=bought.device,
        count=bought.count,
        watts=bought.watts,
        watts_source=bought.watts_source,
        load=beside.one.load,
        axes=beside.one.axes,
        memory_bytes=bought.memory_bytes,
        price=price.price if price else None,
        currency=price.currency if price else None,
        price_date=price.date if price else None,
        price_kind=price.kind if price else None,
        price_source=price.source if price else None,
        rent=_rent(rent) if rent else None,
        measured=beside.one.run.datetime[:10],
        invalid=next(iter(faults(beside.one.run, "")), ""),
        doubts=views.doubt_counts(beside.one.run, views.marks(beside.one.run)),
        logs=logs,
        covariance=None if ratios.covariance is None else _rounded(ratios.covariance),
        quantile=_quantile(ratios),
        counts={name: len(rows) for name, rows in beside.rows.items()},
        beyond=dict(Counter(exercise(beside.one.cases[name][0]) for name in beyond)),
        best=beside.bound(max, logs),
        worst=beside.bound(min, logs),
        parts=beside.parts(),
        energy=beside.energy(),
        rates=beside.one.rates,
        differs=around(base.environment, one.environment),
        missing=grouped((kind(name_of(name)), why) for name, why in missing.items()),
    )


def _rounded(matrix: Values) -> list[list[float]]:
    return [[float(f"{value:.{DIGITS}g}") for value in row] for row in matrix.tolist()]


def _quantile(ratios: Ratios) -> float | None:
    return None if ratios.quantile is None else round(ratios.quantile, DECIMALS)
