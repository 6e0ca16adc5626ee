# SPDX-License-Identifier: MIT
"""Texts of other people: control characters and hidden marks made visible, formulas harmless."""

import json
import re
import sys
import unicodedata
from typing import Any, TextIO

FORMULA = r"^[=+\-@\t\r]"
"""How a cell begins that a spreadsheet takes for a formula."""
SIGNED_NUMBER = r"^[+-](\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
"""A number that begins so, too."""


def printable(text: str) -> str:
    """Make control characters, surrogates and hidden marks visible; line feeds, tabs are spaces."""
    return text if text.isprintable() else "".join(_shown(character) for character in text)


def as_cell(text: str) -> str:
    """Return a text as a cell of a CSV file: what a spreadsheet would compute begins with '."""
    computed = re.match(FORMULA, text) and not re.match(SIGNED_NUMBER, text)
    return f"'{text}" if computed else text


def as_json(data: object) -> str:
    """Return data as indented JSON, with what `printable` replaces escaped: it says the same."""
    import msgspec  # noqa: PLC0415 - the command says it where it is missing

    text = msgspec.json.format(msgspec.json.encode(data)).decode()
    return "".join(
        character
        if character == "\n" or _shown(character) == character
        else json.dumps(character)[1:-1]
        for character in text
    )


class HarmlessStream:
    """A text stream through which no control characters but line feeds reach the one `beneath`.

    Everything that the command prints passes here, also names of files and tracebacks.
    """

    def __init__(self, beneath: TextIO) -> None:
        self.beneath = beneath

    def write(self, text: str) -> int:
        """Write a text without what a terminal would obey."""
        harmless = "\n".join(map(printable, text.split("\n")))
        try:
            return self.beneath.write(harmless)
        except UnicodeEncodeError as error:  # a terminal with few characters
            known = harmless.encode(error.encoding, "replace").decode(error.encoding)
            return self.beneath.write(known)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the stream has
        if name == "buffer":  # the way around this
            raise AttributeError(name)
        return getattr(self.beneath, name)


def guard_terminal() -> None:
    """Let nothing that this process prints from now on give orders to a terminal."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and not isinstance(stream, HarmlessStream):
            setattr(sys, name, HarmlessStream(stream))


def plain_stream(stream: TextIO) -> TextIO:
    """Return the stream itself, for what draws on a terminal and takes care of others' texts."""
    return stream.beneath if isinstance(stream, HarmlessStream) else stream


def _shown(character: str) -> str:
    if character in "\n\t":
        return " "
    hidden = unicodedata.category(character).startswith("C")
    return "\N{REPLACEMENT CHARACTER}" if hidden else character
