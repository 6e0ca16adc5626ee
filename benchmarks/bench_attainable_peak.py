# SPDX-License-Identifier: MIT
"""What is the most this chip gives a matrix product?

A sample is the time that a user waits for one product of the fastest shape: launching it,
computing it, and waiting for the device. The shape is looked for once a run, before the first
launch: a coarse grid of shapes is tried, then ever nearer neighbours of the fastest, and at last
the leaders in turn once more. The launches then measure the shape that was found as they do any
other case, so the rate owes nothing to a lucky try. It is that of bursts: products are made one
at a time, for fractions of a second, so a device that is limited by its power or its heat may be
slower where it multiplies for minutes on end. The factors are uniformly random and lie on the
device already; the bytes are those of the factors and the result, each counted once.
"""

from collections.abc import Callable
from functools import partial

from factors import factors
from torch import Tensor

from frobench import (
    Device,
    Measure,
    Shape,
    ShapeSearch,
    Work,
    cases,
    cpu_twins,
    freivalds,
    needed,
    precision,
)

pytestmark = cpu_twins()


@cases(dtype=["float32", "bfloat16"])
def bench_product(measure: Measure, device: Device, search: ShapeSearch, dtype: str) -> None:
    """Multiply two matrices of the shape that is fastest."""
    shape = search(partial(product, device, dtype))
    a, b, multiply = factors(device, *shape, dtype)
    measure(
        lambda: multiply(a, b),
        work=Work(flops=shape.flops, bytes=shape.elements * a.itemsize),
        check=freivalds(a, b),
    )


@cases(dtype=["tfloat32", "float16", "float8_e4m3fn", "int8"])
def bench_product_narrow(
    measure: Measure, accelerator: Device, search: ShapeSearch, dtype: str
) -> None:
    """Multiply two matrices of the fastest shape in a precision that needs units made for it."""
    with precision(dtype):
        with needed(f"{dtype} product"):
            width = product(accelerator, dtype, Shape(32, 32, 32))().cpu().itemsize
        shape = search(partial(product, accelerator, dtype))
        a, b, multiply = factors(accelerator, *shape, dtype)
        measure(
            lambda: multiply(a, b),
            work=Work(
                flops=shape.flops, bytes=a.nbytes + b.nbytes + shape.rows * shape.columns * width
            ),
            check=freivalds(a, b, "tfloat32" if dtype == "tfloat32" else None),
        )


def product(device: Device, dtype: str, shape: Shape) -> Callable[[], Tensor]:
    """Return what multiplies two matrices of a shape."""
    a, b, multiply = factors(device, *shape, dtype)
    return partial(multiply, a, b)
