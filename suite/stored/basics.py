# SPDX-License-Identifier: MIT
"""What the types of a stored file are made of: bounded numbers and texts, words, and estimates."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

LARGEST_INTEGER, LARGEST_NUMBER = 2**53, 1e30
"""Numbers of a stored file, at most: integers that a double holds, and numbers whose squares it
holds too. A file with larger ones cannot be read."""
Integer = Annotated[int, Meta(ge=-LARGEST_INTEGER, le=LARGEST_INTEGER)]
Number = Annotated[float, Meta(ge=-LARGEST_NUMBER, le=LARGEST_NUMBER)]
LONGEST_TEXT, LONGEST_NAME = 20_000, 2_000
"""Characters of a text, and of a name in a table, at most."""
Text = Annotated[str, Meta(max_length=LONGEST_TEXT)]
Name = Annotated[str, Meta(max_length=LONGEST_NAME)]
LABEL_DIGITS = 10
"""Hexadecimal digits of a label: of 1000 machines two share one with a probability of 5e-7."""
Label = Annotated[str, Meta(pattern=f"^[0-9a-f]{{{LABEL_DIGITS}}}$", max_length=LABEL_DIGITS)]
Scalar = Text | Integer | Number | bool | None
Severity = Literal["info", "warning", "error"]
VerdictWord = Literal["faster", "slower", "same", "unresolved", "incomparable"]
WIDE = 2.0
"""The upper end of an interval as a multiple of its lower end, above which it is wide."""


class Estimate(Struct, frozen=True):
    """A point, its interval (``None`` with too few launches for 95%), and its count of launches."""

    value: float
    low: float | None
    high: float | None
    launches: int
    confidence: float = 0.95

    @property
    def is_wide(self) -> bool:
        """Whether the interval is wider than a factor of two, so that the value is no headline."""
        if self.low is None or self.high is None:
            return False
        return self.high > WIDE * self.low if self.low > 0 else self.high > 0
