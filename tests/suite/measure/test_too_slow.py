# SPDX-License-Identifier: MIT
"""What would take too long is left out, and never because a call was disturbed."""

import pytest
import torch
from msgspec.structs import replace

from frobench.suite.journal import Measured
from frobench.suite.machine.cpu_time import Accounts
from frobench.suite.measure.timed_loop import Sampler
from frobench.suite.measure.too_slow import Explorer, explore
from frobench.suite.profiles import settings_for
from frobench.suite.stored.types import Settings, Work
from frobench.suite.units import counted
from tests.instruments.devices.virtual import VirtualClock, taking

STANDARD = settings_for("standard", ["cpu"])


def test_the_other_version_is_called_once() -> None:
    clock = VirtualClock()
    sampler = Sampler(taking(clock, 0.04), [], against=taking(clock, 0.01), clock=clock)
    seen, _ = explore(sampler, STANDARD, read=iter([Accounts(1.0, 1.0), *[None] * 99]).__next__)
    assert seen.against == pytest.approx([0.01])
    assert sampler.results[1] == 1
    assert seen.sampled == pytest.approx(sum(seen.samples) + 0.01)


@pytest.mark.parametrize(
    ("computing", "spinning", "calls_of_one_thread"),
    [(0.1, 0.9, 3), (0.1, 8.0, 3), (0.1, 13.0, 0), (2.0, 1.0, 1)],
)
def test_threads_that_wait_for_each_other_on_a_busy_processor_are_not_taken_for_work(
    computing: float, spinning: float, calls_of_one_thread: int
) -> None:
    clock, threads = VirtualClock(), torch.get_num_threads()
    accounted, single = Accounts(0.0, 0.0), 0

    def body() -> None:
        nonlocal accounted, single
        waits = 0.0 if torch.get_num_threads() == 1 else spinning
        single += torch.get_num_threads() == 1
        clock.now += computing + waits
        accounted = Accounts(accounted.ran + computing + 2 * waits, accounted.waited + waits)

    torch.set_num_threads(2)
    try:
        seen, _ = explore(Sampler(body, [], clock=clock), STANDARD, read=lambda: accounted)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
    assert single == calls_of_one_thread
    assert clock.now < STANDARD.deadline
    if calls_of_one_thread:
        assert seen.undisturbed == pytest.approx(computing / 2)


def called(*seconds: float, settings: Settings = STANDARD, small: bool = False) -> int:
    """Return how often a pilot calls a body whose calls take so long, the last value ever on."""
    clock = VirtualClock()
    sampler = Sampler(taking(clock, *seconds), [], clock=clock)
    return len(explore(sampler, settings, small=small, read=lambda: None)[0].samples)


def test_a_long_body_is_called_three_times_and_a_hopeless_one_twice() -> None:
    assert called(1e-3) == 5
    assert called(0.3) == 3
    assert called(1.0) == 2
    assert (called(11.0, small=True), called(13.0, small=True)) == (3, 1)
    assert called(1.0, 1.0, 1e-3) == 3
    brief = replace(STANDARD, longest_sample=1e-3)
    assert (called(0.04, settings=brief), called(0.4, settings=brief)) == (5, 2)


def test_a_pilot_sees_what_comes_before_samples_and_does_not_wait_for_ever() -> None:
    def seen(seconds: float) -> Measured:
        clock = VirtualClock()
        sampler = Sampler(taking(clock, 1e-3), [], clock=clock, before=taking(clock, seconds))
        return explore(sampler, STANDARD, read=lambda: None)[0]

    quick, slow = seen(0.01), seen(1.0)
    assert (len(quick.samples), len(slow.samples)) == (5, 3)
    assert quick.prepared == pytest.approx(6 * 0.01, rel=1e-3)
    assert slow.prepared == pytest.approx(4 * 1.0, rel=1e-3)


LIMIT = 0.25
"""Seconds that a call may take here; the profile's longest call takes 0.2 s."""
Sizes = dict[str, str | int]


def half(n: int) -> Sizes:
    return {"device": "cpu", "dtype": "float16", "n": n}


def product(n: int) -> Work:
    return Work(flops=2 * n**3)


def tried(explorer: Explorer, sizes: Sizes, work: Work, *seconds: float) -> str | None:
    """Try a case whose calls take so long, and are quick else; return why it is left out."""
    clock = VirtualClock()
    sampler = Sampler(taking(clock, *seconds, 1e-6), [], clock=clock)
    try:
        explorer.explore(("square", sizes), sampler, work, LIMIT)
    except pytest.skip.Exception as error:
        return str(error)
    return None


