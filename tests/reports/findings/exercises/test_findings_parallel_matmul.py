# SPDX-License-Identifier: MIT
"""Scaling and overlap of products at once whose times are known."""

from collections.abc import Callable

import pytest

from frobench.suite.stored.types import Case, Work
from tests.instruments.runs.exact_runs import answer, by_name, case, left_out, plain, plot

TWO = Work(items=2.0)


def pairs(at_once: Callable[[int], float]) -> list[Case]:
    """Build two products on two halves of the CPU, at once, in sequence and in turn."""
    halves, work = "cpu/0+cpu/1", Work(items=2.0)
    cases = []
    for n in (64, 256, 1024):
        one = 2 * n**3 / 5e10
        cases += [
            case("bench_process_sequence", 2 * one, halves, work=work, n=n),
            case("bench_processes", at_once(n), halves, work=work, concurrency=0.9, n=n),
            case("bench_processes_in_turn", 2 * one, halves, work=work, concurrency=0.0, n=n),
        ]
    return cases


@pytest.mark.parametrize(
    ("speeds", "rule"),
    [
        ({64: 0.5, 256: 1.5, 1024: 1.9}, "Split products from n = 256 on."),
        ({64: 1.5, 256: 0.5, 1024: 0.9}, "Do not split products up to n = 1,024."),
        ({64: 1.5, 256: 1.0, 1024: 1.0}, ""),
    ],
)
def test_products_are_split_from_the_size_on_that_gains(
    speeds: dict[int, float], rule: str
) -> None:
    cases = [
        one
        for n, speed in speeds.items()
        for one in (
            case("bench_process_sequence", 2e-3, "cpu/0+cpu/1", work=TWO, n=n),
            case("bench_processes", 2e-3 / speed, "cpu/0+cpu/1", work=TWO, n=n),
        )
    ]
    found = by_name(answer("parallel_matmul", cases))["efficiency-processes-cpu/0+cpu/1"]
    assert found.rule_of_thumb.replace("\N{NO-BREAK SPACE}", " ") == rule


def test_scaling_efficiency_is_the_sequence_over_twice_the_time_at_once() -> None:
    section = answer("parallel_matmul", pairs(lambda n: 2 * n**3 / 5e10 / 0.8))
    lead = section.findings[0]
    assert lead.value.value == pytest.approx(0.8)
    assert by_name(section)["threshold-processes-cpu/0+cpu/1"].value is None


def test_nearly_twice_as_fast_is_reached_where_the_cost_of_starting_fades() -> None:
    start = 19 * 64**3 / 5e10  # half of the time of one product of n = 64 * 19 ** (1 / 3)
    section = answer("parallel_matmul", pairs(lambda n: 2 * n**3 / 5e10 + start))
    found = by_name(section)["threshold-processes-cpu/0+cpu/1"].value
    assert 256 < found.value < 1024


def test_products_share_what_they_take_less_than_strictly_in_turn() -> None:
    section = answer("parallel_matmul", pairs(lambda n: 2 * n**3 / 5e10))
    found = by_name(section)["overlap-processes-cpu/0+cpu/1"]
    assert found.value.value == pytest.approx(0.9)


def test_an_older_overlap_without_control_is_not_shown() -> None:
    cases = pairs(lambda n: 2 * n**3 / 5e10)
    for one in cases:
        one.extra_info.parts = {"overlap": [0.999] * len(one.extra_info.launches)}
    found = by_name(answer("parallel_matmul", cases))["overlap-processes-cpu/0+cpu/1"]
    assert found.answer == "Not measured: no control strictly in turn."


def test_streams_of_an_engine_that_runs_one_product_at_a_time_share_nothing() -> None:
    streams = case("bench_two_streams", 2e-3, "cuda:0", concurrency=0.0, n=1024)
    streams.extra_info.parts["shared"] = [0.999e-3] * len(streams.extra_info.launches)
    section = answer("parallel_matmul", [streams], accelerators=1)
    found = by_name(section)["overlap-streams"]
    assert found.value.value == 0


