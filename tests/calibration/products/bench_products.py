# SPDX-License-Identifier: MIT
# ruff: noqa: INP001 - a folder of scripts that pytest collects, not a package
"""Is a product measured as what it takes, and a clean run as clean?"""  # noqa: D400 - a question

from suite import Device, Measure, Work, cases, freivalds


@cases("quick", n=[64, 80, 96, 112])
def bench_product(measure: Measure, accelerator: Device, n: int) -> None:
    """Multiply two n x n matrices."""
    a, b = accelerator.uniform(n, n), accelerator.uniform(n, n)
    measure(lambda: a @ b, work=Work(flops=2 * n**3, bytes=3 * a.nbytes), check=freivalds(a, b))
