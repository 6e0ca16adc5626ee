# SPDX-License-Identifier: MIT
"""Every page fits a telephone and a sheet of paper, is read and heard, and keeps to itself."""

from playwright.sync_api import Browser

from tests.browser.chromium import LOOKS, Look, shown, tell
from tests.browser.sites import Place

DESK, NARROW = Look("light", 1280), Look("light", 320)
PAPER = Look("light", 718)
"""As wide as an A4 sheet between margins of 1 cm."""


def test_a_page_is_read_in_every_look_and_asks_nobody(browser: Browser, place: Place) -> None:
    with shown(browser, place.address, DESK) as one:
        found = one.probe("unread") + one.probe("pressedOnlyByPointer")
        for summary in one.page.locator("details:not([open]) > summary").element_handles()[:3]:
            for key, opened in (("Enter", True), ("Space", False)) if summary.is_visible() else ():
                summary.press(key)
                if summary.evaluate("it => it.parentElement.open") is not opened:
                    found.append(f"{key} does not fold: {summary.text_content()}")
        for width in (320, 768, 1280, 1920):
            one.look(Look("light", width))
            found += [f"{width} px: {fault}" for fault in one.probe("crowded")]
        one.look(NARROW)
        found += one.probe("sideways")
        one.probe("unfold")
        found += one.probe("sideways")
        for look in LOOKS:
            one.look(look)
        one.page.wait_for_timeout(50)  # what a page would do a moment later
        found += one.refused() + one.said
        found += [asked for asked in one.asked if not asked.startswith(("file://", "data:"))]
    assert not found, tell(found)


def test_tab_reaches_every_control_shows_itself_and_leaves(browser: Browser, place: Place) -> None:
    found: list[str] = []
    for look in (DESK, Look("dark", 320)) if place.whole else (DESK,):
        with shown(browser, place.address, look, new=True) as one:
            for _ in range(one.probe("begin") + 1):
                one.page.keyboard.press("Tab")
                fault = one.probe("arrive")
                if fault is None:
                    break
                found += [f"{look}: {each}" for each in fault]
            else:
                found.append(f"{look}: the keyboard does not get out of the page")
            found += [f"{look}: {each}" for each in one.probe("missed")]
    assert not found, tell(found)


def test_neither_paper_nor_missing_javascript_loses_a_row(browser: Browser, place: Place) -> None:
    whole = f"{place.address}#unfolded"  # as a reader asks for every row
    with shown(browser, whole, DESK, script=False) as one:
        assert [heading.is_visible() for heading in one.page.locator("h1").all()] == [True]
        one.probe("unfold")
        found = one.probe("deadWithoutScript")
        stored = one.page.locator("tr").count()
    with shown(browser, whole, PAPER) as one:
        one.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        one.page.emulate_media(media="print")
        found += one.probe("lostOnPaper")
        assert one.page.locator("tr").count() >= stored
    assert not found, tell(found)
