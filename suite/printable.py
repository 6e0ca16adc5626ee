# SPDX-License-Identifier: MIT
"""Texts of other people, made harmless for a terminal and for a page."""

import unicodedata


def printable(text: str) -> str:
    """Replace what no reader can bear: control characters, lone surrogates, hidden marks.

    Line feeds and tabs become spaces, so a text stays on its line.
    """
    return text if text.isprintable() else "".join(_shown(character) for character in text)


def _shown(character: str) -> str:
    if character in "\n\t":
        return " "
    hidden = unicodedata.category(character).startswith("C")
    return "\N{REPLACEMENT CHARACTER}" if hidden else character
