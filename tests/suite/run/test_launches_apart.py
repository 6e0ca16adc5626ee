# SPDX-License-Identifier: MIT
"""Launches of one run that differ: what is stored of them, and what the next run expects by them.

The launches are made up, and the runner makes of them what it makes of any others.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from frobench.suite.journal import Measured, Record
from frobench.suite.stored import store
from frobench.suite.stored.types import CaseInfo, Check
from tests.instruments.runs.made_up_launches import LAUNCHES, Launch, Quiet, made_up, run

MIB = 2**20
RIGHT = Check("all", 0.0, 1e-5)


def measuring(**by_launch: Sequence[Any]) -> type[Launch]:
    """Return launches of which each measures something else, given launch by launch."""

    class Differing(Launch):
        def records(self) -> Iterator[Record]:
            for record in super().records():
                mine = {name: values[self.spec.launch] for name, values in by_launch.items()}
                is_measured = isinstance(record, Measured)
                yield replace(record, **{"check": RIGHT} | mine) if is_measured else record

    return Differing


def stored(results: Path, **by_launch: Sequence[Any]) -> CaseInfo:
    """Make a run of such launches, and return what its file says of the first case."""
    with made_up(measuring(**by_launch)):
        path, _ = run(results)
    return store.read(path).benchmarks[0].extra_info


GOOD, NEAR = Check("all", 5e-6, 1e-4), Check("all", 1e-6, 2e-6)
"""Errors of 5% and of half of what is allowed."""


@pytest.mark.parametrize("checks", [[GOOD, NEAR], [NEAR, GOOD], [None, NEAR]])
def test_the_check_that_came_nearest_to_its_bound_is_stored(
    checks: list[Check | None], tmp_path: Path
) -> None:
    assert stored(tmp_path, check=checks).check == NEAR


def test_one_wrong_launch_makes_its_case_wrong(tmp_path: Path) -> None:
    wrong = Check("all", 1e-3, 1e-4)
    kept = stored(tmp_path, check=[wrong, GOOD]).check
    assert kept == wrong
    assert not kept.passed


@pytest.mark.parametrize("read", [[64 * MIB, 48 * MIB], [48 * MIB, 64 * MIB]])
def test_caches_were_as_cold_as_in_the_launch_that_read_least_over_them(
    read: list[int], tmp_path: Path
) -> None:
    assert stored(tmp_path, flushed_bytes=read).flushed_bytes == 48 * MIB


@pytest.mark.parametrize(("peaks", "most"), [([100, 300], 300), ([None, 7], 7), ([None] * 2, None)])
def test_a_case_took_the_most_memory_that_it_took_in_any_launch(
    peaks: list[int | None], most: int | None, tmp_path: Path
) -> None:
    assert stored(tmp_path, peak_bytes=peaks).peak_bytes == most


class Watching(Quiet):
    """Remembers how much of a run was done when."""

    def __init__(self) -> None:
        super().__init__()
        self.done: list[float] = []

    def at(self, done: float, left: float, what: str) -> None:
        """Remember how much is done."""
        assert left >= 0
        assert what
        self.done.append(done)


def test_what_is_done_of_a_run_grows_from_nothing_by_each_case(tmp_path: Path) -> None:
    watching = Watching()
    with made_up():
        run(tmp_path, reporter=watching)
    assert watching.done == sorted(watching.done)
    assert 0 <= watching.done[0] < watching.done[-1] <= 1
    steps = {round(later - done, 6) for done, later in pairwise(watching.done)}
    assert max(steps) <= 1 / LAUNCHES
