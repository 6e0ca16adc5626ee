# SPDX-License-Identifier: MIT
"""Ways to read and write parameters whose times are known."""

import pytest

from frobench.suite.stored.types import Work
from tests.instruments.runs.exact_runs import LAUNCHES, answer, by_name, case


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
    assert read.value.value == pytest.approx(2e-3)
    assert read.rule_of_thumb == "Read them joined on the device, in one copy."
    assert write.value.value == pytest.approx(1e-3)
    assert "copy_" in write.answer
    assert write.rule_of_thumb == "Write them in place with copy_."


def test_the_plain_way_is_advised_where_nothing_is_measurably_faster() -> None:
    up = [1e-3 * (1 + 0.01 * n) for n in range(LAUNCHES)]
    ways = {"rebuild": up, "copy": up[::-1]}
    cases = [case(f"bench_write_{way}", time, parameters=10**6) for way, time in ways.items()]
    write = by_name(answer("parameters", cases))["write-cpu"]
    assert write.rule_of_thumb.startswith("Write them building the model anew")


def test_moving_a_model_has_a_time() -> None:
    work = Work(bytes=8e6, items=64.0)
    moved = [case("bench_move", 1e-3, "cuda:0", work=work, parameters=10**6)]
    found = by_name(answer("parameters", moved, accelerators=1))["move"]
    assert found.value.value == pytest.approx(1e-3)


def test_charts_begin_with_the_model_that_the_answers_are_about() -> None:
    small = [case(f"bench_read_{how}", 1e-3, parameters=10**6) for how in ("state_dict", "flat")]
    large = [case("bench_read_scalar", 1e-6, parameters=10**8)]
    section = answer("parameters", small + large)
    assert [plot.name for plot in section.plots] == ["reading-1000000", "reading-100000000"]
