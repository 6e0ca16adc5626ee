# SPDX-License-Identifier: MIT
"""What two runs' findings say beside each other."""

import msgspec
import pytest

from frobench.reports.compare.comparing import FindingComparison, compare_findings, legend, table
from frobench.reports.findings.finding import RATIO
from frobench.suite.compare.runs import compare_runs
from frobench.suite.stored.types import Run
from tests.instruments.runs import factory


def _runs() -> tuple[Run, Run]:
    return factory.run(seed=1, accelerators=1), factory.run(seed=2, accelerators=1)


def _judged(base: Run, new: Run) -> dict[str, FindingComparison]:
    return {one.name: one for one in compare_findings(base, new, compare_runs(base, new))}


def _scale(run: Run, function: str, factor: float) -> None:
    for case in run.benchmarks:
        if f"::{function}[cuda" in case.fullname:
            case.stats.data = [factor * sample for sample in case.stats.data]


@pytest.mark.parametrize(("factor", "word"), [(0.7, "higher"), (1.4, "lower")])
def test_a_finding_is_higher_or_lower_and_not_faster(factor: float, word: str) -> None:
    base, new = _runs()
    _scale(new, "bench_square", factor)
    judged = _judged(base, new)
    found, crossover = judged["speed-up"], judged["crossover"]
    assert (found.exercise, found.word) == ("matmul", word)
    assert found.ratio is not None
    assert found.ratio.value == pytest.approx(1 / factor, rel=0.03)
    assert found.overlap is False
    assert found.smallest_change == pytest.approx(0.08086, rel=1e-3)
    assert crossover.smallest_change is None
    grid = "  (-: sizes lie on a grid, and what changes less may not move them)"
    assert (grid in legend([found]), grid in legend([crossover])) == (False, True)


def test_a_finding_of_an_incomparable_case_is_incomparable() -> None:
    base, new = _runs()
    for case in new.benchmarks:
        if case.group == "matmul":
            case.extra_info.version = "ffffffffffff"
    found = _judged(base, new)
    assert found["speed-up"].word == "incomparable"
    assert found["speed-up"].ratio is None
    assert found["penalty-cuda:0"].word == "unresolved"
    assert legend([found["speed-up"], found["penalty-cuda:0"]]) == [
        "findings: all exploratory; higher or lower is not always better or worse",
        "  (finds: the smallest change that would have been found in 90%)",
        "no ratio: matmul speed-up: another version of the benchmark: b19efc9ebced -> ffffffffffff",
    ]
    shown = table([found["speed-up"], found["penalty-cuda:0"]], "a", "b")
    assert shown.columns == {"a": ">", "b": ">", "b / a": "<", "verdict": "<", "finds": ">"}
    numbers = f"1.40{RATIO}", f"1.41{RATIO}", f"1.01{RATIO} [0.94, 1.07]"
    assert shown.rows == [("norm_logging", "penalty-cuda:0", *numbers, "(unresolved)", "+8.1%")]


def test_a_number_that_one_run_lacks_is_told_with_what_it_says_instead() -> None:
    found = _judged(factory.run(), factory.run(accelerators=1))["speed-up"]
    assert (found.base is None, found.new is None) == (True, False)
    assert found.reason == "no number in base: Not measured: no accelerator."


def test_two_machines_have_findings_by_kind_of_device_and_no_words() -> None:
    base = factory.run(seed=1, accelerators=1)
    text = msgspec.json.encode(factory.run(seed=2, accelerators=1)).replace(b"cuda:", b"xpu:")
    new = msgspec.json.decode(text, type=Run)
    found = {one.name: one for one in compare_findings(base, new)}
    assert found["best-rate-accelerator"].ratio is not None
    assert {one.word for one in found.values()} == {None}
    assert table([*found.values()], "a", "b").columns == {"a": ">", "b": ">", "b / a": "<"}


def test_where_nobody_can_judge_the_table_says_whether_the_intervals_overlap() -> None:
    base, new = _runs()
    _scale(new, "bench_square", 0.7)
    found = compare_findings(base, new)
    shown = table(found, "a", "b", overlaps=True)
    assert shown.columns == {"a": ">", "b": ">", "b / a": "<", "intervals overlap": "<"}
    rows = {name: [cell.replace(RATIO, "x") for cell in cells] for _, name, *cells in shown.rows}
    assert rows["speed-up"] == ["338x", "476x", "1.406x [1.387, 1.424]", "no"]
    assert rows["penalty-cpu"] == ["0.911x", "0.919x", "1.000x [0.986, 1.024]", "yes"]
