# SPDX-License-Identifier: MIT
"""The goals for a real GPU are judged from figures, each by its own, and can be missed."""

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import pytest

from frobench.suite.kit.search_strategy import Shape
from frobench.suite.stored import store
from frobench.suite.stored.types import Run
from tests.gpu import anchors
from tests.gpu.anchors_cuda import loaded
from tests.gpu.anchors_figures import (
    AHEAD,
    EVENTS,
    PYTORCH,
    RUNTIME,
    SEARCH,
    SPAN,
    Copied,
    Figures,
    Judged,
    Peak,
    Timed,
    page,
)
from tests.gpu.anchors_peak import FINALISTS, Products, fastest, scan
from tests.gpu.goals import RATIO, STARTS, judge
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


def missed(figures: Figures, *runs: Run) -> list[Judged]:
    return [judged for judged in judge(figures, runs) if judged.met is False]


def test_what_is_near_enough_is_met() -> None:
    run = stored()
    slow(run, "bench_wait", 1.3, launches=(1,))  # no headline, and no part of a sum
    goals = judge(figures(), [run])
    assert [judged for judged in goals if not judged.met] == []
    assert len(goals) == 2 + 1 + 1 + 4 + 1 + 1


def test_without_measurements_every_goal_is_open() -> None:
    goals = judge(Figures(date="", device="", torch=""), [])
    assert len(goals) == 6
    assert {judged.met for judged in goals} == {None}


@pytest.mark.parametrize(
    ("spoil", "goals", "why"),
    [
        (
            lambda f, _: f.times[0].seconds.update({SPAN: rounds(1.44e-3)}),
            [
                f"{BODY}: device time within 2% of {t}'s"
                for t in ("triton's do_bench", "cuda-bench")
            ],
            "40 µs of it pass until the idle device begins",
        ),
        (
            lambda f, _: f.times[0].seconds.update({"cuda-bench": [1.3e-3]}),
            [f"{BODY}: device time within 2% of cuda-bench's"],
            "with work ahead of it, it takes 1.077",
        ),
        (
            lambda f, _: f.copies[0].seconds.update({RUNTIME: rounds(1.15e-3)}),
            ["bench_to_device, 64 MiB: within 3% of the CUDA runtime's"],
            "of what the runtime's own events say",
        ),
        (
            lambda f, _: f.peak.rates.update({"scan, number 2": rounds(8e14)}),
            ["the search's shape within 98% of the best of 12,000 scanned"],
            f"8192{RATIO}8192{RATIO}8192 was found, and 64{RATIO}64{RATIO}64 is faster",
        ),
        (
            lambda _, run: slow(run, "bench_item", 1.1),
            ["cuda:0, each norm read back: the same with reading back measured by itself"],
            f"takes 1.5{RATIO} of the loop that does not wait",
        ),
        (
            lambda _, run: slow(run, "bench_read_ready_log", 3.0),
            ["cuda:0, a log read once: the same with reading back measured by itself"],
            "",
        ),
        (
            lambda _, run: slow(run, "bench_item", 1.03, launches=(1,)),
            ["five cold starts of the headline cases within 1%"],
            "0 cases of 1 beyond take less than 100 µs",
        ),
        (
            lambda _, run: setattr(run.frobench, "seconds", 481.0),
            ["`standard` within 8 minutes"],
            "it was planned for",
        ),
        (
            lambda _, run: setattr(run.frobench, "complete", False),
            ["`standard` within 8 minutes"],
            "",
        ),
    ],
)
def test_what_is_too_far_is_missed_alone_and_says_why(
    spoil: Callable[[Figures, Run], None], goals: list[str], why: str
) -> None:
    given, run = figures(), stored()
    spoil(given, run)
    found = missed(given, run)
    assert [judged.goal.removeprefix(f"{run.frobench.run}: ") for judged in found] == goals
    whys = [judged.why for judged in found]
    assert all(why in told for told in whys)
    assert all(f"**missed**{': ' * bool(told)}{told}" in page(given, found) for told in whys)


