# SPDX-License-Identifier: MIT
"""Machines side by side: what a reader sets is drawn, kept in the address, and told when wrong."""

import re
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, Locator, Page

from frobench.reports.findings.finding import RATIO
from frobench.reports.purchase import prices, purchase
from frobench.reports.summary.model import Summary
from frobench.suite.stored.types import Run
from frobench.suite.units import format_value
from tests.browser.chromium import LOOKS, shown
from tests.instruments.runs.made_up_cards import CARD, faster, run
from tests.reports.purchase.test_purchase import summary


def lacking(seed: int) -> Run:
    """Return a run that lacks a tenth of its cases, as chance has it, but no training step."""
    chance, whole = Random(seed), run(CARD)  # noqa: S311 - no secret
    cases = [c for c in whole.benchmarks if chance.random() >= 0.1 or "bench_train" in c.name]
    return replace(whole, benchmarks=cases)


PARTS = (
    *("heading", "summary", "verdicts", "cards", "weighs", "front", "ranks", "holding", "fits"),
    *("rent", "specimens", "usual", "notes"),
)
ONE = summary(run(CARD), "a/one.html")
EIGHT = [replace(ONE.environment.accelerators[0], index=index) for index in range(8)]
FEW = replace(ONE.scored, seconds=replace(ONE.scored.seconds, errors={}))
RUNS = [
    ONE,
    summary(run(faster(CARD, 1 / 1.3, 1 / 1.3)), "b/two.html"),
    summary(run(faster(CARD, 0.2, 0.2)), "c/three.html"),
    replace(ONE, href="d/few.html", device_id="few", scored=FEW),
    summary(lacking(1), "e/again.html"),
    summary(lacking(5), "f/again.html"),
    replace(
        ONE,
        href="g/eight.html",
        device_id="eight",
        places=tuple(one.place for one in EIGHT),
        environment=replace(ONE.environment, accelerators=EIGHT),
    ),
]
FIRST = "Made-up card (A), USD"
KWH = "Electricity, USD per kWh"
HOURS = "Hours a day at work"
SHARE = "Power drawn at work, in percent of that in the table"


def written(folder: Path, runs: list[Summary]) -> str:
    """Write a page of runs, and return its address."""
    for name, content in purchase.files(runs, "b/two.html", prices.read()).items():
        (folder / name).write_bytes(content)
    return (folder / purchase.PAGE).as_uri()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    return written(tmp_path_factory.mktemp("purchase"), RUNS)


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    with shown(browser, address, LOOKS[1]) as one:
        one.probe("unfold")
        yield one.page
        assert one.refused() == one.said == []


def part(page: Page, name: str) -> str:
    """Return a part of the page, once it has drawn what the address says, its tables folded."""
    # A busy browser tells of a new address, and of what was opened, after it draws the next frames.
    page.evaluate(
        "() => { dispatchEvent(new HashChangeEvent('hashchange'));"
        " document.querySelector('.purchase')?.dispatchEvent(new Event('toggle')); }"
    )
    inside = page.locator(f"[data-part='{name}']").inner_html().strip()
    return inside.replace('<details open="">', "<details>")


def cell(page: Page, machine: str, column: str) -> str:
    """Return the number in a column of the cards, or the first word where there is none."""
    part(page, "cards")
    row = page.locator("[data-part='cards'] tbody tr").filter(has_text=machine)
    cells = row.locator(f'td[data-l^="{column}"]')
    return cells.inner_text().split("\n")[0] if cells.count() else ""


def field(page: Page, label: str) -> Locator:
    return page.get_by_role("textbox", name=label, exact=True)


def put(page: Page, label: str, value: str) -> None:
    field(page, label).fill(value)
    field(page, label).press("Tab")
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")


def test_the_script_draws_what_the_page_shows(browser: Browser, address: str, page: Page) -> None:
    with shown(browser, address, LOOKS[1], script=False) as plain:
        for name in PARTS:
            assert part(page, name) == part(plain.page, name), name


