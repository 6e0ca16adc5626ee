# SPDX-License-Identifier: MIT
"""Two runs that gave an accelerator's case other times saw the chip in other states."""

import pytest
from msgspec.structs import replace

from frobench.suite.compare.runs import compare_runs
from frobench.suite.stored import store
from frobench.suite.stored.types import Run
from tests.instruments.runs import factory


def spent(run: Run, seconds: float, samples: int, profile: str = "standard") -> Run:
    """Return a run that gave its cases so many seconds in a launch, and so many samples."""
    settings = replace(run.frobench.settings, case_seconds=seconds, profile=profile)
    run.frobench.settings = settings
    for case in run.benchmarks:
        median = case.stats.median
        case.extra_info.launches = [samples for _ in case.extra_info.launches]
        case.stats = store.case_stats([median] * samples * len(case.extra_info.launches), 1)
    return run


@pytest.mark.parametrize(
    ("seconds", "samples", "reason"),
    [
        (0.02, 5, None),
        (0.03, 8, None),
        (0.04, 10, "another time for a case on an accelerator: 0.02 s -> 0.04 s in a launch"),
        (0.2, 5, None),  # all samples that there may be, in both runs
        (0.2, 30, "another time for a case on an accelerator: 0.02 s -> 0.2 s in a launch"),
    ],
)
def test_another_time_for_a_case_is_a_reason_on_an_accelerator(
    seconds: float, samples: int, reason: str | None
) -> None:
    base = spent(factory.run(seed=1, accelerators=1), 0.02, 5)
    new = spent(factory.run(seed=2, accelerators=1), seconds, samples)
    cases = compare_runs(base, new).cases
    on_cpu = {case.reason for case in cases if "[cpu" in case.fullname}
    there = {case.reason for case in cases if "[cuda:0-" in case.fullname}
    assert there == {reason}
    assert on_cpu == {None}


def test_another_profile_and_another_time_are_stated() -> None:
    base = spent(factory.run(seed=1), 0.02, 5)
    new = spent(factory.run(seed=2), 0.2, 5, "rigorous")
    stated = [(each.fact, each.new) for each in compare_runs(base, new).harmless]
    assert stated[-2:] == [("settings.profile", "rigorous"), ("settings.case_seconds", 0.2)]
    assert not compare_runs(base, base).harmless
