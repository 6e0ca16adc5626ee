# SPDX-License-Identifier: MIT
"""Workers that a launch needs start with it, and only they do."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from frobench.suite.kit import workers as kit
from frobench.suite.kit.worker_process import Seat
from frobench.suite.kit.workers import WorkerError, early_workers, start_early
from frobench.suite.launch import entry
from frobench.suite.plan import OPTION, LaunchSpec
from frobench.suite.profiles import settings_for
from tests.instruments.processes.command import ROOT
from tests.instruments.runs import made_up_records
from tests.instruments.runs.made_up_launches import identity
from tests.instruments.sessions import Sitting

SEATS = [Seat("cpu/0", "cpu", (0,)), Seat("cpu/1", "cpu", (1,))]


def spec(*, halves: bool) -> LaunchSpec:
    """Return what the runner tells a launch."""
    case = identity("bench_body[cpu/0+cpu/1]" if halves else "bench_body[cpu]")
    made = made_up_records.spec("measure", settings_for("quick", ["cpu"]), seed=19, cases=[case])
    return replace(made, order=[case.fullname])


def answer(*_: object) -> None:
    """Answer as workers do that are ready."""


@pytest.fixture(autouse=True)
def no_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kit, "_early", {})
    monkeypatch.setattr(kit, "Worker", Sitting)
    monkeypatch.setattr(kit, "halves", lambda _: SEATS)
    monkeypatch.setattr(kit, "_all", answer)


@pytest.mark.parametrize("halves", [True, False])
def test_a_launch_with_cases_on_halves_of_the_cpu_starts_their_workers_with_itself(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, halves: bool
) -> None:
    file = tmp_path / "spec.json"
    file.write_bytes(msgspec.json.encode(spec(halves=halves)))
    monkeypatch.setattr(sys, "argv", ["entry", "--quiet", f"{OPTION}={file}"])
    entry._start_workers()
    started: Any = early_workers()
    assert [*started] == [tuple(SEATS)] * halves
    seated = [(worker.seat, worker.seed) for workers in started.values() for worker in workers]
    assert seated == [(seat, 19) for seat in SEATS] * halves


def test_workers_that_do_not_answer_are_ended_and_left_to_the_first_case(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise WorkerError("ended with code 1")

    start_early(SEATS, 19)
    (workers,) = kit._early.values()
    monkeypatch.setattr(kit, "_all", refuse)
    assert early_workers() == {}
    assert all(vars(worker)["is_closed"] for worker in workers)


def test_a_launch_starts_its_workers_before_it_imports_torch() -> None:
    program = (
        "import sys\n"
        "from frobench.suite.plan import read_spec\n"
        "from frobench.suite.kit.workers import start_early\n"
        "from frobench.suite.machine.host import cores_in_use\n"
        "print('torch' in sys.modules)"
    )
    said = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert said.stdout == "False\n"
