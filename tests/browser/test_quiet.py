# SPDX-License-Identifier: MIT
"""A page keeps to itself: it asks nobody, its own policy refuses it nothing, it says no error."""

from pathlib import Path

from playwright.sync_api import Browser

from tests.browser.chromium import LOOKS, shown
from tests.browser.sites import pages


def test_a_page_asks_for_files_alone_and_nothing_is_refused(browser: Browser, address: str) -> None:
    with shown(browser, address, LOOKS[0]) as one:
        one.probe("unfold")
        for look in LOOKS:
            one.look(look)
        one.page.wait_for_timeout(50)  # what a page would do a moment later
        assert one.refused() == []
        assert one.said == []
        assert [asked for asked in one.asked if not asked.startswith(("file://", "data:"))] == []


def test_hostile_text_executes_nothing(browser: Browser, folder: Path) -> None:
    hostile = {name: at for name, at in pages(folder).items() if name.startswith("hostile/")}
    assert len(hostile) >= 4
    for name, at in hostile.items():
        with shown(browser, at, LOOKS[0]) as one:
            for event in ("mouseover", "focus", "load", "error"):
                script = "event => document.querySelectorAll('*').forEach(it => it.dispatchEvent(new Event(event)))"
                one.page.evaluate(script, event)
            assert one.page.evaluate("window.__hit") is None, name
            assert one.page.locator("main").is_visible(), name
            assert one.said == [], name


def test_names_that_lead_elsewhere_write_nothing_outside_the_site(folder: Path) -> None:
    assert {one.name for one in folder.iterdir()} == {"runs", "honest", "hostile", "empty"}
    assert not (folder.parent / "up").exists()
