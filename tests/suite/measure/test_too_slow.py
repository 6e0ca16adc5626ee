# SPDX-License-Identifier: MIT
"""What would take too long is left out, and never because a call was disturbed."""

from itertools import count

import pytest
import torch
from msgspec.structs import replace

from frobench.suite.journal import Measured
from frobench.suite.machine.cpu_time import Accounts
from frobench.suite.measure.timed_loop import Sampler
from frobench.suite.measure.too_slow import Explorer, explore
from frobench.suite.profiles import settings_for
from frobench.suite.stored.types import Settings, Work
from tests.instruments.devices.piloted import Delay, MadeUp, Pilot
from tests.instruments.devices.virtual import VirtualClock
from tests.suite.measure.test_timed_loop import taking, waiting

STANDARD = settings_for("standard", ["cpu"])
LAUNCH = 5e-6
STALL = 20.0
"""Seconds: longer than any profile allows, and than many of its calls together."""


def family(function: str, rate: float, power: int, sizes: list[int]) -> list[MadeUp]:
    """Return cases whose calls take a launch and their work."""
    return [
        MadeUp(
            function,
            {"device": "cpu", "n": n},
            Work(flops=float(n**power)),
            LAUNCH + n**power / rate,
        )
        for n in sizes
    ]


def micro_batches() -> list[MadeUp]:
    """Return cases with a whole number that is no size: all of them do the same work."""
    found = []
    for micro in (1, 2, 4, 8):
        sizes = {"n": 64, "micro": micro}
        found.append(MadeUp("bench_step", sizes, Work(flops=1e8), 1e-3 * micro))
    return found


CASES = [
    *family("bench_square", 20e9, 3, [16, 64, 128, 256, 1024, 4096]),
    *family("bench_half", 0.6e9, 3, [16, 64, 256, 1024, 2048]),
    *family("bench_loop", 50e3, 1, [10, 100, 1000, 10_000, 100_000]),
    *family("bench_one", 1e6, 1, [1000]),
    *micro_batches(),
]
TOO_LONG = {"bench_square": [4096], "bench_half": [1024, 2048], "bench_loop": [100_000]}


def piloted(disturbed: int | None = None, *, keeps_accounts: bool = True) -> Pilot:
    """Explore all cases; a single call may take much longer than it should."""
    numbers = count()
    pilot = Pilot(
        STANDARD,
        lambda _: Delay(stalled=STALL * (next(numbers) == disturbed)),
        keeps_accounts=keeps_accounts,
    )
    pilot.explore(CASES)
    return pilot


def test_what_takes_too_long_is_left_out_and_nothing_else() -> None:
    left_out = {
        (CASES[place].function, CASES[place].parameters["n"]) for place in piloted().left_out
    }
    assert left_out == {(name, n) for name, sizes in TOO_LONG.items() for n in sizes}


@pytest.mark.parametrize("keeps_accounts", [True, False], ids=["accounts", "no accounts"])
def test_no_single_disturbed_call_changes_what_is_left_out(*, keeps_accounts: bool) -> None:
    calm = piloted(keeps_accounts=keeps_accounts)
    assert calm.calls > 4 * (len(CASES) - len(calm.left_out))
    for disturbed in range(calm.calls):
        shaken = piloted(disturbed, keeps_accounts=keeps_accounts)
        assert shaken.left_out.keys() == calm.left_out.keys(), f"call {disturbed}"


@pytest.mark.parametrize("times", [2, 3])
def test_a_program_that_takes_the_processor_away_leaves_no_case_out(times: int) -> None:
    calm = piloted()
    busy = Pilot(STANDARD, lambda call: Delay(waited=(times - 1) * call), keeps_accounts=True)
    busy.explore(CASES)
    assert busy.left_out.keys() == calm.left_out.keys()


