# SPDX-License-Identifier: MIT
"""A page keeps to itself: it asks nobody, its own policy refuses it nothing, it says no error."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.chromium import LOOKS, Look, shown
from tests.browser.sites import HOSTILE, pages


def test_hostile_text_executes_nothing(browser: Browser, folder: Path) -> None:
    hostile = [place for place in pages(folder) if place.hostile]
    assert len(hostile) >= 7
    for place in hostile:
        with shown(browser, place.address, LOOKS[0]) as one:
            one.probe("rouse")
            assert one.page.evaluate("window.__hit") is None, place
            assert one.page.locator("main").is_visible(), place
            assert one.said == [], place


@pytest.mark.parametrize("site", HOSTILE)
def test_hostile_machines_are_compared_with_each(browser: Browser, folder: Path, site: str) -> None:
    with shown(browser, (folder / site / "purchase.html").as_uri(), LOOKS[0]) as one:
        one.probe("unfold")
        choice = one.page.get_by_label("Compared with")
        references = [str(each.get_attribute("value")) for each in choice.locator("option").all()]
        assert len(references) >= 2
        assert one.page.get_by_text("31,500 EUR").count() > 0
        for reference in references:
            choice.select_option(reference)
            one.page.wait_for_function(
                "reference => setting.read().get('reference') === reference", arg=reference
            )
            one.page.get_by_label("Hours a day at work").fill("3")
            one.page.keyboard.press("Tab")
            for width in (320, 1280):
                one.look(Look("light", width))
                assert one.probe("sideways") == [], (reference[:80], width)
            one.probe("rouse")
            assert one.page.evaluate("window.__hit") is None
            assert one.page.get_by_text("Baseline, 1").count() == 1
            assert "NaN" not in one.page.locator("main").inner_html()
        assert one.refused() == one.said == []
