# SPDX-License-Identifier: MIT
"""What is only there to be compared with several accelerators is skipped beside a single one."""

import pytest
import torch

from tests.instruments.processes.alone import BENCHMARKS, load

BASELINES = {
    "data_parallel": {"bench_one_device", "bench_forward"},
    "split_model": {"bench_one_device", "bench_tasks_in_sequence"},
}


@pytest.mark.parametrize("exercise", BASELINES)
@pytest.mark.parametrize("count", [0, 1, 2])
def test_baselines_are_skipped_with_the_reason_where_there_is_one_accelerator(
    monkeypatch: pytest.MonkeyPatch, exercise: str, count: int
) -> None:
    monkeypatch.setattr(torch.accelerator, "device_count", lambda: count)
    module = load(BENCHMARKS / f"bench_{exercise}.py")
    reasons = {
        name: mark.kwargs["reason"]
        for name in dir(module)
        for mark in getattr(getattr(module, name), "pytestmark", [])
        if mark.name == "skip"
    }
    assert set(reasons) == (BASELINES[exercise] if count == 1 else set())
    assert set(reasons.values()) <= {"compared with several accelerators; there is one"}
