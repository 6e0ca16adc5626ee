# SPDX-License-Identifier: MIT
"""Honest runs of whatever machine raise no alarm; `nox -s calibrate -- good` tries a thousand."""

from pathlib import Path

import pytest

from frobench.suite import checks
from frobench.suite.stored.types import Conclusion
from tests.instruments.faults.judging import validate
from tests.instruments.runs.good_runs import good_run

RUNS = 50


def alarms(seed: int) -> list[Conclusion]:
    return [one for one in checks.conclude(good_run(seed)) if one.severity == "error"]


def test_no_honest_run_is_refused() -> None:
    found = {seed: alarms(seed) for seed in range(RUNS)}
    assert {seed: said[:3] for seed, said in found.items() if said} == {}


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_their_files_are_valid(seed: int, tmp_path: Path) -> None:
    assert [one for one in validate(good_run(seed), tmp_path) if one.severity == "error"] == []
