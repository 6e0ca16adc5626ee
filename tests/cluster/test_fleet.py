# SPDX-License-Identifier: MIT
"""`frobench fleet` on a Ray cluster of several nodes on this machine, some of which are lost."""

import json
import re
import time
from pathlib import Path

import pytest

from frobench.suite.fleet.fleet import DISAPPEARED
from tests.cluster.ray_nodes import MEASURED, Fleet, ray_nodes

# Ray leaves files and processes of its own to the collector of garbage.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

LAUNCHES = 6
SAID_WITHIN = 40.0
"""Seconds in which a lost cluster is said on a busy machine; Ray itself looks for it for 60."""


def of_run(line: str, what: str) -> bool:
    """Tell whether a line is one that the run on a node other than the head printed."""
    node, _, text = line.partition(": ")
    return node in {"b", "c"} and text.startswith(what)


def test_a_node_that_is_killed_in_mid_run_and_comes_back_leaves_three_files(tmp_path: Path) -> None:
    with ray_nodes("a", "b", "c") as cluster:
        fleet = Fleet(cluster.address, tmp_path, *MEASURED)
        killed = fleet.until(lambda line: of_run(line, "| launch 1 of "))[0]
        cluster.kill(killed)
        ends = (f"{killed}: lost: ", f"{killed}: stored: ")  # its run may have been faster
        if ": lost: " in fleet.until(lambda line: line.startswith(ends)):
            cluster.add(killed)
            begun = fleet.until(lambda line: line.startswith((f"{killed}: begun", f"{killed}: | ")))
            assert begun == f"{killed}: begun again, where its run was"
        code, out = fleet.end()
    assert code == 0, out
    runs = fleet.stored()
    assert len(runs) == 3
    assert all(run.frobench.complete for run in runs)
    assert {len(run.frobench.launches) for run in runs} == {LAUNCHES}
    labels = {run.frobench.environment.label for run in runs}
    assert len(labels) == 3
    assert "3 of 3 nodes measured and stored" in out
    page = (tmp_path / "site" / "fleet.html").read_text(encoding="utf-8")
    assert all(str(label) in page for label in labels)


def test_nodes_that_stay_lost_are_named_and_what_arrived_stays_by_itself(tmp_path: Path) -> None:
    with ray_nodes("a", "b", "c") as cluster:
        fleet = Fleet(cluster.address, tmp_path, *MEASURED, "--patience", 60)
        fleet.until(lambda line: line.startswith("c: begun"))
        cluster.kill("c")
        fleet.until(lambda line: ": stored: " in line)
        cluster.vanish()
        vanished = time.monotonic()
        fleet.until(lambda line: line.endswith(DISAPPEARED))
        assert time.monotonic() - vanished < SAID_WITHIN
        code, out = fleet.end()
    assert code == 3, out
    reasons = dict(re.findall(r"(?m)^not measured: (.*?): (.*)$", out))
    assert "c" in reasons
    assert len(fleet.stored()) == 3 - len(reasons) >= 1
    assert all(DISAPPEARED in reason for node, reason in reasons.items() if node != "c")
    page = (tmp_path / "site" / "fleet.html").read_text(encoding="utf-8")
    assert f"3 nodes; {3 - len(reasons)} stored a whole run." in page
    assert page.count(DISAPPEARED) >= len(reasons) - 1


def test_a_fleet_that_is_killed_is_finished_by_another_call(tmp_path: Path) -> None:
    with ray_nodes("a", "b") as cluster:
        fleet = Fleet(cluster.address, tmp_path, *MEASURED)
        fleet.until(lambda line: ": stored: " in line)
        fleet.kill()
        fleet = Fleet(cluster.address, tmp_path, "--resume", "last", "--json")
        code, out = fleet.end()
    assert code == 0, out
    nodes = json.loads(out)["nodes"]
    assert [node["name"] for node in nodes] == ["a", "b"]
    stored = {(tmp_path / node["stored"]).resolve() for node in nodes}
    assert stored == {path.resolve() for path in tmp_path.glob("results/[!.]*/*.json")}
    assert len(stored) == 2
