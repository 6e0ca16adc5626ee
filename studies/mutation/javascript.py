# SPDX-License-Identifier: MIT
"""Changes of a script: an operator, comparison, number, condition or `return`."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import quickjs

_TOKEN = re.compile(
    r"(?P<space>\s+|//[^\n]*|/\*.*?\*/)"
    r"|(?P<text>\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`)"
    r"|(?P<number>\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?)"
    r"|(?P<word>[\w$]+)"
    r"|(?P<sign>===|!==|=>|<=|>=|&&|\|\||\?\?|\?\.|\*\*|\+\+|--|\+=|-=|\.\.\.|.)",
    re.DOTALL,
)
_PATTERN = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\\[\n])+/[a-z]*")
_BEFORE_PATTERN = {*"(,=:[!&|?{};", "=>", "return"}
"""Tokens after which a slash begins a regular expression."""
_SWAPS = {
    first: others or [""]
    for first, *others in map(
        str.split,
        (
            *("=== !==", "!== ===", "< <= >=", "<= < >", "> >= <=", ">= > <"),
            *("&& ||", "|| &&", "?? &&", "!", "true false", "false true"),
            *("+ -", "- +", "* /", "/ *", "% *", "** *", "+= -=", "-= +=", "++ --", "-- ++"),
            *("min max", "max min", "some every", "every some"),
            *("return void", "break continue", "continue break"),
        ),
    )
}
"""What may stand in the place of a token."""


class _Token(NamedTuple):
    kind: str
    text: str
    start: int


def changes(source: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the position of each place that may change, and the texts of the script with it."""
    tokens = [*_tokens(source)]
    for place, (kind, text, start) in enumerate(tokens):
        swaps = _SWAPS.get(text, []) if kind in {"sign", "word"} else ()
        if kind == "number":
            swaps = [f"({text} + 1)", f"({text} - 1)"]
        ends = [(start, start + len(text), new) for new in swaps]
        texts = [source[:begin] + new + source[end:] for begin, end, new in ends]
        if text in {"if", "while"} and tokens[place + 1].text == "(":
            opened, closed = tokens[place + 1].start, _closing(tokens, place + 1)
            texts = [f"{source[:opened]}(!{source[opened:closed]}){source[closed:]}"]
        if valid := [one for one in texts if _is_script(one)]:
            yield start, valid


def _tokens(source: str) -> Iterator[_Token]:
    place, before = 0, ";"
    while place < len(source):
        pattern = _PATTERN.match(source, place) if before in _BEFORE_PATTERN else None
        found = pattern or _TOKEN.match(source, place)
        assert found is not None
        kind = "text" if pattern else str(found.lastgroup)
        if kind != "space":
            before = found[0]
            yield _Token(kind, before, place)
        place = found.end()


def _closing(tokens: list[_Token], place: int) -> int:
    """Return the position behind the parenthesis that closes the one in this place."""
    depth = 0
    for token in tokens[place:]:
        depth += (token.text == "(") - (token.text == ")")
        if depth == 0:
            return token.start + 1
    raise ValueError("a parenthesis is not closed")


def _is_script(source: str) -> bool:
    """Return whether a text can be read as a script; it is not run."""
    try:
        quickjs.Context().eval(f"() => {{{source}\n}}")
    except quickjs.JSException:
        return False
    return True
