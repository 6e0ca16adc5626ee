# SPDX-License-Identifier: MIT
"""Parts of the purchase page say what the numbers say: verdicts, the front, the best, rent."""

import re
from html import unescape
from typing import Any

import pytest

from frobench.reports.findings.finding import RATIO
from tests.instruments.runs.made_up_machines import Machine, machine
from tests.reports.purchase.test_purchase import beside, viewed

BASE: dict[str, Any] = {"price": 4000.0}
"""The price of the baseline."""


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
    assert heading(beside(near, **BASE).parts["front"]) == "On the front: base"
    cheap = machine("cheap", 2.0, 2.0, price=8000.0)
    title = heading(beside(fast, cheap, **BASE).parts["front"])
    assert title == f"From base to cheap: 2.00{RATIO} the speed for 4,000 USD more"


@pytest.mark.parametrize(("across", "per"), [("price", "1,000 USD"), ("watts", "100 W")])
def test_the_chart_says_what_its_dashed_lines_are(across: str, per: str) -> None:
    priced = across == "price"
    fast = machine("fast", 2.0, 2.0, price=9000.0 if priced else None)
    front = beside(fast, price=4000.0 if priced else None).parts["front"]
    assert f"dashed: speed per {per}" in plain(front)


def rented(one: Machine, price: float) -> Machine:
    return one._replace(rent=(price, "USD", "2026-01-01", "on demand", "a host"))


def test_the_chart_of_rent_names_the_first_and_the_last_and_who_is_missing() -> None:
    soon = rented(machine("soon", 1.5, 1.5, price=1000.0, watts=None), 2.0)
    late = rented(machine("late", 1.2, 1.2, price=9000.0, watts=None), 3.0)
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
    cards = beside(machine("same", 2.0, 2.0), machine("other", 1.5, 1.5)).parts["cards"]
    assert best_of(cards, "Power") == [False] * 3
    cards = beside(machine("thrifty", 2.0, 2.0, watts=300.0), machine("other", 1.5, 1.5)).parts[
        "cards"
    ]
    assert best_of(cards, "Power") == [True, False, False]


def test_a_value_that_is_not_conclusive_is_marked_as_no_best() -> None:
    one, other = machine("one", 2.0, 2.0, price=4000.0), machine("other", 1.99, 1.99, price=4000.0)
    cards = beside(one, other, **BASE).parts["cards"]
    assert best_of(cards, "Value") == [False, False, False]
    assert cards.count(">not conclusive<") == 2
    assert best_of(cards, "Speed") == [False, False, False]
    sure = beside(one._replace(price=1000.0), other, **BASE).parts["cards"]
    assert best_of(sure, "Value") == [True, False, False]


def test_an_axis_has_a_best_only_where_its_interval_lies_beyond_the_others() -> None:
    def memory(value: float) -> tuple[tuple[str, str, str, float, float, float], ...]:
        return (("memory", "", "B/s", 1e12 * value, 0.9e12 * value, 1.1e12 * value),)

    def two(first: float, second: float, **known: Any) -> str:  # noqa: ANN401
        one, other = (
            machine("one", 2.0, 2.0, axes=memory(first)),
            machine("two", 1.5, 1.5, axes=memory(second)),
        )
        return beside(one, other, **known).parts["cards"]

    least: dict[str, Any] = {"axes": memory(0.1)}
    assert best_of(two(1.0, 1.1, **least), "Memory") == [False, False, False]
    assert best_of(two(1.0, 2.0, **least), "Memory") == [False, True, False]
    assert best_of(two(1.0, 2.0), "Memory") == [False, False, False]  # the third is unknown


def test_an_invalid_run_is_the_best_in_nothing_and_says_why_beside_its_name() -> None:
    fault = "clock-set-back: launch 3 began too early"
    broken = machine("broken", watts=1.0, price=1.0, memory_bytes=10**15, invalid=fault)
    shown = beside(machine("fast", 2.0, 2.0, price=900.0, watts=300.0), broken, **BASE)
    cards = shown.parts["cards"]
    assert f"broken invalid run Not ranked: {fault} not measured" in plain(cards)
    assert '<a class="mark bad" href="broken.html#doubts">invalid run</a>' in cards
    for column in ("Price", "Power", "Capacity"):
        assert best_of(cards, column)[-1] is False
    assert f"broken is not ranked: its run is invalid: {fault}." in plain(shown.parts["summary"])
    assert "broken" not in plain(shown.parts["verdicts"])
    assert "broken" not in plain(shown.parts["weighs"])


