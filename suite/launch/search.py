# SPDX-License-Identifier: MIT
"""Searches for the fastest shape of a product.

A pilot searches, and journals every try, so that nothing is learnt twice. Launches measure the
shape that it found.
"""

from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from time import monotonic, perf_counter

from frobench.suite.errors import DoesNotFitError
from frobench.suite.journal import Tried
from frobench.suite.kit.device import Device
from frobench.suite.kit.search_strategy import Shape, Try, outcome, proposal
from frobench.suite.lazy_torch import torch
from frobench.suite.measure.settling_and_gauge import steady_clocks
from frobench.suite.measure.timed_loop import Body, Sampler
from frobench.suite.plan import LaunchSpec

Make = Callable[[Shape], Body]
"""Returns what multiplies two matrices of a shape; called for each shape that is tried."""
ShapeSearch = Callable[[Make], Shape]
"""Returns the shape that a benchmark is to measure."""

PART_OF_LONGEST = 0.25
"""Longest call in a search, as a part of the longest call permitted: a try needs several."""
BRIEF = 1.0
"""Seconds of a search in a session that is no pilot."""
TRIES_HOPED_FOR = 200
"""Tries among which the time is divided; one whose calls are long takes more."""
SHORTEST_TRY, LONGEST_TRY = 0.005, 0.1
LEAST_CALLS, MOST_CALLS = 3, 30


class Searches:
    """The searches of one session.

    found : results by case, of this session and of earlier ones
    took : seconds that this session spent on each case, settling of the clocks included
    waiting : the cases that share the time
    tries : by case, those of earlier processes included
    """

    def __init__(self, spec: LaunchSpec, write: Callable[[Tried], None]) -> None:
        self.found = dict(spec.plan.searched)
        self.took: dict[str, float] = {}
        self.waiting: set[str] = set()
        self.tries: defaultdict[str, list[Try]] = defaultdict(list)
        self._spec = spec
        self._write = write
        self._settled: set[str] = set()

    def find(self, case: str, device: Device, make: Make) -> Shape:
        """Return the shape that a case is to measure, searched for if it is not known.

        Raises `DoesNotFitError` if no shape fits into memory.
        """
        if case not in self.found:
            begun = monotonic()
            if self._spec.mode == "pilot" and device.name not in self._settled:
                self._settled.add(device.name)
                steady_clocks([device])  # a clock that swings favours some shapes
            self._search(case, device, make)
            found = outcome(self.tries[case])
            if found is None:
                raise DoesNotFitError(f"{device.name} has no memory for the smallest product tried")
            self.found[case], self.took[case] = found, monotonic() - begun
        return Shape(*self.found[case].shape)

    def _search(self, case: str, device: Device, make: Make) -> None:
        """Try shapes until the case's time is over, its earlier tries included."""
        tries, seconds, processors = self.tries[case], BRIEF, None
        if self._spec.mode == "pilot":
            spent = (one.spent for name in self.tries if name != case for one in self.tries[name])
            seconds = (self._spec.plan.search_seconds - sum(spent)) / max(1, len(self.waiting))
        longest = PART_OF_LONGEST * self._spec.settings.longest_sample
        if device.is_accelerator:
            with suppress(AttributeError, NotImplementedError, RuntimeError):
                processors = int(device.properties.multi_processor_count)
        span = min(LONGEST_TRY, max(SHORTEST_TRY, seconds / TRIES_HOPED_FOR))
        begun = perf_counter()
        while (shape := proposal(tries, longest, seconds, processors)) is not None:
            took = _attempt(make, shape, device, span)
            now = perf_counter()
            tries.append(Try(shape, took, now - begun))
            self._write(Tried(case=case, attempt=tries[-1]))
            begun = now


def _attempt(make: Make, shape: Shape, device: Device, span: float) -> float | None:
    """Return the seconds of a call, ``None`` if the memory is too small.

    That is the lower quartile: neighbours only slow a call, and long calls more than short ones.
    """
    with suppress(DoesNotFitError, torch.OutOfMemoryError):
        sampler, calls = Sampler(make(shape), [device]), list[float]()
        sampler.sample()  # the first call pays for what later ones do not
        # The last result is kept while the next is made, as launches do: both must fit.
        while len(calls) < LEAST_CALLS or (sum(calls) < span and len(calls) < MOST_CALLS):
            calls.append(sampler.sample())
        return sorted(calls)[len(calls) // 4]
    return None
