# SPDX-License-Identifier: MIT
"""The time that a run has taken over all its sittings."""

import time
from pathlib import Path


class RunClock:
    """Counts a run's seconds, and keeps them in its folder for the next sitting."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "seconds"
        before = float(self._path.read_text()) if self._path.exists() else 0.0
        self._begun = time.monotonic() - before

    def seconds(self) -> float:
        """Return the seconds that the run has taken so far."""
        now = time.monotonic() - self._begun
        self._path.write_text(f"{now:.3f}")
        return now
