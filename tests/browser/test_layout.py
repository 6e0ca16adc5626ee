# SPDX-License-Identifier: MIT
"""A page fits: a telephone's window, a sheet of paper, a browser without JavaScript."""

from playwright.sync_api import Browser

from tests.browser.chromium import Look, shown, tell
from tests.browser.sites import Place

PAPER = 718
"""Width of an A4 sheet between margins of 1 cm, in CSS pixels."""
NARROW = Look("light", 320)


def test_nothing_but_announced_regions_scrolls_sideways(browser: Browser, place: Place) -> None:
    with shown(browser, place.address, NARROW) as one:
        found = one.probe("sideways")
        one.probe("unfold")
        found += one.probe("sideways")
    assert not found, tell(found, NARROW)


def test_no_label_lies_on_another_or_is_cut(browser: Browser, place: Place) -> None:
    with shown(browser, place.address, NARROW) as one:
        for width in (320, 768, 1280, 1920):
            one.look(Look("light", width))
            found = one.probe("crowded")
            assert not found, tell(found, Look("light", width))


def test_paper_loses_no_row(browser: Browser, place: Place) -> None:
    whole = f"{place.address}#unfolded"  # as a reader asks for every row
    with shown(browser, whole, Look("light", PAPER), script=False) as one:
        stored = one.page.locator("tr").count()
    with shown(browser, whole, Look("light", PAPER)) as one:
        one.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        one.page.emulate_media(media="print")
        found = one.probe("lostOnPaper")
        printed = one.page.locator("tr").count()
    assert not found, tell(found)
    assert printed >= stored


def test_without_javascript_every_table_is_read_and_no_control_is_dead(
    browser: Browser, place: Place
) -> None:
    with shown(browser, place.address, Look("light", 1280), script=False) as one:
        headings = one.page.locator("h1")
        assert headings.count() == 1
        assert headings.is_visible()
        one.probe("unfold")
        found = one.probe("deadWithoutScript")
    assert not found, tell(found)
