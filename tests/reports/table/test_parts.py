# SPDX-License-Identifier: MIT
"""Which cases count for which part: what they are limited by, from how much work on."""

import pytest

from frobench.reports.table.workloads import part_of
from frobench.suite.datasheets import catalog
from tests.reports.findings.table import cases


def listed(quantity: str) -> list[float]:
    return [one[quantity].value for one in catalog.devices().values() if quantity in one]


LINK, HALF = (round(1e-4 * max(listed(one))) for one in ("host_bandwidth", "peak_bfloat16"))
SLOW = round(5e-7 * min(listed("peak_float32")))
PARTS = f"""
matmul/square | cpu | dtype=float32 | 1 | flops=1e9 bytes=1e8 | products_float32
matmul/square | cpu | dtype=float32 | 1 | flops=999999999 |
matmul/square | cpu | dtype=float32 | 1 | flops=1e9 bytes=100000001 |
matmul/square | cpu | dtype=float64 | 1 | flops=5e4 bytes=5e3 | small_products
matmul/square | cpu | dtype=float64 | 1 | flops=50001 |
copies/within | cpu | size=1 | 1 | flops=1e9 bytes=1e8 | memory
copies/within | cpu | size=1 | 1 | bytes=99999999 |
copies/within | cpu | size=1 | 1 | flops=1000000001 bytes=1e8 |
copies/to_device | cuda:0 | size=1 | 1 | bytes={LINK} | to_device
copies/to_device | cuda:0 | size=1 | 1 | bytes={LINK - 1} |
copies/to_device | cpu | size=1 | 1 | bytes=1e15 |
matmul/square | cuda:0 | dtype=bfloat16 | 1 | flops={HALF} | products_half
matmul/square | cuda:0 | dtype=bfloat16 | 1 | flops={HALF - 1} |
matmul/square | cuda:0 | dtype=complex64 | 1 | flops={SLOW} | small_products
matmul/square | cuda:0 | dtype=complex64 | 1 | flops={SLOW + 1} |
transformer/train_narrow | cpu | width=1 | 1 | bytes=5e7 | training_step_narrow
transformer/train_narrow | cpu | width=1 | 1 | flops=499999999 bytes=49999999 |
transformer/train_narrow | cuda:0 | width=1 | 1 | flops=5e8 | eager_transformer
many_or_one/pieces | cpu | pieces=1000 | 1 | | many_operations
many_or_one/pieces | cpu | pieces=999 | 1 | |
"""


@pytest.mark.parametrize("row", PARTS.strip().splitlines())
def test_a_case_counts_for_the_part_whose_limit_it_reaches(row: str) -> None:
    line, _, part = row.rpartition("|")
    (case,) = cases(f"+ {line}")
    found = part_of(case)
    assert (found.name if found else "") == part.strip()
