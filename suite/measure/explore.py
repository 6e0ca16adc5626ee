# SPDX-License-Identifier: MIT
"""What a pilot does with a case: call it a few times, if nothing says that it takes too long."""

from collections.abc import Callable, Sequence

import torch

from frobench.suite.errors import TooLongError
from frobench.suite.journal import Measured
from frobench.suite.kit.cases import Parameters
from frobench.suite.kit.garbage import no_garbage_collection
from frobench.suite.machine.accounts import DISTURBED, Accounts, Read, accounts, undisturbed
from frobench.suite.machine.host import cores_in_use
from frobench.suite.measure.climb import LEEWAY, Climb
from frobench.suite.measure.sampler import Clock, Sampler
from frobench.suite.stored.types import Settings, Work

TIMES_THE_LONGEST = 3
"""Times the longest permitted call: if two calls take longer, there is no third."""
PART_OF_DEADLINE = 0.2
"""Part of the deadline: if all calls take longer, another might not end in time."""
SAFE_PART = 0.7
"""Part of the deadline within which calls with one thread must end."""
PATIENCE = 0.3
"""Seconds that a pilot spends on any body before it believes that it is as slow as it seems."""
THREADED = 2.0
"""Assumed speedup of several threads over one, where they disturb each other."""
LEAST_CALLS, EXPLORED = 3, 5
"""Calls at least, since any one may be disturbed (a hopeless body has two), and at most."""


class Explorer:
    """Explores cases, sizes upwards, and leaves out those beyond one that takes too long."""

    def __init__(self, settings: Settings, read: Read = accounts) -> None:
        self.climb = Climb(settings.longest_sample)
        self._settings = settings
        self._read = read

    def explore(
        self,
        function: str,
        parameters: Parameters,
        sampler: Sampler,
        work: Work,
        times: float = LEEWAY,
    ) -> Measured:
        """Call a body a few times; `times` is how often the longest call one of its may take.

        Raises `TooLongError` if a call takes too long, or is predicted to.
        """
        case = function, parameters, work
        if reason := self.climb.predicted_too_long(*case, times):
            raise TooLongError(reason)
        small = self.climb.is_small(work)
        record, calls = explore(sampler, self._settings, small=small, read=self._read)
        if reason := self.climb.takes_too_long(*case, calls, times):
            raise TooLongError(reason, record.warmup + record.sampled)
        return record


def explore(
    sampler: Sampler, settings: Settings, *, small: bool = False, read: Read = accounts
) -> tuple[Measured, list[float]]:
    """Call the body a few times, to see how long a call takes; the first is warm-up.

    Return also the least seconds that each call would have taken had it not waited for the
    processor.

    small : whether the work is so little that any device does it in time
    """
    most = max(TIMES_THE_LONGEST * settings.longest_sample, PATIENCE)
    menacing = PART_OF_DEADLINE * settings.deadline
    hopeless = menacing if small else most
    calls: list[float] = []

    def call() -> float:
        sampler.get_ready()
        before = read()
        queued, seconds, sampler.result = sampler.timed()
        alone = undisturbed(seconds, before, read(), cores_in_use())
        record.samples.append(seconds)
        record.sampled += seconds
        if sampler.queues:
            sampler.parts["enqueue"].append(queued)
        return alone

    with no_garbage_collection():
        begun = sampler.clock()
        record = Measured(warmup=sampler.took())
        first, accounted = sampler.clock(), read()
        while _says_too_little(record.warmup, calls, hopeless, menacing) or (
            len(calls) < EXPLORED and sampler.clock() - first < most
        ):
            calls.append(call())
        if _waited(accounted, read()):
            until = begun + SAFE_PART * settings.deadline
            single = _call_with_one_thread(call, sampler.clock, record, hopeless, until)
            calls += [seconds / THREADED for seconds in single]
        record.prepared = sampler.clock() - begun - record.warmup - record.sampled
        if sampler.other is not None:
            sampler.other.get_ready()
            _, seconds, sampler.other.result = sampler.other.timed()
            record.against = [seconds]
            record.sampled += seconds
    record.undisturbed = min(calls)
    record.parts = sampler.part_medians()
    return record, calls


def _waited(before: Accounts | None, after: Accounts | None) -> bool:
    if before is None or after is None:
        return False
    ran, waited = after.since(before)
    return waited > DISTURBED * (ran + waited)


def _call_with_one_thread(
    call: Callable[[], float], clock: Clock, record: Measured, hopeless: float, until: float
) -> list[float]:
    """Return the undisturbed seconds of calls whose threads do not wait for each other.

    A thread that waits for one whose processor is taken away is busy waiting, which no account
    tells from work.

    hopeless : seconds; a body whose call should take longer with all threads is called once
    until : no call begins that might end after this time of the clock
    """
    threads, calls = torch.get_num_threads(), list[float]()
    seconds = threads * min(record.samples)
    torch.set_num_threads(1)
    try:
        while len(calls) < LEAST_CALLS and clock() + seconds < until:
            calls.append(call())
            seconds = max(record.samples[-len(calls) :])
            if min(calls) > THREADED * hopeless:
                break
    finally:
        torch.set_num_threads(threads)
    return calls


def _says_too_little(
    warmup: float, calls: Sequence[float], hopeless: float, menacing: float
) -> bool:
    """Tell whether another call is needed.

    hopeless : seconds; if two calls take longer, there is no third
    menacing : seconds; if all calls take longer, there is no other
    """
    if calls and min(warmup, *calls) > menacing:
        return False
    is_hopeless = len(calls) > 1 and min(calls) > hopeless
    return len(calls) < LEAST_CALLS and not is_hopeless
