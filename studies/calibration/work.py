# SPDX-License-Identifier: MIT
"""How studies get their work done, and tell how far they are."""

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Protocol, TypeVar

from frobench.suite.run.progress import Reporter

Cell = TypeVar("Cell")
Found = TypeVar("Found")
Tell = Callable[[float, str], None]
"""Takes the part of a study that is done, from 0 to 1, and what is being done."""


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


def tells(progress: Reporter) -> Tell:
    """Begin a study; return what tells how far it is, and how long it will take at its pace."""
    begun = time.monotonic()

    def tell(done: float, what: str) -> None:
        spent = time.monotonic() - begun
        progress.at(done, spent / done - spent if done else 0.0, what)

    return tell
