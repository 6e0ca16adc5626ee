# SPDX-License-Identifier: MIT
"""Errors that end a run or a case."""

import math
import sys
from pathlib import Path

from msgspec.structs import replace

from frobench.suite.stored.types import Check


class CannotRunError(RuntimeError):
    """The machine cannot do what was asked; the message says why and what helps."""


class CutShortError(CannotRunError):
    """A run ended before its last launch did, and can be resumed by its name, `run`."""

    def __init__(self, message: str, run: str) -> None:
        super().__init__(message)
        self.run = run


class NothingMeasuredError(RuntimeError):
    """No selected case could be measured: some `failed`, or all were left out."""

    def __init__(self, message: str, *, failed: bool) -> None:
        super().__init__(message)
        self.failed = failed


class NothingSelectedError(ValueError):
    """No case is selected."""


class DoesNotFitError(Exception):
    """A case needs more of a device than is free: of its memory, or the device for itself."""


class LostRankError(RuntimeError):
    """A process of a group ended or did not answer, or its network broke; the message names it."""


class TooLongError(Exception):
    """A call takes longer than the profile allows, or is predicted to.

    seconds : that went into calls before that was known
    """

    def __init__(self, reason: str, seconds: float = 0.0) -> None:
        super().__init__(reason)
        self.seconds = seconds


class ClockError(RuntimeError):
    """The host's clock does not do what a clock must."""


class Interrupted(Exception):  # noqa: N818 - not an error: the user asked for it
    """The user ended the run.

    run : its name, to resume it by
    stored : where everything finished was saved; ``None`` if nothing was
    trouble : why nothing was, if there was something to save
    """

    def __init__(self, run: str, stored: Path | None, trouble: str | None = None) -> None:
        super().__init__(run)
        self.run = run
        self.stored = stored
        self.trouble = trouble


class WrongResultError(Exception):
    """A timed result is not the right one, so its speed is worth nothing."""

    def __init__(self, check: Check) -> None:
        super().__init__(
            f"wrong result: {check.compared} is off by {check.error:.2g}, "
            f"over the bound of {check.bound:.2g}"
        )
        # The stored file knows neither infinity nor NaN.
        error = check.error if math.isfinite(check.error) else sys.float_info.max
        self.check = replace(check, error=error)
