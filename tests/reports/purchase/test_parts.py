# SPDX-License-Identifier: MIT
"""Parts of the purchase page say what the numbers say: verdicts, the front, the best, rent."""

import re
from html import unescape
from typing import Any

import pytest

from frobench.reports.findings.finding import RATIO
from frobench.reports.purchase import purchase
from tests.instruments.runs.made_up_machines import BASE as BASE_MACHINE
from tests.instruments.runs.made_up_machines import Machine, machine
from tests.instruments.runs.made_up_machines import data as made
from tests.reports.purchase.test_purchase import beside, of_view, viewed

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
    assert (
        heading(parts["front"])
        == f"From base to fast: 2.00{RATIO} [1.97, 2.03] the speed for 5,000 USD more"
    )
    near = machine("near", 1.001, 1.001, price=9000.0)
    assert heading(beside(near, **BASE).parts["front"]) == "On the front: base"
    cheap = machine("cheap", 2.0, 2.0, price=8000.0)
    title = heading(beside(fast, cheap, **BASE).parts["front"])
    assert title == f"From base to cheap: 2.00{RATIO} [1.97, 2.03] the speed for 4,000 USD more"


def rented(one: Machine, price: float) -> Machine:
    return one._replace(rent=(price, "USD", "2026-01-01", "on demand", "a host"))


def test_what_is_said_of_rent_names_the_first_and_the_last_and_who_is_missing() -> None:
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
    assert cards.count(" not conclusive<") == 2
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
    assert '<a class="mark" href="noisy.html#doubts">doubtful run</a>' in cards


def test_the_parts_that_are_shown_come_to_the_score() -> None:
    text = plain(beside(machine("fast", 2.0, 8.0)).parts["weighs"])
    assert text.startswith("fast is faster than base in 2 of 2 parts of the score")
    rows = (
        f"matmul 50% 2.00{RATIO} [1.96, 2.04] copies 50% 8.00{RATIO} [7.84, 8.16] "
        f"Score 4.00{RATIO} [3.94, 4.06] Covered 100%"
    )
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
    assert "[1.97, 2.03] , rank 1, covers 100%" in whole


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


def test_without_measured_energy_no_machine_is_named_for_its_power_limit() -> None:
    text = plain(beside(machine("low", 1.0, 1.0, watts=300.0), watts=350.0).parts["verdicts"])
    assert "Least energy per work under training not measured Energy was measured on fewer" in text
    assert "300 W" not in text


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
    eight = ("small", "int8", "B/s", 8e11, 7e11, 9e11)
    card = card._replace(axes=(rate, prefill, eight))
    fits = beside(card, big, memory_bytes=80 * 10**9).parts["fits"]
    assert heading(fits) == f"Only 4{RATIO} big holds Llama 3.1 70B in bf16"
    rows = [
        [plain(cell) for cell in re.split("</t[hd]>", row)[:-1]]
        for row in fits.partition("<tbody>")[2].partition("</tbody>")[0].split("</tr>")[:-1]
    ]
    assert "Llama 3.1 8B 6,000 tokens/s [5,400, 6,600] not known not known" in plain(fits)
    # 8,030,261,248 weights of a byte and the same cache; 32,763,876,352 do not fit
    assert "Llama 3.1 8B, int8 96 tokens/s [84, 108] not known not known" in plain(fits)
    assert "Qwen2.5 32B, int8 not known not known not known" in plain(fits)
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
    assert "Energy was measured on fewer than two" in plain(shown.parts["verdicts"])
    both = beside(half._replace(joules=(4.0, 1.0)), base=base).parts["cards"]
    assert f"2.00{RATIO} [1.96, 2.04]" in plain(both)


def test_less_than_three_percent_of_power_is_no_difference() -> None:
    cards = beside(machine("low", 1.0, 1.0, watts=690.0)).parts["cards"]
    assert best_of(cards, "Power") == [False, False]


DOUBT = "9 of 20 cases noisy"


