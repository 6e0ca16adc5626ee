# SPDX-License-Identifier: MIT
"""Stored runs of several machines to the comparison that a buyer sees."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

import numpy as np

from frobench.reports.findings.finding import exercise_title
from frobench.reports.purchase.comparison import (
    Comparison,
    Exercise,
    Less,
    Machine,
    PartSpeeds,
    Rent,
    ScoredPart,
)
from frobench.reports.purchase.measured import Measured, joules, together
from frobench.reports.purchase.prices import HOUR, Price, total
from frobench.reports.purchase.ratios import Launches, Ratios, Rows, against
from frobench.reports.summary import views
from frobench.reports.table.equipment import around, equipment
from frobench.reports.table.facts import machine_title
from frobench.reports.table.times import ON_CPU, exercise
from frobench.reports.table.workloads import table
from frobench.suite.compare.pairs import Matched, Pair, faults, kind, match_machines
from frobench.suite.stored.differences import name_of
from frobench.suite.terminal.comparison import grouped

SUFFIX = ".html"
DECIMALS, DIGITS = 9, 6
"""To which logs are rounded, and variances: further ones differ between processors."""


def compare_measured(
    measured: Mapping[str, Measured], reference: str, prices: Sequence[Price] = ()
) -> Comparison:
    """Hold machines beside a reference, which is among them.

    measured : by the address of each run's page, seen from the site's root
    reference : the address of one of them
    """
    base = measured[reference]
    exercises, parts = _exercises(base), _parts(base)
    return Comparison(
        approximate=False,
        reference=reference.removesuffix(SUFFIX),
        exercises=exercises,
        workloads=table().workloads,
        parts=parts,
        machines=[
            _machine(address, _Beside(base, one, exercises, parts), prices)
            for address, one in measured.items()
        ],
    )


def _exercises(base: Measured) -> list[Exercise]:
    """Return the reference's exercises; those on the CPU have weight where there are no others."""
    counts = Counter(exercise(case) for case, _ in base.cases.values())
    alone = all(name.endswith(ON_CPU) for name in counts)
    return [
        Exercise(
            name=name,
            title=exercise_title(name.removesuffix(ON_CPU)) + ", on the CPU" * on_cpu,
            total=number,
            weight=0.0 if on_cpu and not alone else 1.0,
        )
        for name, number in counts.items()
        for on_cpu in [name.endswith(ON_CPU)]
    ]


def _parts(base: Measured) -> list[ScoredPart]:
    """Return the parts that the reference measured, in the table's order."""
    totals = Counter(part for part, _ in base.parts.values())
    return [
        ScoredPart(name=part.name, title=part.title, total=totals[part.name], weights=part.weights)
        for part in table().parts
        if totals[part.name]
    ]


