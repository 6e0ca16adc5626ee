# SPDX-License-Identifier: MIT
"""Colours, marks and widths that charts and pages share."""

from dataclasses import dataclass

LIGHT = ("#2a6fbf", "#b5440c", "#0b4536", "#63308a", "#8f8a12", "#6f6a60")
DARK = ("#58aef5", "#f5703c", "#6ff0cb", "#b272b6", "#e5cd3e", "#a8a598")
"""Series colours by theme: 3:1 on the page, and apart for each colour-vision deficiency."""
SHAPES = ("o", "s", "^", "D", "v", "P")
"""Marks of the series, so that colour is never alone."""
INK, MUTED, RULE, PAPER = "#1b1e23", "#5b6470", "#d9d6cf", "#fdfcf9"
COLOURS = {
    INK: "currentColor",
    MUTED: f"var(--muted, {MUTED})",
    RULE: f"var(--rule, {RULE})",
    PAPER: f"var(--paper, {PAPER})",
} | {colour: f"var(--c{index}, {colour})" for index, colour in enumerate(LIGHT, 1)}


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
