# SPDX-License-Identifier: MIT
"""The garbage collector, which rests while something is timed, and skips what modules hold."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Let the garbage collector rest while the context lasts."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class Survivors:
    """What outlives a search for garbage, such as the compiler that PyTorch's optimizers import.

    To look through that again takes a twentieth of a second.
    """

    def __init__(self) -> None:
        self._modules = 0

    def spare(self) -> None:
        """Leave what is alive out of all further searches, if more modules were imported since.

        To be called when nothing of a case is held, or it would never be given back.
        """
        if len(sys.modules) > self._modules:
            self._modules = len(sys.modules)
            gc.freeze()
