# SPDX-License-Identifier: MIT
"""What becomes of each node of a fleet, on a cluster and a clock that are made up."""

import errno
from collections.abc import Iterable
from pathlib import Path

import pytest

from frobench.suite.errors import CannotRunError
from frobench.suite.fleet.fleet import FleetRequest, Schedule, asked
from frobench.suite.fleet.gathered import NOTHING_YET, FleetOutcome, Gathered
from frobench.suite.fleet.messages import (
    About,
    Began,
    Command,
    Ended,
    Event,
    File,
    Forget,
    Gone,
    Line,
    Look,
    Lost,
    Node,
    Nodes,
    Start,
    Stop,
)
from frobench.suite.stored import asked_nodes, store
from frobench.suite.stored.asked_nodes import AskedNodes
from frobench.suite.stored.types import Run
from frobench.suite.terminal import fleet_words
from tests.instruments.runs.made_up_fleet import label, run

PATIENCE = 60.0


class MadeUp:
    """A cluster that says what a script has for each start of a node, an event a second.

    scripts : by name of a node, the events of each time that it is begun
    nodes : that are alive, in turn at each look; the last ones stay
    """

    def __init__(self, scripts: dict[str, list[list[Event]]], *nodes: list[Node]) -> None:
        self.now = 0.0
        self.commands: list[Command] = []
        self._scripts, self._nodes = scripts, list(nodes)
        self._waiting: list[list[Event]] = []

    def send(self, command: Command) -> None:
        """Take a command down, and let its events happen."""
        self.commands.append(command)
        if isinstance(command, Look):
            alive = self._nodes.pop(0) if len(self._nodes) > 1 else self._nodes[0]
            self._waiting.append([Nodes(nodes=alive)])
        elif isinstance(command, Start):
            scripts = self._scripts[command.node.name]
            self._waiting.append([_of(command.node.id, one) for one in scripts.pop(0)])

    def events(self, seconds: float) -> list[Event]:
        """Return the next event of each node, after a second."""
        self.now += seconds
        found = [one.pop(0) for one in self._waiting if one]
        self._waiting = [one for one in self._waiting if one]
        return found


def _of(node_id: str, event: Event) -> Event:
    if not isinstance(event, Nodes | Gone):
        event.node = node_id
    return event


def node(name: str, node_id: str | None = None) -> Node:
    return Node(id=node_id or f"id of {name}", name=name)


def stored(number: int, *, partial: bool = False) -> list[Event]:
    """Return what a node says that measures to its end."""
    return [
        About(node="", torch="2.13.0"),
        Line(node="", text="2 cases in 6 launches"),
        Began(node=""),
        File(
            node="",
            path=f"there/run-{number}{'.partial' if partial else ''}.json",
            content=store.encode(run(number)),
        ),
        Ended(node="", message="it was interrupted" if partial else ""),
    ]


def lost() -> list[Event]:
    return [Began(node=""), Lost(node="", reason="its node was lost")]


def label_of(name: str) -> str:
    """Return the label of a node: that of run 0 for node a, and so on."""
    return label("abc".index(name))


def recorded(folder: Path) -> AskedNodes:
    """Return what the fleet wrote down about its nodes."""
    path = asked_nodes.newest([folder])
    assert path is not None
    return asked_nodes.read(path)


def fleet(
    folder: Path, scripts: dict[str, list[list[Event]]], *nodes: list[Node]
) -> tuple[FleetOutcome, MadeUp, list[str]]:
    """Let a schedule measure made-up nodes."""
    cluster = MadeUp(scripts, *(nodes or ([node(name) for name in scripts],)))
    lines: list[str] = []
    wanted = asked(FleetRequest(results=folder))
    schedule = Schedule(
        cluster,
        wanted,
        Gathered(folder, wanted.fleet, label_of),
        PATIENCE,
        lambda name, text: lines.append(f"{name}: {text}"),
        clock=lambda: cluster.now,
    )
    return schedule.run(), cluster, lines


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("[!.]*/*.json"))


def run_name(number: int) -> str:
    return f"{run(number).frobench.run}.json"


def test_every_file_is_stored_as_it_arrives_and_forgotten_on_its_node(tmp_path: Path) -> None:
    outcome, cluster, lines = fleet(tmp_path, {"a": [stored(0)], "b": [stored(1)]})
    assert names(tmp_path) == sorted(map(run_name, (0, 1)))
    assert sorted(outcome.stored) == ["a", "b"]
    assert not outcome.lost
    assert sum(isinstance(one, Forget) for one in cluster.commands) == 2
    assert lines[:2] == ["a: begun", "b: begun"]
    assert "a: | 2 cases in 6 launches" in lines
    assert "a: measuring" in lines
    assert fleet_words.exit_code(outcome) == 0


