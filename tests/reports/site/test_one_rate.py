# SPDX-License-Identifier: MIT
"""One run has one rate: on its page, on its badge, in its answer and as the roofline's ceiling."""

import html
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from frobench.reports.site import build
from frobench.suite.stored import store
from frobench.suite.stored.types import Case, Work
from tests.instruments.runs.exact_runs import LAUNCHES, case
from tests.reports.summary.test_device_axes import CPU, copied, of, run_of, searched

N, SQUARE_RATE, RATE = 2048, 3e11, 2.1e11
FACTORS = [1.0, 1.0, 1.0, 1.0, 1.4, 1.9, 2.6, 0.9]
"""How much slower than the median launch each of them ran the fastest product."""


def believable(cases: Sequence[Case]) -> Iterator[Case]:
    """Give cases what a stored file needs to be shown."""
    for place, one in enumerate(cases, start=1):
        one.extra_info.warmup[:] = [9.0] * LAUNCHES
        one.extra_info.order[:] = [place] * LAUNCHES
        yield replace(one, param=one.name.partition("[")[2].removesuffix("]"))


def test_page_badge_answer_and_roofline_agree(tmp_path: Path) -> None:
    (product,) = searched(CPU, "float32", RATE)
    flops = product.extra_info.work.flops or 0.0
    times = [flops / RATE * factor for factor in FACTORS]
    product = replace(product, stats=store.case_stats(times, 1))
    work = Work(flops=2.0 * N**3, bytes=12.0 * N**2)
    seconds = [2.0 * N**3 / SQUARE_RATE * (1 + launch / 100) for launch in range(LAUNCHES)]
    square = case("bench_square", seconds, work=work, n=N, dtype="float32")
    cases = [product, *of("matmul", [square]), *copied("bench_within", CPU, 2e10)]
    run = run_of([*believable(cases)], accelerators=0)
    build.build([store.write(run, tmp_path)], tmp_path / "site")
    (badge,) = (one.read_text() for one in (tmp_path / "site").glob("*/*.badge.svg"))
    (page,) = (html.unescape(one.read_text()) for one in (tmp_path / "site").glob("*/*.html"))
    text = re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", page)).replace(" )", ")")
    assert "100 to 220 GFLOP/s, not conclusive" in badge
    assert "100 to 220 GFLOP/s (not conclusive) fp32" in text
    assert "At least 230 GFLOP/s (median: 210 GFLOP/s [100, 220]) in fp32" in text
    assert "fp32 230 " in text
    assert "Products reach" not in text
