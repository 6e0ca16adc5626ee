# SPDX-License-Identifier: MIT
"""Elements of a page, built as `static/lib.js` builds them."""

from collections.abc import Mapping

from markupsafe import Markup, escape

from frobench.suite.printable import printable

Inside = str | Markup
"""Text, which is escaped, or elements."""


def element(
    tag: str, attributes: Mapping[str, str | float] | None = None, *inside: Inside
) -> Markup:
    """Return an element with its attributes and what is inside it."""
    given = Markup("").join(
        Markup(' {}="{}"').format(name, _safe(value if isinstance(value, str) else plain(value)))
        for name, value in (attributes or {}).items()
    )
    opened = Markup("<{}{}>").format(tag, given)
    return opened + together(*inside) + Markup("</{}>").format(tag)


def together(*inside: Inside) -> Markup:
    """Return texts and elements one after the other."""
    return Markup("").join(map(_safe, inside))


def plain(value: float) -> str:
    """Spell a number as scripts do, to six digits: 50 and 12.5."""
    return f"{value + 0.0:g}"


def _safe(text: Inside) -> Markup:
    return text if isinstance(text, Markup) else escape(printable(text))
