# SPDX-License-Identifier: MIT
"""What would take too long is left out before it is called, and often before it is set up."""

import pytest

from frobench.suite.measure.timed_loop import Sampler
from frobench.suite.measure.too_slow import Explorer
from frobench.suite.profiles import settings_for
from frobench.suite.stored.types import Work
from tests.instruments.devices.virtual import VirtualClock

LIMIT = 0.25
"""Seconds that a call may take here; the profile's longest call takes 0.2 s."""
Sizes = dict[str, str | int]


@pytest.fixture
def explorer() -> Explorer:
    return Explorer(settings_for("standard", ["cpu"]), lambda: None)


def half(n: int) -> Sizes:
    return {"device": "cpu", "dtype": "float16", "n": n}


def product(n: int) -> Work:
    return Work(flops=2 * n**3)


def tried(
    explorer: Explorer, function: str, sizes: Sizes, work: Work, seconds: float = 1e-6
) -> str | None:
    """Try a case that is set up, whose calls take so long; return why it is left out, if it is."""
    clock = VirtualClock()

    def body() -> None:
        clock.now += seconds

    try:
        explorer.explore((function, sizes), Sampler(body, [], clock=clock), work, LIMIT)
    except pytest.skip.Exception as error:
        return str(error)
    return None


def test_the_smallest_size_is_called(explorer: Explorer) -> None:
    assert tried(explorer, "square", half(4096), product(4096)) is None


@pytest.mark.parametrize(("seconds", "left_out"), [(0.03, False), (0.04, True)])
def test_one_smaller_size_is_scaled_by_the_work_and_believed_within_a_factor_of_ten(
    explorer: Explorer, seconds: float, *, left_out: bool
) -> None:
    explorer.remember(("square", half(512)), product(512), seconds)
    reason = tried(explorer, "square", half(2048), product(2048))
    assert bool(reason) is left_out
    assert reason is None or reason.startswith("predicted to take 2.56 s a call at n=2048")


def test_sizes_that_a_cache_holds_do_not_promise_that_larger_ones_are_as_quick(
    explorer: Explorer,
) -> None:
    for n, seconds in ((128, 97e-6), (256, 1.1e-3), (512, 11e-3), (1024, 0.215)):  # as an EPYC did
        explorer.remember(("square", half(n)), product(n), seconds)
    assert tried(explorer, "square", half(2048), product(2048), seconds=1.9) == (
        "predicted to take 704 ms a call at n=2048, over this profile's 200 ms, "
        "continued from 4 smaller sizes"
    )


@pytest.mark.parametrize("launch", [0.0, 50e-3])
def test_two_smaller_ones_tell_launching_from_computing(explorer: Explorer, launch: float) -> None:
    rate = 1e9
    for n in (16, 64, 256):
        explorer.remember(("square", half(n)), product(n), launch + 2 * n**3 / rate)
    seconds = launch + 2 * 1024**3 / rate
    reason = tried(explorer, "square", half(1024), product(1024)) or ""
    assert reason.startswith(f"predicted to take {seconds:.3g} s a call")


def test_a_larger_call_is_never_predicted_to_be_quicker(explorer: Explorer) -> None:
    explorer.remember(("square", half(128)), product(128), 3.0)
    explorer.remember(("square", half(256)), product(256), 2.0)
    reason = tried(explorer, "square", half(1024), product(1024)) or ""
    assert reason.startswith("predicted to take 2 s a call")


@pytest.mark.parametrize("work", [Work(bytes=1e9), Work(items=1e9)])
def test_bytes_and_items_predict_where_no_flops_are_declared(
    explorer: Explorer, work: Work
) -> None:
    more = Work(bytes=15 * work.bytes) if work.bytes else Work(items=15 * (work.items or 0.0))
    explorer.remember(("copy", {"size": 10}), work, 0.2)
    reason = tried(explorer, "copy", {"size": 150}, more) or ""
    assert reason.startswith("predicted to take 3 s a call")


def test_other_families_predict_nothing(explorer: Explorer) -> None:
    explorer.remember(("square", half(512)), product(512), 0.2)
    assert tried(explorer, "square", half(4096) | {"dtype": "float32"}, product(4096)) is None
    assert tried(explorer, "batched", half(4096), product(4096)) is None


def test_a_size_that_was_disturbed_is_not_continued_in_a_straight_line(explorer: Explorer) -> None:
    for n, seconds in ((16, 5e-6), (64, 6e-6), (256, 0.1)):  # 256 takes 50 us by itself
        explorer.remember(("square", half(n)), product(n), seconds)
    assert tried(explorer, "square", half(1024), product(1024)) is None


def test_so_little_work_that_any_device_does_it_in_time_is_never_left_out_by_prediction(
    explorer: Explorer,
) -> None:
    for n in (8, 16):
        explorer.remember(("square", half(n)), product(n), 0.15)
    assert tried(explorer, "square", half(128), product(128)) is None


def test_everything_larger_than_what_was_left_out_is_refused_with_its_reason(
    explorer: Explorer,
) -> None:
    for n in (256, 512):
        explorer.remember(("square", half(n)), product(n), 1.8 * (n / 1024) ** 3)
    reason = tried(explorer, "square", half(1024), product(1024))
    assert reason == (
        "predicted to take 1.8 s a call at n=1024, over this profile's 200 ms, "
        "continued from 2 smaller sizes"
    )
    assert explorer.refusal(("square", half(2048)), LIMIT) == reason
    assert explorer.refusal(("square", half(512)), LIMIT) is None
    assert explorer.refusal(("square", half(2048) | {"dtype": "float32"}), LIMIT) is None


def test_a_case_whose_calls_may_take_longer_is_not_refused(explorer: Explorer) -> None:
    assert tried(explorer, "square", half(1024), product(1024), seconds=0.5)
    assert explorer.refusal(("square", half(2048)), LIMIT)
    assert explorer.refusal(("square", half(2048)), 10 * LIMIT) is None


def test_a_case_that_is_larger_in_one_size_only_is_not_refused(explorer: Explorer) -> None:
    assert tried(explorer, "train", {"n": 100, "every": 10}, Work(items=1000), seconds=1.0)
    assert explorer.refusal(("train", {"n": 200, "every": 10}), LIMIT)
    assert explorer.refusal(("train", {"n": 10, "every": 1000}), LIMIT) is None


def test_a_whole_number_on_which_the_work_does_not_depend_is_no_size(explorer: Explorer) -> None:
    assert tried(explorer, "step", {"n": 100, "micro": 1}, Work(flops=1e12), seconds=0.3)
    assert explorer.refusal(("step", {"n": 100, "micro": 2}), LIMIT) is None
    assert tried(explorer, "step", {"n": 100, "micro": 2}, Work(flops=1e12), seconds=0.2) is None
    assert tried(explorer, "step", {"n": 100, "micro": 3}, Work(flops=1e13))
    assert explorer.refusal(("step", {"n": 200, "micro": 2}), LIMIT)


def test_what_is_larger_than_a_case_that_hung_is_refused_although_its_work_is_not_known(
    explorer: Explorer,
) -> None:
    explorer.leave_out(("hang", {"n": 2, "tokens": 2}), "it hung")
    for n, tokens in ((4, 2), (2, 4), (4, 4)):
        assert explorer.refusal(("hang", {"n": n, "tokens": tokens}), LIMIT) == "it hung"
    for n, tokens in ((2, 2), (1, 4), (4, 1)):
        assert explorer.refusal(("hang", {"n": n, "tokens": tokens}), LIMIT) is None
