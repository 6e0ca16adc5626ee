# SPDX-License-Identifier: MIT
"""The first screen, rows and tables of a run's page, on made-up runs whose truth is known."""

import re
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from frobench.reports.findings import sections
from frobench.reports.run.page import AnswerRow, Contents
from frobench.reports.summary import plain as brief
from frobench.reports.summary import views
from frobench.suite.stored import store
from frobench.suite.stored.types import Case, Conclusion, Energy, Project, Run, Work
from tests.instruments.faults.judging import put, set_samples
from tests.instruments.runs.exact_runs import LAUNCHES, case
from tests.reports.charts.test_ruler import plain, told
from tests.reports.findings.table import cases
from tests.reports.summary.test_device_axes import CPU, FLOPS, GPU, everything, micro, peak, run_of
from tests.reports.tables import Row, rows

TWO = [22e-6, 22.1e-6, 22.2e-6, 22.3e-6, 41e-6, 41.1e-6, 41.2e-6, 41.3e-6]
"""Launches of one case in two modes, seconds."""


def shown(run: Run) -> Contents:
    return Contents(run, sections(run))


def concluded(severity: Any, *found: tuple[str | None, str]) -> list[Conclusion]:  # noqa: ANN401
    known = {"severity": severity, "message": "it stood still", "advice": ""}
    return [Conclusion(code=code, case=case, **known) for case, code in found]


def noisy(these: Sequence[Case]) -> list[Conclusion]:
    return concluded("warning", *((one.fullname, "noisy-case") for one in these))


def gpu() -> Contents:
    run = run_of([*everything(GPU), *everything(CPU)])
    spent = Energy(joules=[600.0] * LAUNCHES, seconds=[2.0] * LAUNCHES)
    run.benchmarks[0].extra_info.energy = spent
    run.frobench.environment.software.torch = None
    run.frobench.environment.accelerators[0].power_limit_watts = None
    return Contents(run, sections(run), price="2,000 USD")


def cpu() -> Contents:
    run = run_of(everything(CPU), accelerators=0)
    run.frobench.environment.cpu.memory_bytes = 0
    set_samples(run.benchmarks[1], [[3e-3 * factor] for factor in (1, 1, 1, 1, 1.4, 1.9, 2.6, 0.9)])
    return shown(run)


def doubtful() -> Contents:
    layers = f"+ transformer/train,prefill | {CPU} | width=4096 layers=1 | 100 | flops=1e9"
    run = run_of([*cases(layers), *loops(TWO)], accelerators=0)
    run.frobench.project = Project(name="demo", id="0123456789abcdef", dirty=True)
    one, other, *_ = (case.fullname for case in run.benchmarks)
    wrong = (None, "clock"), (one, "above-peak"), (one, "impossible"), (other, "wrong-result")
    run.frobench.conclusions = concluded("error", *wrong)
    run.frobench.conclusions += noisy(run.benchmarks[2:])
    run.frobench.outcomes[0].status = run.frobench.outcomes[1].status = "failed"
    put(run, "frobench.launches.*.others", 1.0)
    run.frobench.complete, run.frobench.settings = False, replace(run.frobench.settings, launches=9)
    set_samples(run.benchmarks[0], [[1e-3, 2e-3], []])
    return shown(run)


PAGES = {"a GPU": gpu, "a CPU": cpu, "doubts": doubtful}
SCREENS = """
## pages
# a GPU
= NVIDIA H200; Memory 144 GB; Power 300.0 W (limit 700 W); Price 2,000 USD; Measured 1 January 2026;
    torch not imported; Host EPYC, 2 cores; How fast PyTorch computes on NVIDIA H200 + EPYC, 2
    cores. 500 TFLOP/s bf16 (51% of the datasheet), 3.0 TB/s memory (63%), 4.0 µs per operation, 50
    GB/s to the device (79% of the link).; Compute, bf16 500 TFLOP/s, 410 to 600, 51% of the
    datasheet, sustained attai datasheet 989] 94 10; Memory 3.0 TB/s, 2.4 to 3.6, 63% of the
    datasheet, slope of large copies copie datasheet 4.8] 94 10; Overhead per operation 4.0 µs, 3.3
    to 4.9, mostly the host's many- ci 64 27, 94 27; Link, to the device 50 GB/s, 41 to 60, pinned,
    79% of the link, slope of large copies copie link 63] 94 10; marks of datasheets; 0 failed, 0
    implausible; 5 answers; The run has no such case: 28 answers. Other reasons: 2 answers.; Qwen2.5
    32B is the largest model that fits: 45 tokens/s [37, 54] decoding, computed
# a CPU
= EPYC, 2 cores; Memory unknown; Power not measured; Price unknown; Measured 1 January 2026; torch
    2.13.0; How fast PyTorch computes on EPYC, 2 cores. 500 TFLOP/s bf16, 22 to 47 TFLOP/s (not
    conclusive) fp32, 3.0 TB/s memory, 4.0 µs per operation. No GPU was measured.; Compute, bf16 500
    TFLOP/s, 410 to 600, sustained attai ci 64 27, 94 27; Compute, fp32 22 to 47 TFLOP/s, not
    conclusive, in bursts attai ci 3 27, 7 27; Memory 3.0 TB/s, 2.4 to 3.6, slope of large copies
    copie ci 64 27, 94 27; Overhead per operation 4.0 µs, 3.3 to 4.9 many- ci 64 27, 94 27; 0
    failed, 0 implausible; 5 answers; The run has no such case: 13 answers. Other reasons: 8
    answers.
# doubts
= EPYC, 2 cores; Device EPYC, 2 cores; Code demo at 0123456789ab, with uncommitted changes; Measured
    1 January 2026; torch 2.13.0; What does reading every norm back cost on the CPU? No measurable
    difference: 1.000x [1.000, 1.000] as long as with a log that is read once. The whole run has an
    error, so none of its figures is shown: clock: it stood still.; failed: 2; clock: 0; above peak:
    1; impossible: 1; noisy: 2; other programs used 1.0 of 2 cores, 2 cases failed, 4 of 4 cases
    doubtful; 1 implausible; 1 of 2 questions answered; The run ended before it: 2 answers. Other
    reasons: 3 answers.; So far it has begun 8 launches of 4 cases, and measured 25 of 32 times. 9
    launches were asked for. The run has taken 280 s of its budget of 270 s.
"""


