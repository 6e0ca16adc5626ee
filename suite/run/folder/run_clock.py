# SPDX-License-Identifier: MIT
"""The time that a run has taken over all its sittings."""

import time
from pathlib import Path

from suite.errors import CannotRunError
from suite.files.keep import keep


class RunClock:
    """Counts a run's seconds; those of earlier sittings lie in its folder."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "seconds"
        self._begun = time.monotonic() - self._earlier()

    def seconds(self) -> float:
        """Return the seconds that the run has taken so far."""
        return time.monotonic() - self._begun

    def advance_to(self, seconds: float) -> None:
        """Count at least so many seconds: a process that was killed wrote down fewer."""
        self._begun = min(self._begun, time.monotonic() - seconds)

    def keep(self) -> None:
        """Write the seconds down for the next sitting."""
        keep(self._path, f"{self.seconds():.3f}".encode())

    def _earlier(self) -> float:
        try:
            return float(self._path.read_text()) if self._path.exists() else 0.0
        except ValueError as error:
            raise CannotRunError(
                f"{self._path} is damaged: it should hold the seconds that the run has taken; "
                "write a number there, and resume the run again"
            ) from error
