# SPDX-License-Identifier: MIT
"""Does a run survive what goes wrong?

Some of these cases do their work; the others fail, each in its own way.
"""

import os
import resource
import time
from functools import partial

import pytest
import torch

from frobench import Device, Measure, Work, cases
from frobench.suite.kit.workers import Worker
from frobench.suite.stored.types import Check

FINE = Check("nothing", 0.0, 1.0)


@cases("quick", n=[8, 16])
def bench_fine(measure: Measure, device: Device, n: int) -> None:
    """Multiply two small matrices."""
    a, b = device.uniform(n, n), device.uniform(n, n)
    measure(lambda: a @ b, work=Work(flops=2 * n**3), check=lambda _: FINE)


@cases("quick", seconds=[0.001])
def bench_wait(measure: Measure, device: Device, seconds: float) -> None:
    """Wait."""
    body = partial(time.sleep, seconds)
    measure(body, work=Work(items=1), check=lambda _: FINE, apart={"falling asleep": 60.0})


@cases("quick", n=[1, 1000, 2000])
def bench_slow(measure: Measure, device: Device, n: int) -> None:
    """Take a millisecond for each item."""
    measure(lambda: time.sleep(n / 1000), work=Work(items=n), check=lambda _: FINE)


@cases("quick", how=["wrong", "raise", "huge", "unused", "threads", "process", "skip"])
def bench_broken(measure: Measure, device: Device, how: str) -> None:
    """Fail."""
    if how == "skip":
        pytest.skip("has no such unit")
    if how == "huge":
        device.uniform(2**40)
    if how == "raise":
        raise ValueError("cannot read /home/somebody/secret.txt")
    if how == "threads":
        torch.set_num_threads(1 + torch.get_num_threads())
    if how == "process":
        time.monotonic = time.time  # as a library does that lets tests travel in time
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (limits[0] - 1, limits[1]))
    if how != "unused":
        error = 2.0 if how == "wrong" else 0.0
        measure(lambda: None, work=Work(), check=lambda _: Check("the sum", error, 1.0))


@cases("standard", n=[1])
def bench_strict(measure: Measure, device: Device, n: int) -> None:
    """Fail where float32 may be rounded to TF32."""
    strict = torch.get_float32_matmul_precision() == "highest"
    check = Check("the precision", float(not strict), 0.5)
    measure(lambda: None, work=Work(items=n), check=lambda _: check)


@cases("standard", n=[1])
def bench_crash(measure: Measure, device: Device, n: int) -> None:
    """Take the process along."""
    measure(os.abort, work=Work(items=n), check=lambda _: FINE)


@cases("rigorous", n=[1, 2])
def bench_hang(measure: Measure, device: Device, n: int) -> None:
    """Never end."""
    measure(lambda: time.sleep(1000), work=Work(items=n), check=lambda _: FINE)


def _sum(device: Device, n: int):  # type: ignore[no-untyped-def] # noqa: ANN202 - as a user may
    numbers = device.uniform(n)
    return numbers.sum, lambda _: FINE


@cases("quick", n=[100])
def bench_both(measure: Measure, workers: list[Worker], n: int) -> None:
    """Sum in two processes."""
    for worker in workers:
        worker.set_up(_sum, n)

    def body() -> None:
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.wait()

    measure(body, work=Work(items=2 * n), check=lambda _: workers[0].check(), lanes=workers)


@cases("quick", n=[8])
def bench_pair(measure: Measure, devices: list[Device], n: int) -> None:
    """Use two accelerators."""
    measure(lambda: None, work=Work(items=n), check=lambda _: FINE)
