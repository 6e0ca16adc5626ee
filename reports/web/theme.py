# SPDX-License-Identifier: MIT
"""Colours, marks and widths that charts and pages share."""

_COLOURS = {
    "paper": ("#ffffff", "#12151a"),
    "surface": ("#f5f6f8", "#1b2028"),
    "ink": ("#15181c", "#e9ecf1"),
    "muted": ("#535a65", "#a9b1bd"),
    "rule": ("#dce0e6", "#303843"),
    "edge": ("#747c87", "#858f9d"),
    "link": ("#0a58a5", "#84bdf5"),
    "good": ("#0b6245", "#6fd6ad"),
    "good-ground": ("#e4f3ec", "#10301f"),
    "warn": ("#7d4300", "#f3c078"),
    "warn-ground": ("#fdf0db", "#38290e"),
    "bad": ("#a11616", "#ff9c9c"),
    "bad-ground": ("#fdeaea", "#401a1a"),
    "range": ("#bcd9ea", "#23506e"),
    "c1": ("#0072b2", "#4fa8e0"),
    "c2": ("#c2410c", "#f2935a"),
    "c3": ("#00553e", "#6ff0cb"),
    "c4": ("#6a2f86", "#a3609e"),
    "c5": ("#97931a", "#e5cd3e"),
    "c6": ("#6c7480", "#8b94a1"),
}
LIGHT = {name: light for name, (light, _) in _COLOURS.items()}
DARK = {name: dark for name, (_, dark) in _COLOURS.items()}
"""Colours by theme: text at 4.5:1 on paper and on its ground, and the series' c1 to c6 at 3:1.

The first is the subject of a chart; the others are there where lines must be told apart, the
first five for each colour-vision deficiency too.
"""
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


def kind(index: int) -> str:
    """Return the end of the classes of a series: its colour."""
    return str(index % len(SERIES) + 1)
