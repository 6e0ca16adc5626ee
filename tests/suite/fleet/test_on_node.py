# SPDX-License-Identifier: MIT
"""What runs on a node of a fleet, and the names of nodes."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from frobench.suite.errors import CannotRunError
from frobench.suite.fleet import on_node, ray_cluster
from frobench.suite.fleet.fleet import FleetRequest, ordered
from frobench.suite.fleet.on_node import Order, Said
from frobench.suite.fleet.ray_cluster import Node, RayCluster, look_for, named, shared_names
from frobench.suite.run.lock import VARIABLE, machine_lock
from tests.instruments.processes.command import ROOT
from tests.instruments.processes.project_files import planted

PATIENCE = 60.0
"""Seconds that a process may take to do what it does at once, on a busy machine."""
RUN = """import pathlib, signal, sys, time
from frobench.suite.run.lock import machine_lock
def interrupted(*_):
    pathlib.Path("interrupted").touch()
    sys.exit(130)
signal.signal(signal.SIGTERM, interrupted)
print("a line", sys.argv[1:], flush=True)
with machine_lock(waiting=lambda _: None):
    time.sleep(600)
"""
"""Stands for `frobench run`: takes the lock, and hangs until it is interrupted."""
BOUND = on_node.BOUND.replace("*sys.argv[1:]", f"'-c', {RUN!r}")
"""A program that becomes this run, bound to its task as a run is."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder that a node keeps its run in."""
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setenv(VARIABLE, str(tmp_path / "lock"))
    return on_node._folder("f", "a")


def wanted(folder: Path, **more: object) -> Order:
    """Return what a node is asked."""
    return replace(ordered(FleetRequest(results=folder / "here")), fleet="f", **more)  # type: ignore[arg-type] # as given


def said(order: Order) -> Iterator[Said]:
    yield from on_node.measure(order, "node a", "a", 0.0)


def test_a_node_with_another_frobench_is_not_measured_and_says_so(folder: Path) -> None:
    with pytest.raises(RuntimeError, match="another Frobench is installed"):
        [*said(wanted(folder.parents[2], code="0" * 64))]
    assert not folder.exists()


def test_a_run_that_refuses_is_named_with_its_last_words(folder: Path) -> None:
    options = ["--benchmarks", "/nowhere/benchmarks"]
    with pytest.raises(RuntimeError, match="'/nowhere/benchmarks' does not exist"):
        [*said(wanted(folder.parents[2], options=options))]


def test_the_digest_is_of_what_moves_numbers_alone(tmp_path: Path) -> None:
    before = on_node.digest(tmp_path)
    assert on_node.digest(planted(tmp_path, {"frobench/page.html": ""})) == before
    assert on_node.digest(planted(tmp_path, {"frobench/suite/measure/timing.py": ""})) != before


def test_a_run_that_hangs_is_interrupted_at_its_deadline_which_begins_with_the_lock(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_node, "BOUND", BOUND)
    with pytest.raises(RuntimeError, match=r"hung: no end within 0\.5 s"):
        [*said(wanted(folder.parents[2], deadline=0.5))]
    assert (folder / "interrupted").exists()


def test_a_run_that_waits_for_the_machine_gives_signs_of_life_and_may_wait(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_node, "BOUND", BOUND)
    items = said(wanted(folder.parents[2], deadline=0.1, beat=0.5))
    heard: list[Said] = []
    with machine_lock():
        while "a line []\n" not in heard or heard[-3:] != ["", "", ""]:
            heard.append(next(items))
        items.close()  # type: ignore[attr-defined] # a generator
    assert (folder / "interrupted").exists()


def test_files_that_lie_on_the_node_are_told_and_nothing_is_measured_again(folder: Path) -> None:
    results = planted(folder / "results" / "machine", {"run.json": "{}", "run.partial.json": "[]"})
    assert [*said(wanted(folder.parents[2]))] == [(str(results / "run.json"), b"{}\n")]
    on_node.forget("f", "a")
    assert not folder.parent.exists()


@pytest.mark.parametrize("unfinished", [False, True])
def test_a_run_gets_its_options_and_one_that_was_cut_short_is_resumed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *, unfinished: bool
) -> None:
    results = folder / "results"
    if unfinished:
        planted(results, {".runs/20260101T000000Z-eeeeeee/plan.json": ""})
    monkeypatch.setattr(on_node, "BOUND", "import sys; sys.exit(str(sys.argv[1:]))")
    expected = ["-m", "frobench", "run", "--wait", "--label", "node a", "--results", str(results)]
    expected += ["-k", "x", *(["--resume", "last"] if unfinished else [])]
    with pytest.raises(RuntimeError) as why:
        [*said(wanted(folder.parents[2], options=["-k", "x"]))]
    assert str(why.value) == str(expected)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process's environment")
