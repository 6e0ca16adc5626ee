# SPDX-License-Identifier: MIT
"""A page fits: a telephone's window, a sheet of paper, a browser without JavaScript."""

from playwright.sync_api import Browser

from tests.browser.chromium import Look, shown

PAPER = 718
"""Width of an A4 sheet between margins of 1 cm, in CSS pixels."""
NARROW = Look("light", 320)


def test_nothing_but_announced_regions_scrolls_sideways(browser: Browser, address: str) -> None:
    with shown(browser, address, NARROW) as one:
        folded = one.probe("sideways")
        one.probe("unfold")
        assert folded + one.probe("sideways") == [], NARROW


def test_paper_loses_no_row(browser: Browser, address: str) -> None:
    with shown(browser, address, Look("light", PAPER)) as one:
        one.page.emulate_media(media="print")
        assert one.probe("lostOnPaper") == []


def test_without_javascript_every_table_is_read_and_no_control_is_dead(
    browser: Browser, address: str
) -> None:
    with shown(browser, address, Look("light", 1280), script=False) as one:
        headings = one.page.locator("h1")
        assert headings.count() == 1
        assert headings.is_visible()
        one.probe("unfold")
        assert one.probe("deadWithoutScript") == []
