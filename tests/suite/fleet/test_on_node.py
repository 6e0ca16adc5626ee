# SPDX-License-Identifier: MIT
"""What runs on a node of a fleet, and the names of nodes."""

import json
import os
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

from frobench.suite.checkout import CHECKOUT
from frobench.suite.errors import CannotRunError
from frobench.suite.fleet import on_node, ray_cluster
from frobench.suite.fleet.fleet import FleetRequest, ordered
from frobench.suite.fleet.on_node import Order, Said
from frobench.suite.fleet.ray_cluster import RayCluster, look_for, named, shared_names
from frobench.suite.run.lock import VARIABLE
from tests.instruments.processes.command import ROOT

RUN = """
import pathlib, signal, sys, time
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


def test_a_node_without_frobench_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order = wanted(folder.parents[2])
    monkeypatch.setattr(on_node, "find_spec", lambda _: None)
    with pytest.raises(RuntimeError, match="has no Frobench"):
        [*said(order)]


def test_a_run_that_refuses_is_named_with_its_last_words(folder: Path) -> None:
    order = wanted(folder.parents[2], options=["--benchmarks", "/nowhere/benchmarks"])
    with pytest.raises(RuntimeError, match="'/nowhere/benchmarks' does not exist"):
        [*said(order)]


def test_the_digest_is_of_what_moves_numbers_alone(tmp_path: Path) -> None:
    assert on_node.digest(CHECKOUT) == on_node.digest(CHECKOUT)
    (tmp_path / "frobench" / "suite" / "measure").mkdir(parents=True)
    before = on_node.digest(tmp_path)
    (tmp_path / "frobench" / "page.html").touch()
    assert on_node.digest(tmp_path) == before
    (tmp_path / "frobench" / "suite" / "measure" / "timing.py").touch()
    assert on_node.digest(tmp_path) != before


def test_a_run_that_hangs_is_interrupted_at_its_deadline_which_begins_with_the_lock(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_node, "BOUND", BOUND)
    heard: list[Said] = []
    with pytest.raises(RuntimeError, match=r"hung: no end within 0\.5 s"):
        heard.extend(said(wanted(folder.parents[2], deadline=0.5)))
    assert (folder / "interrupted").exists()


def test_a_disk_that_refuses_is_named_with_its_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "results")

    order = wanted(folder.parents[2])
    monkeypatch.setattr(Path, "mkdir", full)
    with pytest.raises(OSError, match="No space") as refusal:
        [*said(order)]
    assert ray_cluster.reason(refusal.value) == "results: No space left on device"


@pytest.mark.parametrize("unfinished", [False, True])
def test_a_run_gets_its_options_and_one_that_was_cut_short_is_resumed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *, unfinished: bool
) -> None:
    results = folder / "results"
    plan = results / ".runs" / "20260101T000000Z-eeeeeee" / "plan.json"
    if unfinished:
        plan.parent.mkdir(parents=True)
        plan.touch()
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
    clean = {
        name: value
        for name, value in os.environ.items()
        if name not in {"OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES"}
    }
    out = subprocess.run(
        [sys.executable, "-c", code],
        env=clean | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
    ).stdout
    paths = os.pathsep.join(["there", str(ROOT)])
    assert json.loads(out) == [[None, None, paths], [None, "", paths]]


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
    given = described("1", "10.0.0.1", "a")
    unnamed = described("2", "10.0.0.2", host="gpu-2")
    assert names(given, unnamed) == {"1": "a", "2": "gpu-2"}


def test_nodes_of_one_name_are_told_apart_by_their_addresses_and_then_by_their_numbers() -> None:
    nodes = (
        described("1" * 56, "10.0.0.1", "a"),
        described("2" * 56, "10.0.0.2", "a"),
        described("3" * 56, "10.0.0.2", "a"),
    )
    assert [*names(*nodes).values()] == [
        "a (10.0.0.1)",
        f"a (10.0.0.2, {'2' * 16})",
        f"a (10.0.0.2, {'3' * 16})",
    ]


def test_an_address_where_nothing_listens_is_named_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        look_for(address)
    with pytest.raises(ConnectionRefusedError):
        look_for(address)
