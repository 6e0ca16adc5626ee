# SPDX-License-Identifier: MIT
"""A worker is a process with cores and threads of its own, and says when it worked."""

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from suite.devices import Device, usable_cores
from suite.errors import DoesNotFitError
from suite.model import Check
from suite.workers import Seat, Worker, WorkerError, halves

FINE = Check("nothing", 0.0, 1.0)


def where_am_i(device: Device) -> tuple[Callable[[], Any], Callable[[Any], Check]]:
    def check(result: tuple[int, list[int]]) -> Check:
        threads, cores = result
        return Check(f"{device.name} {threads} {cores}", 0.0, 1.0)

    return (lambda: (torch.get_num_threads(), usable_cores())), check


def sleeper(_: Device, seconds: float) -> tuple[Callable[[], Any], Callable[[Any], Check]]:
    return (lambda: time.sleep(seconds)), (lambda _: FINE)


def breaker(_: Device, how: str) -> tuple[Callable[[], Any], Callable[[Any], Check]]:
    def body() -> None:
        if how == "raise":
            raise ValueError(how)
        os._exit(7)

    return body, (lambda _: FINE)


def giant(device: Device) -> tuple[Callable[[], Any], Callable[[Any], Check]]:
    device.uniform(2**40)
    return (lambda: None), (lambda _: FINE)


@pytest.fixture
def worker() -> Iterator[Worker]:
    it = Worker(Seat("cpu/0", "cpu", (usable_cores()[0],)))
    yield it
    it.close()


def test_the_halves_share_no_core_and_are_equal() -> None:
    for cores in ([0, 1], [3, 5, 7], list(range(16))):
        one, other = halves(cores)
        assert len(one.cores) == len(other.cores) == len(cores) // 2
        assert not set(one.cores) & set(other.cores)


def test_cores_and_threads_are_set_before_torch_starts_its_own(worker: Worker) -> None:
    worker.set_up(where_am_i)
    worker.start()
    worker.wait()
    assert worker.check().compared == f"cpu 1 [{usable_cores()[0]}]"


def test_an_interval_is_on_this_process_s_clock(worker: Worker) -> None:
    worker.set_up(sleeper, 0.05)
    before = time.perf_counter()
    worker.start(2)
    begun, ended = worker.wait()
    assert before <= begun
    assert ended - begun >= 0.1
    assert ended <= time.perf_counter()
    assert worker.interval() == (begun, ended)


def test_what_a_body_raises_is_told_and_the_worker_lives_on(worker: Worker) -> None:
    worker.set_up(breaker, "raise")
    worker.start()
    with pytest.raises(WorkerError, match="cpu/0: ValueError: raise"):
        worker.wait()
    worker.set_up(sleeper, 0.0)
    worker.start()
    worker.wait()


def test_what_does_not_fit_into_memory_is_told_as_such(worker: Worker) -> None:
    worker.set_up(sleeper, 0.0)
    with pytest.raises(DoesNotFitError, match="cpu/0: needs"):
        worker.set_up(giant)


def test_a_worker_that_dies_is_told(worker: Worker) -> None:
    worker.set_up(breaker, "die")
    worker.start()
    with pytest.raises(WorkerError, match="cpu/0 ended with code 7"):
        worker.wait()
