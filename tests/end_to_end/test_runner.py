# SPDX-License-Identifier: MIT
"""A run through the command: what is measured, and what becomes of what goes wrong."""

import subprocess
from pathlib import Path

import pytest
from msgspec import UNSET

from frobench.suite.stored import store
from frobench.suite.stored.types import Run
from tests.instruments.devices.planted_cuda import plant
from tests.instruments.faults.judging import validate_file
from tests.instruments.processes import command
from tests.instruments.processes.command import QUICK, TRICKY, outcomes, stored
from tests.instruments.processes.project_files import planted
from tests.instruments.processes.warm import frobench

pytestmark = pytest.mark.long


Tricky = tuple[subprocess.CompletedProcess[str], Run]


@pytest.fixture(scope="module")
def tricky(tmp_path_factory: pytest.TempPathFactory) -> Tricky:
    """Run two launches over everything that can go wrong in one process."""
    folder = tmp_path_factory.mktemp("tricky")
    options = ("--benchmarks", TRICKY, "--devices", "cpu", "-k", "not both", "--seed", 7)
    run = frobench("run", *options, "--launches", 2, "--budget", 15, folder=folder)
    return run, stored(run, folder)


def test_what_works_is_measured_once_in_each_launch(tricky: Tricky) -> None:
    names = {case.name: case.extra_info for case in tricky[1].benchmarks}
    assert set(names) == {
        "bench_fine[cpu-8]",
        "bench_fine[cpu-16]",
        "bench_wait[cpu-0.001]",
        "bench_slow[cpu-1]",
        "bench_strict[cpu-1]",
    }
    assert all(len(info.launches) == 2 and min(info.launches) >= 3 for info in names.values())
    (wait,) = (case for case in tricky[1].benchmarks if case.name == "bench_wait[cpu-0.001]")
    assert wait.extra_info.parts == {"falling asleep": [60.0, 60.0]}  # spent apart, in no sample
    assert wait.stats.max < 1


@pytest.mark.parametrize(
    ("case", "status", "reason"),
    [
        ("bench_broken[cpu-wrong]", "failed", "wrong result: the sum is off by 2, over the bound"),
        ("bench_broken[cpu-raise]", "failed", "ValueError (bench_tricky.py:"),
        ("bench_broken[cpu-huge]", "skipped", "GiB free"),
        ("bench_broken[cpu-unused]", "failed", "measured nothing"),
        ("bench_broken[cpu-threads]", "failed", "left changed settings behind: threads"),
        ("bench_broken[cpu-process]", "failed", "behind: time.monotonic, RLIMIT_NOFILE"),
        ("bench_broken[cpu-skip]", "skipped", "pytest.skip (bench_tricky.py:"),
        ("bench_crash[cpu-1]", "failed", "its process was ended by SIGABRT"),
        ("bench_slow[cpu-1000]", "skipped", " a call at n=1000, over this profile's 200 ms"),
        ("bench_slow[cpu-2000]", "skipped", " a call at n=1000, over this profile's 200 ms"),
        ("bench_pair[none]", "skipped", "needs two accelerators; 0 measured here"),
    ],
)
def test_what_does_not_work_is_recorded_with_its_reason_and_the_rest_goes_on(
    tricky: Tricky, case: str, status: str, reason: str
) -> None:
    outcome = outcomes(tricky[1])[case]
    assert outcome.status == status
    assert reason in (outcome.reason or "")


def test_what_a_case_raised_ends_the_run_with_1_and_has_its_traceback(tricky: Tricky) -> None:
    lines = (TRICKY / "bench_tricky.py").read_text().splitlines()
    line = 1 + next(n for n, text in enumerate(lines) if "raise ValueError" in text)
    reason = outcomes(tricky[1])["bench_broken[cpu-raise]"].reason
    assert (reason, tricky[0].returncode) == (f"ValueError (bench_tricky.py:{line})", 1)
    shown = tricky[0].stderr
    assert "bench_broken[cpu-wrong]: " in shown
    head = "Traceback (most recent call last):"
    assert f"failed: bench_broken[cpu-raise]: {reason}\n  {head}" in shown
    assert f'bench_tricky.py", line {line}, in bench_broken' in shown
    assert "\n  ValueError: cannot read /home/somebody/secret.txt\n" in shown  # only here, whole
    assert "_pytest" not in shown


