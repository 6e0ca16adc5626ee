# SPDX-License-Identifier: MIT
"""Is it noticed when a body does less than it should, or does it wrongly?"""

from collections.abc import Callable

import torch

from frobench import Device, Measure, cases
from tests.instruments.sabotage.planting import N, factors, measure_as_product

Product = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def measure_wrong(measure: Measure, accelerator: Device, product: Product) -> None:
    """Measure what takes the place of a product."""
    a, b = factors(accelerator)
    measure_as_product(measure, lambda: product(a, b), a, b)


@cases("quick", caught=["wrong-result"])
def bench_half(measure: Measure, accelerator: Device, caught: str) -> None:
    """Leave half of the work out."""
    half = N // 2
    measure_wrong(measure, accelerator, lambda a, b: torch.cat([a[:half] @ b] * 2))


@cases("quick", caught=["wrong-result"])
def bench_element(measure: Measure, accelerator: Device, caught: str) -> None:
    """Lose one element."""
    kept = torch.ones(N, N)
    kept[N // 2, N // 3] = 0
    mask = kept.to(accelerator.handle)
    measure_wrong(measure, accelerator, lambda a, b: (a @ b) * mask)


@cases("quick", caught=["wrong-result"])
def bench_shape(measure: Measure, accelerator: Device, caught: str) -> None:
    """Return fewer rows."""
    measure_wrong(measure, accelerator, lambda a, b: (a @ b)[1:])


@cases("quick", caught=["wrong-result"])
def bench_tf32(measure: Measure, accelerator: Device, caught: str) -> None:
    """Round float32 to TF32 in the product."""
    measure_wrong(measure, accelerator, lambda a, b: to_tf32(a) @ to_tf32(b))


@cases("quick", caught=["wrong-result"])
def bench_bfloat16(measure: Measure, accelerator: Device, caught: str) -> None:
    """Multiply in bfloat16 what is float32."""
    measure_wrong(measure, accelerator, lambda a, b: (a.bfloat16() @ b.bfloat16()).float())


def to_tf32(tensor: torch.Tensor) -> torch.Tensor:
    """Keep ten bits behind the point, as tensor cores do."""
    return (tensor.view(torch.int32) & ~0x1FFF).view(torch.float32)
