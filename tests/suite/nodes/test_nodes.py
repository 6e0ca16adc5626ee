# SPDX-License-Identifier: MIT
"""Nodes find their place in a job and refuse what does not fit; a lost rank ends its group."""

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import partial
from importlib.metadata import version
from multiprocessing.connection import Connection
from pathlib import Path
from unittest.mock import MagicMock, Mock, call

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from frobench.command import main
from frobench.suite.errors import CannotRunError, LostRankError
from frobench.suite.kit.device import Device
from frobench.suite.kit.worker_commands import Task
from frobench.suite.kit.worker_process import Seat
from frobench.suite.kit.workers import LostWorkerError, Worker, start_here
from frobench.suite.nodes import agent as agents
from frobench.suite.nodes import rendezvous as meetings
from frobench.suite.nodes.agent import Agent, holding_nodes, start_on
from frobench.suite.nodes.groups import Groups
from frobench.suite.nodes.rendezvous import Meeting, Node, Position, position
from frobench.suite.profiles import settings_for
from frobench.suite.run import runner
from frobench.suite.run.lock import VARIABLE, machine_lock
from frobench.suite.stored.types import Check
from tests.instruments.processes.project_files import planted

STORE = {"MASTER_ADDR": "head", "MASTER_PORT": "65535"}
TORCHRUN = {"RANK": "1", "WORLD_SIZE": "3", "LOCAL_RANK": "0", **STORE}
SLURM = {"SLURM_PROCID": "0", "SLURM_NTASKS": "2", "SLURM_LOCALID": "0", **STORE}
NODE = Node("10.0.0.1", 1, "00", "here", "abc", "2.13.0")


def where(_: Device) -> Task:
    return (lambda: None), lambda _: Check(f"process {os.getpid()}", 0.0, 1.0)


def test_torchrun_keeps_the_store_and_in_a_job_of_slurm_the_first_node_opens_it() -> None:
    kept = TORCHRUN | {"TORCHELASTIC_USE_AGENT_STORE": "True"}
    assert position(kept) == Position(1, 3, "head", 65535, opens_store=False)
    assert position(kept | {"RANK": "0"}) == Position(0, 3, "head", 65535, opens_store=False)
    assert position(SLURM) == Position(0, 2, "head", 65535, opens_store=True)
    assert not position(SLURM | {"SLURM_PROCID": "1"}).opens_store


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        ({}, "needs a job with a process on each node: .*torchrun.*srun"),
        ({k: v for k, v in SLURM.items() if k not in STORE}, "needs MASTER_ADDR and MASTER_PORT"),
        (TORCHRUN | {"MASTER_PORT": "0"}, "needs MASTER_ADDR and MASTER_PORT"),
        (TORCHRUN | {"MASTER_PORT": "65536"}, "needs MASTER_ADDR and MASTER_PORT"),
        (TORCHRUN | {"LOCAL_RANK": "1"}, "takes one process on each node"),
    ],
    ids=["no launcher", "no store", "port 0", "no port", "two processes on a node"],
)
def test_what_is_no_job_is_refused_with_what_helps(environ: dict[str, str], message: str) -> None:
    with pytest.raises(CannotRunError, match=message):
        position(environ)


def test_nodes_with_another_torch_or_other_code_are_named() -> None:
    meetings.require_alike(Meeting([NODE, NODE]))
    with pytest.raises(CannotRunError, match=r"node 1 has torch 2.12.0, and node 0 torch 2.13.0: "):
        meetings.require_alike(Meeting([NODE, replace(NODE, torch="2.12.0")]))
    with pytest.raises(CannotRunError, match=r"node 2 has another version of Frob.* \(abd\) than"):
        meetings.require_alike(Meeting([NODE, NODE, replace(NODE, sources="abd")]))


