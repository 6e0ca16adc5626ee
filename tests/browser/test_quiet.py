# SPDX-License-Identifier: MIT
"""A page keeps to itself: it asks nobody, its own policy refuses it nothing, it says no error."""

from pathlib import Path

from playwright.sync_api import Browser

from tests.browser.chromium import LOOKS, shown
from tests.browser.sites import Place, pages


def test_a_page_asks_for_files_alone_and_nothing_is_refused(browser: Browser, place: Place) -> None:
    with shown(browser, place.address, LOOKS[0]) as one:
        one.probe("unfold")
        for look in LOOKS:
            one.look(look)
        one.page.wait_for_timeout(50)  # what a page would do a moment later
        assert one.refused() == []
        assert one.said == []
        assert [asked for asked in one.asked if not asked.startswith(("file://", "data:"))] == []


def test_hostile_text_executes_nothing(browser: Browser, folder: Path) -> None:
    hostile = [place for place in pages(folder) if place.name.startswith("hostile/")]
    assert len(hostile) >= 4
    for place in hostile:
        with shown(browser, place.address, LOOKS[0]) as one:
            one.probe("rouse")
            assert one.page.evaluate("window.__hit") is None, place
            assert one.page.locator("main").is_visible(), place
            assert one.said == [], place


def test_names_that_lead_elsewhere_write_nothing_outside_the_site(folder: Path) -> None:
    assert {one.name for one in folder.iterdir()} == {
        "runs",
        "honest",
        "machines",
        "hostile",
        "empty",
    }
    assert not (folder.parent / "up").exists()
