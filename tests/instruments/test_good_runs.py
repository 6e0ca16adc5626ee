# SPDX-License-Identifier: MIT
"""Honest runs of whatever machine raise no alarm; `nox -s calibrate -- good` tries a thousand."""

from collections import Counter
from pathlib import Path

import pytest

from frobench.suite import checks
from frobench.suite.stored.types import Conclusion
from tests.instruments.faults.judging import validate
from tests.instruments.runs.good_runs import good_run

RUNS = 100


def alarms(seed: int) -> list[Conclusion]:
    return [one for one in checks.conclude(good_run(seed)) if one.severity == "error"]


def test_no_honest_run_is_refused() -> None:
    found = {seed: alarms(seed) for seed in range(RUNS)}
    assert {seed: said[:3] for seed, said in found.items() if said} == {}


def test_the_runs_are_of_all_kinds_of_machines() -> None:
    runs = [good_run(seed) for seed in range(60)]
    machines = [run.frobench.environment for run in runs]
    kinds = Counter(one.accelerators[0].type if one.accelerators else "cpu" for one in machines)
    assert set(kinds) >= {"cpu", "cuda", "mps"}
    assert {len(one.accelerators) for one in machines} >= {0, 1, 2, 8}
    assert {run.frobench.profile for run in runs} == {"quick", "standard", "rigorous"}
    assert min(len(run.frobench.launches) for run in runs) == 1
    assert any(one.unknown for one in machines)


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_their_files_are_valid(seed: int, tmp_path: Path) -> None:
    assert [one for one in validate(good_run(seed), tmp_path) if one.severity == "error"] == []
