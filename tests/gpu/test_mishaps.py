# SPDX-License-Identifier: MIT
"""Where a GPU has no memory, fails for good or hangs, a case has failed and the run goes on."""

import subprocess
from pathlib import Path

import pytest

from frobench.suite.stored import store
from frobench.suite.stored.types import Run
from tests.instruments.faults.judging import validate_file
from tests.instruments.processes.command import ROOT, frobench, outcomes, stored

MISHAPS = ROOT / "tests" / "instruments" / "mishaps"
DEADLINE = 15
SEED = 2
"""By it the launch begins with the two cases that end its process."""

Ran = tuple[subprocess.CompletedProcess[str], Run]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Measure, in a single launch, what goes wrong and what does not."""
    folder = tmp_path_factory.mktemp("mishaps")
    run = frobench(
        *("run", "--benchmarks", MISHAPS, "--devices", "cuda:0", "--profile", "quick"),
        *("--launches", 1, "--seed", SEED, "--deadline", DEADLINE),
        folder=folder,
    )
    assert run.stdout, run.stderr
    return run, stored(run, folder)


@pytest.mark.parametrize(
    ("case", "status", "reason"),
    [
        ("bench_index[cuda:0-at_once]", "failed", "device-side assert triggered"),
        ("bench_index[cuda:0-later]", "failed", "device-side assert triggered"),
        ("bench_hang[cuda:0]", "failed", f"did not end within its deadline of {DEADLINE} s"),
        ("bench_foreseen[cuda:0]", "skipped", "needs 4096.0 GiB; cuda:0 has "),
        ("bench_unforeseen[cuda:0]", "failed", "OutOfMemoryError: CUDA out of memory"),
        ("bench_known[cuda:0]", "passed", ""),
        ("bench_product[cuda:0]", "passed", ""),
    ],
)
def test_each_case_has_its_reason(ran: Ran, case: str, status: str, reason: str) -> None:
    outcome = outcomes(ran[1])[case]
    assert outcome.status == status, outcome.reason
    assert reason in (outcome.reason or "")


def test_a_fresh_process_measures_the_rest(ran: Ran) -> None:
    assert ran[1].frobench.complete
    places = {case.name: case.extra_info.order for case in ran[1].benchmarks}
    assert sorted(places.values()) == [[3], [4]], places  # behind those that ended two processes


def test_the_command_says_that_cases_fail_and_stores_a_valid_run(ran: Ran, tmp_path: Path) -> None:
    assert ran[0].returncode == 1
    assert "bench_hang[cuda:0]: " in ran[0].stderr
    faults = validate_file(store.write(ran[1], tmp_path))
    assert [one for one in faults if one.severity == "error"] == []
