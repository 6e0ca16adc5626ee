# SPDX-License-Identifier: MIT
"""A run on every node of a Ray cluster: each begun, heard, begun once more if lost, else named.

Every file is stored as soon as it arrives. So nothing that a node finished depends on the other
nodes, or on the end of this process.
"""

import asyncio
import math
from collections.abc import Callable
from contextlib import aclosing, closing, redirect_stdout, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from frobench.suite import personal_data
from frobench.suite.checkout import CHECKOUT
from frobench.suite.errors import CannotRunError
from frobench.suite.files import keep
from frobench.suite.fleet.on_node import Order, digest
from frobench.suite.fleet.ray_cluster import LostError, Node, RayCluster
from frobench.suite.printable import printable
from frobench.suite.profiles import settings_for
from frobench.suite.run.runner import Interruptions, key, label_of
from frobench.suite.stored import asked_nodes, store
from frobench.suite.stored.asked_nodes import AskedNodes
from frobench.suite.stored.types import LONGEST_NAME, ProfileName

TRIES = 2
"""How often a node is begun, at most: it may be lost once."""
LOOK = 2.0
"""Seconds between two looks for a node that came back."""
BEATS = 6
"""Signs of life that a node gives within the patience for its silence."""
DISAPPEARED = "the Ray cluster disappeared"
NOTHING_YET = "no file of it arrived before `frobench fleet` ended"
"""Why a node has no stored run as long as nothing else is known of it."""
Tell = Callable[[str, str], None]
"""Takes the name of a node and what happened to it."""


class FleetRequest(Struct, frozen=True, kw_only=True):
    """What the user asked for."""

    results: Path
    address: str = "auto"  # of the Ray cluster
    profile: ProfileName = "standard"
    expression: str = ""
    benchmarks: Path | None = None  # a folder that lies on every node, or none for each node's own
    budget: float | None = None
    launches: int | None = None
    deadline: float | None = None  # seconds for a node's run; by default what its budget asks for
    patience: float = 120.0  # seconds of silence after which a node is lost, and to come back in
    resume: str | None = None  # a fleet that was cut short, or the `last` one


class Fleet(Struct, kw_only=True):
    """The order of a fleet and the result of each node, by the names of the nodes.

    It is kept in a private file beside that of `AskedNodes`, which has labels alone.
    """

    order: dict[str, Any]  # as the fields of `Order`, whose class msgspec must leave as it is
    labels: dict[str, str] = {}
    stored: dict[str, str] = {}  # files of those that measured to the end
    partial: dict[str, str] = {}  # files of runs that were cut short
    lost: dict[str, str] = {}  # why the others have no whole file
    failed: list[str] = []  # nodes with a case that failed


def measure(request: FleetRequest, tell: Tell) -> Fleet:
    """Measure every node of a cluster.

    Raises `CannotRunError` if Ray is not installed, there is no cluster, or no fleet to resume.
    """
    fleet = None if request.resume is None else earlier(request.results, request.resume)
    with (
        redirect_stdout(StringIO()),  # where Ray prints how its nodes ended
        closing(RayCluster(request.address)) as cluster,
        Interruptions() as interruptions,
    ):
        try:
            return asyncio.run(Schedule(cluster, request, tell, fleet).run())
        except KeyboardInterrupt:
            interruptions.hold()
            cluster.let_save()
            raise


def earlier(results: Path, which: str) -> Fleet:
    """Return a fleet by its name, or the `last` one; raises `CannotRunError` if there is none."""
    newest = asked_nodes.newest([results])
    name = newest.stem if newest and which == "last" else which
    try:
        return msgspec.json.decode(_private(results, name).read_bytes(), type=Fleet)
    except (OSError, msgspec.DecodeError) as error:
        raise CannotRunError(f"no fleet to resume in {results}: {which}") from error


def ordered(request: FleetRequest) -> Order:
    """Settle what every node is asked to do."""
    budget = settings_for(request.profile, [], budget=request.budget).budget
    given = {
        "--profile": request.profile,
        "-k": request.expression,
        "--budget": request.budget,
        "--launches": request.launches,
        "--benchmarks": request.benchmarks,
    }
    return Order(
        fleet=f"{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}",
        options=[word for name, value in given.items() if value for word in (name, str(value))],
        code=digest(CHECKOUT),
        key=key(request.results).hex(),
        deadline=request.deadline or 3 * budget + 600,
        beat=request.patience / BEATS,
    )


