# SPDX-License-Identifier: MIT
"""Nodes that are joined by links of known rates: the rates are found, and who is slow or cut off.

The nodes are network namespaces of this machine (see `tests.cluster.namespaces`). Where the system
allows none, these tests are skipped.
"""

import re
import socket
import time
from collections.abc import Callable
from pathlib import Path

from frobench.reports import findings
from frobench.suite import checks
from frobench.suite.stored.types import Run
from tests.cluster.namespaces import Network, network
from tests.instruments.processes.command import start

GIGABIT, FIFTH = 10**9, 2 * 10**8
LONGEST = 400.0
"""Seconds that anything may take, on a machine that is busy."""


def until(found: Callable[[], object], what: str) -> None:
    """Wait until something is there."""
    deadline = time.monotonic() + LONGEST
    while not found():
        assert time.monotonic() < deadline, what
        time.sleep(0.2)


def stored(folder: Path) -> Run:
    """Return the one run that is stored in a folder, judged."""
    (path,) = folder.glob("*/*.json")
    return checks.read(path)


def measured(net: Network, folder: Path, cases: str, *options: str) -> None:
    """Start a run on all nodes."""
    net.torchrun(
        *("-m", "frobench", "run", "--nodes", "--devices", "cpu", "-k", cases),
        *("--results", str(folder), *options),
    )


def finished(net: Network, folder: Path) -> Run:
    """Wait until the first node has printed the path of the one stored file; return its run."""
    until(lambda: re.search(rf"{folder}/\S+\.json$", net.printed(0), re.MULTILINE), "not stored")
    return stored(folder)


def test_a_run_on_three_nodes_names_the_one_whose_link_is_slow(tmp_path: Path) -> None:
    results = tmp_path / "results"
    with network(3, GIGABIT, tmp_path) as net:
        net.links.limit(2, FIFTH)
        measured(net, results, "neighbours and 3x1 and 1048576", "--launches", "6")
        run = finished(net, results)
    assert [node.ranks for node in run.frobench.nodes or []] == [1, 1, 1]
    assert [case.extra_info.device for case in run.benchmarks] == ["cpu/3x1"]
    assert not [one for one in run.frobench.conclusions if one.severity == "error"]
    collectives = findings.findings(run)["collectives"]
    (slow,) = (one for one in collectives if one.name == "slowest-cpu/3x1")
    assert slow.answer.startswith("The link of node 2 is slow: ")


def test_a_node_that_is_cut_off_is_named_and_what_was_measured_stays(tmp_path: Path) -> None:
    results = tmp_path / "results"
    with network(2, GIGABIT, tmp_path) as net:
        wanted = "all_reduce and 2x1 and 1048576"
        measured(net, results, wanted, "--launches", "3", "--deadline", "15")
        until(lambda: "launch 1 of about 3 done" in net.printed(0), net.printed(0))
        net.links.cut_off(1)
        run = finished(net, results)
        until(lambda: "node 1 lost node 0" in net.printed(1), net.printed(1))
    (case,) = run.benchmarks
    assert case.extra_info.launches[0] > 0
    lost = [launch.lost for launch in run.frobench.launches if launch.lost]
    assert lost
    assert all("node 1" in reason for reason in lost)
    assert "rank-lost" in {one.code for one in run.frobench.conclusions}


def test_the_variables_of_slurm_are_enough_for_two_nodes_of_one_machine(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        store = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free.getsockname()[1])}
    wanted = ("-k", "send_receive and 2x1 and 1048576", "--launches", 1, "--devices", "cpu")
    nodes = [
        start(
            *("run", "--nodes", *wanted),
            folder=tmp_path,
            environment={**store, "SLURM_PROCID": str(number), "SLURM_NTASKS": "2"},
        )
        for number in range(2)
    ]
    said = [node.communicate(timeout=LONGEST) for node in nodes]
    assert [node.returncode for node in nodes] == [0, 0], said
    assert "node 1: the run of node 0 is over" in said[1][0]
    run = stored(tmp_path / "results")  # both held one lock together
    assert [case.extra_info.device for case in run.benchmarks] == ["cpu/2x1"]
    links = [node.link for node in run.frobench.nodes or []]
    assert links == [None, None]  # a loopback has no rate
