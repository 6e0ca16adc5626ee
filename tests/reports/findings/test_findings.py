# SPDX-License-Identifier: MIT
"""What holds for the answers of every exercise, from runs whose truth is known."""

import inspect
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from frobench.reports.findings import RULES, sections
from frobench.suite.stored import store
from tests.instruments.runs import factory
from tests.instruments.runs.exact_runs import (
    answer,
    by_name,
    case,
    cubic,
    flat,
    left_out,
    loop,
    square,
)


def test_without_an_accelerator_the_cpu_leads_and_the_rest_says_why() -> None:
    section = answer("matmul", square(cubic, "cpu"))
    assert section.findings[0].name == "best-rate-cpu"
    assert by_name(section)["crossover"].answer == "Not measured: no accelerator."


def test_an_accelerator_that_was_left_out_is_not_called_absent() -> None:
    section = answer("matmul", square(cubic, "cpu"), accelerators=1, devices=["cpu"])
    assert by_name(section)["speed-up"].answer == "Not measured: the run left the accelerator out."


def test_many_reasons_are_counted_and_the_first_is_named() -> None:
    skipped = [
        left_out("bench_item", "skipped", f"takes {seconds} s", device="cpu", steps=steps)
        for seconds, steps in ((1, 10), (2, 100), (3, 1000))
    ]
    found = by_name(answer("norm_logging", [loop("bench_log_on_device", 2e-5)], skipped))
    assert found["penalty-cpu"].answer == "Not measured: takes 1 s; and 2 other reasons."


def test_devices_that_no_launch_measured_together_are_not_compared() -> None:
    cpu, gpu = square(cubic, "cpu"), square(flat, "cuda:0")
    for one, launches in ((cpu, [1] * 4 + [0] * 4), (gpu, [0] * 4 + [1] * 4)):
        for measured in one:
            measured.extra_info.launches = launches
            measured.stats = store.case_stats(measured.stats.data[:4], 1)
    found = by_name(answer("matmul", cpu + gpu, accelerators=1))["speed-up"]
    assert found.answer == "Not measured: no launch measured a size on both sides."


def test_a_failed_case_answers_nothing_and_its_reason_stands_there_instead() -> None:
    fast, reason = "bench_square", "wrong result: off by 3"
    failed = left_out(fast, "failed", reason, device="cuda:0", n=16, dtype="float32")
    wrong = case(fast, 1e-9, "cuda:0", n=16, dtype="float32")
    cases = [*square(cubic, "cpu"), replace(wrong, fullname=failed.fullname)]
    section = answer("matmul", cases, [failed], accelerators=1)
    assert by_name(section)["speed-up"].answer == f"Not measured: {reason}."


@pytest.mark.parametrize("exercise", ["matmul", "norm_logging", "parameters", "a_new_one"])
def test_an_exercise_with_no_case_left_says_why(exercise: str) -> None:
    skipped = left_out("bench_any", "skipped", "the disk was full", device="cpu")
    section = answer(exercise, [], [skipped])
    assert section.findings[0].value is None
    assert section.findings[0].answer.startswith("Not measured: ")
    assert section.plots == ()


def test_a_single_size_is_a_number_and_no_line() -> None:
    measured = square(cubic, "cpu")
    assert "curve" in {plot.kind for plot in answer("matmul", measured).plots}
    few = answer("matmul", measured[:1])
    assert "curve" not in {plot.kind for plot in few.plots}


def test_an_exercise_without_rules_of_its_own_still_answers_and_draws() -> None:
    cases = [case("bench_new", n * 1e-3, n=n) for n in (1, 2, 4)]
    section = answer("a_new_one", cases)
    assert section.title == "A new one"
    assert section.findings[0].value.value == pytest.approx(4e-3)
    assert [point.x for point in section.plots[0].series[0].points] == [1.0, 2.0, 4.0]


def test_below_six_launches_there_is_a_value_without_an_interval() -> None:
    run = factory.run(launches=3)
    found = [one for section in sections(run) for one in section.findings if one.value]
    assert found
    assert all(one.value and one.value.low is None for one in found)
    assert all("no interval" in one.answer or one.unit == "n" for one in found)


@pytest.mark.parametrize("accelerators", [0, 1, 2])
def test_every_exercise_of_a_run_ends_in_an_answer(accelerators: int) -> None:
    run = factory.run(accelerators=accelerators, partial=True)
    for section in sections(run):
        assert section.findings[0].answer
        assert all(finding.answer.endswith(".") for finding in section.findings)


def test_the_interval_of_a_noisy_run_holds_the_truth() -> None:
    run = factory.run(accelerators=1, noise=0.02)
    matmul = next(one for one in sections(run) if one.exercise == "matmul")
    value = by_name(matmul)["best-rate-cuda:0"].value
    flops = 2 * 16384**3
    truth = flops / (flops / 7.8e14 + 1.6e-5)
    assert value.low < truth < value.high


@pytest.mark.parametrize(
    "module", sorted({inspect.getfile(one.findings) for one in RULES.values()})
)
def test_the_rules_ask_for_benchmarks_that_exist(module: str) -> None:
    exercises = [name for name in RULES if inspect.getfile(RULES[name].findings) == module]
    benchmarks = Path(__file__).parents[3] / "benchmarks"
    bodies = [(benchmarks / f"bench_{name}.py").read_text(encoding="utf-8") for name in exercises]
    defined = set(re.findall(r"^def (bench_\w+)", "".join(bodies), re.MULTILINE))
    asked = set(re.findall(r'"(bench_[a-z_]+)"', Path(module).read_text(encoding="utf-8")))
    assert asked
    assert asked <= defined