def test_a_file_that_arrived_stays_when_another_node_is_lost_for_good(tmp_path: Path) -> None:
    outcome, _, lines = fleet(
        tmp_path,
        {"a": [stored(0)], "b": [lost()]},
        [node("a"), node("b")],
        [node("a")],
    )
    assert names(tmp_path) == [run_name(0)]
    assert outcome.lost == {"b": "its node was lost"}
    assert "b: lost: its node was lost" in lines
    assert fleet_words.exit_code(outcome) == 3
    assert "not measured: b: its node was lost" in [*fleet_words.lines(outcome)]


def test_a_lost_node_that_comes_back_is_begun_once_more(tmp_path: Path) -> None:
    outcome, cluster, _ = fleet(
        tmp_path,
        {"a": [stored(0)], "b": [lost(), stored(1)]},
        [node("a"), node("b", "first")],
        [node("a")],
        [node("a"), node("b", "second")],
    )
    assert sorted(outcome.stored) == ["a", "b"]
    begun = [one.node.id for one in cluster.commands if isinstance(one, Start)]
    assert begun == ["id of a", "first", "second"]


def test_a_node_that_the_cluster_wrongly_calls_alive_may_still_come_back(tmp_path: Path) -> None:
    silent: list[Event] = [Lost(node="", reason="no such node")]
    outcome, _, lines = fleet(tmp_path, {"b": [lost(), silent, silent, stored(1)]})
    assert sorted(outcome.stored) == ["b"]
    assert lines.count("b: begun again, where its run was") == 3


def test_a_node_that_only_seems_to_come_back_is_named_for_what_it_was_lost_by(
    tmp_path: Path,
) -> None:
    silent: list[Event] = [Lost(node="", reason="no such node")]
    outcome, cluster, _ = fleet(tmp_path, {"b": [lost(), *[[*silent]] * 50]})
    assert outcome.lost == {"b": "its node was lost"}
    assert cluster.now < 3 * PATIENCE


def test_a_node_that_is_lost_twice_is_named(tmp_path: Path) -> None:
    outcome, cluster, _ = fleet(tmp_path, {"b": [lost(), lost(), stored(1)]})
    assert outcome.lost == {"b": "its node was lost"}
    assert sum(isinstance(one, Start) for one in cluster.commands) == 2


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ([], "no answer within 60 s; its accelerators may be in use by other tasks"),
        ([Began(node="")], "no sign of life for 60 s"),
    ],
)
def test_a_node_that_is_cut_off_is_named_within_its_patience(
    tmp_path: Path, said: list[Event], reason: str
) -> None:
    outcome, cluster, _ = fleet(
        tmp_path, {"a": [stored(0)], "b": [said]}, [node("a"), node("b")], [node("a")]
    )
    assert outcome.lost == {"b": reason}
    assert sorted(outcome.stored) == ["a"]
    assert [one.node for one in cluster.commands if isinstance(one, Stop)] == ["id of b"]
    assert cluster.now < 3 * PATIENCE


def test_a_cluster_that_disappears_leaves_what_arrived_and_names_the_others(
    tmp_path: Path,
) -> None:
    gone: list[Event] = [Began(node=""), *[Line(node="", text="")] * 4]
    outcome, _, _ = fleet(
        tmp_path, {"a": [stored(0)], "b": [[*gone, Gone(reason="the Ray cluster disappeared")]]}
    )
    assert sorted(outcome.stored) == ["a"]
    assert outcome.lost == {"b": "the Ray cluster disappeared"}


def test_a_cluster_without_an_answer_or_a_node_is_said(tmp_path: Path) -> None:
    with pytest.raises(CannotRunError, match="no node of the Ray cluster answered within 60 s"):
        fleet(tmp_path, {}, [])


def test_a_node_that_says_why_it_cannot_measure_is_not_tried_again(tmp_path: Path) -> None:
    refused: list[Event] = [Ended(node="", message="another Frobench is installed")]
    outcome, cluster, _ = fleet(tmp_path, {"a": [refused]})
    assert outcome.lost == {"a": "another Frobench is installed"}
    assert sum(isinstance(one, Start) for one in cluster.commands) == 1


