# SPDX-License-Identifier: MIT
"""How studies get their work done, and tell how far they are."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Protocol, TypeVar

from frobench.suite.run.progress import Reporter, remaining

Cell = TypeVar("Cell")
Found = TypeVar("Found")
Tell = Callable[[float, str], None]
"""Takes the part of a study that is done, from 0 to 1, and what is being done."""

LINE_SECONDS = 60.0
"""How often a line says how far the studies are, for those who see no bar."""
ENOUGH = 0.05
"""The part of a study after which its own speed says more than what was expected of it."""


class Spread(Protocol):
    """Applies a function to each of several things, in their order, as `map` does."""

    def __call__(
        self, function: Callable[[Cell], Found], cells: Iterable[Cell], /
    ) -> Iterator[Found]:
        """Yield what the function returns for each, in order."""


@contextmanager
def every_core() -> Iterator[Spread]:
    """Provide what spreads work over all cores, in processes of their own."""
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        yield pool.map


class Pace:
    """Says how far several studies are, and how long they will take.

    expected : seconds of each study, by name, in the order in which they are made
    """

    def __init__(self, expected: Mapping[str, float]) -> None:
        self._expected = expected
        self._told = time.monotonic()

    def study(self, name: str, progress: Reporter) -> Tell:
        """Begin a study; return what tells how far it and all of them are."""
        begun, names = time.monotonic(), list(self._expected)
        place = names.index(name)
        before, mine, after = (
            sum(self._expected[one] for one in some)
            for some in (names[:place], [name], names[place + 1 :])
        )

        def tell(done: float, what: str) -> None:
            now = time.monotonic()
            whole = (now - begun) / done if done > ENOUGH else mine
            left = (1 - done) * whole + after
            progress.at((before + done * mine) / (before + mine + after), left, what)
            if now - self._told >= LINE_SECONDS:
                self._told = now
                progress.say(f"{name}: {what}; {remaining(left)} left for all")

        return tell
