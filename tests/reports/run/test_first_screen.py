# SPDX-License-Identifier: MIT
"""The first screen and the rows of a run's page, on made-up runs whose truth is known."""

import re
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from frobench.reports.findings import sections
from frobench.reports.run.first_screen import FirstScreen
from frobench.reports.run.page import AnswerRow, Contents
from frobench.reports.summary import plain, views
from frobench.suite.stored import store
from frobench.suite.stored.types import Case, Conclusion, Energy, Run, Work
from tests.instruments.faults.judging import put
from tests.instruments.runs.exact_runs import LAUNCHES, case
from tests.reports.findings.table import cases
from tests.reports.summary.test_device_axes import CPU, GPU, everything, micro, peak, run_of

TWO = [22e-6, 22.1e-6, 22.2e-6, 22.3e-6, 41e-6, 41.1e-6, 41.2e-6, 41.3e-6]
"""Launches of one case in two modes, seconds."""


def shown(run: Run) -> Contents:
    return Contents(run, sections(run))


def first(run: Run) -> FirstScreen:
    return shown(run).first


def test_a_gpu_has_four_axes_and_one_sentence_of_the_same_numbers() -> None:
    screen = first(run_of([*everything(GPU), *everything(CPU)]))
    titles = ["Compute, bf16", "Memory", "Overhead per operation", "Link, to the device"]
    assert [one.title for one in screen.axes] == titles
    assert screen.lead.replace("\N{NO-BREAK SPACE}", " ") == (
        "500 TFLOP/s bf16 (51% of the datasheet), 3.0 TB/s memory (63%), 4.0 µs per operation, "
        "50 GB/s to the device (79% of the link)."
    )
    assert screen.title == "NVIDIA H200"
    assert ("Power", "not measured (limit 700 W)") in screen.facts
    assert ("Price", "unknown") in screen.facts


def test_measured_power_and_a_known_price_stand_in_the_facts() -> None:
    run = run_of(everything(GPU))
    spent = Energy(joules=[600.0] * LAUNCHES, seconds=[1.0] * LAUNCHES)
    run.benchmarks[0].extra_info.energy = spent
    screen = Contents(run, sections(run), price="2,000 USD (2026-01-01)").first
    assert dict(screen.facts)["Power"].endswith(" W (limit 700 W)")
    assert ("Price", "2,000 USD (2026-01-01)") in screen.facts


def noisy(these: Sequence[Case]) -> list[Conclusion]:
    known = {"code": "noisy-case", "message": "", "advice": ""}
    return [Conclusion(severity="warning", case=one.fullname, **known) for one in these]


def test_the_line_of_trust_counts_cases() -> None:
    run = run_of(everything(CPU), accelerators=0)
    assert first(run).trust == ""
    run.frobench.conclusions = noisy(run.benchmarks[:2])
    assert re.fullmatch(r"2 of \d+ cases noisy", first(run).trust)
    assert first(run).counts == "0 failed, 0 implausible"
    run.frobench.outcomes[0].status = "failed"
    assert first(run).trust.startswith("1 case failed, ")
    put(run, "frobench.launches.*.others", 1.0)
    assert first(run).trust.startswith("other programs used 1.0 of 2 cores, 1 case failed, ")


def loops(seconds: list[float] | float) -> list[Case]:
    known: dict[str, Any] = {"work": Work(items=1000.0), "steps": 1000}
    both = (case(f"bench_{name}", seconds, CPU, **known) for name in ("item", "log_on_device"))
    return [replace(one, group="norm_logging") for one in both]


def test_launches_in_two_modes_are_a_strip_and_say_so() -> None:
    def answered(run: Run) -> AnswerRow:
        (section,) = (one for one in sections(run) if one.exercise == "norm_logging")
        return AnswerRow(run, section, views.marks(run))

    run = run_of(loops(TWO), accelerators=0)
    found = answered(run)
    assert found.marks[0] == "two modes"
    assert str(found.chart).count("<circle") == len(TWO)
    assert str(found.chart).count("<rect") == len(TWO)  # the other case has square marks
    assert found.modes == "item 22 or 41 µs; log on device 22 or 41 µs"
    (listed,) = [one for one in shown(run).sections if one.rows]
    assert [one.modes for one in listed.rows] == ["22 or 41 µs"] * 2
    assert answered(run_of(loops(30e-6), accelerators=0)).modes == ""


def test_no_strip_shows_a_ceiling_of_the_answer() -> None:
    train = f"+ transformer/train | {GPU} | width=4096 layers=1 dtype=bfloat16 | 100"
    run = run_of(cases(f"{peak(GPU, 'bfloat16', 6e14)}\n{train} | flops=1e9 items=1000"))
    run.benchmarks[0].stats = store.case_stats(TWO, 1)
    rows = {one.answers.exercise: one.row for one in shown(run).sections}
    drawn = {name: bool(one and one.modes) for name, one in rows.items()}
    assert drawn == {"attainable_peak": True, "transformer": False}
    doubts = {one.exercise: one.doubts for one in plain.answers(run).answers if one.leads}
    assert doubts == {"Attainable peak": ("two modes",), "Transformer": ()}


def squares(rate: float) -> list[Case]:
    took = micro(2.0 * 4096**3, rate)
    return cases(
        f"+ matmul/square | {GPU} | n=4096 dtype=bfloat16 | {took} | flops=2x^3 bytes=6x^2"
    )


@pytest.mark.parametrize(
    ("factor", "memory", "ceiling", "highest"),
    [(0.8, "3.0", "600", "800"), (1.2, "4.5", "900", "1,000")],
)
def test_the_roofline_is_of_the_fastest_launch_in_the_unit_of_its_ceiling(
    factor: float, memory: str, ceiling: str, highest: str
) -> None:
    """Also where the next prefix begins between the ceiling, 600 or 900 TFLOP/s, and the edge."""
    roof = first(run_of([*everything(GPU, factor), *squares(factor * 3e14)])).roof
    assert roof is not None
    title, units, drawing = roof
    assert f"memory {memory} TB/s" in drawing
    assert f"bf16 {ceiling}" in drawing
    assert title.startswith("Products reach ")
    assert units.startswith("Roofline, TFLOP/s by FLOP per byte")
    *heights, _ = re.findall(r'<text [^>]*text-anchor="end"[^>]*>([^<]+)<', drawing)
    assert heights[-1] == highest
