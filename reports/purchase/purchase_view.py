# SPDX-License-Identifier: MIT
"""Machines side by side in order, with all that is said of them before anybody sets anything.

`static/purchase_view.js` does the same with what a reader sets.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from reports.findings.finding import RATIO
from reports.purchase.comparison import Comparison, Exercise, Machine
from reports.purchase.economics import (
    Amount,
    Overall,
    Speed,
    Use,
    overall,
    ownership,
    single,
)
from reports.purchase.measured import ON_CPU
from reports.purchase.ranking import Place, beside, places, surely

Across = Literal["price", "ownership", "watts", "memory"]
"""What speed is held against."""
USE = Use(hours_a_day=8, years=3, price_a_kwh=0.3)
"""What is assumed until a reader says otherwise."""
CURRENCY = "USD"
"""Where no price is known."""


@dataclass(frozen=True)
class Row:
    """A machine.

    Parameters
    ----------
    number
        From 0, in the order in which machines were given.
    letter
        What it is called in marks, and `name` in sentences.
    on_cpu
        Whether all that its overall ratio rests on ran on the CPU alone.
    amounts
        What it costs, draws (W) and holds (B); ``None`` where that is not known.
    each
        The same of one of its devices, to hold a ratio against: a case runs on equally many of
        either machine. ``None`` also of accelerators whose processor alone is in the ratio.
    place
        ``None`` without a speed.
    """

    machine: Machine
    number: int
    letter: str
    name: str
    is_reference: bool
    overall: Overall
    on_cpu: bool
    amounts: dict[Across, float | None]
    each: dict[Across, float | None]
    place: Place | None = None

    @property
    def speed(self) -> Speed | None:
        """Over all exercises that have a weight."""
        return self.overall.speed

    @property
    def ratio(self) -> Amount | None:
        """The same as a ratio with its interval."""
        return self.speed.ratio if self.speed else None


@dataclass(frozen=True)
class View:
    """Everything that the page shows of a comparison.

    Parameters
    ----------
    rows
        Machines, fastest first; those without a speed last.
    held
        The same machines beside each of them, by reference.
    apart
        The numbers of each two of which the first is surely faster.
    """

    comparison: Comparison
    currency: str
    rows: list[Row]
    held: Mapping[str, Comparison]
    apart: frozenset[tuple[int, int]] = frozenset()

    @property
    def ranked(self) -> list[tuple[Row, Speed]]:
        """The machines that have a speed."""
        return [(row, row.speed) for row in self.rows if row.speed]

    @property
    def reference(self) -> Row:
        """The machine that the others are held against."""
        return next(row for row in self.rows if row.is_reference)

    def faster(self, one: Row, other: Row) -> bool:
        """Tell whether a machine is surely faster than another."""
        return (one.number, other.number) in self.apart

    def beside(self, one: Row, other: Row) -> Speed | None:
        """Return how fast a machine is beside another, by the comparison of these two."""
        weights = {each.name: each.weight for each in self.comparison.exercises}
        return beside(self.held, one.machine.run, other.machine.run, weights)

    def singles(self, row: Row) -> list[tuple[Exercise, Amount]]:
        """Return the exercises with a weight in which a machine has a ratio, each with it."""
        found = (
            (one, single(self.comparison, row.machine, one.name))
            for one in self.comparison.exercises
            if one.weight > 0
        )
        return [(one, speed.ratio) for one, speed in found if speed]


def view(comparisons: Sequence[Comparison]) -> View:
    """Return what is shown with everything as it is usual.

    Parameters
    ----------
    comparisons
        Of the same machines, beside each of them; the first is the one that is shown.
    """
    comparison = comparisons[0]
    currency = next((one.currency for one in comparison.machines if one.currency), CURRENCY)
    names = _names(comparison.machines)
    rows = [_row(comparison, number, name, currency) for number, name in enumerate(names)]
    rows.sort(key=lambda row: -row.speed.log if row.speed else math.inf)
    found = View(comparison, currency, rows, {one.reference: one for one in comparisons})
    apart = frozenset(_apart(found))
    ranked = [row for row, _ in found.ranked]
    ranks = iter(places(ranked, lambda one, other: (one.number, other.number) in apart))
    placed = [replace(row, place=next(ranks)) if row.speed else row for row in rows]
    return replace(found, rows=placed, apart=apart)


def _row(comparison: Comparison, number: int, name: str, currency: str) -> Row:
    machine = comparison.machines[number]
    amounts = _amounts(machine, currency)
    counting = [one.name for one in comparison.exercises if one.weight > 0]
    on_cpu = all(one.endswith(ON_CPU) for one in counting if one in machine.logs)
    elsewhere = any(not one.endswith(ON_CPU) for one in (*machine.logs, *machine.beyond))
    return Row(
        machine,
        number,
        _letter(number),
        name,
        machine.run == comparison.reference,
        overall(comparison, machine),
        on_cpu,
        amounts,
        {
            across: None if amount is None or (on_cpu and elsewhere) else amount / machine.count
            for across, amount in amounts.items()
        },
    )


def _apart(view: View) -> Iterator[tuple[int, int]]:
    """Yield each two of which the first is surely faster, and is so beside the reference too."""
    for place, (one, _) in enumerate(view.ranked):
        for other, _ in view.ranked[place + 1 :]:
            if surely(view.beside(one, other)):
                yield one.number, other.number


def _letter(number: int) -> str:
    return chr(ord("A") + number) if number < ord("Z") - ord("A") + 1 else str(number + 1)


def _names(machines: Sequence[Machine]) -> list[str]:
    """Call machines by their devices, with their letters where others have the same."""
    plain = [
        f"{one.count}{RATIO} {one.device}" if one.count > 1 else one.device for one in machines
    ]
    return [
        f"{name} ({_letter(number)})" if plain.count(name) > 1 else name
        for number, name in enumerate(plain)
    ]


def _amounts(machine: Machine, currency: str) -> dict[Across, float | None]:
    price = machine.price if machine.currency == currency else None
    owned = None
    if price is not None and machine.watts is not None:
        owned = ownership(price, machine.watts, USE)
    return {
        "price": price,
        "ownership": owned,
        "watts": machine.watts,
        "memory": machine.memory_bytes,
    }


def listed(names: Sequence[str]) -> str:
    """Put names in a row: "A, B and C"."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
