# SPDX-License-Identifier: MIT
"""Caches are cold when more than they hold was really read over them."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from frobench.suite.errors import DoesNotFitError
from frobench.suite.kit.device import Device
from frobench.suite.launch.case import peak_bytes
from frobench.suite.measure.caches_and_inputs import ColdCaches, cache_bytes
from frobench.suite.profiles import TIMES_THE_CACHE

CPU = Device("cpu")


@pytest.fixture(autouse=True)
def small_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frobench.suite.measure.caches_and_inputs.last_level_cache", lambda: 2**16)
    monkeypatch.setattr("frobench.suite.measure.caches_and_inputs._kept", {})


def test_every_call_reads_over_twice_the_cache() -> None:
    caches = ColdCaches([CPU])
    for _ in range(3):
        caches()
    assert caches.flushed_bytes() == TIMES_THE_CACHE * cache_bytes(CPU) == 2**17


def test_an_accelerator_is_emptied_while_the_cpu_stays_warm(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("frobench.suite.measure.caches_and_inputs.cache_bytes", lambda _: 2**16)
    monkeypatch.setattr(Device, "free_bytes", lambda _: 2**30)
    elsewhere = Device("meta")
    caches = ColdCaches([elsewhere])
    caches()
    assert caches.bytes_on(elsewhere) == 2**17
    assert caches.bytes_on(CPU) == 0


def test_the_caches_are_left_clean() -> None:
    """Or the body would pay for writing back what they hold: only the ends are written."""
    caches = ColdCaches([CPU])
    with torch.profiler.profile(record_shapes=True, acc_events=True) as profile:
        caches()
    shapes = [(event.name, event.input_shapes[:1]) for event in profile.events()]
    assert ("aten::sum", [[TIMES_THE_CACHE * cache_bytes(CPU) // 4]]) in shapes
    assert {str(shape) for name, shape in shapes if name == "aten::fill_"} <= {"[[]]", "[[1]]"}


def test_memory_for_the_buffer_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    buffer = TIMES_THE_CACHE * cache_bytes(CPU)
    monkeypatch.setattr(Device, "free_bytes", lambda _: buffer)  # and nothing to spare
    with pytest.raises(DoesNotFitError):
        ColdCaches([CPU])


@pytest.mark.parametrize(("times_free", "kept"), [(17, True), (15, False)])
def test_the_buffer_of_the_cpu_is_kept_for_further_cases_where_memory_is_plenty(
    monkeypatch: pytest.MonkeyPatch, times_free: int, *, kept: bool
) -> None:
    made: list[int] = []
    zeros = torch.zeros

    def count(size: int, device: torch.device) -> torch.Tensor:
        made.append(size)
        return zeros(size, device=device)

    buffer = TIMES_THE_CACHE * cache_bytes(CPU)
    monkeypatch.setattr(Device, "free_bytes", lambda _: times_free * buffer)
    monkeypatch.setattr(torch, "zeros", count)
    for calls in (3, 1):
        caches = ColdCaches([CPU])
        for _ in range(calls):
            caches()
        assert caches.flushed_bytes() == buffer
    assert made == [buffer // 4] * (1 if kept else 2)


def test_what_was_not_read_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    caches = ColdCaches([CPU])
    caches()
    monkeypatch.setattr(torch.Tensor, "sum", lambda self: self[0])
    caches()
    assert caches.flushed_bytes() == 0


def test_a_cache_that_nobody_describes_is_taken_for_a_large_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("frobench.suite.measure.caches_and_inputs.last_level_cache", lambda: None)
    assert cache_bytes(CPU) == 64 * 2**20


@pytest.mark.parametrize(("peak", "left"), [(2**18, 2**17), (2**16, 0), (None, None)])
def test_no_case_takes_less_memory_than_none_without_what_empties_the_caches(
    peak: int | None, left: int | None
) -> None:
    device: Any = SimpleNamespace(peak_bytes=lambda: peak)
    sampler: Any = SimpleNamespace(cold=SimpleNamespace(bytes_on=lambda _: 2**17))
    assert peak_bytes(device, sampler) == left
