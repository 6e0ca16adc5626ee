# SPDX-License-Identifier: MIT
"""What one launch learns of one case, sample by sample.

A span on an idle device holds a launch, and every gap in which the device waited for the host. The
device's own time is a span behind a blocker, which keeps the device busy while the host queues the
whole body behind it. Whether that worked is checked: when the body is queued, the first event must
not have happened yet. Nothing is claimed of a body that waits for its device, or that takes longer
to queue than the blocker lasts.
"""

import statistics
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from frobench.suite.concurrency import concurrency
from frobench.suite.errors import ClockError
from frobench.suite.kit.lanes import MILLISECOND
from frobench.suite.measure.observing import Blocker, Called
from frobench.suite.measure.sampler import Sampler
from frobench.suite.profiles import LEAST_SAMPLES
from frobench.suite.stored.run import Settings

DEVICE_PART = 0.25
"""Part of the time for a case after which no further span behind a blocker is begun."""
READINGS = 3
"""Host samples of a launch after which one element of the result is read back."""
SLACK = 100e-6
"""Seconds that a blocker lasts beyond twice what the host should need."""
LONGEST = 0.02
"""Seconds that a blocker lasts at most."""
SPANS, FAILURES = 5, 3
"""Spans behind a blocker in a launch, and failed attempts, after which there are no more."""


@dataclass
class Measurement:
    """What one launch learns of one case.

    host : seconds of each host sample, divided by `iterations`; in a pilot also of calls with
        one thread
    undisturbed : of a pilot's calls, least seconds of each had it not waited for the processor
    against : as `host`, of the other version of the body, each beside its sample of `host`
    parts : values of each span sample or host sample by name (see `CaseInfo.parts`)
    iterations : calls of the body inside a sample
    warmup : seconds of warming up and choosing the iterations
    sampled : seconds inside samples
    prepared : seconds between samples: of what comes before each, and of emptying the caches
    result, other : what the last calls of the body and of its other version returned
    """

    host: list[float] = field(default_factory=list)
    undisturbed: list[float] = field(default_factory=list)
    against: list[float] = field(default_factory=list)
    parts: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    iterations: int = 1
    warmup: float = 0.0
    sampled: float = 0.0
    prepared: float = 0.0
    result: Any = None
    other: Any = None

    @property
    def results(self) -> list[Any]:
        """Results of the last calls of the body and, if there is one, its other version."""
        return [self.result, *([self.other] if self.against else [])]

    def part_medians(self) -> dict[str, float]:
        """Return the launch median of each part, and the concurrency that these prove."""
        medians = {name: statistics.median(values) for name, values in self.parts.items()}
        proved = concurrency(medians)
        return medians if proved is None else medians | {"concurrency": proved}

    def enough(self, settings: Settings, spent: float) -> bool:
        """Tell whether sampling ends, which has taken `spent` seconds."""
        over = spent >= settings.case_seconds or len(self.host) >= settings.most_samples
        return over and len(self.host) >= min(LEAST_SAMPLES, settings.most_samples)

    def sample(self, sampler: Sampler) -> float:
        """Take a host sample of the body; return the seconds of a call, for `host`.

        Raises `ClockError` if the clock shows that no time has passed.
        """
        queued, took, self.result = self._host(sampler)
        if sampler.queues:
            self.parts["enqueue"].append(queued)
            if len(self.parts["enqueue"]) <= READINGS:
                seconds = sampler.reading(self.result)
                if seconds is not None:
                    self.parts["reading"].append(seconds)
        return took

    def sample_other(self, sampler: Sampler) -> float:
        """Do as `sample` with the other version, for `against`."""
        _, took, self.other = self._host(sampler)
        return took

    def observe(self, sampler: Sampler) -> None:
        """Take a span sample, where there is anything that it can see."""
        if sampler.has_spans:
            begun = sampler.clock()
            observed = sampler.span()
            self.sampled += sampler.clock() - begun
            for name, value in observed.items():
                self.parts[name].append(value)

    def observe_device(self, sampler: Sampler, settings: Settings) -> None:
        """Take spans behind queued work, where the body is queued on one accelerator alone."""
        if sampler.blocker is not None:
            begun, enqueue = sampler.clock(), statistics.median(self.parts["enqueue"])
            most = DEVICE_PART * settings.case_seconds
            if spans := device_spans(sampler, sampler.blocker, enqueue, most):
                self.parts["device"] = spans
            self.sampled += sampler.clock() - begun

    def _host(self, sampler: Sampler) -> Called:
        queued, took, result = sampler.host(self.iterations)
        if took <= 0:
            raise ClockError("the clock went backwards, or stood still in a sample")
        self.sampled += took
        return queued / self.iterations, took / self.iterations, result


def device_spans(sampler: Sampler, blocker: Blocker, enqueue: float, seconds: float) -> list[float]:
    """Return the seconds that the device works on a call, for as many calls as there is time.

    enqueue : seconds until the body returns
    seconds : that further spans may take once there is one
    """
    spans: list[float] = []
    failures, wanted, begun = 0, 2 * (2 * enqueue) + SLACK, sampler.clock()
    while len(spans) < SPANS and failures < FAILURES and wanted <= LONGEST:
        if spans and sampler.clock() - begun > seconds:
            break
        span = _device_span(sampler, blocker, wanted)
        if span is None:
            failures, wanted = failures + 1, 2 * wanted
        else:
            spans.append(span)
    return spans


def _device_span(sampler: Sampler, blocker: Blocker, wanted: float) -> float | None:
    device = blocker.device
    begin, end = device.event(), device.event()
    device.synchronize()
    blocker.queue(wanted)
    if sampler.cold is None:
        sampler.body()  # brings back what the blocker drove out of the caches
    else:
        sampler.cold()
    device.record(begin)
    sampler.body()
    device.record(end)
    in_time = not begin.query()
    device.synchronize()
    span = begin.elapsed_time(end) * MILLISECOND
    return span if in_time and span > 0 else None