def knowing(*known: tuple[Sizes, Work, float]) -> Explorer:
    """Return what knows of sizes, their work and what a call took."""
    explorer = Explorer(STANDARD, lambda: None)
    for sizes, work, seconds in known:
        explorer.remember(("square", sizes), work, seconds)
    return explorer


def linear(launch: float) -> dict[int, float]:
    """Return what products take whose launches and whose rate are constant."""
    return {n: launch + 2 * n**3 / 1e9 for n in (16, 64, 256)}


EPYC = {128: 97e-6, 256: 1.1e-3, 512: 11e-3, 1024: 0.215}
"""Seconds of small products, which a cache holds; the next one takes 1.9 s."""


@pytest.mark.parametrize(
    ("known", "n", "said"),
    [
        pytest.param({}, 4096, None, id="the smallest size is called"),
        pytest.param({512: 0.0312}, 2048, None, id="one size is believed within a factor of ten"),
        pytest.param({512: 0.0313}, 2048, "2 s a call at n=2048", id="and scaled by the work"),
        pytest.param(EPYC, 2048, "704 ms a call at n=2048", id="a cache promises nothing"),
        pytest.param(linear(50e-3), 1024, "2.2 s a call", id="two tell computing from launching"),
        pytest.param({512: 6.2e-3, 256: 6.2e-3 / 8}, 2048, None, id="two sizes are believed"),
        pytest.param({512: 6.3e-3, 256: 6.3e-3 / 8}, 2048, "403 ms a call", id="within 1.6 times"),
        pytest.param({54: 3.0, 108: 2.0}, 215, None, id="any device does so little in time"),
        pytest.param({54: 3.0, 108: 2.0}, 216, "2 s a call", id="a larger one is never quicker"),
    ],
)
def test_small_cases_foretell_large(known: dict[int, float], n: int, said: str | None) -> None:
    explorer = knowing(*((half(size), product(size), took) for size, took in known.items()))
    reason = tried(explorer, half(n), product(n))
    if said is None:
        assert reason is None
    else:
        assert (reason or "").startswith(f"predicted to take {said}")
        assert (reason or "").endswith(f"continued from {counted(len(known), 'smaller size')}")


@pytest.mark.parametrize(
    ("work", "more"), [(Work(bytes=1e9), Work(bytes=15e9)), (Work(items=1e9), Work(items=15e9))]
)
def test_bytes_and_items_predict_where_no_flops_are_declared(work: Work, more: Work) -> None:
    reason = tried(knowing(({"size": 10}, work, 0.2)), {"size": 150}, more) or ""
    assert reason.startswith("predicted to take 3 s a call")


def test_a_case_is_left_out_by_the_quickest_of_its_calls_and_what_is_larger_with_it() -> None:
    stalled = (20.0, 0.251, 0.251)  # seconds; the first call is never one of those that count
    assert tried(knowing(), half(1024), Work(flops=1e9), *stalled, 0.249) is None
    explorer = knowing()
    reason = tried(explorer, half(1024), Work(flops=1e9), *stalled, 0.251)
    assert reason == (
        "takes at least 251 ms a call at n=1024, over this profile's 200 ms, "
        "in the quickest of 3 calls"
    )
    assert explorer.refusal(("square", half(2048)), LIMIT) == reason
    assert explorer.refusal(("square", half(2048)), 2 * LIMIT) is None  # it may take longer
    for sizes in (half(512), half(2048) | {"dtype": "float32"}):
        assert explorer.refusal(("square", sizes), LIMIT) is None
    other = half(1024) | {"micro": 1}
    explorer.leave_out(("square", other), reason, LIMIT)
    larger = (other | {"micro": 2}, half(2048) | {"micro": 2})  # which alone is no size
    assert [explorer.refusal(("square", sizes), LIMIT) for sizes in larger] == [None, reason]


def test_what_is_larger_than_a_case_that_hung_is_refused_although_its_work_is_not_known() -> None:
    explorer = knowing()
    explorer.leave_out(("hang", {"n": 2, "tokens": 2}), "it hung")
    for n, tokens in ((4, 2), (2, 4), (4, 4)):
        assert explorer.refusal(("hang", {"n": n, "tokens": tokens}), LIMIT) == "it hung"
    for n, tokens in ((2, 2), (1, 4), (4, 1)):
        assert explorer.refusal(("hang", {"n": n, "tokens": tokens}), LIMIT) is None
