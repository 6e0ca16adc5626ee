# SPDX-License-Identifier: MIT
"""Tables in Markdown, and the documents that hold what studies find.

A document marks where a study's part begins by a line ``<!-- NAME -->``, and where it ends by
``<!-- end -->``.
"""

import re
from collections.abc import Callable, Iterable, Sequence

_MARKED = re.compile(r"<!-- ([\w-]+) -->\n.*?<!-- end -->", re.DOTALL)


def filled(document: str, part: Callable[[str], str]) -> str:
    """Return a document with what belongs between its marks, by their names."""
    made = "<!-- {} -->\n\n{}\n\n<!-- end -->".format
    return _MARKED.sub(lambda found: made(found[1], part(found[1])), document)


def table(head: Sequence[str], rows: Iterable[Sequence[str]], words: int | None = None) -> str:
    """Return a table whose columns hold numbers but for the first so many, or for all."""
    left = len(head) if words is None else words
    rule = ["---" if place < left else "---:" for place in range(len(head))]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *rows))
