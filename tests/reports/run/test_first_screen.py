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
from frobench.reports.summary import plain as brief
from frobench.reports.summary import views
from frobench.suite.stored import store
from frobench.suite.stored.types import Case, Conclusion, Energy, Project, Run, Work
from tests.instruments.faults.judging import put
from tests.instruments.runs.exact_runs import LAUNCHES, case
from tests.reports.charts.test_ruler import plain, told
from tests.reports.findings.table import cases
from tests.reports.summary.test_device_axes import CPU, GPU, everything, micro, peak, run_of

MICROS = "\N{MICRO SIGN}s"
TWO = [22e-6, 22.1e-6, 22.2e-6, 22.3e-6, 41e-6, 41.1e-6, 41.2e-6, 41.3e-6]
"""Launches of one case in two modes, seconds."""


def shown(run: Run) -> Contents:
    return Contents(run, sections(run))


def first(run: Run) -> FirstScreen:
    return shown(run).first


def facts(screen: FirstScreen) -> str:
    return plain("; ".join(f"{name} {value}" for name, value in screen.facts))


def axes(screen: FirstScreen) -> str:
    """Return the axes, each with the end of its drawing: an interval, or a datasheet's mark."""
    each = ((one, told(one.bar).split("; ")[-1]) for one in screen.axes)
    shown = (f"{a.title} {a.figure} {a.unit}, {a.note} {a.place[9:18]} {end}" for a, end in each)
    return plain(" / ".join(shown))


def test_a_gpu_has_four_axes_and_one_sentence_of_the_same_numbers() -> None:
    run = run_of([*everything(GPU), *everything(CPU)])
    spent = Energy(joules=[600.0] * LAUNCHES, seconds=[2.0] * LAUNCHES)
    run.benchmarks[0].extra_info.energy = spent
    run.frobench.environment.software.torch = None
    screen = Contents(run, sections(run), price="2,000 USD").first
    assert axes(screen) == (
        "Compute, bf16 500 TFLOP/s, 410 to 600, 51% of the datasheet, sustained attainabl "
        "datasheet 989] 94 10 / "
        "Memory 3.0 TB/s, 2.4 to 3.6, 63% of the datasheet, slope of large copies copies "
        "datasheet 4.8] 94 10 / "
        f"Overhead per operation 4.0 {MICROS}, 3.3 to 4.9, mostly the host's many-or-o "
        "ci 64 27, 94 27 / "
        "Link, to the device 50 GB/s, 41 to 60, pinned, 79% of the link, slope of large copies "
        "copies link 63] 94 10"
    )
    assert plain(screen.lead) == (
        f"500 TFLOP/s bf16 (51% of the datasheet), 3.0 TB/s memory (63%), 4.0 {MICROS} per "
        "operation, 50 GB/s to the device (79% of the link)."
    )
    assert (screen.title, screen.trust, screen.counts) == (
        "NVIDIA H200",
        "",
        "0 failed, 0 implausible",
    )
    assert facts(screen) == (
        "Memory 144 GB; Power 300.0 W (limit 700 W); Price 2,000 USD; Measured 1 January 2026; "
        "torch not imported; Host AMD EPYC 9654 96-Core Processor, 2 cores"
    )


def test_a_cpu_has_a_second_precision_on_the_scale_of_the_first_and_no_link() -> None:
    run = run_of(everything(CPU), accelerators=0)
    run.frobench.environment.cpu.memory_bytes = None
    screen = first(run)
    assert axes(screen) == (
        "Compute, bf16 500 TFLOP/s, 410 to 600, sustained attainabl ci 64 27, 94 27 / "
        "Compute, fp32 40 TFLOP/s, 33 to 48, in bursts attainabl ci 5 27, 8 27 / "
        "Memory 3.0 TB/s, 2.4 to 3.6, slope of large copies copies ci 64 27, 94 27 / "
        f"Overhead per operation 4.0 {MICROS}, 3.3 to 4.9 many-or-o ci 64 27, 94 27"
    )
    assert plain(screen.lead) == (
        f"500 TFLOP/s bf16, 40 TFLOP/s fp32, 3.0 TB/s memory, 4.0 {MICROS} per operation. No GPU "
        "was measured."
    )
    assert facts(screen) == (
        "Memory unknown; Power not measured; Price unknown; Measured 1 January 2026; torch 2.13.0"
    )


def test_without_an_axis_the_first_answer_leads_with_the_code_that_was_measured() -> None:
    run = run_of(loops(TWO), accelerators=0)
    run.frobench.project = Project(name="demo", id="0123456789abcdef", dirty=True)
    page = shown(run)
    assert facts(page.first) == (
        "Device AMD EPYC 9654 96-Core Processor, 2 cores; Code demo at 0123456789ab, with "
        "uncommitted changes; Measured 1 January 2026; torch 2.13.0"
    )
    assert plain(page.description) == (
        "What does reading every norm back cost on the CPU? No measurable difference: 1.000x "
        "[1.000, 1.000] as long as with a log that is read once."
    )
    assert (page.answered, page.unanswered) == (
        "1 answer",
        "The run has no such case: 2 questions. Other reasons: 1 question.",
    )


def test_errors_of_a_run_are_named_and_those_that_cannot_be_true_are_counted_by_case() -> None:
    run = run_of(everything(GPU))
    first_case, second, *_ = (one.fullname for one in run.benchmarks)
    found = [(None, "clock"), (first_case, "above-peak"), (first_case, "impossible")]
    run.frobench.conclusions = [
        Conclusion(code=code, severity="error", message="it stood still", advice="", case=case)
        for case, code in [*found, (second, "wrong-result")]
    ]
    run.frobench.conclusions += noisy(run.benchmarks[2:5])
    run.frobench.outcomes[0].status = run.frobench.outcomes[1].status = "failed"
    put(run, "frobench.launches.*.others", 1.0)
    screen = first(run)
    assert screen.lead.endswith(
        "The whole run has an error, so none of its figures is shown: clock: it stood still."
    )
    assert (screen.failed, screen.counts) == (2, "1 implausible")
    assert screen.trust == (
        "other programs used 1.0 of 2 cores, 2 cases failed, 5 of 18 cases doubtful"
    )


def noisy(these: Sequence[Case]) -> list[Conclusion]:
    known = {"code": "noisy-case", "message": "", "advice": ""}
    return [Conclusion(severity="warning", case=one.fullname, **known) for one in these]


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
    doubts = {one.exercise: one.doubts for one in brief.answers(run).answers if one.leads}
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
