# SPDX-License-Identifier: MIT
"""What would take too long is left out before it is called."""

import pytest

from frobench.suite.measure.climb import Climb
from frobench.suite.stored.types import Work


@pytest.fixture
def climb() -> Climb:
    return Climb(cap=0.2)


def half(n: int) -> dict[str, str | int]:
    return {"device": "cpu", "dtype": "float16", "n": n}


def product(n: int) -> Work:
    return Work(flops=2 * n**3)


def test_the_smallest_size_has_no_prediction(climb: Climb) -> None:
    assert climb.prediction("square", half(16), product(16)) == (0.0, 0)


def test_a_call_is_predicted_from_the_work_of_a_smaller_one(climb: Climb) -> None:
    climb.climbed("square", half(512), product(512), 0.09)
    assert climb.prediction("square", half(1024), product(1024))[0] == pytest.approx(0.72)


@pytest.mark.parametrize("launch", [0.0, 50e-6])
def test_two_smaller_ones_tell_launching_from_computing(climb: Climb, launch: float) -> None:
    rate = 1e12
    for n in (16, 64, 256):
        climb.climbed("square", half(n), product(n), launch + 2 * n**3 / rate)
    expected = launch + 2 * 1024**3 / rate
    assert climb.prediction("square", half(1024), product(1024))[0] == pytest.approx(expected)


def test_a_larger_call_is_never_predicted_to_be_quicker(climb: Climb) -> None:
    climb.climbed("square", half(16), product(16), 30e-6)
    climb.climbed("square", half(64), product(64), 20e-6)
    assert climb.prediction("square", half(256), product(256))[0] == pytest.approx(20e-6)


def test_bytes_and_items_predict_where_no_flops_are_declared(climb: Climb) -> None:
    climb.climbed("copy", {"size": 10}, Work(bytes=10), 0.01)
    assert climb.prediction("copy", {"size": 30}, Work(bytes=30))[0] == pytest.approx(0.03)


def test_other_families_predict_nothing(climb: Climb) -> None:
    climb.climbed("square", half(512), product(512), 0.09)
    other = half(1024) | {"dtype": "float32"}
    assert climb.prediction("square", other, product(1024)) == (0.0, 0)
    assert climb.prediction("batched", half(1024), product(1024)) == (0.0, 0)


def test_a_size_that_was_disturbed_is_not_continued_in_a_straight_line() -> None:
    climb = Climb(cap=0.2)
    for n, seconds in ((16, 5e-6), (64, 6e-6), (256, 0.1)):  # 256 takes 50 us by itself
        climb.climbed("square", half(n), product(n), seconds)
    assert climb.prediction("square", half(1024), product(1024))[0] < 0.2


def test_so_little_work_that_any_device_does_it_in_time_is_never_left_out_by_prediction(
    climb: Climb,
) -> None:
    for n in (8, 16):
        climb.climbed("square", half(n), product(n), 0.15)
    assert climb.prediction("square", half(128), product(128))[0] >= 0.15
    assert climb.predicted_too_long("square", half(128), product(128)) is None
    assert climb.is_small(product(128))
    assert not climb.is_small(product(512))
    assert not climb.is_small(Work())


def refusal(climb: Climb, function: str, sizes: dict[str, str | int], work: Work) -> str | None:
    return climb.refusal(function, sizes, lambda: work)


def test_everything_larger_than_what_was_left_out_is_refused_with_its_reason(
    climb: Climb,
) -> None:
    for n in (256, 512):
        climb.climbed("square", half(n), product(n), 1.8 * (n / 1024) ** 3)
    reason = climb.predicted_too_long("square", half(1024), product(1024))
    assert reason == (
        "predicted to take 1.8 s a call at n=1024, over this profile's 200 ms, "
        "continued from 2 smaller sizes"
    )
    assert refusal(climb, "square", half(2048), product(2048)) == reason
    assert refusal(climb, "square", half(512), product(512)) is None
    single: dict[str, str | int] = half(2048) | {"dtype": "float32"}
    assert refusal(climb, "square", single, product(2048)) is None


def test_a_case_that_is_larger_in_one_size_only_is_not_refused(climb: Climb) -> None:
    climb.takes_too_long("train", {"n": 100, "every": 10}, Work(items=1000), [1.0] * 3)
    assert refusal(climb, "train", {"n": 100, "every": 100}, Work(items=10_000)) is not None
    assert refusal(climb, "train", {"n": 10, "every": 1000}, Work(items=10_000)) is None


def test_a_whole_number_on_which_the_work_does_not_depend_is_no_size(climb: Climb) -> None:
    work = Work(flops=1e12)
    climb.takes_too_long("step", {"n": 100, "micro": 1}, work, [0.5] * 3)
    assert refusal(climb, "step", {"n": 100, "micro": 2}, work) is None
    assert refusal(climb, "step", {"n": 200, "micro": 2}, Work(flops=8e12)) is not None


def test_what_is_larger_than_a_case_that_hung_is_refused_although_its_work_is_not_known(
    climb: Climb,
) -> None:
    climb.leave_out("hang", {"n": 1}, None, "it hung")
    assert climb.refusal("hang", {"n": 2}, lambda: None) == "it hung"


def test_the_work_is_asked_for_only_where_something_was_left_out(climb: Climb) -> None:
    def find_work() -> Work:
        raise AssertionError

    assert climb.refusal("square", half(16), find_work) is None
