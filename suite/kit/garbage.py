# SPDX-License-Identifier: MIT
"""The garbage collector, which rests while something is timed, and skips what modules hold."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Disable the garbage collector while the context lasts."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class Survivors:
    """What outlives a search for garbage, such as modules; to search it again takes 50 ms."""

    def __init__(self) -> None:
        self._modules = 0

    def spare(self) -> None:
        """Leave what is alive out of further searches, if more modules were imported since.

        To be called when nothing of a case is held, or its memory would never be freed.
        """
        if len(sys.modules) > self._modules:
            self._modules = len(sys.modules)
            gc.freeze()
