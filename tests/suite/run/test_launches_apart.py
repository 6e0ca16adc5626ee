# SPDX-License-Identifier: MIT
"""Launches of one run that differ, or lost a rank: what is stored of them."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from frobench.suite.journal import Ended, Measured, Record, Refused
from frobench.suite.plan import Plan
from frobench.suite.profiles import settings_for
from frobench.suite.run.merge import merge
from frobench.suite.stored import store
from frobench.suite.stored.types import CaseInfo, Check, Run
from tests.instruments.runs import factory_machine, made_up_records
from tests.instruments.runs.made_up_launches import LAUNCHES, Launch, Quiet, made_up, run
from tests.instruments.runs.made_up_records import measured

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


SETTINGS = settings_for("standard", ["cpu"], launches=3)
REASON = "rank 1 on node 1 did not answer in time"
CASES = ["bench_all_reduce", "bench_broadcast"]


def plan() -> Plan:
    """Return a plan of two cases of a group."""
    cases = [made_up_records.identity(name, "cpu/2x1", group="collectives") for name in CASES]
    environment = factory_machine.environment(None, 0)
    return made_up_records.plan(SETTINGS, environment=environment, cases=cases)


def both_measured(launch: int) -> list[Record]:
    """Return the records of a launch that measured both cases."""
    return [
        measured(
            name,
            launch=launch,
            order=place,
            samples=[1e-3] * 3,
            sampled=3e-3,
            check=Check("all", 0.0, 1.0),
        )
        for place, name in enumerate(CASES, 1)
    ]


def lost(launch: int) -> list[Record]:
    """Return the records of a launch that lost a rank in its first case."""
    first, second = CASES
    return [
        Refused(launch=launch, case=first, status="failed", reason=REASON, lost=True),
        Refused(launch=launch, case=second, status="skipped", reason=f"lost: {REASON}"),
    ]


def merged(*launches: list[Record]) -> Run:
    """Return the run that launches make, one after the other."""
    records = [record for launch in launches for record in launch]
    ends = [
        Ended(launch=number, started="2026-01-01T00:00:00+00:00", begun=float(number), seconds=1.0)
        for number in range(len(launches))
    ]
    return merge(plan(), [*records, *ends], 10.0, complete=True)


def test_other_launches_keep_their_samples_and_the_loss_is_named() -> None:
    run = merged(both_measured(0), lost(1), both_measured(2))
    assert [case.extra_info.launches for case in run.benchmarks] == [[3, 0, 3]] * 2
    assert [launch.lost for launch in run.frobench.launches] == ["", REASON, ""]
    assert {one.status for one in run.frobench.outcomes} == {"passed"}
    assert "rank-lost" in {one.code for one in run.frobench.conclusions}


def test_a_case_that_no_launch_measured_has_the_loss_as_its_reason() -> None:
    run = merged(lost(0), lost(1))
    assert run.benchmarks == []
    first, second = run.frobench.outcomes
    assert (first.status, first.reason) == ("failed", REASON)
    assert (second.status, second.reason) == ("skipped", f"lost: {REASON}")
