# SPDX-License-Identifier: MIT
"""A page as a tree of elements, and its blocks of text."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from unicodedata import category

VOID = {"meta", "link", "input", "br", "hr", "img", "wbr"}
OPEN_ENDED = {"td": {"td", "th"}, "th": {"td", "th"}, "tr": {"td", "th", "tr"}}
"""Elements whose end need not be written, and the elements that end them."""
BLOCKS = {"td", "th", "li", "p", "dt", "dd", "title", "summary", "caption", "text", "h1"}
BLOCKS |= {"h2", "h3", "option", "label", "legend", "figcaption"}
HIDDEN = {"script", "style"}


@dataclass(eq=False)
class Element:
    """An element of a page with its children, in order."""

    name: str
    attributes: dict[str, str]
    parent: "Element | None"
    children: list["Element | str"] = field(default_factory=list)

    @property
    def elements(self) -> list["Element"]:
        """The children without the text between them."""
        return [one for one in self.children if isinstance(one, Element)]

    def every(self, name: str = "", **wanted: str) -> Iterator["Element"]:
        """Yield elements within, of a name and with attributes (``class_``: one of its words)."""
        for one in self.elements:
            if one._is(name, wanted):
                yield one
            yield from one.every(name, **wanted)

    def _is(self, name: str, wanted: dict[str, str]) -> bool:
        return name in {"", self.name} and all(
            value in self.attributes.get(key.rstrip("_"), "").split()
            if key == "class_"
            else self.attributes.get(key) == value
            for key, value in wanted.items()
        )

    def first(self, name: str = "", **wanted: str) -> "Element | None":
        """Return the first such element within."""
        return next(self.every(name, **wanted), None)

    def around(self, name: str = "", **wanted: str) -> "Element | None":
        """Return the nearest such element around this one, or this one."""
        one: Element | None = self
        while one and not one._is(name, wanted):
            one = one.parent
        return one

    def text(self, *, own: bool = False) -> str:
        """Return the text on one line; with `own` without the blocks within."""
        return words("".join(self._pieces(own=own)))

    def _pieces(self, *, own: bool) -> Iterator[str]:
        for one in self.children:
            if isinstance(one, str):
                yield one
            elif own and one.name in BLOCKS:
                yield " | "
            elif one.name not in HIDDEN:
                yield from one._pieces(own=own)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = self.here = Element("", {}, None)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        while self.here.name in OPEN_ENDED.get(tag, ()):
            self.here = self.here.parent or self.root
        one = Element(tag, {name: value or "" for name, value in attrs}, self.here)
        self.here.children.append(one)
        if tag not in VOID:
            self.here = one

    def handle_endtag(self, tag: str) -> None:
        closed = self.here.around(tag)
        if tag not in VOID and closed and closed.parent:
            self.here = closed.parent

    def handle_data(self, data: str) -> None:
        self.here.children.append(data)


def words(text: str) -> str:
    """Return text on one line, without control characters and signs that stand for them."""
    shown = (one for one in text if one in " \n\t" or category(one)[0] != "C")
    return " ".join("".join(shown).replace("\ufffd", "").split())


def read(path: Path) -> Element:
    """Read a page."""
    reader = _Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    reader.close()
    return reader.root
