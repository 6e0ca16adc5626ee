# SPDX-License-Identifier: MIT
"""The index finds, orders and compares runs as it is asked, and the address says what was asked."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from frobench.reports.findings.finding import RATIO
from frobench.reports.index import index
from tests.browser.chromium import Look, Shown, shown
from tests.reports.index.test_index import CARDS, PRICE, named

DESK = Look("light", 1280)
TABLE, STATUS = "Devices, table", "devices-status"
COMPARED = "Machines, table"
PUBLISHED = ("elsewhere-title", "more-published", "Published figures, table")
RUNS = "Every run, the newest of each machine first, with its earlier ones beneath"
LEAD = (
    f"Fastest under training: Card B, 1.501{RATIO} [1.498, 1.503] the speed of Card C. Most speed "
    "for its price: Card B."
)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Write the index of 25 devices; one device has two specimens."""
    others = [named(f"m{at}", f"Device {at}", 9, 0.5 - at / 100) for at in range(21)]
    runs = [*CARDS, named("cpu", "A processor", 6, accelerators=0), *others]
    file = tmp_path_factory.mktemp("index") / "index.html"
    file.write_text(index.page(runs, [PRICE], reference="c/4.html"), encoding="utf-8")
    return file.as_uri()


@pytest.fixture
def devices(browser: Browser, address: str) -> Iterator[Shown]:
    with shown(browser, address, DESK) as one:
        yield one
        assert one.said == one.refused() == []


def test_devices_are_found_by_name_capacity_and_price(devices: Shown) -> None:
    whole = devices.probe("state")
    assert whole[STATUS] == "25 devices, the first 20 of them shown."
    assert (whole[TABLE], whole["lead"]) == ("Card B to Device 15: 20", LEAD)
    cards = {STATUS: "3 devices.", TABLE: "Card B; Card C; Card A"}
    gone = dict.fromkeys(("more-devices", *PUBLISHED))
    found = devices.sets("Name", " Card")
    assert found == {"address": "name=Card", "Name": " Card"} | cards | gone
    memory, price = "Capacity, GB, at least", "Price, at most (USD)"
    for field, key, good, bad in ((memory, "memory", 144, 144.1), (price, "budget", 500, 499.9)):
        none = {STATUS: "No device is like that.", TABLE: "", "lead": None, field: f"{bad}"}
        assert devices.sets(field, f"{bad}") == none | {"address": f"name=Card&{key}={bad}"}
        asks = {"address": f"name=Card&{key}={good}", field: f"{good}", "lead": LEAD}
        assert devices.sets(field, f"{good},00") == cards | asks
        assert devices.sets(field, "") == {"address": "name=Card", field: "any"}
    devices.page.reload()
    assert devices.probe("state")[TABLE] == cards[TABLE]
    devices.sets("Name", "")
    assert devices.probe("state") == whole


def test_columns_of_devices_sort_by_a_click_and_again_the_other_way(devices: Shown) -> None:
    devices.sets("Name", "Card")
    speed = f"Speed under training, {RATIO} Card A"
    for column, order, way, names in (
        (speed, "&order=speed", "ascending", "Card A; Card C; Card B"),
        (speed, "", "descending", "Card B; Card C; Card A"),
        ("Price", "&order=price", "ascending", "Card C; Card A; Card B"),
        ("Value", "&order=-value", "descending", "Card B; Card C; Card A"),
        ("Value", "&order=value", "ascending", "Card A; Card C; Card B"),
    ):
        asks = {"address": f"name=Card{order}", "sorted": f"{column} {way}", TABLE: names}
        assert devices.sets(column) == asks
        assert devices.page.evaluate("document.activeElement.textContent") == column


def test_weights_may_be_the_reader_s_and_any_device_the_baseline(devices: Shown) -> None:
    first, field = devices.probe("state"), "Small products"
    own = devices.sets("Own weights", value=True)
    weights = {"0": 11, "1": 3, "2": 2, "4": 1}
    assert Counter(own[name] for name in own.keys() - first.keys()) == weights
    asks = {"address": "workload=own&weight.small_products=1000", field: "1000"}
    lead = LEAD.replace("training", "your own weights").replace("1.503", "1.504")
    assert devices.sets(field, "1000.0") == asks | {"lead": lead}
    assert devices.sets(field, "1000.1")["wrong"].startswith("Enter a number from 0 to 1000, such")
    assert devices.sets("Reset").items() >= {"address": "workload=own", field: "0"}.items()
    devices.sets("Training", value=True)
    assert devices.probe("state") == first
    for run, name in (("b/3", "Card B"), ("c/4", "Card A")):
        head = {"sorted": f"Speed under training, {RATIO} {name} descending"}
        asks = {"address": f"reference={run}", "Compared with": run}
        assert devices.sets("Compared with", run) == asks | head