def test_two_accelerators_that_are_not_there_are_missed_in_words() -> None:
    reason = "needs two accelerators; 0 measured here"
    none = left_out("bench_one_thread", "skipped", reason, device="none", n=64)
    found = by_name(answer("parallel_matmul", pairs(float), [none]))
    assert found["efficiency-accelerators"].answer == f"Not measured: {reason}."
    assert found["streams"].answer == "Not measured: no accelerator."


def test_with_one_accelerator_the_need_for_two_comes_before_halves_of_the_cpu() -> None:
    reason = "needs two accelerators; 1 measured here"
    none = left_out("bench_one_thread", "skipped", reason, device="none", n=64)
    section = answer("parallel_matmul", pairs(float), [none], accelerators=1)
    assert section.findings[0].answer == f"Not measured: {reason}."


def test_two_accelerators_are_compared_with_the_first_of_them() -> None:
    both = "cuda:0+cuda:1"
    cases = [
        case("bench_sequence", 2e-3, "cuda:0", work=Work(items=2.0), n=1024),
        case("bench_one_thread", 1.25e-3, both, work=Work(items=2.0), n=1024),
    ]
    lead = answer("parallel_matmul", cases, accelerators=2).findings[0]
    assert lead.value.value == pytest.approx(0.8)


def test_two_streams_are_held_against_a_sequence() -> None:
    cases = [
        case("bench_sequence", 2e-3, "cuda:0", work=Work(items=2.0), n=1024),
        case("bench_two_streams", 1.6e-3, "cuda:0", work=Work(items=2.0), n=1024),
    ]
    found = by_name(answer("parallel_matmul", cases, accelerators=1))["streams"].value
    assert found.value == pytest.approx(1.25)


EIGHT = [f"cuda:{index}" for index in range(8)]


def groups(*counts: int, way: str = "bench_one_thread") -> list[Case]:
    """Build products on groups of devices, of which each more costs a tenth of a product."""
    sequence = [
        case("bench_sequence", 2e-3, "cuda:0", work=Work(items=2.0), n=n) for n in (64, 512)
    ]
    return sequence + [
        case(way, 1e-3 * (1 + count / 10), "+".join(EIGHT[:count]), work=Work(items=count), n=n)
        for count in counts
        for n in (64, 512)
    ]


def test_each_group_of_devices_has_its_answer() -> None:
    found = by_name(answer("parallel_matmul", groups(2, 4, 8), accelerators=8))
    for count in (2, 4, 8):
        group = "+".join(EIGHT[:count])
        value = found[f"efficiency-one_thread-{group}"].value
        assert value.value == pytest.approx(1 / (1 + count / 10))
        assert f"threshold-one_thread-{group}" in found
        assert f"overlap-one_thread-{group}" in found


def test_more_and_more_devices_are_followed_from_two_to_all() -> None:
    section = answer("parallel_matmul", groups(2, 4, 8), accelerators=8)
    lead = section.findings[0]
    assert lead.name == "scaling-one_thread"
    assert lead.value.value == pytest.approx(1 / 1.8)
    assert plain(lead).endswith(" of 8 times as fast as one, n = 512.")
    (line,) = plot(section, "scaling").series
    assert {point.x: point.y.value for point in line.points} == pytest.approx(
        {count: 1 / (1 + count / 10) for count in (2, 4, 8)}
    )


def test_two_groups_are_no_series_nor_is_a_group_without_a_common_size() -> None:
    lone = case("bench_one_thread", 1e-3, "+".join(EIGHT), work=Work(items=8), n=1024)
    alone = case("bench_sequence", 2e-3, "cuda:0", work=Work(items=2.0), n=1024)
    for cases in (groups(2, 4), [*groups(2, 4), lone, alone]):
        section = answer("parallel_matmul", cases, accelerators=8)
        names = [found.name for found in section.findings] + [one.name for one in section.plots]
        assert not any(name.startswith("scaling") for name in names)
