# SPDX-License-Identifier: MIT
"""Tables beside a page hold every number that it shows, with its interval and the cases behind."""

import re

import pytest

from frobench.reports.findings import sections
from frobench.reports.findings.finding import Finding
from frobench.reports.run.page import Contents
from frobench.suite.stored.types import Energy
from tests.instruments.faults.judging import put, set_samples
from tests.reports.charts.test_ruler import PLOTS, around
from tests.reports.findings.table import cases
from tests.reports.run.test_sensors import on_gpus
from tests.reports.summary.test_device_axes import GPU, MEMORY, SIZES, micro, peak, run_of
from tests.reports.tables import Row, rows

RUN = run_of(
    cases(f"""
{peak(GPU, "bfloat16", 6e14)}
+ matmul/square | {GPU} | n=4096 dtype=bfloat16 | 500 | flops=2x^3 bytes=6x^2 check=0.1
+ matmul/square | {GPU} | n=64 dtype=float32 | 1
+ copies/within | {GPU} | {SIZES} | 10 + {micro(2, MEMORY)}x | bytes=2x
+ small_weights/decode_graph | {GPU} | width=8192 dtype=bfloat16 weights=int4 | 100 | bytes=1.2e8
+ transformer/prefill_graph | {GPU} | width=4096 layers=1 batch=1 dtype=bfloat16 | 9 | flops=9e9""")
)
RUN.frobench.outcomes[2].status = "failed"
RUN.benchmarks[1].extra_info.energy = Energy(joules=[600.0] * 8, seconds=[2.0] * 8)
set_samples(RUN.benchmarks[2], [[1e-3, 2e-3], [], [3e-3]])
RUN.frobench.telemetry = on_gpus().frobench.telemetry
put(RUN, "frobench.telemetry.launches", [30.0, 44.0])
SECTION = sections(RUN)[0]
SECTION.findings = (
    Finding("most", "What?", "3.", around(3.0), "s", "in all", (), ("b", "a", "b"), "Do it."),
    Finding.missing("none", "Why?", "no time"),
)
SECTION.plots = PLOTS["points"], PLOTS["stack"]
TABLE = """
## tables
# cases | rows=6
= every case: its time, its rate, what a call costs
= 2 | matmul | square | bench_square | {"device":"cuda:0","dtype":"bfloat16","n":4096} | passed |
    time | 0.0005 | 0.000417 | 0.000615 | 8 | s | 0.1 | 0.3 | 8
= 2 | matmul | square | bench_square | {"device":"cuda:0","dtype":"bfloat16","n":4096} | passed |
    rate | 2.75e+14 | 2.24e+14 | 3.3e+14 | 8 | FLOP/s | 0.1 | 0.3 | 8
= 2 | matmul | square | bench_square | {"device":"cuda:0","dtype":"bfloat16","n":4096} | passed |
    work for a joule | 2.29e+08 | 2.29e+08 | 2.29e+08 | 8 | FLOP | 0.1 | 0.3 | 8
= 3 | matmul | square | bench_square | {"device":"cuda:0","dtype":"float32","n":64} | failed | time
    | 0.00225 |  |  | 2 | s |  |  | 3
# samples | rows=59
= every sample, launch by launch, of the case of a number
= 1 | 7 | 0 | 0.000195
= 3 | 0 | 0 | 0.001
= 3 | 0 | 1 | 0.002
= 3 | 2 | 0 | 0.003
# findings | rows=2
= the answers
= matmul | most | What? | 3. | Do it. | in all | 3 | 2.7 | 3.6 | 8 | s | ["b","a"]
= matmul | none | Why? | Not measured: no time. |  |  |  |  |  |  |  | []
# figures | rows=17
= the numbers behind every chart
= matmul | p | Waits in loops | one | series | 3 |  | Rate | 1e+06 |  |  | 3 | FLOP/s | []
= matmul | p | Waits in loops | one | series | 5000 |  | Rate | 1e+09 | 9e+08 | 1.2e+09 | 8 | FLOP/s
    | [" 5000.0"]
= matmul | p | Waits in loops | one | bound | 16 |  | Rate | 1e+09 | 9e+08 | 1.2e+09 | 8 | FLOP/s |
    ["one 16.0"]
= matmul | p | Waits in loops | all | whole | b |  | Energy | 5.5 | 4.95 | 6.6 | 8 | J | ["all b"]
= roofline | roofline-cuda:0 | Products below the ceilings of the NVIDIA H200 | bfloat16 | part |
    1365.3333333333333 | FLOP/B | Part of its ceiling | 0.367 | 0.298 | 0.439 | 8 | 1 | ["square"]
# axes | rows=2
= the axes
= compute | NVIDIA H200 | bfloat16 | in bursts | 6e+14 | 4.88e+14 | 7.19e+14 | 8 | FLOP/s | 9.89e+14
    | 0.607 | 0.494 | 0.727 | ["product"]
= memory | NVIDIA H200 |  | slope of large copies | 3e+12 | 2.44e+12 | 3.6e+12 | 8 | B/s | 4.8e+12 |
    0.625 | 0.508 | 0.749 | ["within","within","within"]
# models | rows=16
= language models, computed
=  | decode, int4 |  | 1.2e+12 | 9.76e+11 | 1.44e+12 | 8 | B/s |
    ["within","within","within","prefill_graph","decode_graph"]
= Llama 3.1 8B | prompt | 1.66e+10 | 6.02e+04 | 4.9e+04 | 7.22e+04 | 8 | tokens/s |
    ["within","within","within","prefill_graph","decode_graph"]
= Llama 3.1 70B | decode, int4 | 4.04e+10 | 29.7 | 24.2 | 35.7 | 8 | tokens/s |
    ["within","within","within","prefill_graph","decode_graph"]
# sensors | rows=20
= what the sensors said
= cuda:0 | power_watts | 25 |  | 100 |
= cuda:0 | power_watts | 45 | 1 | 300 |
= cuda:0 | fan |  |  |  | NVML: Not Supported
= cuda:0 | held_back.SwPowerCap | 45 | 1 | 0.234 |
"""


def spelled(value: object) -> str:
    text = f"{value:.3g}" if isinstance(value, float) else str("" if value is None else value)
    return re.sub(r"bench\.py::bench_(\w+)\[[^]]*\]", r"\1", text)


@pytest.mark.parametrize("row", [*rows(TABLE)], ids=lambda row: row.what)
def test_a_table_has_a_row_for_each_number(row: Row) -> None:
    (sheet,) = (one for one in Contents(RUN, [SECTION]).tables if one.name == row.what)
    found = [[spelled(cell) for cell in line.values()] for line in sheet.table.to_pylist()]
    (text,), *told = row.lines["="]
    assert (sheet.text, len(found)) == (text, int(row.how["rows"]))
    assert [line for line in found if line in told] == told
