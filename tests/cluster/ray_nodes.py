# SPDX-License-Identifier: MIT
"""Ray nodes on this machine, and `frobench fleet` on them as a user calls it."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import Any

from frobench.suite.stored import store
from frobench.suite.stored.types import Run
from tests.instruments.processes.command import TRICKY, start

NODE: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 80_000_000}
"""What a node has: its objects may have so many bytes; the least is 75 MB."""
LONGEST = 500.0
"""Seconds that anything may take, on a machine that is busy."""
MEASURED = ("--profile", "quick", "--launches", 6, "--benchmarks", TRICKY, "-k", "fine")
"""Two cases in six short launches."""


@contextmanager
def ray_nodes(*names: str) -> Iterator["RayNodes"]:
    """Start nodes of a cluster, the first of which is its head."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    before = set(kept_on_nodes())
    found = RayNodes(names[0])
    try:
        for name in names[1:]:
            found.add(name)
        yield found
    finally:
        found.cluster.shutdown()
        for folder in set(kept_on_nodes()) - before:
            shutil.rmtree(folder)


def kept_on_nodes() -> list[Path]:
    """Return the folders of fleets in which nodes keep what is unfinished."""
    return [*Path(tempfile.gettempdir()).glob(f"frobench-fleet-{os.getuid()}/*")]


class RayNodes:
    """A Ray cluster on this machine."""

    def __init__(self, head: str) -> None:
        from ray.cluster_utils import Cluster  # noqa: PLC0415 - only here, and slow

        options = NODE | {"node_name": head, "include_dashboard": False}
        self.cluster: Any = Cluster(initialize_head=True, head_node_args=options)
        self._nodes: dict[str, Any] = {}
        self.address: str = self.cluster.address

    def add(self, name: str) -> None:
        """Start a node, or start one of that name again."""
        self._nodes[name] = self.cluster.add_node(node_name=name, **NODE)

    def kill(self, name: str) -> None:
        """End a node at once, with all that belongs to Ray there."""
        self.cluster.remove_node(self._nodes.pop(name), allow_graceful=False)

    def vanish(self) -> None:
        """End all nodes at once, the head first."""
        self.cluster.remove_node(self.cluster.head_node, allow_graceful=False)
        for name in list(self._nodes):
            self.kill(name)


class Fleet:
    """`frobench fleet` in a process of its own, whose lines are read as it prints them."""

    def __init__(self, address: str, folder: Path, *options: object) -> None:
        self.folder = folder
        self.lines: list[str] = []
        self._process = start("fleet", "--address", address, *options, folder=folder)
        self._late = Timer(LONGEST, self._process.kill)
        self._late.daemon = True
        self._late.start()

    def until(self, is_it: Callable[[str], bool]) -> str:
        """Return the next line that is looked for."""
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self.lines.append(line.rstrip("\n"))
            if is_it(self.lines[-1]):
                return self.lines[-1]
        shown = "\n".join(self.lines)
        raise AssertionError(f"it did not print the line in time; it printed:\n{shown}")

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def end(self) -> tuple[int, str]:
        """Wait for the end; return the exit code and the output, which a pipe holds whole."""
        out, _ = self._process.communicate(timeout=LONGEST)
        self._late.cancel()
        return self._process.returncode, out

    def stored(self) -> list[Run]:
        """Return the runs that arrived."""
        return [store.read(path) for path in sorted(self.folder.glob("results/[!.]*/*.json"))]
