# SPDX-License-Identifier: MIT
"""What `frobench compare` learns from a machine's other runs, and how it uses what it learned."""

import json
import math
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

from frobench.command import main
from frobench.suite.stored import store
from frobench.suite.stored.types import Run
from tests.instruments.faults.judging import add_up, keep, made, resample

CASES = 8
MANY = 12
"""As many runs as a comparison learns from."""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder without results."""
    monkeypatch.chdir(tmp_path)


def runs(count: int, noise: float = 0.005) -> list[Run]:
    """Make runs of the same code, each a day later than the one before it."""
    every = [made(seed=seed, noise=noise, profile="quick") for seed in range(count)]
    names = {case.fullname for case in every[0].benchmarks[:CASES]}
    for run in every:
        keep(run, lambda case: case.fullname in names)
    return every


def slow_down(run: Run, factor: float) -> Run:
    """Let every call take so many times as long."""
    add_up(resample(run, lambda _: factor))
    return run


def on_cores(run: Run, slower: float) -> Run:
    """Let the cores run so many times as slow, and every call take so many times as long."""
    for launch in run.frobench.launches:
        launch.gauge = {"cpu/python": 1e-4 * slower}  # a body that only computes
    return slow_down(run, slower)


def compared(base: Run, new: Run, others: Iterable[Run] = ()) -> dict[str, Any]:
    """Store runs in one folder, compare the first two, and return what the command prints."""
    first, second, *_ = [store.write(run, Path("stored")) for run in (base, new, *others)]
    shown = CliRunner().invoke(main, ["compare", str(first), str(second), "--json"])
    printed: dict[str, Any] = json.loads(shown.stdout)
    return printed


@pytest.mark.parametrize(("cores", "code"), [(1.04, 1.0), (1 / 1.04, 1.06), (1.04, 1 / 1.06)])
def test_code_is_not_called_slower_for_slower_cores_nor_the_same_for_faster_ones(
    cores: float, code: float
) -> None:
    base, new, *others = runs(10)
    chance = Random(1)  # noqa: S311 - no secret
    for run in others:
        on_cores(run, math.exp(chance.gauss(0, 0.02)))
    found = compared(on_cores(base, 1.0), slow_down(on_cores(new, cores), code), others)["cases"]
    assert {case["word"] for case in found} == {"unresolved"}


@pytest.mark.parametrize(("in_turn", "learned_from"), [(0, 3), (1, 0)])
def test_nothing_is_learned_from_runs_that_were_measured_in_turn_with_others(
    in_turn: int, learned_from: int
) -> None:
    base, new, *others = runs(5)
    for run in others[:in_turn]:
        run.frobench.beside = ["20260101T000000Z-fffffff"]
    assert compared(base, new, others)["learned_from"] == learned_from


def test_a_dozen_newer_runs_of_another_torch_hide_no_run_to_learn_from() -> None:
    base, new, *others = runs(2 + 3 + MANY)
    for run in others[3:]:
        run.frobench.environment.software.torch = "2.14.0"
    assert compared(base, new, others)["learned_from"] == 3


def test_runs_whose_launches_all_took_the_same_time_have_intervals_without_width() -> None:
    base, new = runs(2, noise=0.0)
    found = compared(base, new)
    assert all(case["base"]["low"] == case["new"]["high"] for case in found["cases"])
