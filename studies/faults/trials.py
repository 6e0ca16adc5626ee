# SPDX-License-Identifier: MIT
"""What a campaign consists of: parts, of each part kinds, and of each kind many trials."""

from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import NamedTuple, Protocol

from msgspec import Struct


class Extent(NamedTuple):
    """How much a campaign tries.

    seed : of everything that is drawn
    mutants : of stored files
    """

    seed: int
    mutants: int

    def random(self, name: str) -> Random:
        """Return the numbers of a part, which do not depend on the other parts."""
        return Random(f"{self.seed}/{name}")  # noqa: S311 - no secret


class Trial(NamedTuple):
    """A thing to try.

    part : the name of its module
    kind : of what goes wrong
    number : when it does, or a seed, as the part has it
    size : how many tries it stands for
    """

    part: str
    kind: str
    number: int = 0
    size: int = 1


class Result(Struct):
    """The result of a trial; a good one has no faults."""

    part: str
    kind: str
    number: int
    tried: int
    seconds: float
    faults: list[str]


class Part(Protocol):
    """A module of this package.

    PROMISE : what holds whatever is tried, as `docs/faults.md` says it
    """

    PROMISE: str

    def trials(self, extent: Extent) -> list[Trial]:
        """Return what is to be tried."""
        ...

    def attempt(self, trial: Trial, folder: Path) -> Iterable[str]:
        """Try something in an empty folder; return what should not be."""
        ...
