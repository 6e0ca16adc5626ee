# SPDX-License-Identifier: MIT
"""Charts for those who see few colours or little contrast, and for those who see none."""

import re
from itertools import combinations
from statistics import median
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser

from tests.browser.chromium import Look, shown, tell
from tests.browser.colours import ciede2000, contrast, least_distance
from tests.browser.sites import Place

LEAST = {"text": 4.5, "mark": 3.0}
"""Contrast with what lies behind: WCAG 2.2, 1.4.3 and 1.4.11."""
APART = 8.0
"""CIEDE2000 between two series. It is scaled so that large fields differ visibly from 1 on; marks
as small as ours need several times as much (Stone, Szafir and Setlur, "An Engineering Model for
Color Difference as a Function of Size", CIC 22, 2014). Series below it differ by their form."""
LOOKS = [Look("light", 1280), Look("dark", 1280), Look("light", 320), Look("dark", 320)]
FORCED = [Look("dark", 1280, forced=True), Look("light", 320, forced=True)]
"""A browser leaves the colours of drawings as they are where it takes the reader's own for all
else, and computed ones are those that it shows."""
NUMBER = re.compile(r"\d[\d,.]*(?:e[+-]?\d+)?")


def test_text_and_marks_stand_out_from_what_lies_behind(browser: Browser, place: Place) -> None:
    found = []
    with shown(browser, place.address, LOOKS[0]) as one:
        one.probe("unfold")
        few = LOOKS[1:2] if place.hostile else [LOOKS[1], LOOKS[2], FORCED[0]]
        for look in [*LOOKS, *FORCED] if place.whole else few:
            one.look(look)
            for drawn in one.probe("painted"):
                # A line crosses others, which takes nothing from the rest of it.
                ratio = median(contrast(*pair) for pair in drawn["pairs"])
                if ratio < LEAST[drawn["kind"]]:
                    found.append(f"{look}: {drawn['kind']} at {ratio:.2f}:1: {drawn['name']}")
    assert not found, tell(found)


def test_series_are_told_apart_by_every_eye_or_by_their_form(
    browser: Browser, place: Place
) -> None:
    found = []
    with shown(browser, place.address, LOOKS[0]) as one:
        one.probe("unfold")
        for look in LOOKS[:2]:
            one.look(look)
            found += [
                f"{look}: {fault}" for group in one.probe("palettes") for fault in alike(group)
            ]
    assert not found, tell(found)


def alike(group: dict[str, Any]) -> list[str]:
    """Say which series of a drawing or a legend are told apart by nothing."""
    forms: dict[tuple[int, ...], set[str]] = {}
    for mark in group["marks"]:
        forms.setdefault(tuple(mark["colour"]), set()).add(mark["form"])
    found = []
    for (one, its), (other, others) in combinations(forms.items(), 2):
        distance, eye = least_distance(one, other)
        if distance < APART and its == others:
            found.append(f"{one} and {other} are {distance:.1f} apart for {eye}: {group['name']}")
    listed = [(tuple(mark["colour"]), mark["form"]) for mark in group["marks"]]
    if group["legend"] and len(set(listed)) < len(listed):
        found.append(f"two series look the same: {group['name']}")
    return found


def test_every_chart_has_words_and_a_table(browser: Browser, place: Place) -> None:
    with shown(browser, place.address, LOOKS[0]) as one:
        found = one.probe("unread")
    assert not found, tell(found)


def test_the_table_has_the_numbers_that_the_chart_tells_on_hovering(
    browser: Browser, place: Place
) -> None:
    found = []
    with shown(browser, place.address, LOOKS[0]) as one:
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


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, 2.49, -0.001), (50.0, -2.49, 0.0011), 7.2195),
        ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
        ((2.0776, 0.0795, -1.135), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_distances_are_those_of_the_published_pairs(
    one: tuple[float, ...], other: tuple[float, ...], distance: float
) -> None:
    """From the test data of Sharma, Wu and Dalal (2005)."""
    assert ciede2000(np.array(one), np.array(other)) == pytest.approx(distance, abs=1e-4)


def test_contrast_is_that_of_the_guideline() -> None:
    assert contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)
    assert contrast((118, 118, 118), (255, 255, 255)) == pytest.approx(4.54, abs=0.005)


def test_red_and_green_are_alike_to_whoever_lacks_a_cone_for_them() -> None:
    distance, eye = least_distance((200, 60, 50), (110, 110, 40))
    assert (distance < 15, eye) == (True, "deuteranopia")
