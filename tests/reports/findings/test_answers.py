# SPDX-License-Identifier: MIT
"""What the page of a run says and draws of each exercise, from cases whose times are known."""

import inspect
import re
from importlib import import_module
from itertools import compress
from pathlib import Path

import pytest

from frobench.reports.findings import RULES, peaks, sections
from frobench.reports.findings.finding import RATIO, Finding, Plot
from frobench.reports.findings.select import cases_of, remembered
from frobench.suite.stored import store
from frobench.suite.stored.types import Sensed, Work
from tests.instruments.processes.command import ROOT
from tests.instruments.runs.exact_runs import answer, by_name, case, run_of
from tests.reports.findings.table import cases, run
from tests.reports.findings.table_of_products import SIZES
from tests.reports.tables import Row, matches, rows

CPU, GPU = "cpu", "cuda:0"
TABLES = sorted(one.stem for one in Path(__file__).parent.glob("table_of_*"))
ROWS = [row for one in TABLES for row in rows(import_module(f"{__package__}.{one}").TABLE)]


def words(finding: Finding) -> str:
    """Return an answer with its rule of thumb behind an arrow, and an x for times."""
    rule = f" \N{RIGHTWARDS ARROW} {finding.rule_of_thumb}" if finding.rule_of_thumb else ""
    return f"{finding.answer}{rule}".replace("\N{NO-BREAK SPACE}", " ").replace(RATIO, "x")


def says(found: Finding, number: str, pattern: str) -> None:
    """Assert that an answer has a number, maybe with its interval, and words."""
    assert matches(words(found), pattern), words(found)
    value, expected = found.value, [float(one) for one in number.split() if one != "none"]
    assert (value is None) >= (number == "none")
    assert len(found.by_launch) == (value.launches if value else 0)
    numbers = [value.value, value.low, value.high] if value else []
    assert numbers[: len(expected)] == pytest.approx(expected)


def draws(plot: Plot, told: list[list[str]]) -> None:
    """Assert that a plot has the lines that are told, and of each the points that are."""
    lines = {one.label.replace("\N{NO-BREAK SPACE}", " "): one for one in plot.series}
    listed = [label for labels, *_ in told for label in labels.split(" / ")]
    bounds = [*plot.lines, *([plot.whole] if plot.whole else [])]
    lines |= {one.label: one for one in bounds if one.label in listed}
    assert [*lines] == listed
    assert plot.reference == (1.01 if plot.name == "every" else 1)  # "1% longer"
    for labels, points in (cells for cells in told if len(cells) > 1):
        texts = [re.sub(r"=(?=[\d.e+-]+$)", "\t", text).split("\t") for text in points.split("; ")]
        for label in labels.split(" / "):
            for point, (place, *number) in zip(lines[label].points, texts, strict=True):
                assert place == (f"{point.x:.15g}" if isinstance(point.x, float) else str(point.x))
                assert not number or point.y.value == pytest.approx(float(number[0]), rel=1e-5)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.section}: {row.what}")
def test_a_run_says_and_draws(row: Row) -> None:
    section = sections(run(row))[0]
    found, plots = by_name(section), {plot.name: plot for plot in section.plots}
    for name, *_ in row.lines["*"]:
        assert section.findings[0].name == name
    for names, number, pattern in row.lines["*"] + row.lines["="]:
        for name in names.split(", "):
            says(found[name], number, pattern)
    for (names,) in row.lines["!"]:
        assert not {*names.split(", ")} & {*found, *plots}
    for name in {name for name, *_ in row.lines["~"]}:
        draws(plots[name], [cells for one, *cells in row.lines["~"] if one == name])


@pytest.mark.parametrize("first", [2, 4])
def test_devices_are_compared_in_the_launches_that_measured_both(first: int) -> None:
    line = "+ square | {} | {} | {} | flops=2x^3".format
    both = cases(f"{line(CPU, SIZES, 80)}\n{line(GPU, SIZES, 40)}")
    for one in both:
        on_cpu = one.extra_info.device == CPU
        one.extra_info.launches = [int((at < 4) if on_cpu else (at >= first)) for at in range(8)]
        data = [*compress(one.stats.data, one.extra_info.launches)]
        one.stats = store.case_stats(data, 1)
    found = by_name(answer("matmul", both, accelerators=1))["speed-up"]
    assert found.by_launch == pytest.approx([2.0] * (4 - first))
    assert bool(found.absent) == (first == 4)


