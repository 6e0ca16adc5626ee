# SPDX-License-Identifier: MIT
"""What has arrived from the nodes: stored files, written down at once, and which nodes have none.

So nothing that a node finished depends on the others, or on the end of this process.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from frobench.suite import privacy
from frobench.suite.files import keep
from frobench.suite.fleet.messages import File
from frobench.suite.printable import printable
from frobench.suite.stored import asked_nodes, store
from frobench.suite.stored.asked_nodes import AskedNodes
from frobench.suite.stored.types import LONGEST_NAME, Run

NOTHING_YET = "no file of it arrived before `frobench fleet` ended"
"""Why a node has no stored run as long as nothing else is known of it."""


class FleetOutcome(Struct):
    """What became of all nodes, by their names."""

    stored: dict[str, Path] = {}  # files of those that measured to the end
    partial: dict[str, Path] = {}  # files of runs that were cut short
    lost: dict[str, str] = {}  # why the others have no whole file
    torch: dict[str, str] = {}  # the version that each has
    failed: list[str] = []  # nodes with a case that failed


class Gathered:
    """Stored runs of the nodes of a fleet.

    fleet : its name, see `AskedNodes`
    label : returns the label of a node, from its name; a node's run must know it
    """

    def __init__(self, results: Path, fleet: str, label: Callable[[str], str]) -> None:
        self.outcome = FleetOutcome()
        self._results, self._fleet, self._label = results, fleet, label
        self._labels: dict[str, str] = {}
        self._private = privacy.own_names()

    def expect(self, names: Iterable[str]) -> None:
        """Write down which nodes are asked; raise `OSError` if nothing can be written there."""
        self._labels = {name: self._label(name) for name in names}
        self._note()

    def keep(self, name: str, file: File) -> str:
        """Store a node's file and return a line on it; else note the reason, and return nothing."""
        try:
            run = store.decode(file.content)
            if (label := run.frobench.environment.label) == self._labels[name]:
                return self._store(name, run, file.path)
            # It might be its own, measured with another key.
            known = f"of node {label}" if isinstance(label, str) else "without a label"
            reason = f"its file is a run {known}, not its own; it"
        except store.InvalidResult as error:
            reason = f"its file is damaged: {error}; it"
        except OSError as error:
            reason = f"{error.filename or self._results}: {error.strerror or error}; its file"
        self.note_lost(name, f"{reason} stays on the node: {file.path}")
        return ""

    def _store(self, name: str, run: Run, from_path: str) -> str:
        if from_path.endswith(store.PARTIAL):
            path = self._results / run.frobench.environment.machine / Path(from_path).name
            path.parent.mkdir(parents=True, exist_ok=True)
            keep(path, store.encode(run))
            self.outcome.partial[name] = path
            return f"stored what was finished: {path}"
        path = store.write_once(run, self._results)
        self.outcome.stored[name] = path
        self.outcome.partial.pop(name, None)
        self.outcome.lost.pop(name, None)
        if any(case.status == "failed" for case in run.frobench.outcomes):
            self.outcome.failed.append(name)
        self._note_again()
        return f"stored: {path}"

    def note_lost(self, name: str, reason: str) -> bool:
        """Write down why a node has no whole file; return whether it has none."""
        if name in self.outcome.stored:
            return False
        self.outcome.lost[name] = reason
        self._note_again()
        return True

    def _note_again(self) -> None:
        with suppress(OSError):  # a full disk is named where a node's file is refused
            self._note()

    def _note(self) -> None:
        labels, stored = self._labels, self.outcome.stored
        lost = {labels[name]: self._published(name) for name in labels if name not in stored}
        nodes = sorted(labels.values())
        asked_nodes.write(AskedNodes(fleet=self._fleet, nodes=nodes, lost=lost), self._results)

    def _published(self, name: str) -> str:
        if (reason := self.outcome.lost.get(name)) is None:
            return NOTHING_YET
        names = self._private | {name}
        # A clause with a command is for the person who measures, and the terminal has it.
        clauses = [clause for clause in reason.split("; ") if "`" not in clause] or [reason]
        return privacy.hide(printable("; ".join(clauses))[:LONGEST_NAME], names)
