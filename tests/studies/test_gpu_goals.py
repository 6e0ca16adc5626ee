# SPDX-License-Identifier: MIT
"""The goals for a real GPU are judged from figures, each by its own, and can be missed."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from tests.gpu import anchors, goals
from tests.gpu.goals import RUNTIME, SEARCH, Copied, Figures, judge

LAUNCHES = 6
FIRST, SECOND = "scan, number 1", "scan, number 2"
BODY = "bench_square[cuda:0-8192-bfloat16]"


def rounds(seconds: float) -> list[float]:
    return [seconds * (1 + 1e-4 * n) for n in range(LAUNCHES)]


def figures() -> Figures:
    """Return what a GPU's anchors may say when all is well."""
    ways = {goals.SPAN: 1.41e-3, goals.AHEAD: 1.4e-3, "triton's do_bench": 1.4e-3}
    spans = {way: rounds(seconds) for way, seconds in ways.items()}
    copied = {
        goals.PYTORCH: rounds(1.22e-3),
        RUNTIME: rounds(1.21e-3),
        goals.EVENTS: rounds(1.2e-3),
    }
    return Figures(
        date="2026-11-20",
        device="a GPU",
        torch="2.11.0",
        times=[goals.Timed(body=BODY, seconds=spans | {"cuda-bench": [1.4e-3, 1.401e-3]})],
        copies=[
            Copied(function="bench_to_device", size=2**26, seconds=copied),
            Copied(function="bench_to_device", size=4, seconds={way: [1e-5] for way in copied}),
        ],
        peak=goals.Peak(
            search_seconds=180.0,
            scan_seconds=300.0,
            tried=12000,
            grid=8000,
            shapes={SEARCH: [8192] * 3, FIRST: [6144] * 3, SECOND: [64] * 3},
            rates={SEARCH: rounds(7.75e14), FIRST: rounds(7.8e14), SECOND: rounds(7.7e14)},
        ),
    )


SPOILT: list[Callable[[Figures], object]] = [
    lambda one: one.times[0].seconds.update({"triton's do_bench": rounds(1.3e-3)}),
    lambda one: one.times[0].seconds.update({"cuda-bench": rounds(1.3e-3)}),
    lambda one: one.copies[0].seconds.update({RUNTIME: rounds(1.1e-3)}),
    lambda one: one.peak and one.peak.rates.update({SECOND: rounds(8e14)}),
]
"""What makes each goal be missed."""


def test_what_is_near_enough_is_met_and_each_goal_can_be_missed() -> None:
    assert [judged.met for judged in judge(figures())] == [True] * len(SPOILT)
    for place, spoil in enumerate(SPOILT):
        spoilt = figures()
        spoil(spoilt)
        assert [n for n, judged in enumerate(judge(spoilt)) if not judged.met] == [place]


def test_the_command_judges_what_it_is_given_and_writes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / anchors.FIGURES).write_bytes(msgspec.json.encode(figures()))
    anchors.main(["-o", str(tmp_path)])
    written = (tmp_path / anchors.PAGE).read_text()
    assert written.count("| met |") == 4
    assert written in capsys.readouterr().out
