# SPDX-License-Identifier: MIT
"""What becomes of each node of a fleet, on a cluster that is made up and a clock that jumps."""

import asyncio
import errno
import json
import selectors
from collections.abc import AsyncGenerator
from pathlib import Path
from unittest.mock import AsyncMock, MagicMock

import msgspec
import pytest
from click.testing import CliRunner

from frobench.command import main
from frobench.suite.errors import CannotRunError
from frobench.suite.fleet.fleet import NOTHING_YET, Fleet, FleetRequest, Schedule, earlier, measure
from frobench.suite.fleet.on_node import Order, Said
from frobench.suite.fleet.ray_cluster import LostError, Node, RayCluster
from frobench.suite.stored import asked_nodes, store
from frobench.suite.stored.asked_nodes import AskedNodes
from frobench.suite.terminal import fleet_words
from tests.instruments.runs.made_up_fleet import label, run

PATIENCE = 60.0
NEVER = 1e9
"""Seconds, longer than any test looks."""
Step = Said | Exception | float
"""What a node says, an error that ends its task, or seconds in which it is silent."""


class Jumping(selectors.DefaultSelector):
    """A selector that does not wait; a clock that reads it jumps to the next event."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return what is ready, and count the time that a loop would have waited."""
        if timeout:
            self.now += timeout
        return super().select(0)


class JumpingLoop(asyncio.SelectorEventLoop):
    """A loop in which an hour of silence takes no time."""

    def __init__(self) -> None:
        self.clock = Jumping()
        super().__init__(self.clock)

    def time(self) -> float:
        """Return seconds since the loop began."""
        return self.clock.now


class MadeUp(RayCluster):
    """A cluster that does what a script has for each start of a node, a step a second.

    scripts : by name of a node, the steps of each time that it is begun
    alive : numbers of the nodes by their names, in turn at each look; the last ones stay
    lasts : seconds until the cluster disappears
    """

    def __init__(
        self, scripts: dict[str, list[list[Step]]], *alive: dict[str, str], lasts: float = NEVER
    ) -> None:
        self.begun: list[str] = []
        self.forgotten: list[str] = []
        self._scripts, self._lasts = scripts, lasts
        self._alive_in_turn = [*(alive or ({name: f"id of {name}" for name in scripts},))]

    async def nodes(self) -> dict[str, Node]:
        """Return the nodes that are alive now."""
        alive = self._alive_in_turn
        found = alive.pop(0) if len(alive) > 1 else alive[0]
        return {name: Node(number, 0.0) for name, number in found.items()}

    async def measure(
        self, node: Node, order: Order, name: str, label: str
    ) -> AsyncGenerator[Said, None]:
        """Do what the next script of a node says."""
        assert (order.options, order.deadline, order.beat) == (["--profile", "standard"], 1464, 10)
        assert label == label_of(name)
        self.begun.append(node.id)
        for step in self._scripts[name].pop(0):
            await asyncio.sleep(step if isinstance(step, float) else 1)
            if isinstance(step, Exception):
                raise step
            if not isinstance(step, float):
                yield step

    async def forget(self, node: Node, fleet: str, label: str) -> None:
        """Note which node forgets its run."""
        assert fleet.startswith("20")
        assert label
        self.forgotten.append(node.id)

    async def disappears(self) -> None:
        """Return once the cluster has disappeared."""
        await asyncio.sleep(self._lasts)


@pytest.fixture(autouse=True)
def _labels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frobench.suite.fleet.fleet.label_of", lambda name, _: label_of(name))


def label_of(name: str) -> str:
    """Return the label of a node: that of run 0 for node a, and so on."""
    return label("abc".index(name))


def stored(number: int, *, partial: bool = False) -> list[Step]:
    """Return what a node does that measures to its end, or that is interrupted."""
    end = ".partial.json" if partial else ".json"
    file = f"there/run-{number}{end}", store.encode(run(number))
    why: list[Step] = [CannotRunError("it was interrupted")] if partial else []
    return ["2 cases in 6 launches\n", file, *why]


def lost(how: str = "its node was lost") -> list[Step]:
    return ["measuring\n", LostError(how)]


SILENT: list[Step] = [LostError("no such node")]


def recorded(folder: Path) -> AskedNodes:
    """Return what the fleet wrote down about its nodes."""
    path = asked_nodes.newest([folder])
    assert path is not None
    return asked_nodes.read(path)


class Outcome(msgspec.Struct):
    """What became of a fleet, and how long it took."""

    fleet: Fleet
    lines: list[str]
    seconds: float


def fleet(folder: Path, cluster: MadeUp, old: Fleet | None = None, most: float = NEVER) -> Outcome:
    """Let a schedule measure made-up nodes; raises `TimeoutError` if that takes longer."""
    lines: list[str] = []
    request = FleetRequest(results=folder, patience=PATIENCE)
    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        tell = lambda name, text: lines.append(f"{name}: {text}")  # noqa: E731 - short
        schedule = Schedule(cluster, request, tell, old)
        found = runner.run(asyncio.wait_for(schedule.run(), most))
        return Outcome(found, lines, runner.get_loop().time())


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("[!.]*/*.json"))


