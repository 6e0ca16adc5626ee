# SPDX-License-Identifier: MIT
"""What runs on a node: refusals, a run that ends with its task or hangs, and what it leaves."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import msgspec
import pytest

from frobench.suite.checkout import CHECKOUT, SOURCES
from frobench.suite.errors import CannotRunError
from frobench.suite.fleet import bridge, on_node
from frobench.suite.fleet.bridge import Bridge
from frobench.suite.fleet.fleet import FleetRequest, asked
from tests.instruments.processes.command import ROOT

PATIENCE = 60.0
"""Seconds that a process may take to do what it does at once, on a busy machine."""
RUN = """
import json, os, pathlib, signal, sys, time
def interrupted(*_):
    pathlib.Path("interrupted").touch()
    sys.exit(130)
signal.signal(signal.SIGTERM, interrupted)
print("a line", flush=True)
pathlib.Path(sys.argv[1]).write_text(json.dumps({"pid": os.getpid(), "since": "now"}))
time.sleep(600)
"""
"""Stands for `frobench run`: takes the lock, and hangs until it is interrupted."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder that a node keeps its run in."""
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    return Path(on_node._folder("f", "a"))


def wanted(folder: Path, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - fields of all types
    """Return what a node is asked, as the task gets it."""
    plain: dict[str, Any] = msgspec.to_builtins(asked(FleetRequest(results=folder / "here")))
    return plain | {"fleet": "f"} | more


def events(asked_of: dict[str, Any]) -> list[dict[str, Any]]:
    return list(on_node.measure(asked_of, "node a", "a", 0.0))


def test_a_node_with_another_frobench_is_not_measured_and_says_so(folder: Path) -> None:
    about, ended = events(wanted(folder.parents[2], code="0" * 64))
    assert about["type"] == "about"
    assert ended["type"] == "ended"
    assert "another Frobench is installed" in ended["message"]
    assert not folder.exists()


def test_a_node_without_frobench_or_without_the_benchmarks_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = events(wanted(folder.parents[2], benchmarks="/nowhere/benchmarks"))[-1]
    assert missing["message"].startswith("/nowhere/benchmarks is no folder there")
    monkeypatch.setattr(on_node, "find_spec", lambda _: None)
    assert "has no Frobench" in events(wanted(folder.parents[2]))[-1]["message"]


def test_the_digest_is_of_what_moves_numbers_alone(tmp_path: Path) -> None:
    assert on_node.digest(CHECKOUT, SOURCES) == on_node.digest(CHECKOUT, SOURCES)
    (tmp_path / "frobench" / "suite" / "measure").mkdir(parents=True)
    before = on_node.digest(tmp_path, SOURCES)
    (tmp_path / "frobench" / "page.html").touch()
    assert on_node.digest(tmp_path, SOURCES) == before
    (tmp_path / "frobench" / "suite" / "measure" / "timing.py").touch()
    assert on_node.digest(tmp_path, SOURCES) != before


def test_a_run_that_hangs_is_interrupted_at_its_deadline_which_begins_with_the_lock(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = folder.parents[2] / "lock"
    monkeypatch.setattr(on_node, "_command", lambda *_: [sys.executable, "-c", RUN, str(lock)])
    monkeypatch.delenv("FROBENCH_LOCK", raising=False)
    said = events(wanted(folder.parents[2], deadline=0.5, lock=str(lock)))
    kinds = [one["type"] for one in said if one["type"] != "beat"]
    assert kinds == ["about", "line", "began", "ended"]
    assert said[-1]["message"] == "hung: no end within 0.5 s"
    assert (folder / "interrupted").exists()


def test_a_disk_that_refuses_is_named_with_its_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "results")

    what = wanted(folder.parents[2])
    monkeypatch.setattr(Path, "mkdir", full)
    refused = {"type": "ended", "message": "results: No space left on device"}
    assert events(what)[-1] == refused


def test_files_that_lie_on_the_node_are_told_and_nothing_is_measured_again(folder: Path) -> None:
    stored = folder / "results" / "machine" / "run.json"
    stored.parent.mkdir(parents=True)
    stored.write_bytes(b"{}")
    about, file, ended = events(wanted(folder.parents[2]))
    assert file == {"type": "file", "path": str(stored), "content": b"{}"}
    assert ended == {"type": "ended", "message": ""}
    on_node.forget("f", "a")
    assert not folder.parent.exists()
    assert about["torch"]


def test_a_run_that_was_cut_short_is_resumed(folder: Path) -> None:
    results = folder / "results"
    command = on_node._command(wanted(folder.parents[2], options=["-k", "x"]), results, "node a")
    assert command[3:] == [
        "run",
        "--wait",
        "--label",
        "node a",
        "--results",
        str(results),
        "-k",
        "x",
    ]
    plan = results / ".runs" / "20260101T000000Z-eeeeeee" / "plan.json"
    plan.parent.mkdir(parents=True)
    plan.touch()
    again = on_node._command(wanted(folder.parents[2], options=[]), results, "node a")
    assert again[-2:] == ["--resume", "last"]


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


def test_no_run_outlives_the_task_that_started_it(tmp_path: Path) -> None:
    code = f"""
import psutil, sys, tempfile
from frobench.suite.fleet import on_node
tempfile.gettempdir = lambda: {str(tmp_path)!r}
on_node._command = lambda *_: [sys.executable, "-c", {RUN!r}, {str(tmp_path / "lock")!r}]
for said in on_node.measure({wanted(tmp_path, lock=str(tmp_path / "lock"))!r}, "node a", "a", 0.0):
    print(said["type"], len(psutil.Process().children()), flush=True)
"""
    task = subprocess.Popen(
        [sys.executable, "-c", code],
        env={name: value for name, value in os.environ.items() if name != "FROBENCH_LOCK"}
        | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    with task:
        assert task.stdout is not None
        assert "began 0\n" in task.stdout  # Ray kills the children of a task that ends
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
    monkeypatch.setattr(bridge, "find_spec", lambda _: None)
    with pytest.raises(CannotRunError, match=r"needs Ray.*`pip install --editable '\.\[fleet\]'`"):
        Bridge("auto")


def test_ray_is_imported_in_one_module_alone() -> None:
    files = [
        path for name in ("suite", "reports", "frobench") for path in (ROOT / name).rglob("*.py")
    ]
    importing = [path.name for path in files if "import ray" in path.read_text(encoding="utf-8")]
    assert importing == ["ray_cluster.py"]