def test_cases_are_selected_once_in_a_block_for_a_run_and_anew_for_others() -> None:
    one, other = (run_of("matmul", cases(f"+ square | {CPU} | {SIZES} | 40")) for _ in range(2))
    with remembered(one):
        assert cases_of(one, "matmul") is cases_of(one, "matmul")
        assert cases_of(other, "matmul").run is other


@pytest.mark.parametrize("name", ["over", "what", "function", "items", "case", "device_", "where"])
def test_a_parameter_may_have_any_name(name: str) -> None:
    """Also one that a table of all cases uses for something else."""
    both = cases(f"+ x | {CPU} | size=1,2,4 | 1x\n+ x | {GPU} | size=1,2,4 | 1x")
    for one in both:
        one.params[name] = one.params.pop("size")
    (plot,) = answer("a_new_one", both, accelerators=1).plots
    assert [point.x for point in plot.series[0].points] == [1.0, 2.0, 4.0]


@pytest.mark.parametrize(
    ("kinds", "more"), [("abcdef", ""), ("abcdefgh", " (2 more lines among the cases)")]
)
def test_a_chart_shows_six_lines_and_counts_the_others(kinds: str, more: str) -> None:
    every = cases("\n".join(f"+ x | {CPU} | size=1,2 kind={kind} | 1x" for kind in kinds))
    (plot,) = answer("a_new_one", every).plots
    assert [one.label for one in plot.series] == [f"CPU, kind = {kind}" for kind in "abcdef"]
    assert plot.title == f"Do bench_x{more}"


def test_the_rules_ask_for_benchmarks_that_exist() -> None:
    bodies = (path.read_text("utf-8") for path in (ROOT / "benchmarks").glob("bench_*.py"))
    defined = set(re.findall(r"^def (bench_\w+)", "".join(bodies), re.MULTILINE))
    for module in {inspect.getfile(rule.findings) for rule in RULES.values()}:
        named = set(re.findall(r'"(bench_[a-z_]+)"', Path(module).read_text("utf-8")))
        assert named, module
        assert named <= defined, module


BOOST = 1.83e9
PRINTED = "(989 TFLOP/s at a boost clock of 1.83 GHz)"
H200 = "NVIDIA H200"


@pytest.mark.parametrize(
    ("name", "part", "clock", "dtype", "said"),
    [
        (H200, 0.87, None, "bfloat16", f", 87.00% … datasheet's dense bfloat16 peak {PRINTED}."),
        (H200, 0.87, 1.755e9, "bfloat16", ", 90.72% … (948 TFLOP/s at the 1.755 GHz that …)."),
        (H200, 0.87, 1.98e9, "bfloat16", ", … (1.07 PFLOP/s at the 1.98 GHz that were seen)."),
        # Clocks that cannot be the product's: below half, too low for the rate.
        (H200, 0.0435, 0.49 * BOOST, "bfloat16", f", …{PRINTED}."),
        (H200, 0.87, 0.86 * BOOST, "bfloat16", f", …{PRINTED}."),
        (H200, 0.435, 0.51 * BOOST, "bfloat16", ", … (… at the 933.3 MHz that were seen)."),
        (H200, 0.87, 1e9, "float16", "."),  # which accumulates in float16
        ("NVIDIA GB200", 0.87, 1e9, "bfloat16", "…peak (2.5 PFLOP/s)."),
        ("NVIDIA A40", 0.87, 1e9, "int8", "."),
        ("Another", 0.87, 1e9, "float32", "."),
    ],
)
def test_a_rate_is_a_part_of_the_printed_peak_at_the_highest_clock_seen(
    name: str, part: float, clock: float | None, dtype: str, said: str
) -> None:
    work = Work(flops=part * 989e12 * 1e-3)
    one = case("bench_square", [1e-3] * 8, GPU, work=work, n=1024, dtype=dtype)
    values = {"sm_clock_hz": (345e6, 345e6, clock)} if clock else {}
    one.extra_info.telemetry = {GPU: Sensed(readings=3, values=values)}
    made = run_of("matmul", [one], accelerators=1)
    made.frobench.environment.software.flags[peaks.HALF_ACCUMULATOR] = True
    (card,) = made.frobench.environment.accelerators
    card.name = name
    if name == "NVIDIA GB200":
        card.memory_bytes, card.multiprocessors = None, None
    found = by_name(sections(made)[0])[f"best-rate-{GPU}"]
    assert matches(words(found).partition(" in bursts")[2], said)