def test_the_other_version_is_called_once() -> None:
    clock = VirtualClock()
    sampler = Sampler(
        taking(clock, lambda _: 0.04), [], against=taking(clock, lambda _: 0.01), clock=clock
    )
    seen, _ = explore(sampler, STANDARD, read=no_accounts)
    assert seen.against == pytest.approx([0.01])
    assert sampler.results[1] == 1
    assert seen.sampled == pytest.approx(sum(seen.samples) + 0.01)


def no_accounts() -> None:
    """Return what a system says that keeps no accounts."""


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


def test_a_product_that_would_take_a_minute_is_not_called() -> None:
    cases = family("bench_half", 0.15e9, 3, [16, 64, 256, 1024, 2048])
    longest = 0.0

    def notice(seconds: float) -> Delay:
        nonlocal longest
        longest = max(longest, seconds)
        return Delay()

    pilot = Pilot(settings_for("rigorous", ["cpu"]), notice, keeps_accounts=True)
    pilot.explore(cases)
    assert cases[-1].seconds > 50
    assert longest < 10
    assert 4 in pilot.left_out


def test_the_reason_says_what_was_measured_or_predicted_and_from_what() -> None:
    reasons = {CASES[place].function: reason for place, reason in piloted().left_out.items()}
    assert reasons["bench_half"] == (
        "predicted to take 1.79 s a call at n=1024, over this profile's 200 ms, "
        "continued from 3 smaller sizes"
    )
    pilot = Pilot(STANDARD, lambda _: Delay(), keeps_accounts=True)
    pilot.explore(family("bench_slow", 1e3, 1, [1, 1000, 2000]))
    assert pilot.left_out[1] == (
        "takes at least 1 s a call at n=1000, over this profile's 200 ms, "
        "in the quickest of 3 calls"
    )
    assert pilot.left_out[2] == pilot.left_out[1]


def called(*seconds: float, settings: Settings = STANDARD, small: bool = False) -> int:
    """Return how often a pilot calls a body whose calls take so long, the last value ever on."""
    clock = VirtualClock()
    body = taking(clock, lambda number: seconds[min(number, len(seconds)) - 1])
    seen, _ = explore(Sampler(body, [], clock=clock), settings, small=small, read=lambda: None)
    return len(seen.samples)


def test_a_long_body_is_called_three_times_and_a_hopeless_one_twice() -> None:
    assert called(1e-3) == 5
    assert called(0.3) == 3
    assert called(1.0) == 2
    assert called(1.0, small=True) == 3
    assert called(1.0, 1.0, 1e-3) == 3
    brief = replace(STANDARD, longest_sample=1e-3)
    assert (called(0.04, settings=brief), called(0.4, settings=brief)) == (5, 2)


def test_a_pilot_sees_what_comes_before_samples_and_does_not_wait_for_ever() -> None:
    def seen(seconds: float) -> Measured:
        clock = VirtualClock()
        body = taking(clock, lambda _: 1e-3)
        sampler = Sampler(body, [], clock=clock, before=waiting(clock, seconds))
        return explore(sampler, STANDARD, read=lambda: None)[0]

    quick, slow = seen(0.01), seen(1.0)
    assert (len(quick.samples), len(slow.samples)) == (5, 3)
    assert quick.prepared == pytest.approx(6 * 0.01, rel=1e-3)
    assert slow.prepared == pytest.approx(4 * 1.0, rel=1e-3)


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


def test_what_is_larger_than_a_case_that_hung_is_refused_although_its_work_is_not_known(
    explorer: Explorer,
) -> None:
    explorer.leave_out(("hang", {"n": 2, "tokens": 2}), "it hung")
    for n, tokens in ((4, 2), (2, 4), (4, 4)):
        assert explorer.refusal(("hang", {"n": n, "tokens": tokens}), LIMIT) == "it hung"
    for n, tokens in ((2, 2), (1, 4), (4, 1)):
        assert explorer.refusal(("hang", {"n": n, "tokens": tokens}), LIMIT) is None
