# SPDX-License-Identifier: MIT
"""The index finds, orders and compares runs as it is asked, and the address says what was asked."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from frobench.reports.index import index
from tests.browser.chromium import Look, shown
from tests.reports.index.test_index import CARDS, PRICE, named

DESK = Look("light", 1280)


@pytest.fixture
def devices(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    """Open the index of four devices, of one of which there are two specimens."""
    file = tmp_path / "index.html"
    others = [named("cpu", "A processor", 6, accelerators=0)]
    file.write_text(index.page([*CARDS, *others], [PRICE]), encoding="utf-8")
    with shown(browser, file.as_uri(), DESK) as one:
        yield one.page
        assert one.said == one.refused() == []


def _devices(page: Page) -> list[str]:
    return page.locator("#devices-table tbody a").all_inner_texts()


def _fill(field: Locator, value: str) -> None:
    field.fill(value)
    field.press("Tab")


def test_devices_are_filtered_and_the_address_says_so(devices: Page) -> None:
    assert _devices(devices) == ["Card B", "Card C", "Card A", "A processor"]
    devices.get_by_label("Name").fill("card")
    _fill(devices.get_by_label("Price, at most"), "499")
    expect(devices.locator("#devices-status")).to_have_text("No device is like that.")
    _fill(devices.get_by_label("Price, at most"), "500,00")
    expect(devices.locator("#devices-table tbody tr")).to_have_count(3)
    devices.reload()
    assert _devices(devices) == ["Card B", "Card C", "Card A"]
    expect(devices.locator("#devices-status")).to_have_text("3 devices.")
    _fill(devices.get_by_label("Capacity, GB, at least"), "1000")
    expect(devices.locator("#devices-status")).to_have_text("No device is like that.")
    devices.go_back()
    expect(devices.locator("#devices-table tbody tr")).to_have_count(3)


def test_columns_of_devices_sort_by_a_click_and_weights_may_be_the_reader_s(devices: Page) -> None:
    table, listed = devices.locator("#devices-table"), []
    for column in ("Speed", "Price"):
        table.get_by_role("button", name=column).click()
        head = table.locator("thead th", has_text=column)
        expect(head).to_have_attribute("aria-sort", "ascending")
        listed.append(_devices(devices))
    assert listed[0] == ["A processor", "Card A", "Card C", "Card B"]
    assert "order=price" in devices.url
    assert listed[1] == ["Card C", "Card A", "Card B", "A processor"]  # its price is unknown
    devices.get_by_label("Own weights").check()
    _fill(devices.get_by_label("Small products", exact=True), "2")
    expect(devices.locator("#lead")).to_contain_text("under your own weights")
    assert "weight.small_products=2" in devices.url


def test_picked_devices_lead_to_their_comparison_and_back(devices: Page) -> None:
    for name, told in (("Card B", "Compare: pick one more"), ("Card A", "Compare 2")):
        devices.get_by_label(f"Compare {name}").check()
        expect(devices.locator("#to-comparison")).to_have_text(told)
    expect(devices.locator("#basket-names")).to_have_text("2 picked: Card B, Card A")
    devices.get_by_role("link", name="Compare 2").click()
    expect(devices.locator('#comparison [data-part="cards"] tbody tr')).to_have_count(2)
    assert devices.locator("#basket").is_hidden()
    devices.get_by_role("link", name="Devices").click()
    assert devices.get_by_label("Compare Card A").is_checked()
    devices.get_by_role("button", name="Clear").click()
    assert devices.locator("#basket").is_hidden()
    assert not devices.get_by_label("Compare Card A").is_checked()


def test_published_figures_are_picked_beside_a_run_hidden_and_never_scored(devices: Page) -> None:
    rows = devices.locator("#elsewhere-table tbody tr")
    expect(rows).to_have_count(20)
    devices.locator("#more-published").click()
    expect(rows).to_have_count(40)
    devices.get_by_label("Name").fill("tesla")
    expect(rows.first).to_contain_text("Tesla V100")
    devices.get_by_label("Compare NVIDIA Tesla T4, published").check()
    devices.get_by_label("Name").fill("")
    devices.get_by_label("Compare Card B", exact=True).check()
    expect(devices.locator("#basket-names")).to_have_text("2 picked: Card B, NVIDIA Tesla T4")
    devices.get_by_role("link", name="Compare 2").click()
    both = devices.locator("#published")
    expect(both.locator("tbody tr")).to_have_count(2)
    assert both.locator("tbody th").all_inner_texts() == ["Card B", "NVIDIA Tesla T4"]
    assert both.locator("tbody .f1").count() == both.locator("tbody .spec").count() == 1
    both.locator("summary").click()
    assert both.locator("summary").inner_text() == "Method, source and date of 7 figures"
    assert "products, float16: 41.9 TFLOP/s, square products, device events" in both.inner_text()
    assert (both.locator("li a").first.get_attribute("href") or "").startswith("https://github.")
    assert devices.locator("#laid").is_hidden()
    devices.get_by_role("link", name="Devices").click()
    devices.get_by_role("checkbox", name="Published figures of").uncheck()
    assert rows.first.is_hidden()
    devices.reload()
    assert not devices.get_by_role("checkbox", name="Published figures of").is_checked()


def test_runs_are_searched_and_earlier_ones_are_shown_on_demand(devices: Page) -> None:
    devices.locator(".tabs a:last-child").click()
    links = devices.locator("#runs tbody a")
    expect(links).to_have_count(5)
    devices.get_by_label("earlier runs too").check()
    expect(links).to_have_count(6)
    view = devices.url
    devices.get_by_label("Search").fill("nothing is called that")
    expect(devices.get_by_role("status").first).to_have_text("No run is like that.")
    devices.goto(view)
    devices.reload()
    expect(links).to_have_count(6)
