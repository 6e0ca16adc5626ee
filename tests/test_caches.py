# SPDX-License-Identifier: MIT
"""Caches are cold when more than they hold was really written over them."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from suite import session
from suite.caches import ColdCaches, cache_bytes
from suite.devices import Device
from suite.errors import DoesNotFitError
from suite.profiles import TIMES_THE_CACHE

CPU = Device("cpu")


@pytest.fixture(autouse=True)
def small_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suite.caches.last_level_cache", lambda: 2**16)


def test_every_call_writes_over_twice_the_cache() -> None:
    caches = ColdCaches([CPU])
    for _ in range(3):
        caches()
    assert caches.flushed_bytes() == TIMES_THE_CACHE * cache_bytes(CPU) == 2**17


def test_an_accelerator_is_emptied_while_the_cpu_stays_warm(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("suite.caches.cache_bytes", lambda _: 2**16)
    monkeypatch.setattr(Device, "free_bytes", lambda _: 2**30)
    elsewhere = Device("meta")
    caches = ColdCaches([elsewhere])
    caches()
    assert caches.bytes_on(elsewhere) == 2 * 2**17
    assert caches.bytes_on(CPU) == 0


def test_another_buffer_is_read_after_the_one_that_was_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Or the body would pay for writing back what the caches still hold."""
    caches, touched = ColdCaches([CPU]), []
    fill, total = torch.Tensor.fill_, torch.Tensor.sum

    def filled(buffer: torch.Tensor, value: int) -> torch.Tensor:
        touched.append(("written", buffer.data_ptr(), buffer.nbytes))
        return fill(buffer, value)

    def summed(buffer: torch.Tensor) -> torch.Tensor:
        touched.append(("read", buffer.data_ptr(), buffer.nbytes))
        return total(buffer)

    monkeypatch.setattr(torch.Tensor, "fill_", filled)
    monkeypatch.setattr(torch.Tensor, "sum", summed)
    caches()
    (first, written, size), (second, read, read_size) = touched
    assert (first, second) == ("written", "read")
    assert written != read
    assert size == read_size == TIMES_THE_CACHE * cache_bytes(CPU)


def test_memory_for_both_buffers_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    both = 2 * TIMES_THE_CACHE * cache_bytes(CPU)
    monkeypatch.setattr(Device, "free_bytes", lambda _: both)  # and nothing to spare
    with pytest.raises(DoesNotFitError):
        ColdCaches([CPU])


def test_what_was_not_written_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    caches = ColdCaches([CPU])
    caches()
    monkeypatch.setattr(torch.Tensor, "fill_", lambda self, _: self)
    caches()
    assert caches.flushed_bytes() == 0


def test_a_cache_that_nobody_describes_is_taken_for_a_large_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("suite.caches.last_level_cache", lambda: None)
    assert cache_bytes(CPU) == 64 * 2**20


@pytest.mark.parametrize(("peak", "left"), [(2**18, 2**17), (2**16, 0), (None, None)])
def test_no_case_takes_less_memory_than_none_without_what_empties_the_caches(
    peak: int | None, left: int | None
) -> None:
    device: Any = SimpleNamespace(peak_bytes=lambda: peak)
    sampler: Any = SimpleNamespace(cold=SimpleNamespace(bytes_on=lambda _: 2**17))
    assert session._peak(device, sampler) == left
