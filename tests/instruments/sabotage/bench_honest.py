# SPDX-License-Identifier: MIT
"""Is nothing said of cases in which nothing is wrong?"""

from frobench import Device, Measure, Work, cases, freivalds
from tests.instruments.sabotage.planting import N, measure_on_each, measure_product, measure_sum


@cases("quick", caught=["nothing"])
def bench_either(measure: Measure, device: Device, caught: str) -> None:
    """Add two vectors, wherever they are."""
    measure_sum(measure, device)


@cases("quick", caught=["nothing"], n=[N, 3 * N // 2])
def bench_product(measure: Measure, accelerator: Device, caught: str, n: int) -> None:
    """Multiply two matrices."""
    a, b = accelerator.uniform(n, n), accelerator.uniform(n, n)
    measure(lambda: a @ b, work=Work(flops=2 * n**3), check=freivalds(a, b))


@cases("quick", caught=["nothing"], waiting=[True, False])
def bench_read(measure: Measure, accelerator: Device, caught: str, *, waiting: bool) -> None:
    """Multiply two matrices and read the product back."""
    measure_product(measure, accelerator, lambda a, b: (a @ b).to("cpu", non_blocking=not waiting))


@cases("quick", caught=["nothing"], cache=["cold"])
def bench_cold(measure: Measure, accelerator: Device, caught: str, cache: str) -> None:
    """Add two vectors that are in no cache."""
    measure_sum(measure, accelerator, cold=True)


@cases("quick", caught=["nothing"])
def bench_together(measure: Measure, devices: list[Device], caught: str) -> None:
    """Multiply on two devices at once."""
    measure_on_each(measure, devices)


@cases("quick", caught=["nothing"])
def bench_in_turn(measure: Measure, devices: list[Device], caught: str) -> None:
    """Multiply on two devices in turn."""
    measure_on_each(measure, devices, in_turn=True)
