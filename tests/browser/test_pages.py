# SPDX-License-Identifier: MIT
"""Every page fits a telephone and a sheet of paper, is read and heard, and keeps to itself."""

import re
from pathlib import Path

from playwright.sync_api import Browser

from tests.browser.chromium import HEIGHT, LOOKS, Look, shown, tell
from tests.browser.sites import Place, newest

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


def test_tab_reaches_every_control_is_seen_and_leaves_again(browser: Browser, place: Place) -> None:
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


def test_neither_paper_nor_a_lack_of_javascript_loses_a_row(browser: Browser, place: Place) -> None:
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


SCREENS, WORDS, SHEETS = 5, 800, 6
"""Of the page with every row folded: screens of 1280 x 900 pixels, words, sheets of A4."""


def test_folded_each_run_takes_few_screens_words_and_sheets(browser: Browser, folder: Path) -> None:
    pages = sorted((folder / "honest").glob("*/*.html"))
    assert newest().stem in {page.stem for page in pages}
    for page in pages:
        with shown(browser, page.as_uri(), DESK) as one:
            height = one.page.evaluate("document.documentElement.scrollHeight")
            words = str(one.page.locator("body").inner_text()).split()
            paper = one.page.pdf(prefer_css_page_size=True)
        assert height <= SCREENS * HEIGHT, page.name
        assert len(words) <= WORDS, page.name
        assert 1 <= len(re.findall(rb"/Type\s*/Page[^s]", paper)) <= SHEETS, page.name


def test_the_first_screen_has_sentence_axes_roofline_trust(browser: Browser, folder: Path) -> None:
    (path,) = (folder / "honest").glob(f"*/{newest().stem}.html")
    with shown(browser, path.as_uri(), DESK) as one:
        for part in (".lead", ".axes", "svg.fluid[aria-label*='ceilings']", ".trust"):
            box = one.page.locator(part).first.bounding_box()
            assert box is not None, part
            assert box["y"] + box["height"] <= HEIGHT, part
