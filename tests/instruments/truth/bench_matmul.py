# SPDX-License-Identifier: MIT
"""From which size is an accelerator worth it, where the CPU's time is known too?

The sizes lie close around the answer, which is read off a straight line between them.
"""

from importlib import import_module
from time import perf_counter

import torch

from frobench import Device, Measure, Work, cases, freivalds

host = import_module("simulated_accelerator.host")  # as the device itself knows it
CPU_FLOPS, CPU_CALL = 0.5e9, 20e-6


@cases("quick", n=[16, 24, 28, 256], dtype=["float32"])
def bench_square(measure: Measure, device: Device, n: int, dtype: str) -> None:
    """Multiply two n x n matrices; on the CPU, take as long as a slow one would."""
    a, b = device.uniform(n, n, dtype=dtype), device.uniform(n, n, dtype=dtype)

    def body() -> torch.Tensor:
        if not device.is_accelerator:
            host.wait_until(perf_counter() + CPU_CALL + 2 * n**3 / CPU_FLOPS)
        return a @ b

    measure(body, work=Work(flops=2 * n**3), check=freivalds(a, b))
