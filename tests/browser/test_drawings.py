# SPDX-License-Identifier: MIT
"""Charts for those who see none."""

import re

from playwright.sync_api import Browser

from tests.browser.chromium import Look, shown, tell
from tests.browser.sites import Place

LOOK = Look("light", 1280)
NUMBER = re.compile(r"\d[\d,.]*(?:e[+-]?\d+)?")


def test_every_chart_has_words_and_a_table(browser: Browser, place: Place) -> None:
    with shown(browser, place.address, LOOK) as one:
        found = one.probe("unread")
    assert not found, tell(found)


def test_the_table_has_the_numbers_that_the_chart_tells_on_hovering(
    browser: Browser, place: Place
) -> None:
    found = []
    with shown(browser, place.address, LOOK) as one:
        for chart in one.probe("told"):
            rows = [[NUMBER.findall(cell) for cell in cells] for cells in chart["rows"]]
            for text in chart["hover"]:
                spelled, _, _ = text.partition(" (no interval")
                numbers = NUMBER.findall(spelled.rpartition(": ")[2]) if ": " in spelled else []
                if not any(is_in(numbers, cells) for cells in rows):
                    found.append(f"{text!r} is in no row: {chart['name']}")
    assert not found, tell(found)


def is_in(numbers: list[str], cells: list[list[str]]) -> bool:
    """Whether a row has a value with its interval in a cell, or the ends of a range in several."""
    firsts = [cell[0] for cell in cells if cell]
    return any(cell[: len(numbers)] == numbers for cell in cells) or all(
        number in firsts for number in numbers
    )
