# SPDX-License-Identifier: MIT
"""The time that a run has taken over all its sittings."""

import time
from pathlib import Path

from suite.running.keep import keep


class RunClock:
    """Counts a run's seconds; those of earlier sittings lie in its folder."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "seconds"
        before = float(self._path.read_text()) if self._path.exists() else 0.0
        self._begun = time.monotonic() - before

    def seconds(self) -> float:
        """Return the seconds that the run has taken so far."""
        return time.monotonic() - self._begun

    def keep(self) -> None:
        """Write the seconds down for the next sitting."""
        keep(self._path, f"{self.seconds():.3f}".encode())
