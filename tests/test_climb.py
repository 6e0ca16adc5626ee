# SPDX-License-Identifier: MIT
"""What would take too long is left out before it is called."""

import pytest

from suite.climb import Climb
from suite.model import Work


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


def test_everything_larger_than_what_was_left_out_is_refused_with_its_reason(
    climb: Climb,
) -> None:
    reason = climb.leave_out("square", half(1024), 1.8, "predicted to take")
    assert reason == "predicted to take 1.8 s a call at n=1024, over this profile's 200 ms"
    assert climb.refusal("square", half(2048)) == reason
    assert climb.refusal("square", half(512)) is None
    assert climb.refusal("square", half(2048) | {"dtype": "float32"}) is None


def test_a_case_that_is_larger_in_one_size_only_is_not_refused(climb: Climb) -> None:
    climb.leave_out("train", {"n": 100, "every": 10}, 1.0, "takes")
    assert climb.refusal("train", {"n": 100, "every": 100}) is not None
    assert climb.refusal("train", {"n": 10, "every": 1000}) is None
