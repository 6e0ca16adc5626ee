# SPDX-License-Identifier: MIT
"""What the answers must be, from runs whose truth is known."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from msgspec.structs import replace

from reports.findings import sections
from reports.findings.model import Finding, Plot, Section
from reports.frame import frame
from suite import store
from suite.model import Case, CaseInfo, Exercise, Outcome, Work
from tests import factory

LAUNCHES = 8
WOBBLE = [1.0, 1.3, 0.8, 1.1, 0.9, 1.2, 1.0, 0.85]
"""What a launch does to all its cases alike."""


def case(
    function: str,
    seconds: float | list[float],
    device: str = "cpu",
    *,
    work: Work | None = None,
    overlap: float | None = None,
    **params: Any,  # noqa: ANN401 - whatever a benchmark takes
) -> Case:
    """Build a case that takes `seconds` a call, in each launch or launch by launch."""
    by_launch = seconds if isinstance(seconds, list) else [seconds * factor for factor in WOBBLE]
    name = f"{function}[{'-'.join(str(value) for value in (device, *params.values()))}]"
    parts: dict[str, list[float | None]] = {}
    if overlap is not None:
        parts["overlap"] = [overlap] * LAUNCHES
    info = CaseInfo(
        version="1",
        title=f"Do {function}.",
        headline=True,
        device=device.split("+", maxsplit=1)[0],
        devices=device.split("+"),
        launches=[1] * LAUNCHES,
        iterations=[1] * LAUNCHES,
        warmup=[0.0] * LAUNCHES,
        work=work or Work(),
        check=None,
        parts=parts,
        peak_bytes=None,
        order=list(range(1, LAUNCHES + 1)),
    )
    return Case(
        group="",
        name=name,
        fullname=f"bench.py::{name}",
        params={"device": device, **params},
        param=None,
        extra_info=info,
        options={},
        stats=store.case_stats(by_launch, 1),
    )


def left_out(function: str, status: Any, reason: str, **params: Any) -> Outcome:  # noqa: ANN401
    """Build the outcome of a case that has no answer to give."""
    name = f"bench.py::{function}[{'-'.join(str(value) for value in params.values())}]"
    return Outcome(fullname=name, group="", params=params, status=status, reason=reason)


def answer(
    exercise: str,
    cases: Iterable[Case],
    outcomes: Iterable[Outcome] = (),
    *,
    accelerators: int = 0,
    devices: list[str] | None = None,
) -> Section:
    """Return the section of the report that answers the exercise from these cases."""
    cases = [replace(one, group=exercise) for one in cases]
    passed = [
        Outcome(fullname=one.fullname, group=exercise, params=one.params, status="passed")
        for one in cases
    ]
    base = factory.run(accelerators=accelerators, launches=LAUNCHES)
    part = base.frobench
    settings = replace(part.settings, devices=devices or part.settings.devices)
    part = replace(
        part,
        settings=settings,
        exercises={exercise: Exercise(question="What?", explanation="That.")},
        outcomes=[*passed, *(replace(one, group=exercise) for one in outcomes)],
    )
    run = replace(base, benchmarks=cases, frobench=part)
    return sections(run, frame([run]))[0]


def by_name(section: Section) -> dict[str, Finding]:
    return {finding.name: finding for finding in section.findings}


def plot(section: Section, name: str) -> Plot:
    return next(one for one in section.plots if one.name == name)


def square(
    seconds: Callable[[int], float],
    device: str,
    dtype: str = "float32",
    **more: Any,  # noqa: ANN401
) -> list[Case]:
    """Build products of several sizes."""
    function = more.get("function", "bench_square")
    params: dict[str, Any] = {} if function == "bench_square_with_copies" else {"dtype": dtype}
    return [
        case(function, seconds(n), device, work=Work(flops=2.0 * n**3), n=n, **params)
        for n in (16, 64, 128, 256, 1024)
    ]


def cubic(n: int) -> float:
    """Take as long as 100 GFLOP/s from the smallest size on."""
    return 2 * n**3 / 1e11


def flat(n: int) -> float:  # noqa: ARG001 - whatever the size
    """Take as long for every size as n = 128 takes the other."""
    return 2 * 128**3 / 1e11


def test_the_speed_up_is_of_the_largest_product_and_paired_within_launches() -> None:
    found = by_name(answer("matmul", square(cubic, "cpu") + square(flat, "cuda:0"), accelerators=1))
    value = found["speed-up"].value
    assert value is not None
    assert value.value == pytest.approx(512.0)  # (1024 / 128)^3
    assert value.low == pytest.approx(512.0)  # what moves a launch moves both devices
    assert value.high == pytest.approx(512.0)
    assert "the NVIDIA H200 is 512" in found["speed-up"].answer
    assert "n = 16" in plain(found["speed-up"])


def plain(finding: Finding) -> str:
    return finding.answer.replace("\N{NO-BREAK SPACE}", " ")


def test_the_crossover_lies_where_the_lines_cross_on_log_log_axes() -> None:
    cases = [
        *square(cubic, "cpu"),
        *square(flat, "cuda:0"),
        *square(lambda n: 8 * flat(n), "cuda:0", function="bench_square_with_copies"),
    ]
    found = by_name(answer("matmul", cases, accelerators=1))
    alone, copies = found["crossover"].value, found["crossover-with-copies"].value
    assert alone is not None
    assert copies is not None
    assert alone.value == pytest.approx(128.0)
    assert copies.value == pytest.approx(256.0)


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        (1e-9, "from n = 16, the smallest measured, or below"),
        (1e9, "no size measured, up to n = 1,024"),
    ],
)
def test_a_crossover_outside_the_sizes_is_told_in_words(factor: float, words: str) -> None:
    cases = square(cubic, "cpu") + square(lambda n: factor * flat(n), "cuda:0")
    found = by_name(answer("matmul", cases, accelerators=1))["crossover"]
    assert found.value is None
    assert words in plain(found)


def test_a_crossover_that_some_launches_miss_has_no_number() -> None:
    cases = square(cubic, "cpu")
    cases += [
        case("bench_square", [1e9] * 3 + [flat(n)] * 5, "cuda:0", n=n, dtype="float32")
        for n in (16, 64, 256, 1024)
    ]
    found = by_name(answer("matmul", cases, accelerators=1))["crossover"]
    assert found.value is None
    assert "5 of 8 get there" in found.answer


def test_the_best_rate_is_of_the_best_precision_and_names_the_others() -> None:
    cases = square(cubic, "cpu") + square(lambda n: cubic(n) / 2, "cpu", "bfloat16")
    found = by_name(answer("matmul", cases))["best-rate-cpu"]
    assert found.value is not None
    assert found.value.value == pytest.approx(2e11)
    assert "in bfloat16" in found.answer
    assert "in float32" in found.answer


def test_half_the_best_rate_is_reached_where_a_fixed_cost_equals_the_work() -> None:
    found = by_name(answer("matmul", square(lambda n: max(cubic(n), flat(n)), "cpu")))
    half = found["half-rate-cpu"].value
    assert half is not None
    assert half.value == pytest.approx(128 * 0.5 ** (1 / 3))


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


def loop(function: str, step: float, device: str = "cpu", steps: int = 1000) -> Case:
    """Build a loop over products and norms."""
    return case(function, steps * step, device, work=Work(items=float(steps)), steps=steps)


def loops(device: str) -> list[Case]:
    """Build loops whose step takes 5 µs of launching, 20 of computing, and so on."""
    steps = {
        "bench_launch_only": 5e-6,
        "bench_norm_only": 25e-6,
        "bench_log_kept": 26e-6,
        "bench_log_on_device": 28e-6,
        "bench_item": 35e-6,
        "bench_read_ready": 9e-6,
        "bench_read_ready_log": 2e-6,
    }
    return [loop(function, step, device) for function, step in steps.items()]


def test_norm_logging_gives_the_penalty_and_the_time_of_a_read_back() -> None:
    found = by_name(answer("norm_logging", loops("cpu")))
    penalty, read_back = found["penalty-cpu"].value, found["read-back-cpu"].value
    assert penalty is not None
    assert read_back is not None
    assert penalty.value == pytest.approx(35 / 28)
    assert penalty.low == pytest.approx(35 / 28)
    assert read_back.value == pytest.approx(7e-6)


def test_the_parts_of_a_step_are_the_differences_of_loops() -> None:
    section = answer("norm_logging", loops("cpu"))
    sentence = by_name(section)["parts-cpu"].answer
    parts = {one.label: one.points[0].y.value for one in plot(section, "parts").series}
    assert parts == {
        "launching": pytest.approx(5e-6),
        "computing": pytest.approx(20e-6),
        "keeping the log": pytest.approx(1e-6),
        "reading back": pytest.approx(10e-6),
    }
    for part in ("launching 5", "computing 20", "keeping it takes 1", "moving it once 2"):
        assert part in sentence


def test_the_parts_are_held_against_the_whole() -> None:
    found = by_name(answer("norm_logging", loops("cpu")))["sum-cpu"]
    assert found.value is not None
    assert found.value.value == pytest.approx(34 / 35)
    assert "100" in found.answer  # the log: 26 + 2 of 28


def test_an_accelerator_answers_before_the_cpu() -> None:
    section = answer("norm_logging", loops("cpu") + loops("cuda:0"), accelerators=1)
    assert section.findings[0].name == "penalty-cuda:0"
    assert "NVIDIA H200" in section.findings[0].answer


def test_the_length_of_the_log_stops_mattering_where_its_fixed_cost_is_spread() -> None:
    fixed = 40e-6
    cases = [
        loop("bench_log_on_device", 20e-6 + fixed / steps, steps=steps)
        for steps in (1, 10, 100, 1000)
    ]
    found = by_name(answer("norm_logging", cases))["length-cpu"].value
    assert found is not None
    assert 30 < found.value < 100


def pairs(at_once: Callable[[int], float]) -> list[Case]:
    """Build two products on two halves of the CPU, at once, in sequence and in turn."""
    halves, work = "cpu/0+cpu/1", Work(items=2.0)
    cases = []
    for n in (64, 256, 1024):
        one = 2 * n**3 / 5e10
        cases += [
            case("bench_process_sequence", 2 * one, halves, work=work, n=n),
            case("bench_processes", at_once(n), halves, work=work, overlap=0.9, n=n),
            case("bench_processes_in_turn", 2 * one, halves, work=work, overlap=0.0, n=n),
        ]
    return cases


def test_scaling_efficiency_is_the_sequence_over_twice_the_time_at_once() -> None:
    section = answer("parallel_matmul", pairs(lambda n: 2 * n**3 / 5e10 / 0.8))
    lead = section.findings[0]
    assert lead.value is not None
    assert lead.value.value == pytest.approx(0.8)
    assert "two halves of the CPU" in lead.answer
    assert by_name(section)["threshold-processes-cpu/0+cpu/1"].value is None


def test_nearly_twice_as_fast_is_reached_where_the_cost_of_starting_fades() -> None:
    start = 19 * 64**3 / 5e10  # half of the time of one product of n = 64 * 19 ** (1 / 3)
    section = answer("parallel_matmul", pairs(lambda n: 2 * n**3 / 5e10 + start))
    found = by_name(section)["threshold-processes-cpu/0+cpu/1"].value
    assert found is not None
    assert 256 < found.value < 1024


def test_overlap_stands_beside_its_control() -> None:
    section = answer("parallel_matmul", pairs(lambda n: 2 * n**3 / 5e10))
    found = by_name(section)["overlap-processes-cpu/0+cpu/1"]
    assert found.value is not None
    assert found.value.value == pytest.approx(0.9)
    assert "they share 0" in found.answer


def test_two_accelerators_that_are_not_there_are_missed_in_words() -> None:
    reason = "needs two accelerators; 0 measured here"
    none = left_out("bench_one_thread", "skipped", reason, device="none", n=64)
    found = by_name(answer("parallel_matmul", pairs(float), [none]))
    assert found["efficiency-accelerators"].answer == f"Not measured: {reason}."
    assert found["streams"].answer == "Not measured: no accelerator."


def test_two_accelerators_are_compared_with_the_first_of_them() -> None:
    both = "cuda:0+cuda:1"
    cases = [
        case("bench_sequence", 2e-3, "cuda:0", work=Work(items=2.0), n=1024),
        case("bench_one_thread", 1.25e-3, both, work=Work(items=2.0), n=1024),
    ]
    lead = answer("parallel_matmul", cases, accelerators=2).findings[0]
    assert lead.value is not None
    assert lead.value.value == pytest.approx(0.8)


def test_parameters_are_read_and_written_best_and_the_plain_way_is_held_against_it() -> None:
    work = Work(bytes=4e6, items=32.0)
    times = {
        "bench_read_state_dict": 3e-3,
        "bench_read_flat": 2e-3,
        "bench_write_rebuild": 20e-3,
        "bench_write_copy": 1e-3,
        "bench_write_load": 2e-3,
    }
    cases = [case(name, time, work=work, parameters=10**6) for name, time in times.items()]
    found = by_name(answer("parameters", cases))
    read, write = found["read-cpu"], found["write-cpu"]
    assert read.value is not None
    assert write.value is not None
    assert read.value.value == pytest.approx(2e-3)
    assert "1.5" in read.answer
    assert "GB/s" in read.answer
    assert write.value.value == pytest.approx(1e-3)
    assert "copy_" in write.answer
    assert "20" in write.answer


@pytest.mark.parametrize("exercise", ["matmul", "norm_logging", "parameters", "a_new_one"])
def test_an_exercise_with_no_case_left_says_why(exercise: str) -> None:
    skipped = left_out("bench_any", "skipped", "the disk was full", device="cpu")
    section = answer(exercise, [], [skipped])
    assert section.findings[0].value is None
    assert section.findings[0].answer.startswith("Not measured: ")
    assert section.plots == ()


def test_an_exercise_without_rules_of_its_own_still_answers_and_draws() -> None:
    cases = [case("bench_new", n * 1e-3, n=n) for n in (1, 2, 4)]
    section = answer("a_new_one", cases)
    assert section.title == "A new one"
    assert section.findings[0].value is not None
    assert section.findings[0].value.value == pytest.approx(4e-3)
    assert [point.x for point in section.plots[0].series[0].points] == [1.0, 2.0, 4.0]


def test_below_six_launches_there_is_a_value_without_an_interval() -> None:
    run = factory.run(launches=3)
    found = [
        one for section in sections(run, frame([run])) for one in section.findings if one.value
    ]
    assert found
    assert all(one.value and one.value.low is None for one in found)
    assert all("no interval" in one.answer for one in found)


@pytest.mark.parametrize("accelerators", [0, 1, 2])
def test_every_exercise_of_a_run_ends_in_an_answer(accelerators: int) -> None:
    run = factory.run(accelerators=accelerators, partial=True)
    for section in sections(run, frame([run])):
        assert section.findings[0].answer
        assert all(finding.answer.endswith(".") for finding in section.findings)


def test_the_interval_of_a_noisy_run_holds_the_truth() -> None:
    run = factory.run(accelerators=1, noise=0.02)
    matmul = next(one for one in sections(run, frame([run])) if one.exercise == "matmul")
    value = by_name(matmul)["best-rate-cuda:0"].value
    flops = 2 * 16384**3
    truth = flops / (flops / 7.8e14 + 1.6e-5)
    assert value is not None
    assert value.low is not None
    assert value.high is not None
    assert value.low < truth < value.high