def test_parts_that_launches_tell_apart_do_not_make_the_whole() -> None:
    run = stored()
    slow(run, "bench_norm_only", 20 / 12, launches=(0, 1, 2, 3))
    slow(run, "bench_item", 1.4, launches=(2, 3))
    assert "cuda:0, each norm read back: its parts, as differences, make the whole within 3%" in {
        judged.goal for judged in missed(Figures(date="", device="", torch=""), run)
    }


def test_a_loop_that_was_left_out_leaves_its_goal_open() -> None:
    run = stored()
    keep(run, lambda case: not case.name.startswith("bench_item["))
    goals = judge(figures(), [run])
    (left,) = (judged for judged in goals if "each norm read back" in judged.goal)
    assert (left.met, left.seen) == (None, "not every loop was measured")


def test_five_runs_are_five_cold_starts_whatever_their_launches_say() -> None:
    runs = [stored() for _ in range(STARTS)]
    for run in runs:
        slow(run, "bench_item", 1.5, launches=(0, 1))
    nothing = Figures(date="", device="", torch="")
    assert not [judged for judged in missed(nothing, *runs) if "cold starts" in judged.goal]
    slow(runs[3], "bench_item", 1.02)
    (found,) = (judged for judged in missed(nothing, *runs) if "cold starts" in judged.goal)
    assert "furthest bench_item[cuda:0-1000], 2%" in found.seen


def test_a_stored_span_is_shown_beside_what_other_tools_say() -> None:
    run = stored()
    (case,) = (case for case in run.benchmarks if case.name == BODY)
    case.extra_info.parts[SPAN] = [1.47e-3] * LAUNCHES
    first = judge(figures(), [run])[0]
    assert first.seen.endswith(f"as stored, with warm caches, 1.05{RATIO}")


class Surface(Products):
    """A device whose fastest shape is known, and lies beside the coarse grid."""

    def __init__(self) -> None:
        self.largest = 384
        self.tried: list[Shape] = []

    def rate(self, shape: Shape, calls: int) -> float:  # noqa: ARG002 - part of the face
        """Fall with the distance from the best."""
        self.tried.append(shape)
        return 1.0 / shape.distance(BEST) if shape != BEST else 100.0


BEST = Shape(288, 160, 352)


def test_a_scan_finds_the_fastest_shape_beside_its_grid_and_tries_none_twice() -> None:
    surface = Surface()
    rates, grid = scan(surface, seconds=60.0, step=128)
    assert grid == 3**3
    assert fastest(rates, FINALISTS)[0] == BEST
    assert len(rates) == len(surface.tried) > grid
    assert all(min(shape) > 0 and max(shape) <= surface.largest for shape in rates)


def test_a_scan_ends_in_time() -> None:
    surface = Surface()
    assert scan(surface, seconds=-1.0, step=128) == ({}, 0)


def test_the_runtime_is_the_one_that_the_process_has_loaded() -> None:
    maps = (
        "7f00-7f10 r-xp 00000000 08:01 42   /usr/lib/libc.so.6\n"
        "7f20-7f30 rw-p 00000000 00:00 0 \n"
        "7f40-7f50 r-xp 00000000 08:01 43   /opt/a folder/lib/libcudart.so.13\n"
    )
    assert loaded(maps) == Path("/opt/a folder/lib/libcudart.so.13")
    with pytest.raises(RuntimeError, match="no CUDA runtime"):
        loaded("7f20-7f30 rw-p 00000000 00:00 0 \n")


def test_the_command_judges_what_it_is_given_and_writes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = store.write(stored(), tmp_path)
    anchors.main(["-o", str(tmp_path / "out"), str(file)])
    written = (tmp_path / "out" / anchors.PAGE).read_text()
    assert "`standard` within 8 minutes | 217 s | met |" in written
    assert written in capsys.readouterr().out