def test_doubts_stand_beside_the_name_and_lead_to_their_place() -> None:
    noisy = machine("noisy", 2.0, 2.0, doubt="9 of 20 cases noisy")
    cards = beside(noisy).parts["cards"]
    assert '<a class="mark" href="noisy.html#doubts">9 of 20 cases noisy</a>' in cards


def test_the_parts_that_are_shown_come_to_the_score() -> None:
    text = plain(beside(machine("fast", 2.0, 8.0)).parts["weighs"])
    assert text.startswith("fast is faster than base in 2 of 2 parts of the score")
    rows = f"matmul 50% 2.00{RATIO} copies 50% 8.00{RATIO} Score 4.00{RATIO} Covered 100%"
    assert text.endswith(rows)
    less = plain(beside(machine("half", 2.0)).parts["weighs"])
    assert less.endswith("copies 50% not measured Score not measured Covered 50%")
    slow = plain(beside(machine("slow", 0.5, 0.5)).parts["weighs"])
    assert slow.startswith("base is faster than slow in 2 of 2 parts of the score")


def test_a_score_without_two_thirds_of_its_weight_is_no_rank_and_no_headline() -> None:
    shown = beside(machine("half", 2.0, price=900.0), **BASE)
    why = "only 50% of its weight was measured on both machines"
    assert f"Under training, half is not compared with base: {why}." in plain(
        shown.parts["summary"]
    )
    assert f"not measured {why}" in plain(shown.parts["cards"])
    verdicts = plain(shown.parts["verdicts"])
    assert verdicts.startswith(f"Fastest under training not measured O{why[1:]}.")
    assert "Best value by purchase price base" in verdicts
    assert shown.heading == "base and half: not measured under training"
    assert "copies: missing on it, not selected" in plain(shown.parts["notes"])
    whole = plain(beside(machine("fast", 2.0, 2.0)).parts["cards"])
    assert "[1.97, 2.03], rank 1, covers 100%" in whole


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
    alike = plain(beside(cheap._replace(watts=100.0), thrifty).parts["verdicts"])
    assert "By cost of" not in alike


def test_without_measured_energy_there_is_a_lowest_power_limit_and_no_word_of_energy() -> None:
    text = plain(beside(machine("low", 1.0, 1.0, watts=300.0), watts=350.0).parts["verdicts"])
    assert "Lowest power limit low 300 W a device; base 350 W" in text
    assert "Least energy" not in text


def test_letters_in_charts_are_told_apart_from_names_by_a_legend() -> None:
    names = "(view) => view.rows.map(({ short }) => short)"
    ranks = viewed(names, machine("NVIDIA GeForce RTX 5090", 2.0, 2.0), machine("x" * 30, 1.0, 1.0))
    assert ranks == ["RTX 5090", "base", "x" * 19 + "\N{HORIZONTAL ELLIPSIS}"]
    alike = viewed(
        "(view) => view.rows.map(({ short }) => short.at(-2))",
        machine("x" * 30, 2.0, 2.0),
        machine("x" * 31, 1.5, 1.5),
    )
    assert alike == ["B", "C", "s"]
    front = beside(machine("fast", 2.0, 2.0, price=900.0), **BASE).parts["front"]
    legend = re.search(r'<p class="legend">(.*?)</p>', front)
    assert legend
    assert plain(legend[1]) == "B fast A base"


def test_without_a_price_for_an_hour_nothing_is_said_of_rent() -> None:
    shown = beside(machine("fast", 2.0, 2.0, price=900.0), **BASE)
    assert (shown.parts["rent"], shown.parts["holding"]) == ("", "What fits")
    lent = beside(rented(machine("fast", 2.0, 2.0, price=900.0), 2.0), **BASE)
    assert lent.parts["holding"] == "What fits, and whether to rent"


