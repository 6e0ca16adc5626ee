# SPDX-License-Identifier: MIT
"""What an operation costs whatever its size, from times whose launches are known."""

from collections.abc import Callable

import pytest

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

GPU = "cuda:0"
COUNTS = (1, 10, 100, 1000, 10_000)
LAUNCH, REST, RATE = 4e-6, 12e-6, 1e12
LENGTH = 100


def line(count: float) -> float:
    """Take a launch an operation, and what the arithmetic and the waiting take."""
    return REST + LAUNCH * count


def pieces(
    seconds: Callable[[float], float] = line,
    device: str = GPU,
    function: str = "bench_pieces",
    counts: tuple[int, ...] = COUNTS,
) -> list[Case]:
    """Build the same arithmetic in several numbers of operations."""
    return [
        case(function, seconds(count), device, work=Work(items=float(count)), pieces=count)
        for count in counts
    ]


def queued(n: float) -> float:
    """Take the longer of a launch and of computing n numbers, as a device with a queue does."""
    return max(LAUNCH, 1e-6 + n / RATE * 12)


def chain(
    step: Callable[[float], float],
    sizes: tuple[int, ...],
    device: str = GPU,
    function: str = "bench_chain",
) -> list[Case]:
    """Build chains of operations of several sizes."""
    work = Work(items=float(LENGTH))
    return [case(function, LENGTH * step(n), device, work=work, n=n) for n in sizes]


def test_what_each_operation_adds_is_its_cost() -> None:
    section = answer("many_or_one", pieces(), accelerators=1)
    lead = section.findings[0]
    assert lead.name == f"launch-{GPU}"
    assert lead.value.value == pytest.approx(LAUNCH)


def test_a_line_ends_where_the_times_leave_it() -> None:
    def slower(count: float) -> float:
        return line(count) * (2 if count > 1000 else 1)

    section = answer("many_or_one", pieces(slower), accelerators=1)
    assert value(section, f"launch-{GPU}") == pytest.approx(LAUNCH)
    assert len(section.findings[0].cases) == len(pieces()) - 1


def test_where_no_line_fits_no_launch_is_shown() -> None:
    section = answer("many_or_one", pieces(lambda count: 1e-5 * count**0.5), accelerators=1)
    lead = section.findings[0]
    assert lead.name == f"operation-{GPU}"
    assert value(section, lead.name) == pytest.approx(1e-7)
    assert "for each of 10,000 operations on the NVIDIA H200" in lead.answer
    assert f"launch-{GPU}" not in by_name(section)


def test_nothing_is_said_of_a_line_through_two_numbers_of_operations() -> None:
    lead = answer("many_or_one", pieces(device="cpu", counts=(1, 10))).findings[0]
    assert lead.name == "operation-cpu"
    assert "line" not in lead.answer


def test_a_launch_is_hidden_where_a_queue_takes_twice_as_long() -> None:
    cases = chain(queued, (1, 64, 4**8))
    cases += chain(queued, tuple(2**p for p in range(17, 22)), function="bench_chain_large")
    section = answer("many_or_one", cases, accelerators=1)
    assert value(section, f"hidden-{GPU}") == pytest.approx((2 * LAUNCH - 1e-6) * RATE / 12)
    (drawn,) = plot(section, "size").series
    assert [point.x for point in drawn.points] == [1, 64, 4**8, *(2**p for p in range(17, 22))]


def test_a_launch_is_hidden_where_a_cpu_takes_as_long_again() -> None:
    cases = chain(lambda n: 1e-6 + n / 1e10, (1, 4**3, 4**6, 4**8), "cpu")
    section = answer("many_or_one", cases)
    assert value(section, "hidden-cpu") == pytest.approx(1e4, rel=1e-3)
    cases = chain(lambda n: 1e-6 + n / 1e15, (1, 4**3, 4**6, 4**8), "cpu")
    found = by_name(answer("many_or_one", cases))["hidden-cpu"]
    assert found.value is None
    assert "At no size measured, up to n = 65,536" in plain(found)


def test_one_call_and_a_graph_have_their_gains() -> None:
    cases = pieces()
    cases += pieces(lambda count: line(count) / 8, function="bench_pieces_foreach")[3:4]
    cases += pieces(lambda count: line(count) / 16, function="bench_pieces_graph")[3:4]
    section = answer("many_or_one", cases, accelerators=1)
    assert value(section, f"foreach-{GPU}") == pytest.approx(8)
    assert value(section, "graph") == pytest.approx(16)
    assert by_name(section)["graph"].answer.endswith("a recorded graph, 1,000 operations.")
    assert [drawn.label.partition(", ")[2] for drawn in plot(section, "operations").series] == [
        "one after the other",
        "one call of torch._foreach_mul",
        "replaying a recorded graph",
    ]


def test_compiling_has_its_gain_its_time_and_the_calls_that_make_up_for_it() -> None:
    sizes = (64, 4**8)
    cases = chain(lambda n: 2e-6 + n / 1e10, sizes, "cpu")
    compiled = chain(lambda n: 1e-6 + n / 5e11, sizes, "cpu", "bench_chain_compiled")
    for one in compiled:
        one.extra_info.parts["compile"] = [3.0] * LAUNCHES
    section = answer("many_or_one", [*cases, *compiled])
    found = by_name(section)["compile-cpu"]
    small = (2e-6 + 64 / 1e10) / (1e-6 + 64 / 5e11)
    assert value(section, "compile-cpu") == pytest.approx(small)
    # It takes 3 s, and each call saves 100 µs.
    assert found.rule_of_thumb == "Compile what is called more than 30,000 times."
    assert plot(section, "size").series[1].label == "CPU, compiled"


def test_compiling_that_gains_nothing_is_made_up_for_by_no_calls() -> None:
    cases = chain(lambda _: 1e-6, (64,), "cpu")
    cases += chain(lambda _: 2e-6, (64,), "cpu", "bench_chain_compiled")
    cases[-1].extra_info.parts["compile"] = [3.0] * LAUNCHES
    found = by_name(answer("many_or_one", cases))["compile-cpu"]
    assert "0.5" in found.answer
    assert found.rule_of_thumb == ""


def test_what_is_missing_says_why() -> None:
    graphs = left_out(
        "bench_pieces_graph", "skipped", "no graphs here: none", device=GPU, pieces=1000
    )
    compiler = left_out(
        "bench_chain_compiled", "skipped", "no compiler here: none", device=GPU, n=64
    )
    found = by_name(answer("many_or_one", pieces(), [graphs, compiler], accelerators=1))
    assert found["graph"].answer == "Not measured: no graphs here: none."
    assert found[f"compile-{GPU}"].answer == "Not measured: no compiler here: none."
    found = by_name(answer("many_or_one", pieces(device="cpu")))
    assert found["graph"].answer == "Not measured: no accelerator."
