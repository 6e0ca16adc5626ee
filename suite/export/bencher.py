# SPDX-License-Identifier: MIT
"""Bencher Metric Format: benchmark, measure, value with its two ends."""

from suite.export.readings import Reading, readings
from suite.printable import as_json
from suite.stored.run import Run
from suite.units import nanoseconds

LATENCY = "latency"
"""Bencher's built-in measure of time, in nanoseconds."""


def text(run: Run) -> str:
    """Return the latency of each case."""
    metrics = {reading.name: {LATENCY: _metric(reading)} for reading in readings(run)}
    return as_json(metrics)


def _metric(reading: Reading) -> dict[str, float]:
    metric = {"value": nanoseconds(reading.seconds.value)}
    if (ends := reading.interval) is not None:
        low, high = map(nanoseconds, ends)
        metric |= {"lower_value": low, "upper_value": high}
    return metric