@pytest.mark.parametrize("row", [*rows(SCREENS)], ids=lambda row: row.what)
def test_the_first_screen_says_in_one_sentence_what_its_axes_and_facts_show(row: Row) -> None:
    page = PAGES[row.what]()
    found = [page.first.title, *map(" ".join, page.first.facts), page.description]
    for axis in page.first.axes:
        drawn = told(axis.bar).split("; ")[-1]  # an interval, or the mark of a datasheet
        found.append(
            f"{axis.title} {axis.figure} {axis.unit}, {axis.note} {axis.place[9:14]} {drawn}"
        )
    found += ["marks of datasheets"] * page.first.sheet
    found += [f"{one.word}: {one.count}" for one in page.doubts]
    found += [page.first.trust, page.first.counts, page.answered, page.unanswered]
    found += [page.models_title, page.progress]
    shown = plain("; ".join(filter(None, found)))
    assert shown.replace("AMD EPYC 9654 96-Core Processor", "EPYC") == row.lines["="][0][0]


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
    assert [str(found.chart).count(mark) for mark in ("<circle", "<rect")] == [len(TWO)] * 2
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


def tables(page: Contents) -> dict[str, list[dict[str, Any]]]:
    return {one.name: one.table.to_pylist() for one in page.tables}


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
    page = shown(run_of([*everything(GPU, factor), *squares(factor * 3e14)]))
    assert page.first.roof is not None
    title, units, drawing = page.first.roof
    assert f"memory {memory} TB/s" in drawing
    assert f"bf16 {ceiling}" in drawing
    assert title.startswith("Products reach ")
    assert units.startswith("Roofline, TFLOP/s by FLOP per byte")
    *heights, _ = re.findall(r'<text [^>]*text-anchor="end"[^>]*>([^<]+)<', drawing)
    assert heights[-1] == highest
    roof = [row for row in tables(page)["figures"] if row["exercise"] == "roofline"]
    assert [row["role"] for row in roof] == ["series", "bound", "bound", "bound", "part"]
    middle, fastest = 4096 / 3, factor * 7.5e14  # of the product, and up to twice its intensity
    true = [middle, factor * 3e14, 100, fastest / 2, 200, fastest, 2 * middle, fastest, middle, 0.4]
    assert [float(row[key]) for row in roof for key in ("place", "value")] == pytest.approx(true)


def test_the_tables_beside_the_page_have_each_of_its_numbers() -> None:
    page = gpu()
    found = tables(page)
    assert {row["number"] for row in found["cases"]} == {*range(1, 1 + len(page.run.benchmarks))}
    assert [(one["quantity"], one["value"], one["unit"]) for one in found["cases"][1:5]] == [
        ("rate", pytest.approx(6e14), "FLOP/s"),
        ("energy of a call", 600.0, "J"),
        ("power", 300.0, "W"),
        ("work for a joule", FLOPS / 600, "FLOP"),
    ]
    assert [tuple(row.values())[:7] for row in found["findings"]] == [
        (part.exercise, one.name, one.question, one.answer, one.rule_of_thumb, one.label, number)
        for part in (section.answers for section in page.sections)
        for one in part.findings
        for number in [one.value and one.value.value]
    ]
    rates = [(row["model"], row["value"] * (row["per_token"] or 1)) for row in found["models"]]
    fitting = [(name.partition(",")[0], cells[0]) for name, cells in page.models.rows]
    assert rates == [(name, pytest.approx(3e12)) for name in (None, *dict(fitting))]
    speeds = [row["value"] for row in found["models"][1:]]
    assert speeds == [cell.value.value for _, cell in fitting if cell]
    samples = [[*row.values()] for row in tables(doubtful())["samples"]]
    assert samples[:2] == [[1, 0, 0, 1e-3], [1, 0, 1, 2e-3]]
    assert [row[:3] for row in samples[2:11]] == [*([2, at, 0] for at in range(8)), [3, 0, 0]]
