# SPDX-License-Identifier: MIT
"""Pages of runs are short, begin with what decides, and open to everything."""

import re
from pathlib import Path

from playwright.sync_api import Browser

from tests.browser.chromium import HEIGHT, Look, shown
from tests.browser.sites import newest

SCREENS, WORDS, SHEETS = 5, 800, 6
"""Of the page with every row folded: screens of 1280 x 900 pixels, words, sheets of A4."""
DESK = Look("light", 1280)


def test_folded_a_run_takes_few_screens_words_and_sheets(browser: Browser, folder: Path) -> None:
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


def test_the_first_screen_holds_lead_axes_roofline_and_trust(
    browser: Browser, folder: Path
) -> None:
    (path,) = (folder / "honest").glob(f"*/{newest().stem}.html")
    with shown(browser, path.as_uri(), DESK) as one:
        for part in (".lead", ".axes", "svg.fluid[aria-label*='ceilings']", ".trust"):
            box = one.page.locator(part).first.bounding_box()
            assert box is not None, part
            assert box["y"] + box["height"] <= HEIGHT, part