def test_a_run_that_was_cut_short_leaves_its_partial_file_and_its_reason(tmp_path: Path) -> None:
    outcome, _, _ = fleet(tmp_path, {"a": [stored(0, partial=True)]})
    assert outcome.lost == {"a": "it was interrupted"}
    assert names(tmp_path) == ["run-0.partial.json"]
    (line,) = (one for one in fleet_words.lines(outcome) if one.startswith("not measured"))
    assert "what it finished is in" in line


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    damaged: list[Event] = [
        File(node="", path="there/run.json", content=b"{"),
        Ended(node="", message=""),
    ]
    outcome, _, _ = fleet(tmp_path, {"a": [damaged]})
    assert outcome.lost["a"].startswith("its file is damaged: ")
    assert outcome.lost["a"].endswith("; it stays on the node: there/run.json")


def test_a_run_of_another_node_is_not_taken_for_this_ones(tmp_path: Path) -> None:
    outcome, cluster, _ = fleet(tmp_path, {"a": [stored(1)], "b": [stored(1)]})
    assert sorted(outcome.stored) == ["b"]
    assert outcome.lost["a"].startswith(f"its file is a run of node {label(1)}, not its own")
    assert [one.node.name for one in cluster.commands if isinstance(one, Forget)] == ["b"]


def test_which_nodes_were_asked_and_which_are_lost_is_written_down_without_names(
    tmp_path: Path,
) -> None:
    reason = "/home/somebody/x: No space on 10.1.2.3; `frobench run --resume` goes on"
    fleet(
        tmp_path,
        {"a": [stored(0)], "b": [[Ended(node="", message=reason)]]},
    )
    found = recorded(tmp_path)
    assert found.nodes == sorted([label(0), label(1)])
    (hidden,) = found.lost.values()
    assert found.lost == {label(1): hidden}
    assert "No space on" in hidden
    assert "--resume" not in hidden
    assert "somebody" not in hidden
    assert "10.1" not in hidden


def test_a_fleet_that_is_killed_has_written_down_which_nodes_have_no_file(tmp_path: Path) -> None:
    gathered = Gathered(tmp_path, "20260101T000000000000Z", label_of)
    gathered.expect("abc")
    gathered.keep("a", File(node="", path="there/run-0.json", content=store.encode(run(0))))
    assert recorded(tmp_path).lost == {label(1): NOTHING_YET, label(2): NOTHING_YET}


def test_a_lost_node_is_not_begun_where_another_one_measures(tmp_path: Path) -> None:
    """A cluster may give the name of a lost node to another one that it has."""
    busy: list[Event] = [Began(node=""), *[Line(node="", text="on")] * 20, *stored(1)]
    outcome, cluster, _ = fleet(
        tmp_path,
        {"a": [lost()], "b": [busy]},
        [node("a"), node("b")],
        [node("a", "id of b")],
    )
    assert outcome.lost == {"a": "its node was lost"}
    assert sorted(outcome.stored) == ["b"]
    assert sum(isinstance(one, Start) for one in cluster.commands) == 2


def test_a_full_disk_here_leaves_the_file_on_its_node_and_says_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: Run, __: Path) -> Path:
        raise OSError(errno.ENOSPC, "No space left on device", "results/x.json")

    monkeypatch.setattr(store, "write", full)
    outcome, cluster, _ = fleet(tmp_path, {"a": [stored(0)]})
    assert outcome.lost == {
        "a": "results/x.json: No space left on device; its file stays on the node: there/run-0.json"
    }
    assert not any(isinstance(one, Forget) for one in cluster.commands)


def test_nodes_with_another_torch_are_named_at_the_end(tmp_path: Path) -> None:
    other = stored(2)
    other[0] = About(node="", torch="2.12.0")
    outcome, _, _ = fleet(tmp_path, {"a": [stored(0)], "b": [stored(1)], "c": [other]})
    expected = "c has torch 2.12.0, most have 2.13.0: it is not compared with them"
    assert expected in [*fleet_words.lines(outcome)]


def test_of_many_nodes_only_what_happened_to_each_is_shown() -> None:
    shown: list[str] = []
    tell = fleet_words.teller(shown.append, lambda name: f"label of {name}")
    for name in (many := [f"n{number}" for number in range(fleet_words.FEW + 1)]):
        tell(name, "begun")
    tell(many[0], "| a line of its run")
    tell(many[0], "stored: x.json")
    assert "n0: label of n0 on pages" in shown
    assert shown[-1] == "n0: stored: x.json"
    assert not any("a line of its run" in one for one in shown)


def test_options_of_a_run_pass_through(tmp_path: Path) -> None:
    def options(**wanted: object) -> Iterable[str]:
        return asked(FleetRequest(results=tmp_path, **wanted)).options  # type: ignore[arg-type] # as given

    assert options() == ["--profile", "standard"]
    assert options(profile="quick", expression="matmul", launches=6) == [
        *("--profile", "quick", "-k", "matmul", "--launches", "6")
    ]
