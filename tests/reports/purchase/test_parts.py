# SPDX-License-Identifier: MIT
"""Parts of the purchase page say what the numbers say: verdicts, the front, the best, rent."""

import re
from html import unescape
from math import log

import pytest
from msgspec.structs import replace

from reports.findings.finding import RATIO
from reports.purchase import purchase
from reports.purchase.comparison import Comparison, Less, Machine, Rent
from tests.reports.purchase.test_purchase import beside, held, machine

BASE = {"price": 4000.0, "currency": "USD", "price_date": "2026-01-01", "price_source": "a shop"}
"""The price of the reference."""


def plain(markup: str) -> str:
    """Return what a part of the page says."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", markup)).split())


def heading(part: str) -> str:
    """Return the title of a chart."""
    found = re.search(r"<h3>(.*?)</h3>", part)
    assert found
    return unescape(found[1])


def test_the_chart_of_prices_says_what_its_last_step_costs() -> None:
    fast = machine("fast", 2.0, 2.0, price=9000.0)
    parts = beside(fast, **BASE).parts
    assert heading(parts["front"]) == f"From base to fast: 2.00{RATIO} the speed for 5,000 USD more"
    near = machine("near", 1.001, 1.001, price=9000.0)
    title = heading(beside(near, **BASE).parts["front"])
    assert title == "near costs 5,000 USD more than base and is not conclusively faster"


@pytest.mark.parametrize(("across", "per"), [("price", "1,000 USD"), ("watts", "100 W")])
def test_the_chart_says_what_its_dashed_lines_are(across: str, per: str) -> None:
    priced = across == "price"
    fast = machine("fast", 2.0, 2.0, **({"price": 9000.0} if priced else {}))
    front = beside(fast, **(BASE if priced else {})).parts["front"]
    assert f"dashed: speed per {per}" in plain(front)


def rented(one: Machine, price: float) -> Machine:
    rent = Rent(price=price, currency="USD", date="2026-01-01", kind="on demand", source="a host")
    return replace(one, rent=rent)


def test_the_chart_of_rent_names_the_first_and_the_last_and_who_is_missing() -> None:
    soon = rented(machine("soon", 1.5, price=1000.0, watts=None), 2.0)
    late = rented(machine("late", 1.2, price=9000.0, watts=None), 3.0)
    rent = beside(soon, late).parts["rent"]
    assert heading(rent) == "Buying pays for soon after 500 h of use, for late after 3,000 h"
    assert "Not shown, because a price is unknown or the rent is less than the energy: base" in (
        plain(rent)
    )


def best_of(cards: str, column: str) -> list[bool]:
    """Return for each machine whether it is marked as the best in a column."""
    cells = re.findall(rf'<td data-l="{column}[^"]*"( class="best")?', cards)
    return [bool(one) for one in cells]


def test_machines_that_are_equal_are_none_the_best() -> None:
    cards = beside(machine("same", 2.0), machine("other", 1.5)).parts["cards"]
    assert best_of(cards, "Power") == [False] * 3
    cards = beside(machine("thrifty", 2.0, watts=300.0), machine("other", 1.5)).parts["cards"]
    assert best_of(cards, "Power") == [True, False, False]


def test_a_value_that_is_not_conclusive_is_shared() -> None:
    one, other = machine("one", 2.0, 2.0, price=4000.0), machine("other", 1.99, 1.99, price=4000.0)
    cards = beside(one, other, **BASE).parts["cards"]
    assert best_of(cards, "Value") == [True, True, False]
    assert cards.count("shared best") == 2


def counting(everything: list[Comparison], *logs: float, error: float) -> list[Comparison]:
    """Let machines count their joules, so many times the reference's work for each."""
    by_run = {one.run: log(at) for one, at in zip(everything[0].machines, logs, strict=True)}

    def counted(one: Machine, reference: str) -> Machine:
        same = one.run == reference
        apart = by_run[one.run] - by_run[reference]
        variance = 0.0 if same else error**2
        return replace(one, energy=Less(log=apart, variance=variance, quantile=2.0, cases=10))

    return [
        replace(each, machines=[counted(one, each.reference) for one in each.machines])
        for each in everything
    ]


def test_the_verdict_on_energy_is_conclusive_where_a_direct_comparison_is() -> None:
    both = held(machine("thrifty", 1.0, 1.0), machine("other", 1.0, 1.0))
    sure = purchase.show(counting(both, 1.0, 2.0, 1.5, error=0.01)).parts["verdicts"]
    assert (
        f"Least energy per work thrifty 1.33{RATIO} [1.31, 1.36] the work per joule of other"
        in (plain(sure))
    )
    unsure = purchase.show(counting(both, 1.0, 2.0, 1.9, error=0.1)).parts["verdicts"]
    assert "Least energy per work thrifty or other" in plain(unsure)
    assert plain(unsure).endswith("measured: not conclusive")
