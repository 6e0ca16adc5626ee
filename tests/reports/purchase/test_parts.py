# SPDX-License-Identifier: MIT
"""Parts of the purchase page say what the numbers say: verdicts, the front, the best, rent.

In a table ``+ name | speeds | fields`` is a machine, so many times as fast as the baseline in two
parts of training; the fields are those of `Machine`, and of the baseline and of what the reader
sets in the heading. ``= part | words`` is what a part of the page says, ``! part | words`` what it
does not; ``= best column`` names the machine that is marked in a column of the cards.
"""

import re
from collections.abc import Callable
from typing import Any

import pytest

from frobench.reports.findings.finding import RATIO
from frobench.reports.purchase import purchase
from tests.instruments.runs.made_up_machines import BASE, Machine, data, machine
from tests.reports.pages import Markup, parsed, text_of
from tests.reports.purchase.test_purchase import RATIOS, beside, of_view
from tests.reports.tables import Row, matches, named, rows

TABLE = """
## front
# the chart of prices says what its last step costs | price=4000
+ fast | 2 2 | price=9000
= front | From base to fast: 2.00x [1.97, 2.03] the speed for 5,000 USD more …
# the last step ends at the cheaper of two that are as fast | price=4000
+ fast | 2 2 | price=9000
+ cheap | 2 2 | price=8000
= front | From base to cheap: 2.00x [1.97, 2.03] the speed for 4,000 USD more …
# of those without a price none is on it, though all have a power | price=4000
+ fast | 2 2 | price=9000
+ unpriced | 3 3
= front | From base to fast…
# what is not conclusively faster is not on the front | price=4000
+ near | 1.001 1.001 | price=9000
= front | On the front: base …
= verdicts | …not conclusive…
# what is said of rent names the first and the last and who is missing
+ late | 1.2 1.2 | price=9000 watts=None rent=3,USD,2026-01-01,on_demand,a_host
+ mid | 1.2 1.2 | price=2000 watts=None rent=2,USD,2026-01-01,on_demand,a_host
+ soon | 1.5 1.5 | price=1000 watts=None rent=2,USD,2026-01-01,on_demand,a_host
= rent | Buying pays for soon after 500 h of use, for late after 3,000 h …
= rent | … Not shown, because a price is unknown or the rent is less than the energy: base…

## best
# less than three percent of power is no difference
+ low | 1 1 | watts=690
= best Power |
# a value that is not conclusive is marked as no best | price=4000
+ one | 2 2 | price=4000
+ other | 1.99 1.99 | price=4000
= best Value |
= best Speed |
= cards | … not conclusive … not conclusive …
# such as here | memory=0.1
+ one | 2 2 | memory=1
+ two | 1.5 1.5 | memory=2
= best Memory | two

## faults
# an invalid run is the best in nothing and says why beside its name | price=4000
+ fast | 2 2 | price=900 watts=300
+ broken | | watts=1 price=1 memory_bytes=1000000000000000 invalid=clock:_it_stood_still
= cards | … broken invalid run Not ranked: clock: it stood still not measured …
= best Price | fast
= best Power | fast
= summary | …broken is not ranked: its run is invalid: clock: it stood still.…
! verdicts | broken
! weighs | broken
# a doubtful run leads no sentence, verdict or headline | price=4000 joules=1,1
+ noisy | 9 9 | price=100 joules=9,9 doubt=9_of_20_cases_noisy
+ fast | 2 2 | price=9000 joules=2,2
= best Speed | fast
= summary | …noisy is not ranked, because its run is doubtful: 9 of 20 cases noisy.…
= heading | base, noisy and fast: fast is fastest under training
! verdicts | noisy
= front | From base to fast…noisy (doubtful run)…
= weighs | fast is faster than base…
# a score without two thirds of its weight is no rank and no headline | price=4000
+ half | 2 | price=900
= summary | …Under training, half is not compared with base: only 50% of its weight was measured on
    both machines.…
= cards | …not measured only 50% of its weight was measured on both machines…
= verdicts | Fastest under training not measured Only 50% of its weight was measured on both
    machines.…Best value by purchase price base…
= heading | base and half: not measured under training
= notes | …copies: missing on it, not selected…
= weighs | … copies 50% not measured Score not measured Covered 50%

## verdicts
# the parts that are shown come to the score
+ fast | 2 8
= weighs | fast is faster than base in 2 of 2 parts of the score … matmul 50% 2.00x [1.96, 2.04]
    copies 50% 8.00x [7.84, 8.16] Score 4.00x [3.94, 4.06] Covered 100%
# a part whose interval holds one is not conclusive, however far the others are
+ even | 1 8
= weighs | …matmul 50% 1.000x [0.981, 1.020] not conclusive copies 50% 8.00x [7.84, 8.16] Score…
# a slower machine is told from the other side
+ slow | 0.5 0.5
= weighs | …matmul 50% 0.500x [0.490, 0.510] copies 50%…
# without an interval nothing is conclusive
+ few | 9 9 | error=None
+ fast | 2 2
= verdicts | …few or fast…
! verdicts | 9.00
# a conclusive lead of less than two percent is called slight
+ fast | 1.01 1.01 | error=0.001
= verdicts | …1.010x [1.009, 1.011] the speed of base: less than 2% apart…
# a price that nobody knows is not known
+ cheap | 1 1 | price=500
+ unknown | 2 2
= summary | …No price in USD is known for unknown and base.…
= verdicts | …Best value by purchase price cheap…
# several devices are no dearer for the work of one | price=1000
+ eight | 1 1 | price=8000 devices=8 watts=5600 memory_bytes=687194767360
= description | …Best value by purchase price: base or 8x eight (not conclusive).…
= summary | …have 1 to 8 devices; a ratio is that of equally many on either side…
# value by price and by cost of ownership are told apart where they disagree
+ cheap | 2 2 | price=1000 watts=3000
+ thrifty | 2 2 | price=1100 watts=100
= verdicts | …Best value by purchase price cheap…per 1,000 USD; 1.10x […] the value of thrifty…By
    cost of 3 years of use, energy included: thrifty…
# the verdict on energy is conclusive where a direct comparison is | joules=1,1
+ thrifty | 1 1 | joules=2,2
+ other | 1 1 | joules=1.5,1.5
= verdicts | …Least energy per work under training thrifty 1.33x [1.31, 1.36] the work per joule of
    other…
# sensors leave less than three percent open | joules=1,1
+ thrifty | 1 1 | joules=1.02,1.02 error=0.001
+ other | 1 1 | joules=1,1 error=0.001
= verdicts | …measured: no difference, since sensors are no better than 3%
# without measured energy no machine is named for its power limit | watts=350
+ low | 1 1 | watts=300
= verdicts | …Least energy per work under training not measured Energy was measured on fewer…
! verdicts | 300 W
# what the host launches is said to be the host's and names it | by_host=1
+ quick | 1.5 1.5 | host=A_fast_processor
= verdicts | …Mostly the host's: quick is beside A fast processor and base is beside…
= cards | …beside A fast processor…

## settings
# a budget that no machine fits leaves no sentence standing | price=4000 set.budget=2.5
+ fast | 2 2 | price=9000
+ unpriced | 3 3
= heading | No machine costs 2.5 USD or less (2 cost more, 1 has no known…
= verdicts | …No machine costs 2.5 USD or less…
= front | Not shown: unpriced (price unknown), fast (over the budget) and base (over the budget).
! verdicts | is fastest
! front | From base
# a price of the table has its month
+ card | 2 2 | price=900 price_date=2025-12-24
= cards | …900 2025-12…
# and one that the reader gives is said to be hers | price=4000 set.price.card=500
+ card | 2 2 | price=900
= cards | …500 your figure…
# what costs more than the budget is not rented | price=4000 set.budget=5000
+ dear | 2 2 | price=9000 watts=None rent=2,USD,2026-01-01,on_demand,a_host
! rent | dear
# sentences speak of the machines that fit | price=4000 set.budget=5000
+ large | 4 4 | price=9000
+ mid | 2 2 | price=4500
= heading | base and mid: mid is fastest under training
! verdicts | large
= front | From base to mid…large (over the budget)…
= weighs | mid is faster than base…
! ranks | large

## numbers
# every number has its interval or says that there is none
+ card | 2 2 | price=1000 joules=2,2 memory=1 load=400 overhead=5e-6
= cards | …2.00x [1.97, 2.03] , rank 1…
= cards | …1.00 [0.90, 1.10]…
= cards | …5 no interval…
= cards | …400 [390, 410] , measured…
= specimens | Intervals, in brackets, cover launches. Below six launches there is no interval.…
# costs rest on measured watts where there are some and say which | price=4000 watts_source=limit
+ two | 1 1 | price=1000 load=400 devices=2
= cards | …5,840 power: limit…3,100 [3,050, 3,150] , power: measured
# a price tells its date, its source and from a year on its age
+ card | | price=1000 price_kind=MSRP price_date=2024-01-02 rent=4.5,EUR,2026-01-15,rent,a_host
= cards | …1,000 ▲ 2 years old…
= notes | …1,000 USD: MSRP, 2024-01-02, …says a shop…4.5 EUR an hour: rent, 2026-01-15, says a host…
"""


