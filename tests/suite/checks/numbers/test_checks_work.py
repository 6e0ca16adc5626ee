# SPDX-License-Identifier: MIT
"""A case that did not do what it says is named."""

import pytest

from frobench.suite.stored.types import Case, Run, Scalar, Work
from tests.instruments.faults.judging import (
    keep,
    made,
    name_again,
    on_accelerators,
    said,
    set_samples,
)

MIB = 2**20


def on_cpu(launches: int = 6) -> tuple[Run, Case]:
    """Return a run of a case alone, on a CPU on which an empty body takes 94 ns."""
    run = made(launches=launches)
    name = run.benchmarks[0].name
    keep(run, lambda case: case.name == name)
    return run, run.benchmarks[0]


# idle_device


def test_a_device_that_never_held_anything_is_named() -> None:
    run, case = on_accelerators(2)
    assert not said(run, "idle-device")
    case.extra_info.idle_devices = ["cuda:1"]
    assert said(run, "idle-device") == ["nothing was allocated for it on cuda:1"]


# plain_inputs


@pytest.mark.parametrize(("part", "named"), [(1.0, True), (0.96, True), (0.9, False), (0.5, False)])
def test_zeros_ones_and_identities_are_named(part: float, named: bool) -> None:  # noqa: FBT001 - a parameter
    run, case = on_accelerators(1)
    case.extra_info.commonest = part
    message = f"{part:.0%} of an input is one and the same value"
    assert said(run, "plain-inputs") == [message] * named


def test_inputs_that_nobody_could_look_at_are_not_called_plain() -> None:
    run, case = on_accelerators(1)
    case.extra_info.commonest = None
    assert not said(run, "plain-inputs")


# no_work


def cached(seconds: float, iterations: int, work: Work | None = None) -> list[str]:
    """Say what is said of a case that takes so long on an accelerator."""
    run, case = on_accelerators(1)
    case.extra_info.parts = {}
    case.extra_info.work = work or Work(flops=1e9)
    case.extra_info.iterations = [iterations] * 6
    set_samples(case, [[seconds] * 4] * 6)
    return said(run, "no-work")


def test_a_result_that_was_kept_is_named() -> None:
    assert cached(6.2e-6, 1) == ["a call takes 6.2 µs, as if it did nothing"]


def test_several_calls_that_queue_nothing_wait_once() -> None:
    assert cached(4e-7, 20)
    assert not cached(3e-6, 20)


def test_the_smallest_launch_takes_longer_than_nothing() -> None:
    assert not cached(8e-6, 1)


@pytest.mark.parametrize(("queued", "named"), [(3e-7, True), (6e-6, False)])
def test_a_dear_wait_does_not_hide_that_tiny_work_was_launched(queued: float, named: bool) -> None:  # noqa: FBT001 - a parameter
    run, case = on_accelerators(1)
    for number, launch in enumerate(run.frobench.launches):
        launch.empty_body["cuda:0"] = 2e-4 + number * 1e-6
    set_samples(case, [[2.06e-4, 2.07e-4, 2.1e-4]] * 6)
    case.extra_info.parts = {"enqueue": [queued] * 6}
    assert bool(said(run, "no-work")) == named


@pytest.mark.parametrize("work", [Work(), Work(items=10.0), Work(flops=0.0)])
def test_a_case_that_declares_no_work_may_do_none(work: Work) -> None:
    assert not cached(6.2e-6, 1, work)


def test_the_other_version_must_work_too() -> None:
    run, case = on_accelerators(1)
    case.extra_info.work = Work(flops=1e9)
    case.extra_info.against = [4e-3] * case.stats.rounds
    assert not said(run, "no-work")
    case.extra_info.against = [6.2e-6] * case.stats.rounds
    assert said(run, "no-work") == ["the other version: a call takes 6.2 µs, as if it did nothing"]


@pytest.mark.parametrize(("seconds", "named"), [(4e-8, True), (1.8e-7, True), (5e-7, False)])
def test_a_call_that_does_nothing_is_known_on_the_cpu_too(seconds: float, named: bool) -> None:  # noqa: FBT001 - a parameter
    run, case = on_cpu()
    case.extra_info.iterations = [1000] * 6
    set_samples(case, [[seconds] * 4] * 6)
    assert bool(said(run, "no-work")) == named


def test_without_an_empty_body_nothing_is_called_idle() -> None:
    run, case = on_cpu()
    set_samples(case, [[1e-9] * 4] * 6)
    for launch in run.frobench.launches:
        launch.empty_body = {}
    assert not said(run, "no-work")


# warm_cache


def cold(
    flushed: int | None, size: int | None = 32 * MIB, calls: int = 1, **params: Scalar
) -> list[str]:
    """Say what is said of a case on the CPU whose caches are written over, or claimed to be."""
    run, case = on_cpu()
    case.params = case.params | params
    name_again(run, case)
    case.extra_info.flushed_bytes = flushed
    case.extra_info.iterations = [1] * 5 + [calls]
    run.frobench.environment.cpu.last_level_cache_bytes = size
    return said(run, "warm-cache")


@pytest.mark.parametrize("flushed", [None, 0])
def test_a_cold_cache_must_have_been_written_over(flushed: int | None) -> None:
    assert cold(flushed, cache="cold") == ["nothing was read over the caches between the samples"]


def test_caches_that_were_asked_for_cold_are_claimed_whatever_the_parameters() -> None:
    assert cold(0) == ["nothing was read over the caches between the samples"]


def test_a_cold_cache_must_have_been_written_over_whole() -> None:
    assert cold(63 * MIB) == ["63 MiB were read between the samples, not 64 MiB"]
    assert not cold(64 * MIB)


def test_a_cache_of_unknown_size_is_believed_to_be_cold() -> None:
    assert not cold(64 * MIB, size=None)


def test_only_one_call_of_a_sample_finds_a_cold_cache() -> None:
    assert cold(64 * MIB, calls=4) == ["a sample holds 4 calls, so only the first is cold"]


def test_the_cache_of_an_accelerator_is_not_the_processors() -> None:
    run, case = on_accelerators(1)
    case.params = case.params | {"cache": "cold"}
    name_again(run, case)
    case.extra_info.flushed_bytes = MIB
    assert not said(run, "warm-cache")
    case.extra_info.flushed_bytes = None
    assert said(run, "warm-cache")


def test_a_case_that_claims_nothing_may_be_warm() -> None:
    run, case = on_cpu()
    case.params = case.params | {"cache": "warm"}
    name_again(run, case)
    assert not said(run, "warm-cache")
