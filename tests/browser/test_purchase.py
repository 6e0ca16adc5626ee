# SPDX-License-Identifier: MIT
"""Machines side by side: what a reader sets is drawn, kept in the address, and told when wrong."""

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, Locator, Page, expect

from frobench.reports.findings.finding import RATIO
from frobench.reports.purchase import prices, purchase
from frobench.suite.stored.types import Run
from tests.browser.chromium import LOOKS, Shown, shown
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
CARDS = ONE.environment.accelerators
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
        places=tuple(f"cuda:{index}" for index in range(8)),
        environment=replace(
            ONE.environment, accelerators=[replace(CARDS[0], index=index) for index in range(8)]
        ),
    ),
]
FIRST = "Made-up card (A), USD"
CALLED = ["Made-up card (A)", "Made-up card (B)"]
SHARE = "Power drawn at work, in percent of that in the table"
KWH = "Electricity, USD per kWh"
HOURS = "Hours a day at work"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("purchase")
    for name, content in purchase.files(RUNS, "b/two.html", prices.read()).items():
        (folder / name).write_bytes(content)
    return (folder / purchase.PAGE).as_uri()


@pytest.fixture
def folded(browser: Browser, address: str) -> Iterator[Shown]:
    with shown(browser, address, LOOKS[1]) as one:
        yield one
        assert one.said == one.refused() == []


@pytest.fixture
def page(folded: Shown) -> Page:
    folded.probe("unfold")
    return folded.page


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


def test_scripts_draw_what_shows_without_them(browser: Browser, address: str, page: Page) -> None:
    text = Path(address.removeprefix("file://")).read_text(encoding="utf-8")
    plain = browser.new_page()
    plain.set_content(re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL))
    for name in PARTS:
        assert part(page, name) == part(plain, name), name
    plain.close()


def test_what_is_folded_is_drawn_when_it_is_opened_and_opened_on_paper(folded: Shown) -> None:
    page, first = folded.page, folded.probe("state")
    assert first["title"].startswith("7 machines: Made-up card (A) or Made-up card (D) or 8")
    small = folded.sets("Small operations", value=True)
    assert small.keys() == {"address", "title", "Workload"}
    assert (small["address"], small["Workload"]) == ("workload=small", "Small operations")
    assert page.get_by_text("Fastest under small operations", exact=True).is_visible()
    inside = page.locator("[data-part=weighs]")
    assert "Score under training" in (inside.text_content() or "")
    folded.page.locator("#score > summary").click()
    expect(inside).to_contain_text("Score under small operations")  # once told that it opened
    folded.sets("Training", value=True)
    assert "Score under training" in inside.inner_text()
    page.locator("#score > summary").click()
    assert folded.probe("state") == first
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 1  # how to cite the page
    assert {field(page, one).input_value() for one in (HOURS, SHARE)} == {"8", "100"}
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert folded.probe("state") == first


def test_a_control_says_what_is_wrong_with_it_and_hides_results(folded: Shown) -> None:
    until = "Results are hidden until then."
    first = folded.probe("state")
    folded.page.evaluate("location.hash = 'hours=24.1&workload=x&kwh=1,500'")
    expect(folded.page).to_have_title("Frobench")
    wrong = folded.probe("state")
    assert wrong["wrong"] == (
        f'There is no workload "x": choose one. {until} Write 1500 or 1.5: 1,500 may be either. '
        f"{until} Enter a number from 0 to 24, such as 0.25 or 0,25. {until}"
    )
    assert (wrong[HOURS], wrong[KWH]) == ("24.1, wrong", "1,500, wrong")
    assert "Workload" not in wrong
    results = {"cards-title", "fit-title", "Machines, table", "Models that fit"}
    assert first.keys() - wrong.keys() == results | {"Workload"}
    assert folded.sets("Training", value=True)["address"] == "hours=24.1&kwh=1,500"
    assert folded.sets(KWH, "0,30")[KWH] == "0.3"
    right = folded.sets(HOURS, "24.0")
    asks = {HOURS: "24", "wrong": "", "address": "hours=24", "title": first["title"]}
    assert {name: right[name] for name in right if name not in results} == asks
    assert folded.sets(FIRST, "7,5") == {FIRST: "7.5", "address": "hours=24&price.a/one=7.5"}
    assert cell(folded.page, "(A)", "Price") == "7.5"
    every = f"8{RATIO} Made-up card, together, USD"  # the table has the price of one: 10,000
    assert folded.sets(every, "80000")[every] == "80000"
    assert cell(folded.page, f"8{RATIO} Made-up", "Value")[:6] == "0.1297"  # 1.297 for 10 thousand
    reset = {"address": "", HOURS: "8", FIRST: "unknown", every: "unknown"}
    assert folded.sets("Reset") == reset