def test_threads_and_hidden_devices_that_ray_sets_do_not_reach_the_run() -> None:
    code = dedent(
        """
        import json, os, sys
        from pathlib import Path
        from frobench.suite.fleet import on_node
        os.environ |= {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
        found = [on_node._environment(Path("there"), number) for number in (0.0, 8.0)]
        names = "OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES", "PYTHONPATH"
        print(json.dumps([[one.get(name) for name in names] for one in found]))
        """
    )
    clean = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    out = subprocess.check_output([sys.executable, "-c", code], env=clean)
    paths = os.pathsep.join(["there", str(ROOT)])
    assert json.loads(out) == [[None, None, paths], [None, "", paths]]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux binds a process to its parent")
def test_no_run_outlives_the_task_that_started_it(tmp_path: Path) -> None:
    code = f"""import sys, tempfile
from frobench.suite.fleet import on_node
tempfile.gettempdir = lambda: {str(tmp_path)!r}
on_node.BOUND = {BOUND!r}
order = on_node.{wanted(tmp_path)!r}
for said in on_node.measure(order, "node a", "a", 0.0):
    print(said, flush=True)
"""
    task = subprocess.Popen(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(ROOT), VARIABLE: str(tmp_path / "lock")},
        stdout=subprocess.PIPE,
        text=True,
    )
    with task:
        assert task.stdout is not None
        assert "a line []\n" in task.stdout
        task.send_signal(signal.SIGKILL)
    (run,) = tmp_path.glob("frobench-fleet-*/f/a")
    assert any((run / "interrupted").exists() for _ in until(PATIENCE))


def until(seconds: float) -> Iterator[None]:
    """Look again and again, for a while."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        yield
        time.sleep(0.05)


def test_without_ray_one_line_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_cluster, "find_spec", lambda _: None)
    with pytest.raises(CannotRunError, match=r"needs Ray.*`pip install --editable '\.\[fleet\]'`"):
        RayCluster("auto")


def described(number: str, address: str, name: str = "", host: str = "host") -> dict[str, Any]:
    """Return a node as Ray describes it; one that was given no name has its address for one."""
    return {
        "NodeID": number,
        "NodeName": name or address,
        "NodeManagerAddress": address,
        "NodeManagerHostname": host,
        "Resources": {},
    }


def names(*nodes: dict[str, Any], shared: set[str] | None = None) -> dict[str, str]:
    found = named(nodes, shared_names(nodes) if shared is None else shared)
    return {node.id: name for name, node in found.items()}


def test_a_node_has_the_name_that_it_was_given_or_that_of_its_host() -> None:
    given, unnamed = described("1", "10.0.0.1", "a"), described("2", "10.0.0.2", host="gpu-2")
    given["Resources"]["GPU"] = 8.0
    assert named([unnamed, given], set()) == {"a": Node("1", 8.0), "gpu-2": Node("2", 0.0)}


def test_nodes_of_one_name_are_told_apart_by_their_addresses_and_then_by_their_numbers() -> None:
    numbers = {digit * 56: f"10.0.0.{end}" for digit, end in ("11", "22", "32")}
    nodes = [described(number, address, "a") for number, address in numbers.items()]
    alike = [f"a (10.0.0.2, {digit * 16})" for digit in "23"]
    assert [*names(*nodes).values()] == ["a (10.0.0.1)", *alike]


def test_a_node_keeps_its_name_when_the_other_one_of_that_name_is_lost_and_comes_back() -> None:
    first, second = described("1", "10.0.0.1", "a"), described("2", "10.0.0.2", "a")
    shared = shared_names([first, second])
    assert names(second, shared=shared) == {"2": "a (10.0.0.2)"}
    again = described("0", "10.0.0.1", "a")
    assert names(again, second, shared=shared) == {"0": "a (10.0.0.1)", "2": "a (10.0.0.2)"}


def test_an_address_is_tried_and_ray_client_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        for address in ("auto", "host:port", f":{port}", f"127.0.0.1:{port}"):
            look_for(address)
    with pytest.raises(ConnectionRefusedError):
        look_for(f"[127.0.0.1]:{port}")
    with pytest.raises(ValueError, match="--address auto or HOST:PORT"):
        look_for("ray://10.0.0.1:10001")