def test_the_stored_file_is_valid_and_complete(tricky: Tricky, tmp_path: Path) -> None:
    run = tricky[1]
    assert run.frobench.complete
    assert run.frobench.seed == 7
    said = validate_file(store.write(run, tmp_path))
    assert all(one.severity == "warning" for one in said)


def test_each_launch_has_its_own_order_and_facts_of_the_machine(tricky: Tricky) -> None:
    places = zip(*(case.extra_info.order for case in tricky[1].benchmarks), strict=True)
    first, second = (sorted(range(len(one)), key=one.__getitem__) for one in places)
    assert first != second
    for launch in tricky[1].frobench.launches:
        assert 0 < launch.empty_body["cpu"] < 1e-3
        assert launch.gauge.keys() == {"cpu/python", "cpu/operations", "cpu/product", "cpu/copy"}
        assert launch.others is not UNSET
        assert launch.others >= 0
        assert launch.runner_cores is not UNSET
        assert min(launch.timer_step, launch.runner_cores, *launch.gauge.values()) > 0


def test_workers_on_two_halves_of_the_cpu_show_when_both_ran(tmp_path: Path) -> None:
    run = frobench(*QUICK, "-k", "both", "--launches", 1, folder=tmp_path)
    (both,) = stored(run, tmp_path).benchmarks
    assert both.extra_info.devices == ["cpu/0", "cpu/1"]
    parts = both.extra_info.parts
    assert all(0 <= (part or 0) <= 1 for part in parts["concurrency"])
    assert all(part == 0 for part in parts["shared_in_turn"])
    assert "busy" not in parts


def test_an_accelerator_that_torch_cannot_use_is_left_out_when_asked_for(tmp_path: Path) -> None:
    shown_gpu, wanted = plant(tmp_path), ("run", "--benchmarks", TRICKY)
    run = command.frobench(*wanted, folder=tmp_path, environment=shown_gpu)
    assert run.returncode == 3
    assert "NVIDIA H200 cannot be used" in run.stderr
    assert "advice: " in run.stderr
    assert "--devices cpu" in run.stderr
    assert not list((tmp_path / "results" / ".runs").iterdir())
    cpu = (*QUICK, "-k", "fine", "--launches", 1)
    run = command.frobench(*cpu, folder=tmp_path, environment=shown_gpu)
    assert (run.returncode, stored(run, tmp_path).frobench.settings.devices) == (0, ["cpu"])


LATER = """
from pathlib import Path
from frobench import Device, Measure, Work
from frobench.suite.stored.types import Check

def bench_later(measure: Measure, device: Device) -> None:
    called = Path({called!r})
    if called.exists():
        raise ValueError("not a second time")
    called.touch()
    measure(lambda: None, work=Work(), check=lambda _: Check("", 0, 1))
"""


def test_a_run_whose_cases_all_fail_ends_with_1_and_the_reasons(tmp_path: Path) -> None:
    later = LATER.format(called=str(tmp_path / "called"))
    mine = planted(tmp_path / "mine", {"bench_mine.py": later})
    run = frobench("run", "--benchmarks", mine, "--devices", "cpu", folder=tmp_path)
    assert run.returncode == 1
    assert "nothing was measured, so nothing is stored: 1 case failed, 0 skipped" in run.stderr
    assert "failed: bench_later[cpu]: ValueError (bench_mine.py:9)" in run.stderr
    assert "\n  ValueError: not a second time\n" in run.stderr
    assert "resume" not in run.stderr
    assert not list((tmp_path / "results" / ".runs").iterdir())
    assert not list(tmp_path.glob("results/*/*.json"))
