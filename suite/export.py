# SPDX-License-Identifier: MIT
"""Stored runs for dashboards: the estimate of each case with its interval, in others' formats.

A dashboard that reads the stored file itself finds pytest-benchmark's statistics there, which pool
the samples of all launches. These formats carry the median over launches instead.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

from msgspec import Struct

from suite.printable import as_json, printable
from suite.statistics import case_medians, estimate
from suite.stored.run import Run
from suite.units import counted, nanoseconds


class Reading(Struct, frozen=True):
    """The seconds of one call of a case: the median over launches, and its interval if any."""

    name: str
    exercise: str
    device: str
    seconds: float
    interval: tuple[float, float] | None
    launches: int


def readings(run: Run) -> Iterator[Reading]:
    """Yield every case that passed, in the order of the run."""
    passed = {outcome.fullname for outcome in run.frobench.outcomes if outcome.status == "passed"}
    for case in run.benchmarks:
        if case.fullname in passed:
            median = estimate(case_medians(case))
            low, high = median.low, median.high
            ends = None if low is None or high is None else (low, high)
            name, device = printable(case.fullname), case.extra_info.device
            yield Reading(name, case.group, device, median.value, ends, median.launches)


def bencher(run: Run) -> str:
    """Return Bencher Metric Format: its built-in measure of time, with its two ends."""
    latencies: dict[str, dict[str, float]] = {}
    for reading in readings(run):
        latencies[reading.name] = {"value": nanoseconds(reading.seconds)}
        if reading.interval is not None:
            low, high = map(nanoseconds, reading.interval)
            latencies[reading.name] |= {"lower_value": low, "upper_value": high}
    return as_json({name: {"latency": latency} for name, latency in latencies.items()})


def github_action(run: Run) -> str:
    """Return input of github-action-benchmark with ``tool: customSmallerIsBetter``.

    One unit serves every case and every run, or a chart would jump where the unit changes.
    """
    origin = f"{run.frobench.environment.machine}\n{run.frobench.run}"
    entries = []
    for reading in readings(run):
        launches = counted(reading.launches, "launch")
        spread = f"no interval: {launches}"
        if reading.interval is not None:
            low, high = map(nanoseconds, reading.interval)
            spread = f"95% interval {low:g} to {high:g}"
        value, extra = nanoseconds(reading.seconds), f"median over {launches}\n{origin}"
        entry = {"name": reading.name, "unit": "ns", "value": value, "range": spread}
        entries.append(entry | {"extra": extra})
    return as_json(entries)


def openmetrics(run: Run) -> str:
    """Return gauges as text for Prometheus and what else reads it, all times in seconds.

    No sample has a timestamp, since collectors refuse samples of the past: a gauge tells when the
    run was measured.
    """
    case, machine = "frobench_case", run.frobench.environment.machine
    labelled = [
        (_labels(case=r.name, exercise=r.exercise, device=r.device, machine=machine), r)
        for r in readings(run)
    ]
    times = [(labels, reading.seconds) for labels, reading in labelled]
    lows, highs = (
        [(labels, reading.interval[end]) for labels, reading in labelled if reading.interval]
        for end in (0, 1)
    )
    launches = [(labels, reading.launches) for labels, reading in labelled]
    lines = [
        *_gauge(case, "seconds", "Seconds of one call, the median over launches.", times),
        *_gauge(f"{case}_low", "seconds", "Lower end of the 95% interval.", lows),
        *_gauge(f"{case}_high", "seconds", "Upper end of the 95% interval.", highs),
        *_gauge(f"{case}_launches", "", "Launches behind the median.", launches),
        *_gauge("frobench_run_timestamp", "seconds", "When the run was measured.", _begun(run)),
        "# EOF",
    ]
    return "\n".join(lines)


def _begun(run: Run) -> list[tuple[str, float]]:
    made, where = run.frobench, run.frobench.environment
    names = {"machine": where.machine, "profile": made.profile, "torch": where.software.torch}
    labels = _labels(run=made.run, **names)
    try:
        return [(labels, datetime.fromisoformat(run.datetime).timestamp())]
    except (OverflowError, ValueError):  # the stored text is no date
        return []


def _labels(**labels: str) -> str:
    escaped = str.maketrans({"\\": r"\\", '"': r"\""})
    return ",".join(f'{k}="{printable(text).translate(escaped)}"' for k, text in labels.items())


def _gauge(name: str, unit: str, text: str, samples: Sequence[tuple[str, float]]) -> Iterator[str]:
    full = f"{name}_{unit}" if unit else name
    yield f"# TYPE {full} gauge"
    if unit:
        yield f"# UNIT {full} {unit}"
    yield f"# HELP {full} {text}"
    for labels, value in samples:
        yield f"{full}{{{labels}}} {value!r}"


FORMATS: Mapping[str, Callable[[Run], str]] = MappingProxyType(
    {"github-action-benchmark": github_action, "bencher": bencher, "openmetrics": openmetrics}
)
"""What writes a run, by the name of the format."""
