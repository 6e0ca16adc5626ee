# SPDX-License-Identifier: MIT
"""How much faster is an accelerator on a large matrix product, and on a tiny one?

A sample is the time that a user waits for one product: launching it, computing it, and
waiting for the device. The factors lie on the device already, except where the copies there
and back are said to be included; the result is allocated anew by each product, as PyTorch
does. The factors are uniformly random, because zeros and ones run faster on some devices.
``float32`` means just that: TF32 is a case of its own, and a product that was rounded to it
fails its check. A product that is replayed from a graph has been launched before the clock
starts, and shows what the chip can do where launching from Python is the limit. Products
find their factors in the caches, as far as these hold them, from the sample before. Cold caches
hold no factors, and those of the CPU not even the code of Python and PyTorch that launches the
product; where an accelerator multiplies, its own caches are cold and those of the CPU warm. The
bytes are those of the factors and the result, each counted once.
"""

from factors import factors

from frobench import Device, Measure, Work, capture, cases, cpu_twins, freivalds, needed, precision

pytestmark = cpu_twins(bench_square={"dtype": ["float32"]})

SIZES = [2**power for power in range(4, 15)]


@cases("quick", n=[16, 64, 256, 1024, 4096], dtype=["float32"])
@cases("quick", n=[1024, 8192], dtype=["bfloat16"])
@cases(n=SIZES, dtype=["float32"])
@cases(n=SIZES[::2], dtype=["bfloat16", "float16"])
@cases("rigorous", n=SIZES, dtype=["bfloat16", "float16"])
def bench_square(measure: Measure, device: Device, n: int, dtype: str) -> None:
    """Multiply two n x n matrices."""
    a, b = device.uniform(n, n, dtype=dtype), device.uniform(n, n, dtype=dtype)
    measure(lambda: a @ b, work=Work(flops=2 * n**3, bytes=3 * a.nbytes), check=freivalds(a, b))


@cases(n=[64, 256, 1024])
@cases("rigorous", n=SIZES[::2])
def bench_square_cold(measure: Measure, device: Device, n: int) -> None:
    """Multiply two n x n matrices while the caches are cold."""
    a, b = device.uniform(n, n), device.uniform(n, n)
    measure(
        lambda: a @ b,
        work=Work(flops=2 * n**3, bytes=3 * a.nbytes),
        check=freivalds(a, b),
        cold=True,
    )


@cases(n=SIZES[6::2], dtype=["tfloat32", "float8_e4m3fn", "int8"])
@cases("rigorous", n=SIZES[2:], dtype=["tfloat32", "float8_e4m3fn", "int8"])
def bench_square_narrow(measure: Measure, accelerator: Device, n: int, dtype: str) -> None:
    """Multiply two n x n matrices in a precision that needs units made for it."""
    with precision(dtype):
        with needed(f"{dtype} product"):
            a, b, multiply = factors(accelerator, 32, 32, 32, dtype)
            width = multiply(a, b).cpu().itemsize
        a, b, multiply = factors(accelerator, n, n, n, dtype)
        measure(
            lambda: multiply(a, b),
            work=Work(flops=2 * n**3, bytes=a.nbytes + b.nbytes + n**2 * width),
            check=freivalds(a, b, "tfloat32" if dtype == "tfloat32" else None),
        )


@cases("quick", n=[16, 64, 256, 1024, 4096])
@cases(n=SIZES)
def bench_square_with_copies(measure: Measure, accelerator: Device, n: int) -> None:
    """Copy two n x n matrices there, multiply them, copy the product back."""
    host, there = Device("cpu"), accelerator.handle
    a, b = host.uniform(n, n), host.uniform(n, n)
    accelerator.require(3 * a.nbytes)
    measure(
        lambda: (a.to(there) @ b.to(there)).cpu(),  # noqa: PLW0108 - the copies are timed too
        work=Work(flops=2 * n**3, bytes=3 * a.nbytes),
        check=freivalds(a, b),
    )


@cases(n=[16, 64, 256, 1024, 4096], dtype=["float32", "bfloat16"])
def bench_square_graph(measure: Measure, accelerator: Device, n: int, dtype: str) -> None:
    """Replay the recorded product of two n x n matrices."""
    a, b = (accelerator.uniform(n, n, dtype=dtype) for _ in "ab")
    measure(
        capture(accelerator, lambda: a @ b),
        work=Work(flops=2 * n**3, bytes=3 * a.nbytes),
        check=freivalds(a, b),
    )


@cases(rows=[65536], inner=[64], columns=[64])
@cases(rows=[64], inner=[65536], columns=[64])
@cases(rows=[2048], inner=[16], columns=[2048])
def bench_oblong(measure: Measure, device: Device, rows: int, inner: int, columns: int) -> None:
    """Multiply a tall or flat matrix (rows x inner) by another (inner x columns)."""
    a, b = device.uniform(rows, inner), device.uniform(inner, columns)
    moved = a.nbytes + b.nbytes + rows * columns * a.itemsize
    measure(
        lambda: a @ b,
        work=Work(flops=2 * rows * inner * columns, bytes=moved),
        check=freivalds(a, b),
    )


@cases(batch=[256], n=[64])
@cases(batch=[4096], n=[16])
@cases("rigorous", batch=[16, 256, 4096], n=[16, 64])
def bench_batched(measure: Measure, device: Device, batch: int, n: int) -> None:
    """Multiply a batch of pairs of n x n matrices in one call."""
    a, b = device.uniform(batch, n, n), device.uniform(batch, n, n)
    measure(
        lambda: a @ b, work=Work(flops=2 * batch * n**3, bytes=3 * a.nbytes), check=freivalds(a, b)
    )