def test_a_workload_is_chosen_and_stands_in_the_address(page: Page) -> None:
    training = cell(page, "(A)", "Speed")
    page.get_by_role("radio", name="Small operations").check()
    assert cell(page, "(A)", "Speed") != training
    assert "workload=small" in page.url
    assert "Fastest under small operations" in part(page, "verdicts")
    page.go_back()
    assert cell(page, "(A)", "Speed") == training
    assert page.get_by_role("radio", name="Training").is_checked()


def test_prices_and_use_are_counted(page: Page) -> None:
    put(page, FIRST, "30000")
    put(page, KWH, "0.5")
    put(page, HOURS, "24")
    put(page, SHARE, "60")
    energy = 0.7 * 24 * 365 * 3 * 0.6  # kWh
    assert cell(page, "(A)", "Price") == "30,000"
    cost = f"{cell(page, '(A)', 'Cost of 3 years')} USD"
    assert cost == format_value(30_000 + energy * 0.5, "USD")
    assert cell(page, "(B)", "Price") == "unknown"
    eight = f"8{RATIO} Made-up card"
    put(page, f"{eight}, together, USD", "80000")
    assert cell(page, eight, "Price") == "80,000"
    assert cell(page, eight, "Value")[:4] == "0.12"  # the reference takes 1.3 times as long


def test_a_view_can_be_sent_and_the_back_button_takes_it_back(browser: Browser, page: Page) -> None:
    before = part(page, "cards")
    put(page, FIRST, "30000")
    put(page, FIRST, "20000")
    put(page, "Years", "2")
    sent = {name: part(page, name) for name in PARTS}
    with shown(browser, page.url, LOOKS[1]) as other:
        other.probe("unfold")
        assert {name: part(other.page, name) for name in PARTS} == sent
        assert field(other.page, FIRST).input_value() == "20000"
    page.go_back()
    page.go_back()
    assert cell(page, "(A)", "Price") == "30,000"
    assert field(page, FIRST).input_value() == "30000"
    page.go_back()
    assert part(page, "cards") == before


def test_a_copied_table_pastes_as_plain_cells(page: Page) -> None:
    pasted = page.evaluate(
        """() => {
          const table = document.querySelector("[data-part=cards] table");
          getSelection().selectAllChildren(table);
          const clipboardData = new DataTransfer(), bubbles = true;
          const event = new ClipboardEvent("copy", { clipboardData, bubbles });
          table.dispatchEvent(event);
          return event.clipboardData.getData("text/plain");
        }"""
    )
    head, *rows = [line.split("\t") for line in pasted.split("\n")]
    assert len(rows) == len(RUNS)
    assert {len(row) for row in rows} == {len(head)}
    assert head[:2] == ["Machine", f"Speed {RATIO} Made-up card (B)"]
    assert {float(row[1]) for row in rows} >= {1.0, 1.3}
    assert "[" not in pasted
    assert "covers" not in pasted


def test_four_machines_fit_the_sheets_that_a_buyer_reads(browser: Browser, tmp_path: Path) -> None:
    with shown(browser, written(tmp_path, RUNS[:4]), LOOKS[1]) as one:
        assert one.page.evaluate("document.documentElement.scrollHeight") <= 2800
        assert len(one.page.locator("main").inner_text().split()) <= 800
        cited = one.page.locator(".cite pre").text_content() or ""
        assert re.match(r"@misc\{frobench-\d{4}-", cited)
        assert len(re.findall(rb"/Type /Page(?!s)", one.page.pdf(format="A4"))) <= 4
        one.page.set_viewport_size({"width": 320, "height": 900})
        assert one.probe("sideways") == []


def test_labels_of_the_chart_do_not_collide(page: Page) -> None:
    for width in (320, 500, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        boxes = [one.bounding_box() for one in page.locator(".points .label").all()]
        assert len(boxes) == len(RUNS)
        for one, other in combinations(filter(None, boxes), 2):
            across = abs(one["x"] - other["x"]) < min(one["width"], other["width"])
            assert not across or abs(one["y"] - other["y"]) >= 12
