# SPDX-License-Identifier: MIT
"""Machines side by side in order, with all that is said of them before anybody sets anything.

`static/purchase_view.js` does the same with what a reader sets.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from reports.comparison import Comparison, Exercise, Machine
from reports.economics import (
    Amount,
    Overall,
    Place,
    Speed,
    Use,
    overall,
    ownership,
    places,
    single,
)
from reports.findings.model import RATIO

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
    amounts
        What it costs, draws (W) and holds (B); ``None`` where that is not known.
    place
        ``None`` without a speed.
    """

    machine: Machine
    number: int
    letter: str
    name: str
    is_reference: bool
    overall: Overall
    amounts: dict[Across, float | None]
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
    """

    comparison: Comparison
    currency: str
    rows: list[Row]

    @property
    def ranked(self) -> list[tuple[Row, Speed]]:
        """The machines that have a speed."""
        return [(row, row.speed) for row in self.rows if row.speed]

    @property
    def reference(self) -> Row:
        """The machine that the others are held against."""
        return next(row for row in self.rows if row.is_reference)

    def singles(self, row: Row) -> list[tuple[Exercise, Amount]]:
        """Return the exercises with a weight in which a machine has a ratio, each with it."""
        found = (
            (one, single(self.comparison, row.machine, one.name))
            for one in self.comparison.exercises
            if one.weight > 0
        )
        return [(one, speed.ratio) for one, speed in found if speed]


def view(comparison: Comparison) -> View:
    """Return what is shown of a comparison with everything as it is usual."""
    currency = next((one.currency for one in comparison.machines if one.currency), CURRENCY)
    names = _names(comparison.machines)
    rows = [
        Row(
            machine,
            number,
            _letter(number),
            names[number],
            machine.run == comparison.reference,
            overall(comparison, machine),
            _amounts(machine, currency),
        )
        for number, machine in enumerate(comparison.machines)
    ]
    rows.sort(key=lambda row: -row.speed.log if row.speed else math.inf)
    ranks = iter(places([row.speed for row in rows if row.speed]))
    return View(
        comparison,
        currency,
        [replace(row, place=next(ranks)) if row.speed else row for row in rows],
    )


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