def test_a_link_within_the_page_leads_there_and_leaves_the_address(folded: Shown) -> None:
    folded.sets("Small operations", value=True)
    assert folded.page.evaluate("scrollY") == 0
    assert folded.sets("What the score is made of") == {}
    assert folded.page.evaluate("document.activeElement.id") == "method"
    assert folded.page.evaluate("scrollY") > 0
    folded.sets("Ranks, and the baseline")
    reference = folded.page.get_by_label("Compared with")
    assert reference.locator("option").all_inner_texts()[:2] == CALLED
    for href, name in zip(("a/one", "b/two"), CALLED, strict=True):
        asks = folded.sets("Compared with", href)
        assert asks["address"] == f"workload=small&reference={href}"
        assert folded.page.get_by_text(f"Baseline, 1{RATIO}: {name}.").is_visible()


def test_a_view_can_be_sent_and_the_back_button_steps_back(browser: Browser, page: Page) -> None:
    before = part(page, "cards")
    page.get_by_role("radio", name="Small operations").check()
    assert "Fastest under small operations" in part(page, "verdicts")
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
    page.go_back()
    assert part(page, "cards") == before
    assert page.get_by_role("radio", name="Training").is_checked()


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
    head, first, *_, last = [line.split("\t") for line in pasted.split("\n")]
    assert head[:3] == ["Machine", f"Speed {RATIO} Made-up card (B)", "Compute TFLOP/s, bfloat16"]
    assert first == ["Made-up card (A)", "1.297", "700", "4.299", "64", "5.004", "24.99", "0.7"]
    assert (len(head), last[:2]) == (len(first), ["Made-up card (C)", "0.2618"])
    assert pasted.count("\n") == len(RUNS)


def test_four_machines_fit_the_page_and_sheets_of_a_buyer(browser: Browser, tmp_path: Path) -> None:
    for name, content in purchase.files(RUNS[:4], "b/two.html", prices.read()).items():
        (tmp_path / name).write_bytes(content)
    with shown(browser, (tmp_path / purchase.PAGE).as_uri(), LOOKS[1]) as one:
        assert one.page.evaluate("document.documentElement.scrollHeight") <= 2800
        assert len(one.page.locator("main").inner_text().split()) <= 800
        assert re.match(
            r"@misc\{frobench-\d{4}-", one.page.locator(".cite pre").text_content() or ""
        )
        one.page.pdf(path=tmp_path / "page.pdf", format="A4")
        sheets = len(re.findall(rb"/Type /Page(?!s)", (tmp_path / "page.pdf").read_bytes()))
        assert sheets <= 4
        one.page.set_viewport_size({"width": 320, "height": 900})
        assert one.probe("sideways") == []


def test_labels_of_the_chart_do_not_collide(page: Page) -> None:
    for width in (320, 500, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        boxes = [one.bounding_box() for one in page.locator(".points .label").all()]
        assert len(boxes) == len(RUNS)
        known = [box for box in boxes if box]
        for place, one in enumerate(known):
            for other in known[:place]:
                across = abs(one["x"] - other["x"]) < min(one["width"], other["width"])
                assert not across or abs(one["y"] - other["y"]) >= 12
