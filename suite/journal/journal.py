# SPDX-License-Identifier: MIT
"""The journal of a run: a line for everything that happened, written before anything else does.

The launches append to it and the runner reads it, also while they write (see `JsonLines`).
"""

from pathlib import Path

from suite.files.json_lines import JsonLines, encoded
from suite.files.keep import keep
from suite.journal.records import Record, Tried


class Journal(JsonLines[Record]):
    """Append to and read one journal file."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, Record)

    def begin_again(self) -> None:
        """Forget everything but what searches have tried."""
        if self.path.exists():
            keep(self.path, b"".join(encoded(line) for line in self if isinstance(line, Tried)))
