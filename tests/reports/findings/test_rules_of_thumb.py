# SPDX-License-Identifier: MIT
"""Leading answers end with a rule of thumb, as far as their numbers support one."""

import pytest

from frobench.suite.stored.types import Case, Work
from tests.instruments.runs.exact_runs import LAUNCHES, answer, by_name, case

LARGE = 4**13


def rule(exercise: str, name: str, *cases: Case) -> str:
    return str(by_name(answer(exercise, [*cases]))[name].rule_of_thumb)


def read(way: str, seconds: float | list[float]) -> Case:
    return case(f"bench_read_{way}", seconds, work=Work(bytes=4e6), parameters=10**6)


def test_parameters_are_read_the_fastest_way_or_the_plain_one_where_none_is_faster() -> None:
    assert rule("parameters", "read-cpu", read("state_dict", 3e-3), read("flat", 2e-3)) == (
        "Read them joined on the device, in one copy."
    )
    up = [1e-3 * (1 + 0.01 * n) for n in range(LAUNCHES)]
    down = [0.999 * seconds for seconds in up[::-1]]
    assert rule("parameters", "read-cpu", read("state_dict", up), read("flat", down)) == (
        "Read them tensor by tensor: nothing was measurably faster."
    )


@pytest.mark.parametrize(
    ("drawing", "expected"),
    [(5e-3, "Do not draw random numbers that will be overwritten."), (1e-3, "")],
)
def test_random_numbers_are_not_drawn_in_vain_where_they_are_dearer(
    drawing: float, expected: str
) -> None:
    made = [
        case("bench_create", seconds, n=4096, values=kind)
        for kind, seconds in (("randn", drawing), ("full", 1e-3))
    ]
    assert rule("placement", "create-randn-cpu", *made) == expected


def within(*rates: float) -> list[Case]:
    """Return copies of ascending sizes at these rates, on no line."""
    return [
        case("bench_within", (size := LARGE >> 4 * at) / rate, work=Work(bytes=size), size=size)
        for at, rate in enumerate(reversed(rates))
    ]


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        ((1e9, 9e10, 2e10), "Work in pieces of 4 MiB or less: caches copy them faster."),
        ((1e9, 2e9, 2e10), "Join small copies."),
        ((2e10, 2e10, 2e10), ""),
    ],
)
def test_sizes_of_copies_are_advised_by_which_are_faster(
    rates: tuple[float, ...], expected: str
) -> None:
    found = answer("copies", within(*rates)).findings
    rules = [one.rule_of_thumb for one in found if one.name == "rate-within-cpu"]
    assert rules == [expected] or (not rules and not expected)


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (0.04, "Leave the embedding where it is."),
        (0.3, ""),
        (0.7, "Make the embedding faster before the layers."),
    ],
)
def test_an_embedding_is_worth_a_change_by_its_part_of_the_pass(
    share: float, expected: str
) -> None:
    passes = [
        case("bench_embedding", share * 0.1, tokens=16384),
        case("bench_forward", 0.1, tokens=16384),
    ]
    assert rule("split_model", "embedding-cpu", *passes) == expected


@pytest.mark.parametrize(
    ("fast", "expected"), [(4e-3, "Use bfloat16 where its precision is enough."), (20e-3, "")]
)
def test_a_precision_is_advised_where_it_is_faster_than_float32(fast: float, expected: str) -> None:
    work = Work(flops=1e12)
    products = [
        case("bench_product", seconds, work=work, dtype=dtype, m=2048, n=2048, k=2048)
        for dtype, seconds in (("bfloat16", fast), ("float32", 16e-3))
    ]
    assert rule("attainable_peak", "peak-cpu", *products) == expected


@pytest.mark.parametrize(("far", "words"), [(1.1, "Read them tensor by tensor"), (3.0, "")])
def test_an_interval_wider_than_a_factor_of_two_supports_no_rule(far: float, words: str) -> None:
    apart = [1e-3 * (far if launch % 2 else 1 / far) for launch in range(LAUNCHES)]
    flat = [1.001e-3 * (1 if launch % 3 else far) for launch in range(LAUNCHES)]
    found = rule("parameters", "read-cpu", read("state_dict", apart), read("flat", flat))
    assert found.partition(":")[0] == words