def plain(markup: Markup) -> str:
    """Return what a part of the page says, with an x for times."""
    return text_of(markup).replace(RATIO, "x")


AXES: dict[str, Callable[[float], tuple[Any, ...]]] = {
    "memory": lambda one: ("memory", "", "B/s", 1e12 * one, 0.9e12 * one, 1.1e12 * one),
    "overhead": lambda one: ("overhead", "", "s", one, None, None),
    "load": lambda one: ("load", "", "W", one, one - 10, one + 10),
}
TUPLES, TEXTS = {"joules", "rent"}, {"price_date", "price_kind"}


def made(name: str, speeds: str = "", fields: str = "") -> Machine:
    """Return a machine of a table; an underline stands for a space."""
    known: dict[str, Any] = {}
    for key, text in named(fields).items():
        words = [number(one) for one in text.replace("_", " ").split(",")]
        known[key] = tuple(words) if key in TUPLES else text if key in TEXTS else words[0]
    axes = tuple(AXES[key](known.pop(key)) for key in AXES if key in known)
    return machine(name, *map(float, speeds.split()), axes=axes, **known)


def number(text: str) -> Any:  # noqa: ANN401 - or what else it says
    if text == "None":
        return None
    return float(text) if re.fullmatch(r"[\d.e-]+", text) and text.count("-") < 2 else text