def test_a_doubtful_run_leads_no_sentence_verdict_or_headline() -> None:
    noisy = machine("noisy", 9.0, 9.0, price=100.0, joules=(9.0, 9.0), doubt=DOUBT)
    fast = machine("fast", 2.0, 2.0, price=9000.0, joules=(2.0, 2.0))
    shown = beside(noisy, fast, joules=(1.0, 1.0), **BASE)
    cards = shown.parts["cards"]
    assert '<a class="mark" href="noisy.html#doubts">doubtful run</a>' in cards
    assert best_of(cards, "Speed") == [False, True, False]
    assert f"noisy is not ranked, because its run is doubtful: {DOUBT}." in (
        plain(shown.parts["summary"])
    )
    assert shown.heading == "base, noisy and fast: fast is fastest under training"
    assert "noisy" not in plain(shown.parts["verdicts"])
    assert "noisy" not in shown.description.partition(":")[2]
    assert heading(shown.parts["front"]).startswith("From base to fast")
    assert plain(shown.parts["weighs"]).startswith("fast is faster than base")
    assert "noisy (doubtful run)" in plain(shown.parts["front"])


def test_a_doubtful_run_leads_where_it_is_alone() -> None:
    dear = machine("dear", 2.0, 2.0, price=9000.0)
    alone = "(view) => [compare.heading(view), String(compare.parts(view, 'price').verdicts())]"
    title, verdicts = viewed(alone, dear, params="[['budget', '5000']]", doubt=DOUBT, **BASE)
    assert title == "base: base is fastest under training"
    assert "The only one with a result that fits." in verdicts
    both = beside(dear._replace(doubt=DOUBT), doubt=DOUBT)
    assert both.heading == "base and dear: not judged under training"
    assert "All runs are doubtful." in plain(both.parts["verdicts"])
    one = beside(dear, doubt=DOUBT)
    assert "Only the run of dear is not doubtful." in plain(one.parts["verdicts"])


def test_costs_rest_on_measured_watts_where_there_are_some_and_say_which() -> None:
    load = (("load", "", "W", 400.0, 390.0, 410.0),)
    one = machine("measured", 1.0, 1.0, price=1000.0, axes=load, watts=700.0, devices=2)
    cards = beside(one, watts_source="power limit", **BASE).parts["cards"]
    energy = 8 * 365 * 3 * 0.3
    low, cost, high = (f"{round(1000 + watts * energy, -1):,.0f}" for watts in (0.78, 0.8, 0.82))
    assert f"{cost} [{low}, {high}] , power: measured" in plain(cards)
    assert f"{4000 + 0.7 * energy:,.0f} power: power limit" in plain(cards)
    watts = "(view) => view.rows.map(({ name, amounts }) => [name, amounts.watts])"
    assert dict(viewed(watts, one)) == {f"2{RATIO} measured": 800, "base": 700}


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ("[['budget', '2.5']]", "No machine costs 2.5 USD or less (2 cost more, 1 has no known"),
        ("[['memory', '1000']]", "No machine has 1,000 GB or more (3 have less)"),
    ],
)
def test_where_no_machine_fits_every_sentence_says_so(params: str, sentence: str) -> None:
    others = machine("fast", 2.0, 2.0, price=9000.0), machine("unpriced", 3.0, 3.0)
    said = "(view) => [compare.heading(view), ...Object.values(compare.parts(view, 'price'))"
    title, *parts = viewed(
        f"{said}.map((make) => make().map(String).join(''))]", *others, params=params, **BASE
    )
    assert title.startswith(sentence)
    texts = [plain(part) for part in parts]
    assert sum(text.count(sentence) for text in texts) >= 3
    assert not any("is fastest" in text or "From base" in text for text in texts)


