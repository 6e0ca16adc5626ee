# SPDX-License-Identifier: MIT
"""What the full name of a case says: its benchmark's file and function."""

from frobench.suite.stored.differences import benchmark_of, function_of, name_of


def test_the_benchmark_is_the_full_name_before_the_parameters() -> None:
    assert benchmark_of("benchmarks/bench_a.py::bench_square[cpu-16]") == (
        "benchmarks/bench_a.py::bench_square"
    )


def test_the_function_is_the_name_before_the_parameters() -> None:
    assert function_of("benchmarks/bench_a.py::bench_square[cpu-16]") == "bench_square"
    assert function_of("bench_a.py::bench_plain") == "bench_plain"


def test_parameters_may_hold_what_separates_names() -> None:
    fullname = "mine/bench_a.py::bench_op[cpu-aten::add]"
    assert benchmark_of(fullname) == "mine/bench_a.py::bench_op"
    assert function_of(fullname) == "bench_op"
    assert name_of(fullname) == "op[cpu-aten::add]"