class Schedule:
    """Measures the nodes of a cluster at the same time.

    fleet : one that was cut short, or none for a new one
    """

    def __init__(
        self, cluster: RayCluster, request: FleetRequest, tell: Tell, fleet: Fleet | None = None
    ) -> None:
        self._cluster, self._results, self._tell = cluster, request.results, tell
        self._fleet = fleet or Fleet(order=asdict(ordered(request)))
        self._patience, self._order = request.patience, Order(**self._fleet.order)
        self._private = personal_data.own_names()

    async def run(self) -> Fleet:
        """Measure every node that is alive, or that the fleet lacks; return what became of all.

        Raises `CannotRunError` if there is no node, `OSError` if nothing can be written.
        """
        fleet, nodes = self._fleet, await self._cluster.nodes()
        fleet.labels = fleet.labels or {name: label_of(name, self._results) for name in nodes}
        if not fleet.labels:
            raise CannotRunError("the Ray cluster has no node")
        fleet.lost.clear()
        self._note()
        left = [name for name in fleet.labels if name not in fleet.stored]
        tasks = [asyncio.create_task(self._measure(name, nodes.get(name))) for name in left]
        disappeared = asyncio.create_task(self._cluster.disappears())
        disappeared.add_done_callback(lambda _: [task.cancel() for task in tasks])
        ends = await asyncio.gather(*tasks, return_exceptions=True)
        for name, end in zip(left, ends, strict=True):
            if isinstance(end, Exception):
                raise end
            if end is not None and name not in fleet.stored:  # it was cancelled
                reason = "; then ".join([*filter(None, [fleet.lost.get(name)]), DISAPPEARED])
                self._lose(name, reason)
                self._tell(name, f"lost: {reason}")
        return fleet

    async def _measure(self, name: str, node: Node | None) -> None:
        """Begin the run of a node; if the node is lost, once more if it comes back in time."""
        now, ends, lost = asyncio.get_running_loop().time, math.inf, 0
        self._tell(name, "begun")
        while lost < TRIES and now() < ends:
            heard, reason = False, "the cluster no longer has the node"
            if node is not None:
                heard, reason = await self._hear(name, node, again=lost > 0)
            if not reason:
                return
            if heard or not lost:  # else Ray still calls a lost node alive
                lost, ends = lost + 1, now() + self._patience
                self._lose(name, reason)
                if lost < TRIES:
                    self._tell(name, f"lost: {reason}; it is tried again if it comes back")
            await asyncio.sleep(LOOK)
            node = (await self._cluster.nodes()).get(name)
        self._tell(name, f"lost: {self._fleet.lost[name]}")

    async def _hear(self, name: str, node: Node, *, again: bool) -> tuple[bool, str]:
        """Hear a node to the end of its run; return whether it spoke, and why it is lost."""
        now, heard, reason = asyncio.get_running_loop().time, False, ""
        order, label = self._order, self._fleet.labels[name]
        said = self._cluster.measure(node, order, name, label)
        try:
            async with asyncio.timeout(self._patience) as silence, aclosing(said):
                async for one in said:
                    if again and not heard:
                        self._tell(name, "begun again, where its run was")
                    heard = True
                    if isinstance(one, str):
                        for line in one.splitlines():
                            self._tell(name, f"| {line}")
                    else:
                        self._tell(name, self._keep(name, *one))
                    silence.reschedule(now() + self._patience)
            await self._cluster.forget(node, order.fleet, label)
        except CannotRunError as error:
            self._lose(name, str(error))
            self._tell(name, f"not measured: {error}")
        except LostError as error:
            reason = str(error)
        except TimeoutError:
            reason = f"no sign of life for {self._patience:g} s"
            reason += "" if heard else "; its accelerators may be in use by other tasks"
        return heard, "" if name in self._fleet.stored else reason

    def _keep(self, name: str, path: str, content: bytes) -> str:
        """Store a node's file, and return a line on it; raises `CannotRunError` if it is unfit."""
        fleet = self._fleet
        try:
            run = store.decode(content)
            environment = run.frobench.environment
            if environment.label != fleet.labels[name]:
                known = f"of node {environment.label}" if environment.label else "without a label"
                reason = f"its file is a run {known}, not its own; it"  # or of another key
                raise CannotRunError(f"{reason} stays on the node: {path}")
            if path.endswith(store.PARTIAL):
                here = self._results / environment.machine / Path(path).name
                here.parent.mkdir(parents=True, exist_ok=True)
                keep(here, content)
                fleet.partial[name] = str(here)
                return f"stored what was finished: {here}"
            here = store.write_once(run, self._results)
        except store.InvalidResult as error:
            reason = f"its file is damaged: {error}; it stays on the node: {path}"
            raise CannotRunError(reason) from error
        except OSError as error:
            reason = f"{error.filename or self._results}: {error.strerror or error}"
            raise CannotRunError(f"{reason}; its file stays on the node: {path}") from error
        fleet.stored[name] = str(here)
        if (partial := fleet.partial.pop(name, None)) is not None:
            Path(partial).unlink(missing_ok=True)
        fleet.lost.pop(name, None)
        if any(case.status == "failed" for case in run.frobench.outcomes):
            fleet.failed.append(name)
        with suppress(OSError):  # a full disk is named where a node's file is refused
            self._note()
        return f"stored: {here}"

    def _lose(self, name: str, reason: str) -> None:
        """Write down why a node has no whole file."""
        self._fleet.lost[name] = reason
        with suppress(OSError):  # as in `_keep`
            self._note()

    def _note(self) -> None:
        """Write down which nodes are asked, and which have no file; the labels for the page."""
        fleet, results = self._fleet, self._results
        lost = {
            label: self._published(name)
            for name, label in fleet.labels.items()
            if name not in fleet.stored
        }
        nodes = sorted(fleet.labels.values())
        asked_nodes.write(AskedNodes(fleet=self._order.fleet, nodes=nodes, lost=lost), results)
        keep(_private(results, self._order.fleet), msgspec.json.encode(fleet))

    def _published(self, name: str) -> str:
        """Return why a node has no file, without names, paths and commands."""
        reason = self._fleet.lost.get(name, NOTHING_YET)
        # A clause with a command is for the person who measures, and the terminal has it.
        clauses = [clause for clause in reason.split("; ") if "`" not in clause] or [reason]
        return personal_data.hide(
            printable("; ".join(clauses))[:LONGEST_NAME], self._private | {name}
        )


def _private(results: Path, fleet: str) -> Path:
    return results / asked_nodes.FOLDER / f"{fleet}.private.json"