def test_sentences_speak_of_the_machines_that_fit() -> None:
    fast, mid = machine("fast", 4.0, 4.0, price=9000.0), machine("mid", 2.0, 2.0, price=4500.0)
    said = "(view) => [compare.heading(view), ...['verdicts', 'front', 'ranks', 'weighs', 'fits']"
    params = "[['budget', '5000']]"
    title, *parts = viewed(
        f"{said}.map((part) => compare.parts(view, 'price')[part]().map(String).join(''))]",
        *(fast, mid),
        params=params,
        **BASE,
    )
    assert title == "base and mid: mid is fastest under training"
    verdicts, front, ranks, weighs, fits = parts
    assert "fast" not in plain(verdicts).replace("Fastest", "").replace("fastest", "")
    assert heading(front).startswith("From base to mid")
    assert "fast (over the budget)" in plain(front)
    assert heading(weighs).startswith("mid is faster than base")
    assert "fast" not in heading(fits)
    assert "fast" not in plain(ranks)


def test_specimens_of_a_device_are_one_row_and_their_range_widens_its_interval() -> None:
    axes = (("memory", "", "B/s", 1e12, 0.99e12, 1.01e12),)
    slow = (("memory", "", "B/s", 0.9e12, 0.89e12, 0.91e12),)
    one = machine("card", 2.0, 2.0, axes=axes, driver="580")
    again = machine("again", 1.8, 1.8, axes=slow, driver="570", of="card")
    known = made(BASE_MACHINE, one, again)
    ratios = "(view) => Object.fromEntries(view.rows.map(({ name, ratio }) => [name, ratio]))"
    both, alone = of_view(ratios, known), of_view(ratios, made(BASE_MACHINE, one))
    assert [*both] == ["card", "base"]
    assert both["card"]["low"] == pytest.approx(0.9 * alone["card"]["low"])
    assert both["card"]["high"] == pytest.approx(alone["card"]["high"])
    cards = plain(purchase.show(known).parts["cards"])
    assert "2 specimens, which differ in driver" in cards
    memory = of_view("(view) => view.rows[0].machine.axes[0]", known)
    assert (memory["low"], memory["high"]) == (0.9e12, 1.01e12)
    told = plain(purchase.show(known).parts["specimens"])
    assert "the range of the specimens of card" in told
    assert "Of the others there is one specimen." in told
    assert plain(beside(one).parts["specimens"]).endswith("Of each device there is one specimen.")


def test_what_the_host_launches_is_said_to_be_the_host_s_and_names_it() -> None:
    quick = machine("quick", 1.5, 1.5, host="A fast processor")
    shown = purchase.show(made(BASE_MACHINE, quick, host=True))
    assert "Mostly the host's: quick is beside A fast processor and base is beside" in (
        plain(shown.parts["verdicts"])
    )
    assert "beside A fast processor" in plain(shown.parts["cards"])
    assert "Mostly" not in plain(beside(quick).parts["verdicts"])
    alike = purchase.show(made(BASE_MACHINE, machine("quick", 1.5, 1.5), host=True))
    assert "Mostly the host's: all are beside " in plain(alike.parts["verdicts"])


def test_every_number_has_its_interval_or_says_that_there_is_none() -> None:
    axes = (
        ("memory", "", "B/s", 1e12, 0.9e12, 1.1e12),
        ("overhead", "", "s", 5e-6, None, None),
        ("load", "", "W", 400.0, 390.0, 410.0),
    )
    parts = beside(machine("card", 2.0, 2.0, price=1000.0, joules=(2.0, 2.0), axes=axes)).parts
    cards = plain(parts["cards"])
    assert f"2.00{RATIO} [1.97, 2.03] , rank 1" in cards
    assert "1.00 [0.90, 1.10]" in cards
    assert "5 no interval" in cards
    assert "400 [390, 410] , measured" in cards
    assert plain(parts["specimens"]).startswith(
        "Intervals, in brackets, cover launches. Below six launches there is no interval."
    )


def test_a_machine_that_alone_fits_the_budget_is_the_answer_and_ranks_no_others() -> None:
    dear = machine("dear", 2.0, 2.0, price=9000.0, joules=(2.0, 2.0))
    parts = "(view) => String(compare.parts(view, 'price').verdicts())"
    base = {**BASE, "joules": (1.0, 1.0)}
    text = plain(viewed(parts, dear, params="[['budget', '5000']]", **base))
    assert "Fastest under training base The only one with a result that fits. Best" in text
    assert text.endswith("Least energy per work under training base The only one that fits.")
