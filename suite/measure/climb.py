# SPDX-License-Identifier: MIT
"""Climbing a family of sizes: what would take too long is left out before it is called.

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
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

from frobench.suite.kit.cases import Parameters, sizes
from frobench.suite.stored.types import Work
from frobench.suite.units import counted, format_seconds

LEEWAY = 1.25
"""Times the permitted call beyond which a case is left out: nearer to the limit the machine's state
of the moment would decide."""
AS_BEFORE = 2.0
"""A case that the machine's last run measured may take so many times the permitted call, and one
that it left out must take less by this factor: two runs should have the same cases."""
OVER = "over this profile's"
"""What every reason says of a case that takes too long."""
DOUBT, DEEPER_DOUBT = 1.6, 10.0
"""A prediction by several smaller sizes is tried up to so many times what a call may take, and one
by a single size up to so many times the permitted call: rates rise with the size, and one size
cannot tell what part of its time was launching, so predictions are rather, or much, too long."""
SLOWEST = Work(flops=1e8, bytes=1e8, items=1e3)
"""What any device does in a second, even in half precision without instructions for it."""
ANCHORS = 2
"""Smaller sizes, the largest ones, each of which must say that a call takes too long."""


class _Known(NamedTuple):
    sizes: dict[str, int]
    work: Work
    seconds: float


class _LeftOut(NamedTuple):
    sizes: dict[str, int]
    work: Work | None
    reason: str
    times: float


class Climb:
    """Remembers how long each size took, and refuses what would take longer than `cap` seconds.

    In all methods, `times` is how often the cap a call of the case may take.
    """

    def __init__(self, cap: float) -> None:
        self.cap = cap
        self._known: defaultdict[Hashable, list[_Known]] = defaultdict(list)
        self._left_out: defaultdict[Hashable, list[_LeftOut]] = defaultdict(list)

    def is_small(self, work: Work) -> bool:
        """Tell whether any device does the work in time."""
        seconds = _ratios(work, SLOWEST)
        return bool(seconds) and sum(seconds) <= self.cap

    def refusal(
        self,
        function: str,
        parameters: Parameters,
        find_work: Callable[[], Work | None],
        times: float = LEEWAY,
    ) -> str | None:
        """Return why a case that is not set up yet is left out, or `None`.

        A case that was left out excludes those that are in no size smaller and whose work is more,
        unless they may take longer: a whole number on which the work does not depend is no size.

        find_work : returns the work of a call, if that can be known before it is set up
        """
        left_out = self._left_out[_family(function, parameters)]
        beyond = [
            other
            for other in left_out
            if other.times >= times and _is_larger(parameters, other.sizes)
        ]
        work = find_work() if beyond else None
        for other in beyond:
            if work is None or other.work is None or _amount(other.work, work) < 1:
                return other.reason
        return None

    def prediction(self, function: str, parameters: Parameters, work: Work) -> tuple[float, int]:
        """Return the seconds that a call should take, 0 if unknown, and how many sizes say so.

        One smaller size is scaled by the work, two are continued in a straight line: the second
        tells what part of the first was launching. The shortest prediction counts, because what
        disturbs one of the sizes makes its prediction longer.
        """
        smaller = sorted(
            (_amount(other.work, work), other.seconds)
            for other in self._known[_family(function, parameters)]
            if _is_larger(parameters, other.sizes)
        )
        if not smaller:
            return 0.0, 0
        scaled = [seconds / amount for amount, seconds in smaller]
        lines = [_line(smaller[:end]) for end in range(len(smaller), 0, -1)[:ANCHORS]]
        return min([*scaled, *lines]), len(smaller)

    def predicted_too_long(
        self, function: str, parameters: Parameters, work: Work, times: float = LEEWAY
    ) -> str | None:
        """Return why a case is not called, and leave out all larger ones; or `None`."""
        seconds, smaller = self.prediction(function, parameters, work)
        doubt = DOUBT * times if smaller > 1 else max(DEEPER_DOUBT, DOUBT * times)
        if self.is_small(work) or seconds <= doubt * self.cap:
            return None
        takes = f"predicted to take {format_seconds(seconds)}"
        evidence = f"continued from {counted(smaller, 'smaller size')}"
        reason = self._reason(parameters, takes, evidence)
        self.leave_out(function, parameters, work, reason, times)
        return reason

    def takes_too_long(
        self,
        function: str,
        parameters: Parameters,
        work: Work,
        calls: Sequence[float],
        times: float = LEEWAY,
    ) -> str | None:
        """Remember what calls took; do as `predicted_too_long` by the quickest."""
        seconds = min(calls)
        self.climbed(function, parameters, work, seconds)
        if seconds <= times * self.cap:
            return None
        takes = f"takes at least {format_seconds(seconds)}"
        evidence = f"in the quickest of {counted(len(calls), 'call')}"
        reason = self._reason(parameters, takes, evidence)
        self.leave_out(function, parameters, work, reason, times)
        return reason

    def leave_out(
        self,
        function: str,
        parameters: Parameters,
        work: Work | None,
        reason: str,
        times: float = math.inf,
    ) -> None:
        """Leave a case and all larger ones of its family out for `reason`."""
        left_out = _LeftOut(sizes(parameters), work, reason, times)
        self._left_out[_family(function, parameters)].append(left_out)

    def climbed(self, function: str, parameters: Parameters, work: Work, seconds: float) -> None:
        """Remember how long the quickest of several calls took."""
        known = _Known(sizes(parameters), work, seconds)
        self._known[_family(function, parameters)].append(known)

    def _reason(self, parameters: Parameters, takes: str, evidence: str) -> str:
        where = ", ".join(f"{name}={size}" for name, size in sizes(parameters).items())
        call = f"a call at {where}" if where else "a call"
        return f"{takes} {call}, {OVER} {format_seconds(self.cap)}, {evidence}"


def _family(function: str, parameters: Parameters) -> Hashable:
    small = sizes(parameters)
    alike = tuple((name, value) for name, value in parameters.items() if name not in small)
    return function, alike


def _is_larger(parameters: Parameters, other: dict[str, int]) -> bool:
    mine = sizes(parameters)
    return all(mine[name] >= size for name, size in other.items())


def _line(smaller: Sequence[tuple[float, float]]) -> float:
    """Return the seconds of the whole work by the largest of smaller amounts, which ascend."""
    amount, seconds = smaller[-1]
    if len(smaller) > 1 and amount > smaller[-2][0]:
        slope = max(0.0, seconds - smaller[-2][1]) / (amount - smaller[-2][0])
        return seconds + slope * (1.0 - amount)
    return seconds / amount


def _amount(work: Work, of: Work) -> float:
    """Return one work as a part of another, by the first measure that both declare."""
    return next(iter(_ratios(work, of)), 1.0)


def _ratios(work: Work, of: Work) -> list[float]:
    pairs = ((work.flops, of.flops), (work.bytes, of.bytes), (work.items, of.items))
    return [mine / whole for mine, whole in pairs if mine and whole]
