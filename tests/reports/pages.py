# SPDX-License-Identifier: MIT
"""Pages as tests read them."""

import json
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup, Tag

Markup = str | bytes | Path | Tag
"""A page or a part of one, or the file in which it lies."""


def parsed(markup: Markup) -> Tag:
    """Return the elements of a page."""
    if isinstance(markup, Tag):
        return markup
    text = markup.read_bytes() if isinstance(markup, Path) else markup
    text = text if isinstance(text, str) else text.decode()
    return BeautifulSoup(text, "html.parser", multi_valued_attributes=None)


def text_of(markup: Markup) -> str:
    """Return all words that a reader sees, on one line."""
    return " ".join(parsed(markup).get_text(" ").split())


def attributes(markup: Markup, name: str, tag: str = "") -> list[str]:
    """Return the values of an attribute, of one kind of element or all, in order."""
    return [str(one[name]) for one in parsed(markup).select(f"{tag}[{name}]")]


def block(markup: Markup, which: str) -> Any:  # noqa: ANN401 - as JSON has it
    """Return the data of a page for its scripts or other programs, by a selector."""
    (found,) = parsed(markup).select(f"script{which}")
    return json.loads(found.get_text())
