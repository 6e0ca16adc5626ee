# SPDX-License-Identifier: MIT
"""Colours, marks and widths that charts and pages share."""

from dataclasses import dataclass

LIGHT = {
    "paper": "#ffffff",
    "surface": "#f5f6f8",
    "ink": "#15181c",
    "muted": "#535a65",
    "rule": "#dce0e6",
    "edge": "#747c87",
    "link": "#0a58a5",
    "good": "#0b6245",
    "good-ground": "#e4f3ec",
    "warn": "#7d4300",
    "warn-ground": "#fdf0db",
    "bad": "#a11616",
    "bad-ground": "#fdeaea",
    "range": "#bcd9ea",
    "c1": "#0072b2",
    "c2": "#c2410c",
    "c3": "#00553e",
    "c4": "#6a2f86",
    "c5": "#97931a",
    "c6": "#6c7480",
}
DARK = {
    "paper": "#12151a",
    "surface": "#1b2028",
    "ink": "#e9ecf1",
    "muted": "#a9b1bd",
    "rule": "#303843",
    "edge": "#858f9d",
    "link": "#84bdf5",
    "good": "#6fd6ad",
    "good-ground": "#10301f",
    "warn": "#f3c078",
    "warn-ground": "#38290e",
    "bad": "#ff9c9c",
    "bad-ground": "#401a1a",
    "range": "#23506e",
    "c1": "#4fa8e0",
    "c2": "#f2935a",
    "c3": "#6ff0cb",
    "c4": "#a3609e",
    "c5": "#e5cd3e",
    "c6": "#8b94a1",
}
"""Colours by theme: text at 4.5:1 on paper and on its ground, and the series' c1 to c6 at 3:1.

The first is the subject of a chart; the others are there where lines must be told apart, the
first five for each colour-vision deficiency too.
"""
GROUNDS = ("paper", "surface", "rule", "range", "good-ground", "warn-ground", "bad-ground")
"""Colours that lie behind others."""
SERIES = ("c1", "c2", "c3", "c4", "c5", "c6")
LABELS = ("c1", "c2", "c3")
"""Colours of series that text may have in both themes; names of further series are in ink."""
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
    letters
        How many letters of a name have room beside the end of a line.
    """

    name: str
    width: float
    height: float
    font: float
    glyph: float
    x_labels: int
    letters: int


WIDE = Form("wide", 540, 300, 12, 6.8, 9, 17)
NARROW = Form("narrow", 288, 260, 12, 6.8, 5, 11)
