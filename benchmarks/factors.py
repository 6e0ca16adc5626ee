# SPDX-License-Identifier: MIT
"""Factors of a product, in every precision that some device has units for."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from frobench import Device

Factors = tuple[Tensor, Tensor, Callable[[Tensor, Tensor], Tensor]]


def factors(device: Device, rows: int, inner: int, columns: int, dtype: str) -> Factors:
    """Return matrices of rows x inner and inner x columns, and what multiplies them.

    dtype : as torch names it, or ``tfloat32``; the second factor of ``int8`` and
        ``float8_e4m3fn`` lies by columns, as the units for them want it. Products of
        ``float8_e4m3fn`` are added up as fast as the units can, which is what datasheets
        count: on Hopper with some 14 bits, and not every few products in float32
    """
    if dtype == "int8":
        a, b = (
            device.uniform(*shape).mul_(127).round_().to(torch.int8)
            for shape in ((rows, inner), (columns, inner))
        )
        return a, b.t(), torch._int_mm  # noqa: SLF001 - has no public name
    if dtype == "float8_e4m3fn":
        a = device.uniform(rows, inner, dtype=dtype)
        b = device.uniform(columns, inner, dtype=dtype)
        one = torch.ones((), device=device.handle)
        # torch._scaled_mm has a public name since 2.10 only, which takes other arguments.
        scaled = partial(
            torch._scaled_mm,  # noqa: SLF001
            scale_a=one,
            scale_b=one,
            out_dtype=torch.bfloat16,
            use_fast_accum=True,
        )
        return a, b.t(), scaled
    kept_in = "float32" if dtype == "tfloat32" else dtype
    a = device.uniform(rows, inner, dtype=kept_in)
    return a, device.uniform(inner, columns, dtype=kept_in), torch.matmul
