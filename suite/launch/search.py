# SPDX-License-Identifier: MIT
"""Searches for the fastest shape of a product.

A pilot searches, and journals every try, so that nothing is learnt twice. Launches measure the
shape that it found.
"""

from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from time import monotonic, perf_counter

import torch

from frobench.suite.errors import DoesNotFitError
from frobench.suite.journal import LaunchSpec, Tried
from frobench.suite.kit.device import Device
from frobench.suite.kit.search_strategy import Limits, Shape, Try, outcome, proposal
from frobench.suite.measure.ready import steady_clocks
from frobench.suite.measure.sampler import Body, Measurement, Sampler
from frobench.suite.stored.types import Search

Make = Callable[[Shape], Body]
"""Returns what multiplies two matrices of a shape; called for each shape that is tried."""
ShapeSearch = Callable[[Make], Shape]
"""Returns the shape that a benchmark is to measure."""

PART_OF_LONGEST = 0.25
"""Longest call in a search, as a part of the longest call permitted: a try needs several."""
BRIEF = 1.0
"""Seconds of a search in a session without a runner."""
TRIES_HOPED_FOR = 200
"""Tries among which the time is divided; one whose calls are long takes more."""
SHORTEST_TRY, LONGEST_TRY = 0.005, 0.1
LEAST_CALLS, MOST_CALLS = 3, 30


class Searches:
    """The searches of one session.

    found : results by case, of this session and of earlier ones
    took : seconds that this session spent on each case, settling of the clocks included
    waiting : the cases that share the time
    """

    def __init__(self, spec: LaunchSpec, write: Callable[[Tried], None]) -> None:
        self.found = dict(spec.plan.searched)
        self.took: dict[str, float] = {}
        self.waiting: set[str] = set()
        self._spec = spec
        self._write = write
        self._tries: defaultdict[str, list[Try]] = defaultdict(list)
        self._settled: set[str] = set()

    def remember(self, tried: Tried) -> None:
        """Take up a try of an earlier process."""
        self._tries[tried.case].append(tried.attempt)

    def find(self, case: str, device: Device, make: Make) -> Shape:
        """Return the shape that a case is to measure, searched for if it is not known.

        Raises `DoesNotFitError` if no shape fits into memory.
        """
        if case not in self.found:
            begun = monotonic()
            if self._spec.mode == "pilot" and device.name not in self._settled:
                self._settled.add(device.name)
                steady_clocks([device])  # a clock that swings favours some shapes
            self.found[case] = self._search(case, device, make)
            self.took[case] = monotonic() - begun
        return Shape(*self.found[case].shape)

    def _search(self, case: str, device: Device, make: Make) -> Search:
        tries = self._tries[case]
        limits = Limits(
            call=PART_OF_LONGEST * self._spec.settings.longest_sample,
            seconds=self._share(case),
            processors=_processors(device),
        )
        span = min(LONGEST_TRY, max(SHORTEST_TRY, limits.seconds / TRIES_HOPED_FOR))
        begun = perf_counter()
        while (shape := proposal(tries, limits)) is not None:
            seconds = _attempt(make, shape, device, span)
            now = perf_counter()
            tries.append(Try(shape, seconds, now - begun))
            self._write(Tried(case=case, attempt=tries[-1]))
            begun = now
        result = outcome(tries)
        if result is None:
            raise DoesNotFitError(f"{device.name} has no memory for the smallest product tried")
        return result

    def _share(self, case: str) -> float:
        """Return the seconds that a case has, those of its earlier tries included."""
        if self._spec.mode == "alone":
            return BRIEF
        others = sum(
            attempt.spent for name in self._tries if name != case for attempt in self._tries[name]
        )
        return (self._spec.plan.search_seconds - others) / max(1, len(self.waiting))


def _attempt(make: Make, shape: Shape, device: Device, span: float) -> float | None:
    """Return the seconds of a call, ``None`` if the memory is too small.

    That is the lower quartile: neighbours only slow a call, and long calls more than short ones.
    """
    with suppress(DoesNotFitError, torch.OutOfMemoryError):
        sampler, measurement = Sampler(make(shape), [device]), Measurement()
        measurement.sample(sampler)  # the first call pays for what later ones do not
        measurement.sampled = 0.0
        # The last result is kept while the next is made, as launches do: both must fit.
        while len(measurement.host) < LEAST_CALLS or (
            measurement.sampled < span and len(measurement.host) < MOST_CALLS
        ):
            measurement.host.append(measurement.sample(sampler))
        return sorted(measurement.host)[len(measurement.host) // 4]
    return None


def _processors(device: Device) -> int | None:
    if device.is_accelerator:
        with suppress(AttributeError, NotImplementedError, RuntimeError):
            return int(device.properties.multi_processor_count)
    return None