@dataclass(frozen=True)
class _Beside:
    """A machine beside the reference, which is beside itself too."""

    base: Measured
    one: Measured
    exercises: list[Exercise]
    scored: list[ScoredPart]

    @cached_property
    def _matched(self) -> Matched:
        return match_machines(self.base.run, self.one.run)

    @cached_property
    def missing(self) -> dict[str, str]:
        """Why cases of the reference have no ratio; of the reference, why its cases have none."""
        if self.base is self.one:
            return self.one.left_out
        why = {
            pair.base.fullname: reason
            for pair in self._matched.pairs
            if (reason := self.one.left_out.get(pair.new.fullname) or pair.reason)
        }
        unmatched = (each for each in self._matched.unmatched if each.measured_in == "base")
        why |= {each.fullname: each.reason for each in unmatched}
        return {name: reason for name, reason in why.items() if name in self.base.cases}

    @cached_property
    def common(self) -> list[tuple[Pair, tuple[int, int]]]:
        """The cases that have a ratio, each with its rows in the launches of both."""
        cases = self.base.cases
        return [
            (pair, (cases[pair.base.fullname][1], self.one.cases[pair.new.fullname][1]))
            for pair in self._matched.pairs
            if pair.base.fullname in cases and pair.base.fullname not in self.missing
        ]

    def beyond(self) -> dict[str, int]:
        """Return how many comparable cases of its own the reference lacks, by exercise."""
        names = [one.fullname for one in self._matched.unmatched if one.measured_in == "new"]
        cases = self.one.cases
        return dict(Counter(exercise(cases[name][0]) for name in names if name in cases))

    @cached_property
    def rows(self) -> dict[str, Rows]:
        """The common cases' rows, by exercise; none where there is no common case."""
        rows: dict[str, list[tuple[int, int]]] = {one.name: [] for one in self.exercises}
        for pair, both in self.common:
            rows[exercise(pair.base)].append(both)
        return dict(rows)

    def ratios(self) -> Ratios:
        weights = [each.weight for each in self.exercises]
        return against(self.base.launches, self.one.launches, [*self.rows.values()], weights)

    def parts(self) -> PartSpeeds:
        """Return how fast the machine is in the parts of the workloads."""
        rows: dict[str, list[tuple[int, int]]] = {part.name: [] for part in self.scored}
        kinds: dict[str, list[str]] = {name: [] for name in rows}
        for pair, both in self.common:
            if pair.base.fullname in self.base.parts:
                part, kind = self.base.parts[pair.base.fullname]
                rows[part].append(both)
                kinds[part].append(kind)
        shares, weights = [*map(_shares, kinds.values())], [1.0] * len(rows)
        sides = self.base.launches, self.one.launches
        found = against(*sides, [*rows.values()], weights, shares)
        covariance = _covariance(found)
        return PartSpeeds(
            logs=_logs(rows, found),
            covariance=covariance and [row[: i + 1] for i, row in enumerate(covariance)],
            quantile=_quantile(found),
            counts={name: len(its) for name, its in rows.items()},
        )

    def bound(
        self, choose: Callable[[Iterable[float]], float], logs: Mapping[str, float]
    ) -> dict[str, float | None]:
        """Return what the logs would be if all that is missing were like the best (worst) there."""
        found: dict[str, float | None] = {}
        mine, its = self.base.launches.centre, self.one.launches.centre
        for each in self.exercises:
            on_cpu = each.name.endswith(ON_CPU)
            alike = [log for name, log in logs.items() if name.endswith(ON_CPU) == on_cpu]
            ratios = [float(mine[first] - its[second]) for first, second in self.rows[each.name]]
            if ratios:
                filled = [*ratios, *[choose(ratios)] * (each.total - len(ratios))]
                found[each.name] = round(fmean(filled), DECIMALS)
            else:
                found[each.name] = choose(alike) if alike else None
        return found

    def energy(self) -> Less | None:
        """Compare the joules of a call, over the cases with weight that tell them on both sides."""
        counting = {each.name for each in self.exercises if each.weight > 0}
        pairs = [pair for pair, _ in self.common if exercise(pair.base) in counting]
        both = [(joules(pair.base), joules(pair.new)) for pair in pairs]
        known = [(mine, its) for mine, its in both if mine is not None and its is not None]
        if not known:
            return None
        mine, its = (Launches.of(together(side)) for side in zip(*known, strict=True))
        every = [(row, row) for row in range(len(known))]
        ratios = against(mine, mine if self.base is self.one else its, [every], [1.0])
        covariance = _covariance(ratios)
        return Less(
            log=_logs([""], ratios)[""],
            variance=covariance[0][0] if covariance else None,
            quantile=_quantile(ratios),
            cases=len(known),
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


def _covariance(ratios: Ratios) -> list[list[float]] | None:
    if ratios.covariance is None:
        return None
    return [[float(f"{value:.{DIGITS}g}") for value in row] for row in ratios.covariance.tolist()]


def _quantile(ratios: Ratios) -> float | None:
    return None if ratios.quantile is None else round(ratios.quantile, DECIMALS)


def _machine(address: str, beside: _Beside, prices: Sequence[Price]) -> Machine:
    one, run = beside.one, beside.one.run
    environment = run.frobench.environment
    bought = equipment(environment, run.frobench.settings.devices)
    price, rent = total(prices, bought), total(prices, bought, HOUR)
    ratios = beside.ratios()
    logs = _logs(beside.rows, ratios)
    return Machine(
        run=address.removesuffix(SUFFIX),
        title=machine_title(run),
        href=address,
        device=bought.device,
        count=bought.count,
        watts=bought.watts,
        watts_source=bought.watts_source,
        load=one.load,
        axes=one.axes,
        memory_bytes=bought.memory_bytes,
        price=price.price if price else None,
        currency=price.currency if price else None,
        price_date=price.date if price else None,
        price_kind=price.kind if price else None,
        price_source=price.source if price else None,
        rent=Rent(*rent[2:7]) if rent else None,
        measured=run.datetime[:10],
        invalid=next(iter(faults(run, "")), ""),
        doubts=views.doubt_counts(run, views.marks(run)),
        logs=logs,
        covariance=_covariance(ratios),
        quantile=_quantile(ratios),
        counts={name: len(rows) for name, rows in beside.rows.items()},
        beyond=beside.beyond(),
        best=beside.bound(max, logs),
        worst=beside.bound(min, logs),
        parts=beside.parts(),
        energy=beside.energy(),
        rates=one.rates,
        differs=around(beside.base.run.frobench.environment, environment),
        missing=grouped((kind(name_of(name)), why) for name, why in beside.missing.items()),
    )
