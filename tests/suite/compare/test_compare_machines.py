# SPDX-License-Identifier: MIT
"""What two machines side by side show, and what they do not."""

from itertools import chain

import msgspec
import pytest

from frobench.suite.compare.pairs import MachineComparison, compare_machines
from frobench.suite.stored.types import Conclusion, Outcome, Run
from frobench.suite.terminal import comparison
from tests.instruments.runs import factory


def _as_xpu(run: Run) -> Run:
    """Turn every ``cuda`` of a run into an ``xpu``, as another vendor's machine would name it."""
    text = msgspec.json.encode(run).decode().replace("cuda:", "xpu:")
    other = msgspec.json.decode(text, type=Run)
    for device in other.frobench.environment.accelerators:
        device.name = "Another accelerator"
    return other


@pytest.fixture(scope="module")
def found() -> MachineComparison:
    """Compare an H200 with another vendor's accelerator that takes 0.8 times as long."""
    base = factory.run(seed=1, accelerators=1)
    return compare_machines(base, _as_xpu(factory.run(seed=2, accelerators=1, slower=0.8)))


def test_accelerator_is_held_against_accelerator_whatever_their_names(
    found: MachineComparison,
) -> None:
    (case,) = (one for one in found.ratios if "bench_square[cuda:0-1024-float32]" in one.base_case)
    assert case.new_case.endswith("bench_square[xpu:0-1024-float32]")
    assert case.speed is not None
    assert case.speed.value == pytest.approx(1 / 0.8, rel=0.03)
    assert (case.speed.low or 2) < case.speed.value < (case.speed.high or 0)
    assert not found.unmatched
    labels = {row[1] for row in comparison.of_ratios(found.ratios).rows}
    assert "square[accelerator-1024-float32]" in labels


def test_there_are_no_verdicts(found: MachineComparison) -> None:
    shown = [*chain(*comparison.of_ratios(found.ratios).rows)]
    told = "\n".join([*shown, *comparison.of_machines(found)])
    for word in ("faster", "slower", "same", "unresolved", "incomparable"):
        assert word not in told


def test_what_differs_between_the_machines_is_the_list_without_what_follows(
    found: MachineComparison,
) -> None:
    assert [each.fact for each in found.differences] == ["accelerators"]


def test_a_case_that_one_machine_lacks_is_named_with_the_reason() -> None:
    base, new = factory.run(seed=1), factory.run(seed=2)
    lost = next(case for case in new.benchmarks if case.group == "matmul")
    new.benchmarks.remove(lost)
    outcome = next(one for one in new.frobench.outcomes if one.fullname == lost.fullname)
    outcome.status, outcome.reason = "skipped", "does not fit the memory"
    found = compare_machines(base, new)
    assert [(one.fullname, one.measured_in, one.reason) for one in found.unmatched] == [
        (lost.fullname, "base", "skipped there: does not fit the memory")
    ]


def test_a_machine_without_an_accelerator_is_compared_on_the_cpu_alone() -> None:
    found = compare_machines(factory.run(), factory.run(accelerators=1))
    assert "accelerator" not in {case.place for case in found.ratios}
    assert {one.reason for one in found.unmatched if "cuda" in one.fullname} == {
        "0 accelerators measured there"
    }


def test_other_benchmarks_and_wrong_results_have_no_ratio() -> None:
    base, new = factory.run(seed=1), factory.run(seed=2)
    other, wrong = new.benchmarks[0], new.benchmarks[1]
    other.extra_info.version = "ffffffffffff"
    reason = Outcome(
        fullname=wrong.fullname, group=wrong.group, params={}, status="failed", reason="it hung"
    )
    new.frobench.outcomes.append(reason)
    found = compare_machines(base, new)
    assert [case.speed for case in found.ratios[:2]] == [None, None]
    assert found.ratios[1].reason == "failed in new: it hung"
    told = comparison.of_machines(found)
    assert any(line.startswith("no ratio: ") and "another version" in line for line in told)
    assert len(comparison.of_ratios(found.ratios).rows) == len(found.ratios) - 2


def test_what_failed_on_another_accelerator_than_the_one_compared_is_nothing_to_it() -> None:
    base = factory.run(seed=1, accelerators=1)
    first, second = _as_xpu(base), factory.run(seed=2, accelerators=1)
    second.benchmarks = [*first.benchmarks, *second.benchmarks]
    for outcome in second.frobench.outcomes:
        if "cuda:0" in outcome.fullname:
            outcome.status = "failed"
    found = compare_machines(base, second)
    mine = [one for one in found.ratios if "cuda:0" in one.base_case]
    assert len(mine) > 1
    assert all("xpu:0" in one.new_case and one.speed for one in mine)


def test_an_error_of_a_whole_run_leaves_no_ratio() -> None:
    base, new = factory.run(seed=1), factory.run(seed=2)
    error = Conclusion(code="repeated-samples", severity="error", message="twice", advice="")
    new.frobench.conclusions.append(error)
    found = compare_machines(base, new)
    assert found.faults == ["repeated-samples in new: twice"]
    assert {case.speed for case in found.ratios} == {None}


def test_the_same_machine_may_be_held_beside_itself() -> None:
    run = factory.run()
    found = compare_machines(run, run)
    assert "Nothing differs that is known to move numbers." in comparison.of_machines(found)
    assert all(one.speed.value == pytest.approx(1) for one in found.ratios if one.speed)