def test_more_devices_and_figures_show_on_demand_and_all_on_paper(devices: Shown) -> None:
    first, figures = devices.probe("state"), PUBLISHED[-1]
    (count,) = (name for name in first if name.startswith("Published figures of"))
    more = devices.sets("Show more devices")
    assert more.pop(figures).endswith(": 40")
    assert more == {STATUS: "25 devices.", TABLE: "Card B to Device 20: 25", "more-devices": None}
    print_ = "dispatchEvent(new Event('{}print'))"
    paper = devices.changes(lambda: devices.page.evaluate(print_.format("before")))
    assert paper.pop("more-published", "") is None
    assert paper[figures].endswith(": " + re.sub(r"\D", "", count))
    devices.page.evaluate(print_.format("after"))
    assert devices.probe("state") == first
    assert devices.sets("Show more published figures").keys() == {*more, figures}
    without = {"address": "elsewhere=hidden", count: False, **dict.fromkeys(PUBLISHED)}
    again = {name: first[name] for name in more}
    assert devices.sets("Published figures of", value=False) == without | again
    devices.page.reload()
    devices.sets("Published figures of", value=True)
    assert devices.probe("state") == first


def test_picked_devices_lead_to_their_comparison_and_back(devices: Shown) -> None:
    first = devices.probe("state")
    pick = {"to-comparison": "Compare: pick one more", "picked": "Compare Card B"}
    one = {"address": "run=b/3", "clear-basket": "Clear", "basket-names": "1 picked: Card B"}
    assert devices.sets("Compare Card B", value=True) == pick | one
    pick = {"to-comparison": "Compare 2", "picked": "Compare Card B; Compare Card A"}
    both = {"address": "run=b/3&run=c/4", "basket-names": "2 picked: Card B, Card A"}
    assert devices.sets("Compare Card A", value=True) == pick | both
    before, changed = devices.probe("state"), devices.sets("Compare 2")
    assert changed["address"] == "run=b/3&run=c/4&view=compare"
    assert (changed[COMPARED], changed["comparison-title"]) == ("Card B; Card A", "Side by side")
    kept = {"files-title", "title", "Workload", "lead", "wrong"}
    assert before.keys() - changed.keys() == kept
    assert changed.keys() >= {"basket-names", "sorted", "view", TABLE, "Models that fit"}
    assert devices.page.evaluate("document.activeElement.id") == "comparison-title"
    assert devices.page.get_by_text(f"Baseline, 1{RATIO}: Card A. Sorted").is_visible()
    devices.sets("Devices")
    assert devices.probe("state") == before
    devices.sets("Compare Card A", value=False)
    assert devices.probe("state")["to-comparison"] == "Compare: pick one more"
    devices.sets("Clear")
    assert devices.probe("state") == first


def test_published_figures_are_picked_beside_a_run_and_never_scored(devices: Shown) -> None:
    figures, asks = "NVIDIA Tesla T4", "run=b/3&name=Tesla+T4&published=NVIDIA+Tesla+T4"
    devices.sets("Compare Card B", value=True)
    devices.sets("Name", "Tesla T4")
    both = {"to-comparison": "Compare 2", "basket-names": f"2 picked: Card B, {figures}"}
    pick = {"address": asks, "picked": f"Compare {figures}, published figures"}
    assert devices.sets(f"Compare {figures}", value=True) == both | pick
    devices.sets("Compare 2")
    drawn = devices.probe("state")
    assert (drawn[PUBLISHED[-1]], drawn.get(COMPARED)) == (f"Card B; {figures}", None)
    shown = devices.page.locator("#published")
    assert shown.locator("tbody .f1").count() == shown.locator("tbody .spec").count() == 1
    assert " ".join(shown.locator("tbody").inner_text().split()) == (
        "Card B 700 [699, 703], bfloat16 4.299 [4.293, 4.303] 24.99 [24.95, 25.04] Compare "
        f"{figures} 41.9 to 42.7 1 source, float16 0.24 1 source, copies unknown"
    )
    devices.sets("Method, source and date of 7 figures")
    assert "products, float16: 41.9 TFLOP/s, square products, device events" in shown.inner_text()
    added = devices.sets("Add published figures of", "Intel Arc A770")
    assert added[PUBLISHED[-1]] == f"Card B; Intel Arc A770; {figures}"
    assert added["address"] == f"{asks}|Intel+Arc+A770&view=compare"


def test_runs_are_searched_and_earlier_ones_are_shown_on_demand(devices: Shown) -> None:
    devices.sets("Runs by date")
    search = "Search machines, CUDA, ROCm or CPU, torch, profiles"
    first = devices.probe("state")
    assert (first["address"], first["view"]) == ("view=runs", "#by-date")
    unset = first["earlier runs too"], first[search], first["more"]
    assert unset == (False, "", "Show more runs")
    assert first[RUNS] == "m9/9.html to m1/9.html: 20"
    assert first["status"] == "26 machines, the first 20 of them shown."
    every = {"status": "26 machines.", RUNS: "m9/9.html to a/2.html: 26", "more": None}
    assert devices.sets("Show more runs") == every
    asks = {"address": "view=runs&q=card+rigorous", search: "card rigorous"}
    found = {"status": "4 machines.", RUNS: "d/5.html; c/4.html; b/3.html; a/2.html"}
    assert devices.sets("Search", "card rigorous") == found | asks
    both: dict[str, Any] = {"address": f"{asks['address']}&all=1", "earlier runs too": True}
    found = {"status": "5 runs.", RUNS: "d/5.html; c/4.html; b/3.html; a/2.html; a/1.html"}
    assert devices.sets("earlier runs too", value=True) == found | both
    none = {RUNS: "", "status": "No run is like that."}
    assert devices.sets("Search", "nothing like it").items() >= none.items()