@pytest.mark.parametrize("row", [*rows(TABLE)], ids=lambda row: f"{row.section}: {row.what}")
def test_a_part_of_the_page_says(row: Row) -> None:
    settings = [[key[4:], one] for key, one in row.how.items() if key.startswith("set.")]
    fields = " ".join(
        f"{key}={one}" for key, one in row.how.items() if key in Machine._fields or key in AXES
    )
    base = made("base", "1 1", fields)._replace(error=0.0)
    machines = data(base, *(made(*cells) for cells in row.lines["+"]), host="by_host" in row.how)
    texts = of_view(PARTS, machines, repr(settings))
    for part, words in row.lines["="]:
        if part.startswith("best "):
            assert best_of(texts["cards"], part.removeprefix("best ")) == words.split()
        else:
            assert matches(plain(texts[part]), words), plain(texts[part])
    for part, words in row.lines["!"]:
        assert words not in plain(texts[part])
    if not settings:
        shown = purchase.show(machines)
        assert shown.parts == {part: texts[part] for part in shown.parts}
        assert (shown.heading, shown.description) == (texts["heading"], texts["description"])


PARTS = """(view) => ({ ...Object.fromEntries(Object.entries(compare.parts(view, "price"))
    .map(([part, make]) => [part, make().map(String).join("")])),
    heading: compare.heading(view), description: compare.description(view) })"""
"""What the script makes of each part of the page."""


def best_of(cards: str, column: str) -> list[str]:
    """Return the machines that are marked as the best in a column."""
    rows = parsed(cards).select(f"tr:has(.best[data-l^='{column}'])")
    return [plain(row).split()[0] for row in rows]


def test_language_models_that_fit_have_tokens_per_second_with_the_interval() -> None:
    decode = ("decode", "copies in its memory", "B/s", 1e12, 0.9e12, 1.1e12)
    prefill = ("prefill", "", "FLOP/s", 1e14, 0.9e14, 1.1e14)
    eight = ("small", "int8", "B/s", 8e11, 7e11, 9e11)
    card = machine("card", 2.0, 2.0, memory_bytes=24 * 10**9, axes=(decode, prefill, eight))
    big = machine("big", 1.5, 1.5, memory_bytes=200 * 10**9, devices=4, axes=(decode,))
    fits = plain(beside(card, big, memory_bytes=80 * 10**9).parts["fits"])
    assert fits.startswith("Only 4x big holds Llama 3.1 70B in bf16")
    for words in (
        # 8,030,261,248 weights and 2,048 tokens' keys and values of 1,024 in 32 layers, of 2 bytes
        "Llama 3.1 8B 16.1 GB 61 tokens/s [55, 67]; 5.94 GB left",
        "Llama 3.1 8B 6,000 tokens/s [5,400, 6,600] not known not known",
        # of a byte each and the same cache; 32,763,876,352 do not fit
        "Llama 3.1 8B, int8 96 tokens/s [84, 108] not known not known",
        "Qwen2.5 32B, int8 not known not known not known",
        "Qwen2.5 32B 65.5 GB int4 only 3.57 GB left",
        # On four devices together, whose rate is not measured.
        "Llama 3.1 70B 141 GB no 17.7 GB short fits 56.9 GB left int4 only",
        "computed for batch 1, bf16 and a context of 2,048 tokens",
        "big 1.00 TB/s [0.90, 1.10] in copies in its memory, over",
    ):
        assert words in fits, fits


def test_specimens_of_a_device_are_one_row_and_their_range_widens_its_interval() -> None:
    axes = (("memory", "", "B/s", 1e12, 0.99e12, 1.01e12),)
    slow = (("memory", "", "B/s", 0.9e12, 0.89e12, 0.91e12),)
    one = machine("card", 2.0, 2.0, axes=axes, driver="580")
    again = machine("again", 1.8, 1.8, axes=slow, driver="570", of="card")
    known = data(BASE, one, again)
    both, alone = of_view(RATIOS, known), of_view(RATIOS, data(BASE, one))
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
