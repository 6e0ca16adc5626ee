# SPDX-License-Identifier: MIT
"""Colours, marks and widths that charts and pages share."""

from dataclasses import dataclass

LIGHT = {
    "paper": "#fdfcf9",
    "ink": "#1b1e23",
    "muted": "#5b6470",
    "rule": "#d9d6cf",
    "link": "#1d5a9e",
    "warn": "#8a4b00",
    "bad": "#a3182b",
    "c1": "#2a6fbf",
    "c2": "#b5440c",
    "c3": "#0b4536",
    "c4": "#63308a",
    "c5": "#8f8a12",
    "c6": "#6f6a60",
}
DARK = {
    "paper": "#14171b",
    "ink": "#e9e7e2",
    "muted": "#a3abb5",
    "rule": "#343a42",
    "link": "#8cc0f5",
    "warn": "#f0b25f",
    "bad": "#ff8f94",
    "c1": "#58aef5",
    "c2": "#f5703c",
    "c3": "#6ff0cb",
    "c4": "#b272b6",
    "c5": "#e5cd3e",
    "c6": "#a8a598",
}
"""Colours by theme: text at 4.5:1 on paper, the series' c1 to c6 at 3:1, and the first five
of them apart for each colour-vision deficiency."""
SERIES = ("c1", "c2", "c3", "c4", "c5", "c6")
SHAPES = (
    "M0-5a5 5 0 1 1-.01 0z",
    "M-4.5-4.5h9v9h-9z",
    "M0-5.5 5.5 4.5h-11z",
    "M0-6 6 0 0 6-6 0z",
    "M0 5.5 5.5-4.5h-11z",
    "M-2-6h4v4h4v4h-4v4h-4v-4h-4v-4h4z",
)
"""Marks of the series around their middle, so that colour is never alone."""


@dataclass(frozen=True)
class Form:
    """A size to draw for, in CSS pixels.

    Parameters
    ----------
    glyph
        Width of a character of the axis labels, on the wide side.
    x_labels
        How many sizes can be labelled along the axis.
    """

    name: str
    width: float
    height: float
    font: float
    glyph: float
    x_labels: int


WIDE = Form("wide", 720, 370, 13, 7.4, 12)
NARROW = Form("narrow", 288, 270, 12, 6.8, 5)
