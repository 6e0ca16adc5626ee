# SPDX-License-Identifier: MIT
"""The journal of a run: a line for everything that happened, written before anything else does.

The launches append to it and the runner reads it, also while they write (see `JsonLines`).
"""

from pathlib import Path

from suite.files.json_lines import JsonLines, encoded
from suite.files.keep import keep
from suite.journal.records import Begun, Record, Tried


class Journal(JsonLines[Record]):
    """Append to and read one journal file.

    A line that says which case is in flight is for the runner, which reads it from the system's
    memory: a machine that loses its power has lost that case anyway. To wait for the disk there
    would take as long as it does for the results, 4 ms a case on a virtual disk.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, Record, unsynced=(Begun,))

    def begin_again(self) -> None:
        """Forget everything but what searches have tried."""
        if self.path.exists():
            keep(self.path, b"".join(encoded(line) for line in self if isinstance(line, Tried)))
