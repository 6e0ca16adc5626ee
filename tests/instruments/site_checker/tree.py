# SPDX-License-Identifier: MIT
"""A page as a tree of elements, and its blocks of text."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from unicodedata import category

VOID = {"meta", "link", "input", "br", "hr", "img", "wbr"}
OPEN_ENDED = {"td": {"td", "th"}, "th": {"td", "th"}, "tr": {"td", "th", "tr"}}
"""Elements whose end need not be written, and what their like ends."""
BLOCKS = {"td", "th", "li", "p", "dt", "dd", "title", "summary", "caption", "text", "h1"}
BLOCKS |= {"h2", "h3", "option", "label", "legend", "figcaption"}
HIDDEN = {"script", "style"}


@dataclass(eq=False)
class Element:
    """An element of a page with what is in it, in order."""

    name: str
    attributes: dict[str, str]
    parent: "Element | None"
    children: list["Element | str"] = field(default_factory=list)

    def every(self, name: str = "", **wanted: str) -> Iterator["Element"]:
        """Yield elements within, of a name and with attributes (``class_``: one of its words)."""
        for one in self.children:
            if isinstance(one, Element):
                if name in {"", one.name} and all(one._has(*pair) for pair in wanted.items()):
                    yield one
                yield from one.every(name, **wanted)

    def _has(self, attribute: str, value: str) -> bool:
        if attribute == "class_":
            return value in self.attributes.get("class", "").split()
        return self.attributes.get(attribute) == value

    def first(self, name: str = "", **wanted: str) -> "Element | None":
        """Return the first such element."""
        return next(self.every(name, **wanted), None)

    def within(self) -> Iterator["Element"]:
        """Yield the element and those around it, outwards."""
        around: Element | None = self
        while around:
            yield around
            around = around.parent

    def around(self, name: str = "", **wanted: str) -> "Element | None":
        """Return the nearest such element around this one, or this one."""
        return next(
            (
                one
                for one in self.within()
                if name in {"", one.name} and all(one._has(*pair) for pair in wanted.items())
            ),
            None,
        )

    def text(self, *, own: bool = False) -> str:
        """Return what is read, on one line; with `own` without the blocks within."""
        pieces = [*self._pieces(own=own)]
        return words("".join(pieces))

    def _pieces(self, *, own: bool) -> Iterator[str]:
        for one in self.children:
            if isinstance(one, str):
                yield one
            elif one.name not in HIDDEN and not (own and one.name in BLOCKS):
                yield from one._pieces(own=own)
            elif own and one.name in BLOCKS:
                yield " | "


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

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        closed = self.here.around(tag)
        if closed is not None and closed.parent is not None:
            self.here = closed.parent

    def handle_data(self, data: str) -> None:
        self.here.children.append(data)


def words(text: str) -> str:
    """Return text on one line, without what a page cannot show and has a sign in the place of."""
    shown = (one for one in text if one in " \n\t" or category(one)[0] != "C")
    return " ".join("".join(shown).replace("\ufffd", "").split())


def read(path: Path) -> Element:
    """Read a page."""
    reader = _Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    reader.close()
    return reader.root
