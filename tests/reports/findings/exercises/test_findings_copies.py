# SPDX-License-Identifier: MIT
"""What moving data costs, from copies whose latency and bandwidth are known."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from frobench.reports.charts.axes import describe
from frobench.suite.stored.types import Case, Work
from tests.instruments.runs.exact_runs import (
    LAUNCHES,
    answer,
    by_name,
    case,
    left_out,
    plain,
    plot,
    value,
)

SIZES = (4, 4**5, 4**9, 4**13)
GPU, PAIR = "cuda:0", "cuda:0+cuda:1"
LARGE = SIZES[-1]


def link(size: float) -> float:
    """Take 20 µs and a nanosecond for ten bytes."""
    return 20e-6 + size / 1e10


def copies(
    function: str,
    device: str = GPU,
    seconds: Callable[[float], float] = link,
    times: int = 1,
    **params: Any,  # noqa: ANN401 - whatever a benchmark takes
) -> list[Case]:
    """Build copies of several sizes, whose bytes count so many times."""
    return [
        case(f"bench_{function}", seconds(n), device, work=Work(bytes=times * n), size=n, **params)
        for n in SIZES
    ]


def pinned(function: str, memory: str = "non_blocking") -> list[Case]:
    return copies(function, memory=memory)


def test_a_link_has_a_latency_a_bandwidth_and_a_size_that_gets_half_of_it() -> None:
    section = answer("copies", copies("to_device", memory="pageable"), accelerators=1)
    lead = section.findings[0]
    assert lead.name == f"bandwidth-to-device-{GPU}"
    assert lead.value.value == pytest.approx(1e10)
    assert "from pageable memory to the NVIDIA H200" in lead.answer
    assert "a latency of 20 µs [" in lead.answer
    assert (
        "half of that bandwidth at 195.3 KiB [" in lead.answer
    )  # 20 µs at 10 GB/s, alike in all launches


def test_where_no_line_fits_there_is_a_rate_and_no_latency() -> None:
    def two_slopes(size: float) -> float:
        return link(size) if size < LARGE else 5 * link(size)

    cases = copies("to_host", seconds=two_slopes, memory="pinned")
    section = answer("copies", cases, accelerators=1)
    lead = section.findings[0]
    assert lead.name == f"rate-to-host-pinned-{GPU}"
    assert lead.value.value == pytest.approx(LARGE / two_slopes(LARGE))
    assert " for 64 MiB from the NVIDIA H200 to pinned memory, 3.2% [" in plain(lead)
    assert "(63 GB/s, PCIe 5.0 x16); 20 µs" in plain(lead)
    assert "latency" not in lead.answer


def test_nothing_is_said_of_a_line_through_two_sizes() -> None:
    cases = copies("within", "cpu", times=2)[:2]
    lead = answer("copies", cases).findings[0]
    assert lead.name == "rate-within-cpu"
    assert "line" not in lead.answer


def test_a_copy_within_a_device_reads_and_writes_but_its_size_is_that_of_the_tensor() -> None:
    section = answer("copies", copies("within", "cpu", times=2))
    assert value(section, "bandwidth-within-cpu") == pytest.approx(2e10)
    assert "195.3 KiB" in section.findings[0].answer


def test_without_accelerators_it_says_so_and_the_cpu_still_answers() -> None:
    reason = "needs two accelerators; 0 measured here"
    none = left_out("bench_between", "skipped", reason, device="none", size=4, way="direct")
    found = by_name(answer("copies", copies("within", "cpu"), [none]))
    for name in ("to-device", "between", "non-blocking", "both-ways"):
        assert found[name].answer == "Not measured: no accelerator."


def test_one_accelerator_alone_has_no_other_to_copy_to() -> None:
    reason = "needs two accelerators; 1 measured here"
    none = left_out("bench_between", "skipped", reason, device="none", size=4, way="direct")
    found = by_name(answer("copies", pinned("to_device", "pinned"), [none], accelerators=1))
    assert found["between"].answer == f"Not measured: {reason}."


def test_a_copy_that_is_not_waited_for_holds_the_thread_less_long() -> None:
    cases = []
    for memory, held in (("pinned", 6.7e-3), ("non_blocking", 5e-6)):
        for one in pinned("to_device", memory):
            one.extra_info.parts["enqueue"] = [held] * LAUNCHES
            cases.append(one)
    section = answer("copies", cases, accelerators=1)
    assert value(section, "non-blocking") == pytest.approx(5e-6)
    assert "64 MiB" in by_name(section)["non-blocking"].answer


def test_both_directions_at_once_are_held_against_their_control_in_turn() -> None:
    both = [
        case("bench_both_ways", link(n), GPU, work=Work(bytes=2 * n), size=n, concurrency=0.8)
        for n in SIZES
    ]
    section = answer("copies", both, accelerators=1)
    assert value(section, "both-ways") == pytest.approx(1.4)
    lone = answer("copies", copies("both_ways", times=2), accelerators=1)
    assert by_name(lone)["both-ways"].answer == "Not measured: no control strictly in turn."


def test_all_devices_at_once_are_held_against_the_first_alone() -> None:
    def shared(size: float) -> float:
        return 2 * link(size)

    cases = pinned("to_host") + copies("all_at_once", PAIR, shared, 2, direction="to_host")
    section = answer("copies", cases, accelerators=2)
    assert value(section, f"all-to-host-{PAIR}") == pytest.approx(0.5)


def test_every_group_of_devices_at_once_has_an_answer_of_its_own() -> None:
    cases = pinned("to_device")
    places = {count: "+".join(f"cuda:{index}" for index in range(count)) for count in (2, 4, 8)}
    for count, place in places.items():
        slower, work = count * link(LARGE) / 2, Work(bytes=count * LARGE)
        together = partial(case, "bench_all_at_once", direction="to_device")
        cases.append(together(slower, place, work=work, size=LARGE))
    section = answer("copies", cases, accelerators=8)
    for count, place in places.items():
        assert value(section, f"all-to-device-{place}") == pytest.approx(2 / count)
        assert f"of {count} times" in by_name(section)[f"all-to-device-{place}"].answer


def test_cold_caches_are_held_against_warm_ones_size_by_size() -> None:
    cases = copies("within", "cpu", times=2)
    for size, longer in zip(SIZES, (8.0, 4.0, 1.5, 1.04), strict=True):
        cases.append(case("bench_within_cold", longer * link(size), "cpu", size=size))
    section = answer("copies", cases)
    assert value(section, "cold-copy-cpu") == pytest.approx(8.0)
    assert plain(by_name(section)["cold-copy-cpu"]).endswith("] as long with cold caches at 4 B.")
    rule = by_name(section)["cold-copy-cpu"].rule_of_thumb
    assert rule == "Up to 256 KiB keep inputs in the caches."
    (line,) = plot(section, "cold-copy").series
    assert [point.y.value for point in line.points] == pytest.approx([8.0, 4.0, 1.5, 1.04])


def test_an_array_and_a_print_have_their_times() -> None:
    cases = copies("within", "cpu")
    cases += [case("bench_numpy", 1e-6, size=size) for size in (4**6, 4**12)]
    cases += [case("bench_print", 1e-6 * size, size=size) for size in (4, 4000)]
    section = answer("copies", cases)
    assert value(section, "numpy-cpu") == pytest.approx(1e-6)
    assert "shares its memory" in by_name(section)["numpy-cpu"].answer
    assert value(section, "print-cpu") == pytest.approx(4e-3)


def test_each_kind_of_copy_is_a_line_over_sizes_in_bytes() -> None:
    cases = [
        *copies("to_device", memory="pageable"),
        *copies("to_host", memory="pinned"),
        *copies("both_ways", times=2),
        *copies("between", PAIR, way="direct"),
        *copies("within", times=2),
    ]
    section = answer("copies", cases, accelerators=2)
    one, pair = plot(section, f"bandwidth-{GPU}"), plot(section, f"bandwidth-{PAIR}")
    assert [line.label for line in one.series] == [
        "to it, pageable",
        "from it, pinned",
        "both at once",
    ]
    assert [line.label for line in pair.series] == ["between them"]
    assert "at 4 B, " in describe(one)
    assert "at 64 MiB" in describe(one)
