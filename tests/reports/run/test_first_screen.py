# SPDX-License-Identifier: MIT
"""The first screen and the rows of a run's page, on made-up runs whose truth is known."""

import re

import pytest
from msgspec.structs import replace

from frobench.reports.findings import sections
from frobench.reports.run.first_screen import FirstScreen
from frobench.reports.run.page import AnswerRow, Contents
from frobench.reports.summary import plain, views
from frobench.suite.stored import store
from frobench.suite.stored.types import Case, Conclusion, Energy, Run, Work
from tests.instruments.runs.exact_runs import LAUNCHES, case
from tests.reports.summary.test_device_axes import CPU, GPU, everything, of, run_of, searched

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
    for one in screen.axes:
        assert f"{one.figure} {one.unit}" in screen.lead
    assert screen.lead.count("of the datasheet") == 1
    assert screen.title == "NVIDIA H200"
    assert ("Power", "not measured (limit 700 W)") in screen.facts
    assert ("Price", "unknown") in screen.facts


def test_measured_power_and_a_known_price_stand_in_the_facts() -> None:
    cases = everything(GPU)
    cases[0].extra_info.energy = Energy(joules=[600.0] * LAUNCHES, seconds=[1.0] * LAUNCHES)
    run = run_of(cases)
    screen = Contents(run, sections(run), price="2,000 USD (2026-01-01)").first
    assert dict(screen.facts)["Power"].endswith(" W (limit 700 W)")
    assert ("Price", "2,000 USD (2026-01-01)") in screen.facts


def test_the_line_of_trust_counts_cases() -> None:
    run = run_of(everything(CPU), accelerators=0)
    assert first(run).trust == ""
    noisy = [one.fullname for one in run.benchmarks[:2]]
    run.frobench.conclusions = [
        Conclusion(code="noisy-case", severity="warning", message="", advice="", case=name)
        for name in noisy
    ]
    assert re.fullmatch(r"2 of \d+ cases noisy", first(run).trust)
    assert first(run).counts == "0 failed, 0 implausible"
    run.frobench.outcomes[0].status = "failed"
    assert first(run).trust.startswith("1 case failed, ")
    for launch in run.frobench.launches:
        launch.others = 1.0
    assert first(run).trust.startswith("other programs used 1.0 of 2 cores, 1 case failed, ")


def loops(seconds: list[float] | float) -> list[Case]:
    names = ("bench_item", "bench_log_on_device")
    work = Work(items=1000.0)
    cases = [case(name, seconds, CPU, work=work, steps=1000) for name in names]
    return of("norm_logging", cases)


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
    (product,) = searched(GPU, "bfloat16", 6e14)
    product = replace(product, stats=store.case_stats(TWO, 1))
    work = Work(flops=1e9, items=1000.0)
    training = case("bench_train", 1e-4, GPU, work=work, width=4096, layers=1, dtype="bfloat16")
    run = run_of([product, *of("transformer", [training])])
    rows = {one.answers.exercise: one.row for one in shown(run).sections}
    drawn = {name: bool(one and one.modes) for name, one in rows.items()}
    assert drawn == {"attainable_peak": True, "transformer": False}
    doubts = {one.exercise: one.doubts for one in plain.answers(run).answers if one.leads}
    assert doubts == {"Attainable peak": ("two modes",), "Transformer": ()}


def test_the_slope_and_the_ceiling_of_the_roofline_are_of_the_fastest_launch() -> None:
    cases = [*everything(GPU)]
    flops = 2.0 * 4096**3
    work = Work(flops=flops, bytes=6.0 * 4096**2)
    cases += of(
        "matmul", [case("bench_square", flops / 3e14, GPU, work=work, n=4096, dtype="bfloat16")]
    )
    screen = first(run_of(cases))
    assert screen.roof is not None
    title, _, drawing = screen.roof
    assert "memory 3.7 TB/s" in drawing
    assert "bf16 750" in drawing
    assert title.startswith("Products reach ")


@pytest.mark.parametrize(("factor", "highest"), [(0.8, "800"), (1.2, "1,000")])
def test_the_heights_of_the_roofline_are_in_the_unit_of_its_ceiling(
    factor: float, highest: str
) -> None:
    """Also where the next prefix begins between the ceiling, 600 or 900 TFLOP/s, and the edge."""
    work = Work(flops=2.0 * 4096**3, bytes=6.0 * 4096**2)
    seconds = 2.0 * 4096**3 / (factor * 3e14)
    square = case("bench_square", seconds, GPU, work=work, n=4096, dtype="bfloat16")
    roof = first(run_of([*everything(GPU, factor), *of("matmul", [square])])).roof
    assert roof is not None
    _, units, drawing = roof
    assert units.startswith("Roofline, TFLOP/s by FLOP per byte")
    *heights, _ = re.findall(r'<text [^>]*text-anchor="end"[^>]*>([^<]+)<', drawing)
    assert heights[-1] == highest
