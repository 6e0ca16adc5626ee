# SPDX-License-Identifier: MIT
"""Whoever has no mouse gets everywhere, sees where they are, and gets out again."""

from playwright.sync_api import Browser

from tests.browser.chromium import Look, Shown, shown, tell
from tests.browser.sites import Place

DESK = Look("light", 1280)
NARROW = Look("dark", 320)


def test_tab_reaches_every_control_shows_where_it_is_and_leaves_again(
    browser: Browser, place: Place
) -> None:
    found: list[str] = []
    for look in (DESK, NARROW) if place.whole else (DESK,):
        with shown(browser, place.address, look, new=True) as one:
            found += [f"{look}: {fault}" for fault in _round(one)]
    assert not found, tell(found)


def _round(one: Shown) -> list[str]:
    """Press Tab until the page is left, and say what was wrong on the way."""
    found: list[str] = []
    waiting = one.probe("begin")
    for _ in range(waiting + 1):
        one.page.keyboard.press("Tab")
        fault = one.probe("arrive")
        if fault is None:
            break
        found += fault
    else:
        found.append("the keyboard does not get out of the page")
    found += one.probe("missed")
    return found


def test_the_first_tab_offers_a_way_past_the_navigation(browser: Browser, place: Place) -> None:
    with shown(browser, place.address, NARROW) as one:
        one.page.keyboard.press("Tab")
        link = one.page.locator(":focus")
        assert link.get_attribute("href") == "#main"
        box = link.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["y"] >= 0
        one.page.keyboard.press("Enter")
        one.page.keyboard.press("Tab")
        assert one.page.evaluate("document.activeElement.closest('header')") is None


def test_what_is_folded_opens_by_enter_and_closes_by_space(browser: Browser, place: Place) -> None:
    with shown(browser, place.address, DESK) as one:
        for summary in one.page.locator("details:not([open]) > summary").element_handles()[:3]:
            if summary.is_visible():
                for key, opened in (("Enter", True), ("Space", False)):
                    summary.press(key)
                    assert summary.evaluate("it => it.parentElement.open") is opened, key


def test_buttons_do_by_enter_and_by_space_what_they_do_by_a_click(
    browser: Browser, place: Place
) -> None:
    with shown(browser, place.address, DESK) as one:
        assert one.probe("pressedOnlyByPointer") == []
        one.probe("countClicks")
        for number, button in enumerate(one.page.locator("button").all()):
            for key in ("Enter", "Space"):
                if button.is_visible() and button.is_enabled():
                    before = one.page.evaluate("window.__clicks")
                    button.press(key)
                    told = (number, key, button.text_content())
                    assert one.page.evaluate("window.__clicks") == before + 1, told
        assert one.said == []
