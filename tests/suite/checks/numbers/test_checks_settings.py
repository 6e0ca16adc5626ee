# SPDX-License-Identifier: MIT
"""Settings under which a machine does not show what it can do are named."""

from typing import NamedTuple

import pytest

from frobench.suite.stored.types import Run, Scalar
from tests.instruments.faults.judging import keep, made, said


class Cores(NamedTuple):
    """What is known of a processor's cores."""

    usable: int
    physical: int | None
    logical: int | None


SMALL, SMT = Cores(2, 2, 2), Cores(16, 8, 16)
PART, UNCOUNTED = Cores(4, 64, 128), Cores(8, None, 8)


def threads(count: int, cores: Cores, model: str = "AMD EPYC 9654") -> Run:
    """Return a run on a processor, with so many threads."""
    run = made()
    environment = run.frobench.environment
    environment.software.threads = count
    environment.cpu.model = model
    environment.cpu.usable_cores = cores.usable
    environment.cpu.physical_cores = cores.physical
    environment.cpu.logical_cores = cores.logical
    return run


# few_threads


@pytest.mark.parametrize(
    ("count", "cores"), [(1, SMALL), (1, SMT), (7, SMT), (1, PART), (1, UNCOUNTED)]
)
def test_fewer_threads_than_cores_are_named(count: int, cores: Cores) -> None:
    assert said(threads(count, cores), "few-threads")


def test_the_threads_and_the_cores_are_told() -> None:
    assert said(threads(1, SMALL), "few-threads") == ["1 thread where 2 cores may be used"]


@pytest.mark.parametrize(
    ("count", "cores"),
    [
        (2, SMALL),
        (8, SMT),  # one for each core of two threads, PyTorch's default
        (1, Cores(2, 1, 2)),
        (2, PART),  # maybe two cores of two threads each
        (1, Cores(1, 64, 128)),
        (4, UNCOUNTED),
    ],
)
def test_the_threads_that_pytorch_chooses_are_enough(count: int, cores: Cores) -> None:
    run = threads(count, cores)
    assert not said(run, "few-threads")
    assert not said(run, "many-threads")


def test_a_mac_leaves_its_slow_cores_alone() -> None:
    assert not said(threads(4, Cores(8, 8, 8), "Apple M2"), "few-threads")


# many_threads


def test_more_threads_than_cores_may_be_used_are_named() -> None:
    run = threads(64, PART)
    assert said(run, "many-threads") == ["64 threads where 4 cores may be used"]


@pytest.mark.parametrize("count", [1, 64])
def test_threads_do_not_matter_where_no_case_is_on_the_cpu(count: int) -> None:
    run = made(accelerators=1)
    run.frobench.environment.software.threads = count
    keep(run, lambda case: case.extra_info.device == "cuda:0")
    assert run.benchmarks
    assert not said(run, "few-threads")
    assert not said(run, "many-threads")


# changed_settings


def states(**changed: Scalar) -> Run:
    """Return a run whose third launch began with other settings."""
    run = made()
    usual: dict[str, Scalar] = {"threads": 2, "matmul precision": "highest", "affinity": "0,1"}
    for launch in run.frobench.launches:
        launch.state = dict(usual)
    run.frobench.launches[2].state.update(changed)
    return run


def test_launches_that_begin_alike_are_not_named() -> None:
    assert not said(states(), "changed-settings")


def test_a_launch_with_another_setting_is_named_with_both_values() -> None:
    run = states(**{"matmul precision": "medium"})
    assert said(run, "changed-settings") == [
        "matmul precision is medium in launch 3, not highest",
    ]


def test_every_setting_is_named_by_itself() -> None:
    found = said(states(threads=1, affinity="0"), "changed-settings")
    assert found == ["threads is 1 in launch 3, not 2", "affinity is 0 in launch 3, not 0,1"]


def test_launches_are_held_against_the_threads_that_the_run_was_planned_with() -> None:
    run = states(threads=2)
    run.frobench.environment.software.threads = 4
    assert said(run, "changed-settings") == ["threads is 2 in every launch, not 4"]


def test_the_list_of_many_cores_is_cut_short() -> None:
    run = states(affinity=",".join(map(str, range(256))))
    (message,) = said(run, "changed-settings")
    assert message == "affinity is 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16 in launch 3, not 0,1"


def test_launches_of_older_files_have_no_settings_to_compare() -> None:
    run = states()
    run.frobench.launches[0].state = {}
    assert not said(run, "changed-settings")


def test_a_fact_that_changed_meanwhile_is_named_once_with_its_launches() -> None:
    run = made()
    for place in (1, 2):
        run.frobench.launches[place].changed = {
            "accelerators.0.power_limit_watts": 400.0,
            "software.kernel": "6.9.0",  # moves no number
            "software.threads": 1,  # another rule's
        }
    assert said(run, "changed-environment") == [
        "accelerators.0.power_limit_watts was 400.0 in launch 2, 3, unlike when the run began"
    ]


def test_launches_that_found_what_the_run_began_with_are_not_named() -> None:
    assert said(made(), "changed-environment") == []
