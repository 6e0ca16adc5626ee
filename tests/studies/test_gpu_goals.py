# SPDX-License-Identifier: MIT
"""The goals for a real GPU are judged from figures, each by its own, and can be missed."""

from copy import deepcopy
from pathlib import Path

import pytest

from frobench.suite.stored import store
from frobench.suite.stored.types import Run
from tests.gpu import anchors
from tests.gpu.anchors_figures import (
    AHEAD,
    EVENTS,
    PYTORCH,
    RUNTIME,
    SEARCH,
    SPAN,
    Copied,
    Figures,
    Peak,
    Timed,
)
from tests.gpu.goals import judge
from tests.instruments.faults.judging import keep, made, set_samples

LAUNCHES = 6
LOOPS = {
    "bench_launch_only": 10e-3,
    "bench_norm_only": 12e-3,
    "bench_log_kept": 13e-3,
    "bench_log_on_device": 13.5e-3,
    "bench_read_ready_log": 0.5e-3,
    "bench_item": 20e-3,
    "bench_read_ready": 8e-3,
    "bench_wait": 18e-3,
}
"""What the loops of exercise B take, the parts of which add up."""
BODY = "bench_square[cuda:0-8192-bfloat16]"


def rounds(seconds: float) -> list[float]:
    return [seconds * (1 + 1e-4 * n) for n in range(LAUNCHES)]


def figures() -> Figures:
    """Return what a GPU's anchors may say when all is well."""
    ways = {SPAN: 1.41e-3, AHEAD: 1.4e-3, "triton's do_bench": 1.4e-3}
    spans = {way: rounds(seconds) for way, seconds in ways.items()}
    copied = {PYTORCH: rounds(1.22e-3), RUNTIME: rounds(1.21e-3), EVENTS: rounds(1.2e-3)}
    return Figures(
        date="2026-11-20",
        device="a GPU",
        torch="2.11.0",
        times=[Timed(body=BODY, seconds=spans | {"cuda-bench": [1.4e-3, 1.401e-3]})],
        copies=[
            Copied(function="bench_to_device", size=2**26, seconds=copied),
            Copied(function="bench_to_device", size=4, seconds={way: [1e-5] for way in copied}),
        ],
        peak=Peak(
            search_seconds=180.0,
            scan_seconds=300.0,
            tried=12000,
            grid=8000,
            shapes={SEARCH: [8192] * 3, "scan, number 1": [6144] * 3, "scan, number 2": [64] * 3},
            rates={
                SEARCH: rounds(7.75e14),
                "scan, number 1": rounds(7.8e14),
                "scan, number 2": rounds(7.7e14),
            },
        ),
    )


def stored() -> Run:
    """Return a run in which every launch says the same, with all loops of exercise B."""
    run = made(accelerators=1, launches=LAUNCHES)
    keep(run, lambda case: case.extra_info.device == "cuda:0")
    loop = next(case for case in run.benchmarks if case.name.startswith("bench_item["))
    run.benchmarks = [case for case in run.benchmarks if case.group != "norm_logging"]
    for case in run.benchmarks:
        set_samples(case, [rounds(case.stats.median)[:3]] * LAUNCHES)
    for function, seconds in LOOPS.items():
        case = deepcopy(loop)
        case.name = f"{function}[cuda:0-1000]"
        case.fullname = f"benchmarks/bench_norm_logging.py::{case.name}"
        case.extra_info.headline = function == "bench_item"
        set_samples(case, [[seconds] * 3] * LAUNCHES)
        run.benchmarks.append(case)
    return run


def slow(run: Run, function: str, by: float, launches: tuple[int, ...] = ()) -> None:
    """Let a case take longer in some launches, or in all."""
    case = next(case for case in run.benchmarks if case.name.startswith(f"{function}["))
    typical = case.stats.median
    where = launches or tuple(range(LAUNCHES))
    set_samples(case, [[typical * (by if n in where else 1.0)] * 3 for n in range(LAUNCHES)])


def test_what_is_near_enough_is_met() -> None:
    run = stored()
    slow(run, "bench_wait", 1.3, launches=(1,))  # no headline, and no part of a sum
    goals = judge(figures(), [run])
    assert [judged for judged in goals if not judged.met] == []
    assert len(goals) == 2 + 1 + 1 + 4 + 1 + 1


def test_the_command_judges_what_it_is_given_and_writes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = store.write(stored(), tmp_path)
    anchors.main(["-o", str(tmp_path / "out"), str(file)])
    written = (tmp_path / "out" / anchors.PAGE).read_text()
    assert "`standard` within 8 minutes | 217 s | met |" in written
    assert written in capsys.readouterr().out