def run_name(number: int) -> str:
    return f"{run(number).frobench.run}.json"


def test_every_file_is_stored_as_it_arrives_and_forgotten_on_its_node(tmp_path: Path) -> None:
    cluster = MadeUp({"a": [stored(0)], "b": [stored(1)]})
    found = fleet(tmp_path, cluster)
    assert names(tmp_path) == sorted(map(run_name, (0, 1)))
    assert (sorted(found.fleet.stored), found.fleet.lost) == (["a", "b"], {})
    assert sorted(cluster.forgotten) == ["id of a", "id of b"]
    told = ("begun", "| 2 cases in 6 launches", "stored: {}")
    lines = [f"{node}: {line}" for line in told for node in "ab"]
    assert found.lines == [line.format(found.fleet.stored[line[0]]) for line in lines]
    assert fleet_words.exit_code(found.fleet) == 0


def test_a_file_that_arrived_stays_when_another_node_is_lost_for_good(tmp_path: Path) -> None:
    both = {"a": "1", "b": "2"}
    found = fleet(tmp_path, MadeUp({"a": [stored(0)], "b": [lost()]}, both, {"a": "1"}))
    assert (names(tmp_path), found.fleet.lost) == ([run_name(0)], {"b": "its node was lost"})
    assert "b: lost: its node was lost" in found.lines
    assert fleet_words.exit_code(found.fleet) == 3
    assert "not measured: b: its node was lost" in [*fleet_words.lines(found.fleet)]


def test_a_lost_node_that_comes_back_is_begun_once_more(tmp_path: Path) -> None:
    scripts = {"a": [stored(0)], "b": [lost(), stored(1)]}
    alive = {"a": "1", "b": "first"}, {"a": "1"}, {"a": "1", "b": "second"}
    found = fleet(tmp_path, cluster := MadeUp(scripts, *alive))
    assert (sorted(found.fleet.stored), cluster.begun) == (["a", "b"], ["1", "first", "second"])
    assert "b: lost: its node was lost; it is tried again if it comes back" in found.lines
    assert "b: begun again, where its run was" in found.lines


def test_a_node_that_only_seems_to_come_back_is_named_for_its_loss(tmp_path: Path) -> None:
    found = fleet(tmp_path, MadeUp({"b": [lost(), *[SILENT] * 50]}))
    assert found.fleet.lost == {"b": "its node was lost"}
    assert not any("begun again" in line for line in found.lines)
    assert found.seconds == pytest.approx(2 + PATIENCE + 2)  # a look each 2 s


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ([NEVER], "no sign of life for 60 s; its accelerators may be in use by other tasks"),
        (["", NEVER], "no sign of life for 60 s"),
        (["", *[50.0, ""] * 100, NEVER], "no sign of life for 60 s"),
    ],
)
def test_a_node_that_is_cut_off_is_named(tmp_path: Path, said: list[Step], reason: str) -> None:
    scripts = {"a": [stored(0)], "b": [said]}
    found = fleet(tmp_path, MadeUp(scripts, {"a": "1", "b": "2"}, {"a": "1"}))
    assert (found.fleet.lost, sorted(found.fleet.stored)) == ({"b": reason}, ["a"])
    spoke = sum(step if isinstance(step, float) else 1 for step in said if step != NEVER)
    assert found.seconds == pytest.approx(spoke + 2 * PATIENCE)


def test_a_cluster_that_disappears_leaves_what_arrived_and_names_the_others(tmp_path: Path) -> None:
    scripts: dict[str, list[list[Step]]] = {"a": [stored(0)], "b": [lost()], "c": [["", NEVER]]}
    found = fleet(tmp_path, MadeUp(scripts, lasts=3.0))
    gone, kept = "the Ray cluster disappeared", [*found.fleet.stored]
    expected = {"b": f"its node was lost; then {gone}", "c": gone}
    assert (kept, found.fleet.lost) == (["a"], expected)
    assert found.seconds == pytest.approx(3.0)
    assert recorded(tmp_path).lost == {label_of(name): why for name, why in expected.items()}


def test_a_cluster_has_disappeared_once_its_head_was_missed_three_times_in_a_row() -> None:
    cluster = MadeUp({})
    answers = [False, False, True, False, False, False]
    cluster._head_answers = AsyncMock(side_effect=answers)  # type: ignore[method-assign]
    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        runner.run(RayCluster.disappears(cluster))
        assert runner.get_loop().time() == pytest.approx(6.0)


@pytest.mark.parametrize("then", [NEVER, LostError("its node was lost")])
def test_a_node_that_is_lost_behind_its_file_is_not_missed(tmp_path: Path, then: Step) -> None:
    cluster = MadeUp({"a": [[*stored(0), then]], "b": [["", NEVER]]}, lasts=20.0)
    found = fleet(tmp_path, cluster)
    assert ([*found.fleet.stored], [*found.fleet.lost]) == (["a"], ["b"])
    assert cluster.begun == ["id of a", "id of b"]


