# SPDX-License-Identifier: MIT
"""One run has one rate: on its page, on its badge, in its answer and as the roofline's ceiling."""

from pathlib import Path

from frobench.reports.site import build
from frobench.suite.stored import store
from tests.instruments.runs.exact_runs import LAUNCHES
from tests.reports.findings.table import cases
from tests.reports.pages import text_of
from tests.reports.summary.test_device_axes import CPU, FLOPS, SIZES, micro, peak, run_of

N, SQUARE_RATE, RATE = 2048, 3e11, 2.1e11
FACTORS = [1.0, 1.0, 1.0, 1.0, 1.4, 1.9, 2.6, 0.9]
"""How much slower than the median launch each of them ran the fastest product."""


def test_page_badge_answer_and_roofline_agree(tmp_path: Path) -> None:
    measured = cases(f"""
{peak(CPU, "float32", RATE)}
+ matmul/square | {CPU} | n={N} dtype=float32 | {micro(2.0 * N**3, SQUARE_RATE)} | flops=2x^3
    bytes=12x^2 launches=1,1.01,1.02,1.03,1.04,1.05,1.06,1.07
+ copies/within | {CPU} | {SIZES} | 10 + {micro(2, 2e10)}x | bytes=2x""")
    times = [FLOPS / RATE * factor for factor in FACTORS]
    measured[0].stats = store.case_stats(times, 1)
    for place, one in enumerate(measured, start=1):  # what a stored file needs to be shown
        one.extra_info.warmup, one.extra_info.order = [9.0] * LAUNCHES, [place] * LAUNCHES
        one.param = one.name.partition("[")[2].removesuffix("]")
    run = run_of(measured, accelerators=0)
    build.build([store.write(run, tmp_path)], tmp_path / "site")
    (badge,) = (one.read_text() for one in (tmp_path / "site").glob("*/*.badge.svg"))
    (page,) = (tmp_path / "site").glob("*/*.html")
    text = text_of(page).replace(" )", ")")
    assert "100 to 220 GFLOP/s, not conclusive" in badge
    assert "100 to 220 GFLOP/s (not conclusive) fp32" in text
    assert "At least 230 GFLOP/s (median: 210 GFLOP/s [100, 220]) in fp32" in text
    assert "fp32 230 " in text
    assert "Products reach" not in text
