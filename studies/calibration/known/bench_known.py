# SPDX-License-Identifier: MIT
# ruff: noqa: INP001 - a folder of scripts that pytest collects, not a package
"""Is work of a known time measured as taking it, and a clean run as clean?"""  # noqa: D400 - a question

from torch import Tensor

from frobench import Device, Lane, Measure, Work, cases, close_to, freivalds, worst


@cases("quick", n=[64, 96])
def bench_product(measure: Measure, accelerator: Device, n: int) -> None:
    """Multiply two n x n matrices."""
    a, b = accelerator.uniform(n, n), accelerator.uniform(n, n)
    measure(lambda: a @ b, work=Work(flops=2 * n**3, bytes=3 * a.nbytes), check=freivalds(a, b))


@cases("quick", n=[1000])
def bench_read(measure: Measure, accelerator: Device, n: int) -> None:
    """Copy an n x n matrix to the host."""
    a = accelerator.uniform(n, n)
    measure(a.cpu, work=Work(bytes=a.nbytes), check=close_to(a.cpu(), 0.0, "the copy"))


@cases("quick", n=[64])
def bench_in_turn(measure: Measure, devices: list[Device], n: int) -> None:
    """Multiply a pair of n x n matrices on each accelerator, one after the other."""
    lanes = [Lane(device) for device in devices]
    pairs = [(device.uniform(n, n), device.uniform(n, n)) for device in devices]

    def body() -> list[Tensor]:
        products = []
        for lane, (a, b) in zip(lanes, pairs, strict=True):
            with lane:
                products.append(a @ b)
            lane.device.synchronize()
        return products

    measure(
        body,
        work=Work(flops=2 * n**3 * len(devices)),
        check=lambda made: worst(
            freivalds(*pair)(one) for pair, one in zip(pairs, made, strict=True)
        ),
        lanes=lanes,
    )
