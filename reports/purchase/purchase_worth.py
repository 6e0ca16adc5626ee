# SPDX-License-Identifier: MIT
"""What machines cost and draw, and what that buys, as `static/purchase_worth.js` shows it.

What devices may draw and what they drew stand in columns of their own: the one is a limit or a
datasheet's figure, the other was measured.
"""

from collections.abc import Iterator

from markupsafe import Markup

from reports.findings.finding import RATIO
from reports.purchase.comparison import Rate
from reports.purchase.economics import (
    Amount,
    memory_per_price,
    per_work,
    price_per_rate,
    work_per,
    work_per_joule,
)
from reports.purchase.purchase_tables import Cell, name, number, plain, table
from reports.purchase.purchase_view import Across, Row, View
from reports.web.elements import element, together
from suite.units import axis_scale, counted

RATE = "FLOP/s"


def worth(view: View) -> Markup:
    """Show what machines cost and draw, and what was measured beside their time."""
    return together(_money(view), _power(view), *_rates(view))


def _money(view: View) -> Markup:
    heads = [
        "Machine",
        "Price",
        "Price per unit of work",
        "Memory",
        f"Memory per 1,000 {view.currency}",
        "Cost of ownership",
        "Cost per unit of work",
    ]
    rows = [_money_of(view.currency, row) for row in view.rows]
    caption = "Price and memory, and what each buys [95% interval]"
    return table(caption, [[text] for text in heads], rows, "table-worth")


def _money_of(currency: str, row: Row) -> list[Cell]:
    price, memory, speed = row.amounts["price"], row.machine.memory_bytes, row.speed

    def work(across: Across) -> Amount | None:
        amount = row.each[across]
        return per_work(amount, speed) if speed and amount is not None else None

    return [
        name(row),
        plain(price, currency),
        number(work("price"), currency),
        plain(memory, "B"),
        plain(1000 * memory_per_price(memory, price) if memory and price else None, "B"),
        plain(row.amounts["ownership"], currency),
        number(work("ownership"), currency),
    ]


def _power(view: View) -> Markup:
    """Show what devices may draw, and the energy that was measured where it was."""
    told = any(row.machine.energy for row in view.rows)
    heads = ["Machine", "May draw", "Speed per 100 W of a device"]
    heads += [f"Work per joule, measured, of {view.reference.letter}'s"] * told
    rows = [[*_limit(row), *([_joules(row)] if told else [])] for row in view.rows]
    caption = "Power, and what it does [95% interval]"
    return table(caption, [[text] for text in heads], rows, "table-power")


def _limit(row: Row) -> list[Cell]:
    each = row.each["watts"]
    per = work_per(row.speed, each / 100) if row.speed and each else None
    return [name(row), plain(row.machine.watts, "W"), number(per, RATIO)]


def _joules(row: Row) -> Cell:
    energy = row.machine.energy
    if energy is None:
        return number(None, RATIO, "not measured")
    cases = element("span", {"class": "interval"}, counted(energy.cases, "case"))
    return [*number(work_per_joule(energy), RATIO), " ", cases]


def _rates(view: View) -> Iterator[Markup]:
    """Show the best rates of square products, and what they cost, where any was measured."""
    every = [rate for row in view.rows for rate in row.machine.rates]
    if not every:
        return
    precisions = list(dict.fromkeys(rate.precision for rate in every))
    factor, unit = axis_scale(max(rate.value for rate in every), RATE)
    each = factor, f"{view.currency} per {unit}"
    rows = [_rates_of(row, precisions, each) for row in view.rows]
    heads: list[Cell] = [["Machine"], *([one] for one in precisions)]
    caption = "Best rate of a square product on one device, and its price [95% interval]"
    yield table(caption, heads, rows, "table-rates")


def _rates_of(row: Row, precisions: list[str], unit: tuple[float, str]) -> list[Cell]:
    known = {rate.precision: rate for rate in row.machine.rates}
    return [name(row), *(_rate(row, known.get(one), unit) for one in precisions)]


def _rate(row: Row, rate: Rate | None, unit: tuple[float, str]) -> Cell:
    if rate is None:
        return number(None, RATE, "not measured")
    found = number(Amount(rate.value, rate.low, rate.high), RATE)
    price = row.amounts["price"]
    if price is None:
        return found
    factor, each = unit
    dear = price_per_rate(price * factor, rate, row.machine.count)
    return [*found, element("span", {"class": "each"}, *number(dear, each))]
