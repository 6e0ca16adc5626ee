# SPDX-License-Identifier: MIT
"""Finished samples shown through pytest-benchmark.

`pedantic` reads its timer twice a round and never calibrates; a timer that returns zero
and then the sample makes every round last exactly as long as the sample.
"""

from collections import deque
from collections.abc import Iterable
from typing import Any

import msgspec

from suite.journal.records import Measured


class Replay:
    """A timer whose pairs of readings are as far apart as the samples loaded."""

    __name__ = "perf_counter"

    def __init__(self) -> None:
        self._readings: deque[float] = deque()

    def load(self, samples: Iterable[float]) -> None:
        """Add samples, in seconds."""
        for sample in samples:
            self._readings.extend((0.0, sample))

    def __call__(self) -> float:
        """Return zero, then a sample, then zero again, and so on."""
        return self._readings.popleft()


def show(benchmark: Any, timer: Replay, measured: Measured) -> None:  # noqa: ANN401 - untyped
    """Hand the samples to pytest-benchmark's fixture, whose timer is `timer`."""
    timer.load(measured.samples)
    benchmark.extra_info["work"] = msgspec.to_builtins(measured.work)
    benchmark.extra_info["check"] = msgspec.to_builtins(measured.check)
    benchmark.extra_info["iterations"] = measured.iterations
    benchmark.pedantic(lambda: None, rounds=len(measured.samples))
