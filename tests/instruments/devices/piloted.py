# SPDX-License-Identifier: MIT
"""A pilot over made-up cases, on a clock that only their calls and what disturbs them advance."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import pytest

from frobench.suite.kit.cases import Parameters
from frobench.suite.machine.cpu_time import Accounts
from frobench.suite.measure.timed_loop import Sampler
from frobench.suite.measure.too_slow import Explorer
from frobench.suite.profiles import LEEWAY
from frobench.suite.stored.types import Settings, Work
from tests.instruments.devices.virtual import VirtualClock


@dataclass(frozen=True)
class MadeUp:
    """A case, and what an undisturbed call of it takes."""

    function: str
    parameters: Parameters
    work: Work
    seconds: float


@dataclass(frozen=True)
class Delay:
    """Seconds that a call takes longer: those in which others had its processor, and others."""

    waited: float = 0.0
    stalled: float = 0.0


Disturb = Callable[[float], Delay]
"""Returns the delay of the next call, which takes so many seconds by itself."""


class Pilot:
    """Explores cases in their order, as a pilot's process does.

    keeps_accounts : whether the system tells what a call waited for the processor
    calls : how many were made, the first ones of each case included
    left_out : the reasons, by the place of a case
    """

    def __init__(self, settings: Settings, disturb: Disturb, *, keeps_accounts: bool) -> None:
        self.calls = 0
        self.left_out: dict[int, str] = {}
        self._settings = settings
        self._disturb = disturb
        self._clock = VirtualClock()
        self._accounts = Accounts(0.0, 0.0) if keeps_accounts else None

    def explore(self, cases: Iterable[MadeUp]) -> None:
        """Call what may be called."""
        explorer = Explorer(self._settings, lambda: self._accounts)
        for place, case in enumerate(cases):
            where = case.function, case.parameters
            longest = LEEWAY * self._settings.longest_sample
            reason = explorer.refusal(where, longest)
            if reason is None:
                sampler = Sampler(partial(self._call, case.seconds), [], clock=self._clock)
                try:
                    explorer.explore(where, sampler, case.work, longest)
                except pytest.skip.Exception as error:
                    reason = str(error)
            if reason is not None:
                self.left_out[place] = reason

    def _call(self, seconds: float) -> None:
        delay = self._disturb(seconds)
        self.calls += 1
        self._clock.now += seconds + delay.waited + delay.stalled
        if self._accounts is not None:
            ran, waited = self._accounts
            self._accounts = Accounts(ran + seconds, waited + delay.waited)
