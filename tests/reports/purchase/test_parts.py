# SPDX-License-Identifier: MIT
"""Parts of the purchase page say what the numbers say: verdicts, the front, the best, rent."""

import re
from html import unescape
from math import log

import pytest
from msgspec.structs import replace

from frobench.reports.findings.finding import RATIO
from frobench.reports.purchase import purchase
from frobench.reports.purchase.comparison import AxisValue, Comparison, Less, Machine, Rent
from tests.reports.purchase.test_purchase import beside, held, machine, viewed

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


def test_a_value_that_is_not_conclusive_is_marked_as_no_best() -> None:
    one, other = machine("one", 2.0, 2.0, price=4000.0), machine("other", 1.99, 1.99, price=4000.0)
    cards = beside(one, other, **BASE).parts["cards"]
    assert best_of(cards, "Value") == [False, False, False]
    assert cards.count(">not conclusive<") == 2
    assert best_of(cards, "Speed") == [False, False, False]
    sure = beside(replace(one, price=1000.0), other, **BASE).parts["cards"]
    assert best_of(sure, "Value") == [True, False, False]


def test_an_axis_has_a_best_only_where_its_interval_lies_beyond_the_others() -> None:
    def memory(value: float) -> list[AxisValue]:
        ends = {"low": 0.9e12 * value, "high": 1.1e12 * value}
        return [AxisValue(name="memory", precision="", unit="B/s", value=1e12 * value, **ends)]

    def two(first: float, second: float, **known: object) -> str:
        one, other = (
            machine("one", 2.0, axes=memory(first)),
            machine("two", 1.5, axes=memory(second)),
        )
        return beside(one, other, **known).parts["cards"]

    least = {"axes": memory(0.1)}
    assert best_of(two(1.0, 1.1, **least), "Memory") == [False, False, False]
    assert best_of(two(1.0, 2.0, **least), "Memory") == [False, True, False]
    assert best_of(two(1.0, 2.0), "Memory") == [False, False, False]  # the third is unknown


def test_an_invalid_run_is_the_best_in_nothing_and_says_why_beside_its_name() -> None:
    fault = "clock-set-back: launch 3 began too early"
    broken = replace(machine("broken", watts=1.0, price=1.0, memory_bytes=10**15), invalid=fault)
    shown = beside(machine("fast", 2.0, 2.0, price=900.0, watts=300.0), broken, **BASE)
    cards = shown.parts["cards"]
    assert f"broken invalid run Not ranked: {fault} invalid run" in plain(cards)
    assert '<a class="mark bad" href="broken.html#doubts">invalid run</a>' in cards
    for column in ("Price", "Power", "Capacity"):
        assert best_of(cards, column)[-1] is False
    assert "broken is not ranked: its run is invalid." in shown.sentences
    assert "broken" not in plain(shown.parts["verdicts"])
    assert "Not shown: broken (invalid run)." in plain(shown.parts["weighs"])
    assert "no common case" not in " ".join(map(plain, shown.parts.values()))


def test_doubts_stand_beside_the_name_and_lead_to_their_place() -> None:
    noisy = machine("noisy", 2.0, doubts=["9 of 20 cases noisy"])
    cards = beside(noisy).parts["cards"]
    assert '<a class="mark" href="noisy.html#doubts">9 of 20 cases noisy</a>' in cards


def test_the_parts_that_are_shown_come_to_the_score() -> None:
    text = plain(beside(machine("fast", 2.0, 8.0)).parts["weighs"])
    assert text.startswith("fast is faster than base in 2 of 2 parts of the score")
    assert f"matmul 50% 10 2.00{RATIO} copies 50% 10 8.00{RATIO} Score 100% 20 4.00{RATIO}" in text
    less = plain(beside(machine("half", 2.0)).parts["weighs"])
    assert f"copies 50% 10 not measured Score 100% 20 2.00{RATIO}" in less
    assert "the weights of the others grow in proportion" in less
    slow = plain(beside(machine("slow", 0.5, 0.5)).parts["weighs"])
    assert slow.startswith("base is faster than slow in 2 of 2 parts of the score")


def test_a_conclusive_lead_of_less_than_two_percent_is_called_slight() -> None:
    text = plain(beside(machine("fast", 1.01, 1.01, error=0.001)).parts["verdicts"])
    assert f"1.010{RATIO} [1.009, 1.011] the speed of base: less than 2% apart" in text
    assert "apart" not in plain(beside(machine("fast", 1.1, 1.1, error=0.001)).parts["verdicts"])


def test_value_by_price_and_by_cost_of_ownership_are_told_apart_where_they_disagree() -> None:
    cheap = machine("cheap", 2.0, 2.0, price=1000.0, watts=3000.0)
    thrifty = machine("thrifty", 2.0, 2.0, price=1100.0, watts=100.0)
    text = plain(beside(cheap, thrifty).parts["verdicts"])
    assert "Best value by purchase price cheap" in text
    assert re.search(rf"per 1,000 USD; 1\.10{RATIO} \[[\d., ]+\] the value of thrifty", text)
    assert "By cost of 3 years of use, energy included: thrifty" in text
    alike = plain(beside(replace(cheap, watts=100.0), thrifty).parts["verdicts"])
    assert "By cost of" not in alike


def test_without_measured_energy_there_is_a_lowest_power_limit_and_no_word_of_energy() -> None:
    text = plain(beside(machine("low", 1.0, 1.0, watts=300.0), watts=350.0).parts["verdicts"])
    assert "Lowest power limit low 300 W a device; base 350 W" in text
    assert "Least energy" not in text


def test_letters_in_charts_are_told_apart_from_names_by_a_legend() -> None:
    ranks = viewed(
        held(machine("NVIDIA GeForce RTX 5090", 2.0), machine("x" * 30, 1.0)),
        "(view) => view.rows.map(({ short }) => short)",
    )
    assert ranks == ["RTX 5090", "base", "x" * 19 + "\N{HORIZONTAL ELLIPSIS}"]
    alike = viewed(
        held(machine("x" * 30, 2.0), machine("x" * 31, 1.5)),
        "(view) => view.rows.map(({ short }) => short.at(-2))",
    )
    assert alike == ["B", "C", "s"]
    front = beside(machine("fast", 2.0, price=900.0), **BASE).parts["front"]
    legend = re.search(r'<p class="legend">(.*?)</p>', front)
    assert legend
    assert plain(legend[1]) == "B fast A base"


def test_without_a_price_for_an_hour_nothing_is_said_of_rent() -> None:
    shown = beside(machine("fast", 2.0, price=900.0), **BASE)
    assert (shown.parts["rent"], shown.parts["holding"]) == ("", "What fits")
    lent = beside(rented(machine("fast", 2.0, price=900.0), 2.0), **BASE)
    assert lent.parts["holding"] == "What fits, and whether to rent"


def test_where_every_model_fits_one_sentence_says_so() -> None:
    big = machine("big", 2.0, memory_bytes=200 * 10**9)
    fits = beside(big, memory_bytes=200 * 10**9).parts["fits"]
    assert heading(fits) == "All 6 models, up to 70 B, bf16 (140 GB), fit on big and base"
    assert "<table" not in fits
    some = beside(big, machine("one", 1.5), machine("other", 1.2), memory_bytes=24 * 10**9)
    assert heading(some.parts["fits"]).endswith("fit on big")
    heads = re.findall(r'<th scope="col">(.*?)</th>', some.parts["fits"])
    assert [*map(plain, heads)] == ["Model", "one and other 85.9 GB", "base 24 GB"]


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