def test_nodes_meet_at_a_store_that_the_first_one_can_open(tmp_path: Path) -> None:
    address, port = "127.0.0.1", 20_000 + os.getpid() % 10_000  # below those given to clients
    with socket.create_server((address, port)):
        places = [Position(node, 2, address, port, opens_store=node == 0) for node in (0, 1)]
        with pytest.raises(CannotRunError, match=f"no store at {address}, port {port}"):
            meetings.meet(places[0], NODE)
    sources = {"x": "", "y": "", "z": "1"}
    folders = [planted(tmp_path / name, {"b/c.py": text}) for name, text in sources.items()]
    *nodes, other = (meetings.describe(f"10.0.0.{n}", n, "k", "m", folders[n]) for n in range(3))
    assert nodes[0].sources == nodes[1].sources != other.sources
    assert other == Node("10.0.0.2", 2, "k", "m", other.sources, version("torch"))
    with ThreadPoolExecutor() as pool:
        assert [*pool.map(meetings.meet, places, nodes)] == [Meeting(nodes)] * 2


def test_the_first_node_of_each_machine_holds_its_lock() -> None:
    meeting = Meeting([NODE, NODE, replace(NODE, machine="there"), NODE])
    assert [meeting.holds_lock(number) for number in range(4)] == [True, False, True, False]


@pytest.mark.parametrize("count", [1, 2])
def test_the_only_node_of_a_job_measures_as_a_single_machine(
    count: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(meetings.VARIABLE, "")  # put back when the test is over
    monkeypatch.delenv(meetings.VARIABLE)
    meeting = Meeting([NODE] * count)
    monkeypatch.setattr(runner, "meet", lambda *_: meeting)
    monkeypatch.setattr(runner, "holding_nodes", nullcontext)
    with runner.coordinating(Position(0, count, "127.0.0.1", 29400, opens_store=False), tmp_path):
        assert Meeting.here() == (meeting if count == 2 else None)


@contextmanager
def served(lock: object = None) -> Iterator[tuple[Node, list[object]]]:
    """Have an agent serve on this machine; yield its node, and what became of it."""
    agent, ended = Agent("127.0.0.1"), list[object]()

    def attend() -> None:
        try:
            ended.append(agent.attend(lock or nullcontext()))  # type: ignore[arg-type]
        except CannotRunError as error:
            ended.append(error)

    thread = threading.Thread(target=attend, daemon=True)
    thread.start()
    yield Node("127.0.0.1", agent.port, agent.key, "", "", ""), ended
    thread.join(60)
    assert not thread.is_alive()


def test_a_worker_on_another_node_works_and_says_how_it_ended() -> None:
    with served() as (node, ended), holding_nodes(Meeting([NODE, node])):
        worker = Worker(Seat("rank 1 on node 1", "cpu"), start_process=partial(start_on, node, 1))
        worker.set_up(where)
        worker.start()
        begun, done = worker.wait()
        assert begun <= done
        process = int(worker.check().compared.split()[1])
        os.kill(process, signal.SIGKILL)
        worker.tell("check")
        with pytest.raises(LostWorkerError, match="rank 1 on node 1 ended with code -9"):
            worker.answer(60)
        worker.close()
    assert ended == [agents.DONE]


def test_a_node_refuses_for_its_own_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "lock"))
    with (
        machine_lock(),
        served(machine_lock()) as (node, ended),
        pytest.raises(CannotRunError, match="node 1: another run is measuring this machine"),
    ):
        hold(node)
    assert isinstance(ended[0], CannotRunError)


def hold(node: Node) -> None:
    with holding_nodes(Meeting([NODE, node])):
        pass


def test_a_node_serves_no_longer_than_its_runner_is_there() -> None:
    with served() as (node, ended), agents.reach(node, 1) as gone:
        gone.send(["hold"])
        assert gone.recv() is None
    assert ended == [None]


def test_a_stranger_gets_nothing_and_disturbs_nobody() -> None:
    with served() as (node, ended):
        stranger = replace(node, key="ff" * 32)
        with pytest.raises(LostRankError, match="node 7 does not answer"):
            agents.reach(stranger, 7)
        hold(node)
    assert ended == [agents.DONE]


def test_silent_connections_keep_nobody_from_a_node() -> None:
    with served() as (node, ended):
        where = node.address, node.port
        with socket.create_connection(where), socket.create_connection(where):
            holding = threading.Thread(target=hold, args=(node,), daemon=True)
            holding.start()
            holding.join(30)
            assert not holding.is_alive()
    assert ended == [agents.DONE]


