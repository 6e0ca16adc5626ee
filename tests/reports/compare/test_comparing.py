# SPDX-License-Identifier: MIT
"""What two runs' findings say beside each other."""

import msgspec
import pytest

from frobench.reports.compare.comparing import FindingComparison, compare_findings, legend, table
from frobench.suite.compare.runs import compare_runs
from frobench.suite.stored.types import Run
from tests.instruments.runs import factory


def _judged(base: Run, new: Run) -> dict[str, FindingComparison]:
    return {one.name: one for one in compare_findings(base, new, compare_runs(base, new))}


def _scale(run: Run, function: str, factor: float) -> None:
    for case in run.benchmarks:
        if f"::{function}[cuda" in case.fullname:
            case.stats.data = [factor * sample for sample in case.stats.data]


def test_a_finding_of_the_same_code_is_the_same_or_unresolved() -> None:
    found = _judged(factory.run(seed=2, accelerators=1), factory.run(seed=3, accelerators=1))
    assert {one.word for one in found.values() if one.ratio} <= {"same", "unresolved"}
    assert {"speed-up", "crossover", "penalty-cuda:0", "move"} <= set(found)


@pytest.mark.parametrize(("factor", "word"), [(0.7, "higher"), (1.4, "lower")])
def test_a_finding_is_higher_or_lower_and_not_faster(factor: float, word: str) -> None:
    base, new = factory.run(seed=1, accelerators=1), factory.run(seed=2, accelerators=1)
    _scale(new, "bench_square", factor)
    found = _judged(base, new)["speed-up"]
    assert found.word == word
    assert found.ratio is not None
    assert found.ratio.value == pytest.approx(1 / factor, rel=0.03)
    assert found.overlap is False
    assert (found.smallest_change or 1) < 0.1


def test_a_finding_of_an_incomparable_case_is_incomparable() -> None:
    base, new = factory.run(seed=1, accelerators=1), factory.run(seed=2, accelerators=1)
    for case in new.benchmarks:
        if case.group == "matmul":
            case.extra_info.version = "ffffffffffff"
    found = _judged(base, new)
    assert found["speed-up"].word == "incomparable"
    assert "another version" in (found["speed-up"].reason or "")
    assert found["speed-up"].ratio is None
    assert found["penalty-cuda:0"].word != "incomparable"


def test_a_finding_at_another_size_is_another_finding() -> None:
    base, new = factory.run(seed=1, accelerators=1), factory.run(seed=2, accelerators=1)
    new.benchmarks = [case for case in new.benchmarks if case.params.get("n") != 2048]
    found = _judged(base, new)["crossover"]
    assert (found.word, found.reason) == ("incomparable", "computed from other cases")
    assert found.base is not None
    assert found.new is not None


def test_a_finding_that_chooses_the_best_of_the_same_cases_stays_the_same_finding() -> None:
    base, new = factory.run(seed=1), factory.run(seed=2)
    for case in new.benchmarks:  # now another size is the fastest
        if case.name == "bench_square[cpu-256-bfloat16]":
            case.stats.data = [sample / 3 for sample in case.stats.data]
    found = _judged(base, new)["best-rate-cpu"]
    assert found.word == "higher"


def test_a_difference_below_zero_has_no_ratio() -> None:
    run = factory.run()
    found = _judged(run, run)["read-back-cpu"]
    assert found.reason == "not positive in every launch"
    assert found.overlap is True


def test_two_machines_have_findings_by_kind_of_device_and_no_words() -> None:
    base = factory.run(seed=1, accelerators=1)
    text = msgspec.json.encode(factory.run(seed=2, accelerators=1)).replace(b"cuda:", b"xpu:")
    new = msgspec.json.decode(text, type=Run)
    found = {one.name: one for one in compare_findings(base, new)}
    assert found["best-rate-accelerator"].ratio is not None
    assert {one.word for one in found.values()} == {None}
    assert "verdict" not in table([*found.values()], "a", "b").columns


def test_findings_without_a_ratio_are_named_with_the_reason_and_have_no_row() -> None:
    found = compare_findings(factory.run(), factory.run(accelerators=1))
    without = {one.name for one in found if one.ratio is None}
    assert without
    assert not without & {name for _, name, *_ in table(found, "base", "new").rows}
    named = " ".join(line for line in legend(found) if line.startswith("no ratio: "))
    assert "no number in base" in named


def test_where_nobody_can_judge_the_table_says_whether_the_intervals_overlap() -> None:
    base, new = factory.run(seed=1, accelerators=1), factory.run(seed=2, accelerators=1)
    _scale(new, "bench_square", 0.7)
    found = compare_findings(base, new)
    rows = {name: cells for _, name, *cells in table(found, "a", "b", overlaps=True).rows}
    assert rows["speed-up"][-1] == "no"
    assert rows["penalty-cpu"][-1] == "yes"