def test_what_a_run_finished_is_kept_until_a_resumed_fleet_has_it_whole(tmp_path: Path) -> None:
    found = fleet(tmp_path, MadeUp({"a": [stored(0, partial=True)]}))
    assert found.fleet.lost == {"a": "it was interrupted"}
    assert names(tmp_path) == ["run-0.partial.json"]
    (line,) = (one for one in fleet_words.lines(found.fleet) if one.startswith("not measured"))
    assert "what it finished is in" in line
    found = fleet(tmp_path, MadeUp({"a": [stored(0)]}), earlier(tmp_path, "last"))
    assert names(tmp_path) == [run_name(0)]
    assert not found.fleet.partial
    assert fleet_words.exit_code(found.fleet) == 0


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    lost = fleet(tmp_path, MadeUp({"a": [[("there/run.json", b"{")]]})).fleet.lost["a"]
    assert lost.startswith("its file is damaged: ")
    assert lost.endswith("; it stays on the node: there/run.json")


def test_a_run_of_another_node_is_not_taken_for_this_ones(tmp_path: Path) -> None:
    cluster = MadeUp({"a": [stored(1)], "b": [stored(1)]})
    found = fleet(tmp_path, cluster).fleet
    assert sorted(found.stored) == ["b"]
    assert found.lost["a"].startswith(f"its file is a run of node {label(1)}, not its own")
    assert cluster.forgotten == ["id of b"]


def test_which_nodes_were_asked_and_lost_is_written_down_without_names(tmp_path: Path) -> None:
    reason = "/home/somebody/x: No space on 10.1.2.3; `frobench run --resume` goes on"
    fleet(tmp_path, MadeUp({"a": [stored(0)], "b": [[CannotRunError(reason)]]}))
    found = recorded(tmp_path)
    assert found.nodes == sorted([label(0), label(1)])
    assert found.lost == {label(1): "…: No space on …"}


def test_a_fleet_that_is_killed_is_resumed_with_the_nodes_that_have_no_file(tmp_path: Path) -> None:
    silent: list[Step] = ["", NEVER]
    scripts = {"a": [stored(0)], "b": [silent], "c": [silent]}
    with pytest.raises(TimeoutError):  # as if it was killed then
        fleet(tmp_path, MadeUp(scripts), most=20.0)
    assert recorded(tmp_path).lost == {label(1): NOTHING_YET, label(2): NOTHING_YET}
    before = earlier(tmp_path, "last")
    assert earlier(tmp_path, before.order["fleet"]) == before
    with pytest.raises(CannotRunError, match=r"no fleet to resume in .*: another$"):
        measure(FleetRequest(results=tmp_path, resume="another"), lambda *_: None)
    assert before.labels == {name: label_of(name) for name in "abc"}  # whom to drain
    cluster = MadeUp({"b": [stored(1)], "c": [stored(2)], "new": []})
    found = fleet(tmp_path, cluster, before)
    assert (sorted(cluster.begun), found.fleet.order) == (["id of b", "id of c"], before.order)
    assert [*fleet_words.lines(found.fleet)] == ["3 of 3 nodes measured and stored"]
    nodes = sorted(map(label, range(3)))
    assert recorded(tmp_path) == AskedNodes(fleet=before.order["fleet"], nodes=nodes, lost={})


def test_a_full_disk_leaves_the_file_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = OSError(errno.ENOSPC, "No space left on device", "results/x.json")
    monkeypatch.setattr(store, "write", MagicMock(side_effect=full))
    cluster = MadeUp({"a": [stored(0)]})
    assert fleet(tmp_path, cluster).fleet.lost == {
        "a": "results/x.json: No space left on device; its file stays on the node: there/run-0.json"
    }
    assert not cluster.forgotten


@pytest.mark.parametrize(
    ("count", "code", "pages"),
    [
        (0, 3, []),
        (2, 1, ["too few nodes to compare: 3 are needed; their runs: site/index.html"]),
        (3, 1, ["which node is not like the others: site/fleet.html"]),
    ],
)
def test_the_command_tells_what_became_of_the_nodes_and_writes_their_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, code: int, pages: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    arrived = {"abc"[n]: str(store.write(run(n), tmp_path / "results")) for n in range(count)}
    labels = {name: label_of(name) for name in "abc"}
    done = Fleet(order={"fleet": "x"}, labels=labels, stored=arrived, failed=["a"])
    monkeypatch.setattr("frobench.suite.fleet.fleet.measure", lambda *_: done)
    shown, for_programs = (CliRunner().invoke(main, ["fleet", *more]) for more in ([], ["--json"]))
    told = [f"{count} of {count} nodes measured and stored", "a case failed on a", *pages]
    assert shown.stdout.splitlines() == for_programs.stderr.splitlines() == told
    assert {shown.exit_code, for_programs.exit_code} == {code}
    nodes = json.loads(for_programs.stdout)["nodes"]
    assert [node["stored"] for node in nodes] == [*map(arrived.get, "abc")]
