# SPDX-License-Identifier: MIT
"""Two matrix products at the same time on two devices: how near is that to twice as fast?

A sample is the time until all products are done, everything that tells the devices to begin
included. The answer compares them with as many products one after the other on a single
device. Beside it stands the same pair with the second product begun after the first has
ended: what overlaps there would be an error of the measurement. How much of their time products
share is what the same products take longer strictly in turn, each queued behind the one before,
relative to the shorter one's time; their intervals on one clock must show as much.

Where there are no two accelerators, the two devices are halves of the CPU. Each is a process
of its own, bound to its cores before torch starts, and a message through a pipe tells it to
begin; the time of the messages is part of the sample. The single device is then one half.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

from torch import Tensor

from frobench import Check, Device, Lane, Measure, Work, Worker, cases, freivalds, needed, worst

SIZES = [2**power for power in range(6, 14)]
Pair = tuple[Tensor, Tensor]


@cases("quick", n=[64, 512, 4096])
@cases(n=SIZES)
def bench_sequence(measure: Measure, accelerator: Device, n: int) -> None:
    """Multiply two pairs, one after the other on one accelerator."""
    pairs = [draw(accelerator, n) for _ in "12"]
    measure(lambda: [a @ b for a, b in pairs], work=work(n, 2), check=products(pairs))


@cases(n=SIZES)
def bench_two_streams(measure: Measure, accelerator: Device, n: int) -> None:
    """Multiply two pairs at once on one accelerator, in a stream each."""
    with needed("streams"):
        lanes = [Lane(accelerator, accelerator.stream()) for _ in "12"]
    pairs = [draw(accelerator, n) for _ in lanes]
    measure(
        lambda: [multiply(*both) for both in zip(lanes, pairs, strict=True)],
        work=work(n, 2),
        check=products(pairs),
        lanes=lanes,
    )


@cases("quick", n=[64, 512, 4096])
@cases(n=SIZES)
def bench_one_thread(measure: Measure, devices: list[Device], n: int) -> None:
    """Multiply a pair on each accelerator at once, launched by one thread."""
    lanes = [Lane(device) for device in devices]
    pairs = [draw(device, n) for device in devices]
    measure(
        lambda: [multiply(*both) for both in zip(lanes, pairs, strict=True)],
        work=work(n, len(devices)),
        check=products(pairs),
        lanes=lanes,
    )


@cases(n=SIZES)
def bench_threads(measure: Measure, devices: list[Device], n: int) -> None:
    """Multiply a pair on each accelerator at once, launched by a thread each."""
    lanes = [Lane(device) for device in devices]
    pairs = [draw(device, n) for device in devices]
    with ExitStack() as stack:
        threads = [stack.enter_context(ThreadPoolExecutor(1)) for _ in devices]

        def body() -> list[Tensor]:
            begun = [
                thread.submit(multiply, lane, pair)
                for thread, lane, pair in zip(threads, lanes, pairs, strict=True)
            ]
            return [product.result() for product in begun]

        measure(body, work=work(n, len(devices)), check=products(pairs), lanes=lanes)


@cases("quick", n=[512])
@cases(n=SIZES[::3])
def bench_in_turn(measure: Measure, devices: list[Device], n: int) -> None:
    """Multiply a pair on each accelerator, each when the one before has ended."""
    lanes = [Lane(device) for device in devices]
    pairs = [draw(device, n) for device in devices]

    def body() -> list[Tensor]:
        results = []
        for lane, pair in zip(lanes, pairs, strict=True):
            results.append(multiply(lane, pair))
            lane.device.synchronize()
        return results

    measure(body, work=work(n, len(devices)), check=products(pairs), lanes=lanes, control=True)


@cases("quick", n=[64, 512, 4096])
@cases(n=SIZES)
def bench_processes(measure: Measure, workers: list[Worker], n: int) -> None:
    """Multiply a pair on each device at once, in a process each."""
    for worker in workers:
        worker.set_up(in_worker, n)

    def body() -> None:
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.wait()

    measure(body, work=work(n, len(workers)), check=all_of(workers), lanes=workers)


@cases("quick", n=[64, 512, 4096])
@cases(n=SIZES)
def bench_process_sequence(measure: Measure, workers: list[Worker], n: int) -> None:
    """Multiply a pair for each device, one after the other in the first one's process."""
    first = workers[0]
    first.set_up(in_worker, n, len(workers))

    def body() -> None:
        first.start()
        first.wait()

    measure(body, work=work(n, len(workers)), check=all_of([first]))


@cases("quick", n=[512])
@cases(n=SIZES[::3])
def bench_processes_in_turn(measure: Measure, workers: list[Worker], n: int) -> None:
    """Multiply a pair on each device in a process each, each when the one before has ended."""
    for worker in workers:
        worker.set_up(in_worker, n)

    def body() -> None:
        for worker in workers:
            worker.start()
            worker.wait()

    measure(body, work=work(n, len(workers)), check=all_of(workers), lanes=workers, control=True)


def draw(device: Device, n: int) -> Pair:
    """Return two n x n matrices."""
    return device.uniform(n, n), device.uniform(n, n)


def multiply(lane: Lane, pair: Pair) -> Tensor:
    """Multiply a pair on a lane."""
    with lane:
        return pair[0] @ pair[1]


def work(n: int, products: int) -> Work:
    """Count products of n x n matrices."""
    return Work(flops=products * 2 * n**3, bytes=products * 12 * n**2, items=products)


def products(pairs: Sequence[Pair]) -> Callable[[Sequence[Tensor]], Check]:
    """Check the products of pairs."""
    checks = [freivalds(a, b) for a, b in pairs]
    return lambda results: worst(
        check(result) for check, result in zip(checks, results, strict=True)
    )


def in_worker(
    device: Device, n: int, count: int = 1
) -> tuple[Callable[[], list[Tensor]], Callable[[Any], Check]]:
    """Return, in a worker, the body that makes products in sequence, and its check."""
    pairs = [draw(device, n) for _ in range(count)]
    return lambda: [a @ b for a, b in pairs], products(pairs)


def all_of(workers: Sequence[Worker]) -> Callable[[None], Check]:
    """Check what each worker made."""
    return lambda _: worst(worker.check() for worker in workers)
