# SPDX-License-Identifier: MIT
"""How texts are searched for patterns in a time that grows with their length alone."""

import re
from collections.abc import Iterable, Iterator

from suite.personal.patterns import Look

_LOWER = {letter: letter + 32 for letter in range(ord("A"), ord("Z") + 1)}


def in_lower_case(text: str) -> str:
    """Return a text in lower case, with each character where it was."""
    lower = text.lower()
    return lower if len(lower) == len(text) else text.translate(_LOWER)


def possible(looks: Iterable[Look], lower: str) -> Iterator[Look]:
    """Yield how something in a text may look, judging by words and marks alone.

    lower : the text in lower case
    """
    for look in looks:
        for hint in look.hints:
            if hint in lower:
                yield look
                break


def matches(look: Look, text: str, lower: str) -> Iterator[re.Match[str]]:
    """Yield where a text looks so.

    lower : the text in lower case
    """
    searched = lower if look.folded else text
    if look.core is None:
        every = look.pattern.finditer(searched)
        yield from (match for match in every if match.lastgroup or not look.pattern.groupindex)
        return
    end = -1
    for core in look.core.finditer(searched):
        if core.start() >= end:  # else it is in a word that was searched
            start = searched.rfind(" ", 0, core.start()) + 1
            end = searched.find(" ", core.start())
            end = len(searched) if end < 0 else end
            yield from look.pattern.finditer(searched, start, end)