def test_language_models_that_fit_have_tokens_per_second_with_the_interval() -> None:
    rate = ("decode", "copies in its memory", "B/s", 1e12, 0.9e12, 1.1e12)
    card = machine("card", 2.0, 2.0, memory_bytes=24 * 10**9, axes=(rate,))
    prefill = ("prefill", "", "FLOP/s", 1e14, 0.9e14, 1.1e14)
    big = machine("big", 1.5, 1.5, memory_bytes=200 * 10**9, devices=4, axes=(rate,))
    card = card._replace(axes=(rate, prefill))
    fits = beside(card, big, memory_bytes=80 * 10**9).parts["fits"]
    assert heading(fits) == f"Only 4{RATIO} big holds Llama 3.1 70B in bf16"
    rows = [
        [plain(cell) for cell in re.split("</t[hd]>", row)[:-1]]
        for row in fits.partition("<tbody>")[2].partition("</tbody>")[0].split("</tr>")[:-1]
    ]
    assert "Llama 3.1 8B 6,000 tokens/s [5,400, 6,600] not known not known" in plain(fits)
    assert [row[0] for row in rows] == [
        *("Llama 3.2 1B 2.47 GB", "Llama 3.1 8B 16.1 GB", "Qwen2.5 14B 29.5 GB"),
        *("Qwen2.5 32B 65.5 GB", "Llama 3.1 70B 141 GB"),
    ]
    # 8,030,261,248 weights and 2,048 tokens' keys and values of 1,024 in 32 layers, of 2 bytes
    assert rows[1][1] == "61 tokens/s [55, 67]; 5.94 GB left"
    assert rows[2][1].startswith("int4 only")
    assert rows[3][1] == "int4 only 3.57 GB left"
    assert rows[4][1].startswith("no ")
    assert rows[4][2].startswith("fits ")  # on four devices together, whose rate is not measured
    assert rows[0][3].startswith("fits ")  # nothing tells the baseline's rate
    assert "computed for batch 1, bf16 and a context of 2,048 tokens" in plain(fits)
    assert "card 1.00 TB/s [0.90, 1.10], " in plain(fits)
    assert "big 1.00 TB/s [0.90, 1.10] in copies in its memory, over" in plain(fits)


def test_the_verdict_on_energy_is_conclusive_where_a_direct_comparison_is() -> None:
    def verdict(*work: float, error: float) -> str:
        base, *others = (
            machine(name, 1.0, 1.0, joules=(each, each), error=error)
            for name, each in zip(("base", "thrifty", "other"), work, strict=True)
        )
        return plain(beside(*others, base=base).parts["verdicts"])

    sure = verdict(1.0, 2.0, 1.5, error=0.01)
    assert (
        f"Least energy per work under training thrifty 1.33{RATIO} [1.31, 1.36] the work per "
        "joule of other" in sure
    )
    unsure = verdict(1.0, 2.0, 1.9, error=0.1)
    assert "Least energy per work under training thrifty or other" in unsure
    assert unsure.endswith("measured: not conclusive")
    close = verdict(1.0, 1.02, 1.0, error=0.001)
    assert close.endswith("measured: no difference, since sensors are no better than 3%")


def test_energy_is_counted_by_the_parts_of_the_workload() -> None:
    base = machine("base", 1.0, 1.0, joules=(1.0, 1.0))
    half = machine("half", 1.0, 1.0, joules=(9.0,))
    shown = beside(half, base=base)
    assert "Lowest power limit base or half" in plain(shown.parts["verdicts"])
    assert "Energy under training was measured on fewer than two" in plain(shown.parts["verdicts"])
    both = beside(half._replace(joules=(4.0, 1.0)), base=base).parts["cards"]
    assert f"2.00{RATIO} [1.96, 2.04]" in plain(both)


def test_less_than_three_percent_of_power_is_no_difference() -> None:
    text = plain(beside(machine("low", 1.0, 1.0, watts=690.0)).parts["verdicts"])
    assert "Lowest power limit low or base" in text
    cards = beside(machine("low", 1.0, 1.0, watts=690.0)).parts["cards"]
    assert best_of(cards, "Power") == [False, False]