def test_a_node_that_is_silent_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agents, "GIVEN_UP", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address, port = server.getsockname()
        with pytest.raises(LostRankError, match="node 3 does not answer"):
            agents.reach(replace(NODE, address=address, port=port), 3)


@pytest.mark.parametrize("waits", [True, False])
def test_the_first_node_measures_with_the_others_which_say_how_it_ended(
    waits: bool,  # noqa: FBT001 - a parameter of the test
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stand_ins = {"take_part": "over", "coordinating": nullcontext(), "run": KeyboardInterrupt}
    made = {name: Mock(side_effect=[value]) for name, value in stand_ins.items()}
    for name, stand_in in made.items():
        monkeypatch.setattr(runner, name, stand_in)
    ended = []
    for rank in "10":
        for name, value in (TORCHRUN | {"RANK": rank}).items():
            monkeypatch.setenv(name, value)
        shown = CliRunner().invoke(main, ["run", "--nodes", *["--wait"] * waits])
        ended.append((shown.exit_code, shown.stdout, made["run"].called))
    assert ended == [(0, "node 1: over\n", False), (130, "", True)]
    assert [made[name].call_args.args[0].number for name in ("take_part", "coordinating")] == [1, 0]
    assert (made["take_part"].call_args.kwargs["wait"] is not None) is waits


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere some of the options are missing")
def test_a_connection_that_leads_nowhere_breaks_within_half_a_minute() -> None:
    with socket.socket() as handle, Connection(os.dup(handle.fileno())) as connection:
        agents.keep_alive(connection)
        assert handle.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        names = ("NODELAY", "KEEPIDLE", "KEEPINTVL", "KEEPCNT", "USER_TIMEOUT")
        options = [getattr(socket, f"TCP_{name}") for name in names]
        found = [handle.getsockopt(socket.IPPROTO_TCP, option) for option in options]
    assert found == [1, 10, 5, 3, 25_000]


HALVES = "cpu/0+cpu/1"


def test_the_ranks_of_all_nodes_are_started_once_and_the_first_of_them_form_a_group(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nodes, module = [NODE, replace(NODE, address="10.0.0.2")], Groups.__module__
    monkeypatch.setattr(Meeting, "here", classmethod(lambda _: Meeting(nodes)))
    started, formed = Mock(side_effect=lambda seat, *_: seat), Mock()
    monkeypatch.setattr(f"{module}.Worker", started)
    monkeypatch.setattr(f"{module}.Group", formed)
    groups = Groups(7, settings_for("quick", ["cpu", "cuda:0", "cuda:1"]), Mock())
    found = [groups.find(name) for name in ("cuda/1x2", "cuda/2x2")]
    seats = [Seat(f"rank {rank} on node {rank // 2}", f"cuda:{rank % 2}") for rank in range(4)]
    told = [(*one.args[:2], one.args[2] is start_here) for one in started.call_args_list]
    assert told == [(seat, 7, rank < 2) for rank, seat in enumerate(seats)]
    assert found == [formed.return_value] * 2
    there = [nodes[rank // 2].address for rank in range(4)]
    assert formed.call_args_list == [call(ranks, there, 60.0) for ranks in (seats[:2], seats)]


def test_a_launch_that_lost_a_rank_makes_no_further_group() -> None:
    workers = MagicMock(return_value=[])
    groups = Groups(0, settings_for("quick", ["cpu"]), workers)
    assert groups.find(HALVES) is groups.find(HALVES)
    groups.part()
    groups.find(HALVES)
    assert workers.call_args_list == [call(HALVES)] * 2
    groups.drop()  # a case failed, and took nobody with it
    groups.find(HALVES)
    groups.drop("rank 1 ended")
    groups.drop("rank 2 ended, which was left alone")
    with pytest.raises(pytest.skip.Exception, match="the launch had lost its group: rank 1 ended"):
        groups.find(HALVES)
    assert workers.call_count == 3
    assert groups.examine() == []  # no nodes measure together
