# SPDX-License-Identifier: MIT
"""What a pilot does with a case: call it a few times, if nothing says that it takes too long.

A call once begun cannot be interrupted, and a half-precision product that takes 2 s at 1024 takes a
minute at 2048. So the cases of one family, alike in all but their sizes, are called from the
smallest upwards, and the next only if the times of the smaller ones, continued by the declared
work, allow it.

A case is left out only on evidence that a disturbance cannot make: the quickest of several calls,
or a prediction on which the two largest of the smaller sizes agree, each by its quickest call. What
any device does in time is never left out by prediction.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable
from itertools import pairwise
from typing import NoReturn

import pytest

from frobench.suite.journal import Measured
from frobench.suite.kit.cases import Parameters, sizes
from frobench.suite.lazy_torch import is_imported, torch
from frobench.suite.machine.cpu_time import DISTURBED, Read, accounts, undisturbed
from frobench.suite.machine.host import cores_in_use
from frobench.suite.measure.timed_loop import Clock, Sampler, no_garbage_collection
from frobench.suite.profiles import OVER
from frobench.suite.stored.types import Settings, Work
from frobench.suite.units import counted, format_seconds

DOUBT, DEEPER_DOUBT = 1.6, 10.0
"""A prediction by several smaller sizes is tried up to so many times what a call may take, and one
by a single size up to so many times the profile's longest call: rates rise with the size, and one
size does not show what part of its time was launching. So predictions are rather, or much, too
long.
"""
SLOWEST = Work(flops=1e8, bytes=1e8, items=1e3)
"""What any device does in a second, even in half precision without instructions for it."""
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


Case = tuple[str, Parameters]
"""The name of a benchmark, its module's before it, and the parameters of one of its cases."""
Sizes = dict[str, int]


class Explorer:
    """Explores cases, sizes upwards, and leaves out those beyond one that takes too long.

    longest : in all methods, the seconds that a call of the case may take
    """

    def __init__(self, settings: Settings, read: Read = accounts) -> None:
        self._settings = settings
        self._read = read
        # By family: sizes of the cases that were called, their work and seconds.
        self._known: defaultdict[Hashable, list[tuple[Sizes, Work, float]]] = defaultdict(list)
        # Sizes of the cases that were left out, what their calls may take, and why.
        self._left_out: defaultdict[Hashable, list[tuple[Sizes, float, str]]] = defaultdict(list)

    def remember(self, case: Case, work: Work, seconds: float) -> None:
        """Remember how long the quickest of several calls took."""
        self._known[_family(case)].append((sizes(case[1]), work, seconds))

    def leave_out(self, case: Case, reason: str, longest: float = math.inf) -> None:
        """Leave all larger cases of the family out, unless a call of theirs may take longer."""
        self._left_out[_family(case)].append((sizes(case[1]), longest, reason))

    def refusal(self, case: Case, longest: float) -> str | None:
        """Return why a case is left out before it is set up, or `None`.

        Its first size is larger than that of a case which was left out, and no other is smaller.
        Where another size alone is larger, the work decides, which the benchmark declares when it
        is set up: a whole number on which the work does not depend is no size. Beyond a case that
        hung, or took its process with it, any larger size is enough.
        """
        mine = sizes(case[1])
        for other, most, reason in self._left_out[_family(case)]:
            larger = [name for name, size in other.items() if mine[name] > size]
            counts = larger[:1] == [*other][:1] or most == math.inf
            if larger and counts and _covers(mine, other) and longest <= most:
                return reason
        return None

    def explore(self, case: Case, sampler: Sampler, work: Work, longest: float) -> Measured:
        """Call a body a few times.

        Skips the case if a call takes too long, or is predicted to.
        """
        most, slowest = self._settings.longest_sample, _ratios(work, SLOWEST)
        is_small = bool(slowest) and sum(slowest) <= most
        seconds, smaller = self._prediction(case, work)
        doubt = DOUBT * longest if smaller > 1 else max(DOUBT * longest, DEEPER_DOUBT * most)
        if seconds > doubt and not is_small:
            takes = f"predicted to take {format_seconds(seconds)}"
            evidence = f"continued from {counted(smaller, 'smaller size')}"
            self._skip(case, longest, takes, evidence)
        record, calls = explore(sampler, self._settings, small=is_small, read=self._read)
        quickest = min(calls)
        self.remember(case, work, quickest)
        if quickest > longest:
            takes = f"takes at least {format_seconds(quickest)}"
            evidence = f"in the quickest of {counted(len(calls), 'call')}"
            self._skip(case, longest, takes, evidence)
        return record

    def _prediction(self, case: Case, work: Work) -> tuple[float, int]:
        """Return the seconds that a call should take, 0 if unknown, and how many sizes say so.

        One smaller size is scaled by the work, two are continued in a straight line: the second
        shows what part of the first was launching. The shortest prediction counts, because what
        disturbs one of the sizes makes its prediction longer; so both the largest of the smaller
        sizes and the one below it must say that a call takes too long.
        """
        smaller = sorted(
            (next(iter(_ratios(done, work)), 1.0), seconds)
            for other, done, seconds in self._known[_family(case)]
            if _covers(sizes(case[1]), other)
        )
        scaled = [seconds / amount for amount, seconds in smaller[-2:]]
        lines = [
            seconds + max(0.0, seconds - before) / (amount - less) * (1.0 - amount)
            for (less, before), (amount, seconds) in [*pairwise(smaller)][-2:]
            if amount > less
        ]
        return min([*scaled, *lines], default=0.0), len(smaller)

    def _skip(self, case: Case, longest: float, takes: str, evidence: str) -> NoReturn:
        """Leave a case and larger ones out."""
        where = ", ".join(f"{name}={size}" for name, size in sizes(case[1]).items())
        call = f"a call at {where}" if where else "a call"
        limit = f"{OVER} {format_seconds(self._settings.longest_sample)}"
        reason = f"{takes} {call}, {limit}, {evidence}"
        self.leave_out(case, reason, longest)
        raise pytest.skip.Exception(reason)


def _family(case: Case) -> Hashable:
    function, parameters = case
    small = sizes(parameters)
    return function, tuple(pair for pair in parameters.items() if pair[0] not in small)


def _covers(mine: dict[str, int], other: dict[str, int]) -> bool:
    return all(mine[name] >= size for name, size in other.items())


def _ratios(work: Work, of: Work) -> list[float]:
    pairs = ((work.flops, of.flops), (work.bytes, of.bytes), (work.items, of.items))
    return [mine / whole for mine, whole in pairs if mine and whole]


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

    def is_hopeless() -> bool:
        """Tell whether a further call would not make the case's calls quick enough, or end late."""
        late = bool(calls) and min(record.warmup, *calls) > menacing
        return late or (len(calls) > 1 and min(calls) > hopeless)

    with no_garbage_collection():
        begun = sampler.clock()
        record = Measured(warmup=sampler.took())
        first, accounted = sampler.clock(), read()
        while (len(calls) < LEAST_CALLS and not is_hopeless()) or (
            len(calls) < EXPLORED and sampler.clock() - first < most
        ):
            calls.append(call())
        now = read()
        spent = now.since(accounted) if accounted and now else None
        if is_imported() and spent and spent.waited > DISTURBED * (spent.ran + spent.waited):
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
