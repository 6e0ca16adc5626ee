# SPDX-License-Identifier: MIT
"""Stored runs for dashboards: the estimate of each case with its interval, in others' formats.

A dashboard that reads the stored file itself finds pytest-benchmark's statistics there, which pool
the samples of all launches. These formats carry the median over launches instead.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime

from frobench.suite.printable import as_json, printable
from frobench.suite.statistics import case_medians, estimate
from frobench.suite.stored.types import Case, Estimate, Run
from frobench.suite.units import counted, nanoseconds


def bencher(run: Run) -> str:
    """Return Bencher Metric Format: its built-in measure of time, with its two ends."""
    latencies: dict[str, dict[str, float]] = {}
    for name, _, median in _medians(run):
        latencies[name] = {"value": nanoseconds(median.value)}
        if median.low is not None and median.high is not None:
            low, high = nanoseconds(median.low), nanoseconds(median.high)
            latencies[name] |= {"lower_value": low, "upper_value": high}
    return as_json({name: {"latency": latency} for name, latency in latencies.items()})


def github_action(run: Run) -> str:
    """Return input of github-action-benchmark with ``tool: customSmallerIsBetter``.

    One unit serves every case and every run, or a chart would jump where the unit changes.
    """
    origin = f"{run.frobench.environment.machine}\n{run.frobench.run}"
    entries = []
    for name, _, median in _medians(run):
        launches = counted(median.launches, "launch")
        spread = f"no interval: {launches}"
        if median.low is not None and median.high is not None:
            low, high = nanoseconds(median.low), nanoseconds(median.high)
            spread = f"95% interval {low:g} to {high:g}"
        value, extra = nanoseconds(median.value), f"median over {launches}\n{origin}"
        entry = {"name": name, "unit": "ns", "value": value, "range": spread}
        entries.append(entry | {"extra": extra})
    return as_json(entries)


def openmetrics(run: Run) -> str:
    """Return gauges as text for Prometheus and what else reads it, all times in seconds.

    No sample has a timestamp, since collectors refuse samples of the past: a gauge tells when the
    run was measured.
    """
    case, machine = "frobench_case", run.frobench.environment.machine
    labelled = [
        (_labels(case=n, exercise=c.group, device=c.extra_info.device, machine=machine), median)
        for n, c, median in _medians(run)
    ]
    times = [(labels, median.value) for labels, median in labelled]
    lows = [(labels, median.low) for labels, median in labelled if median.low is not None]
    highs = [(labels, median.high) for labels, median in labelled if median.high is not None]
    launches = [(labels, median.launches) for labels, median in labelled]
    lines = [
        *_gauge(case, "seconds", "Seconds of one call, the median over launches.", times),
        *_gauge(f"{case}_low", "seconds", "Lower end of the 95% interval.", lows),
        *_gauge(f"{case}_high", "seconds", "Upper end of the 95% interval.", highs),
        *_gauge(f"{case}_launches", "", "Launches behind the median.", launches),
        *_gauge("frobench_run_timestamp", "seconds", "When the run was measured.", _begun(run)),
        "# EOF",
    ]
    return "\n".join(lines)


def _medians(run: Run) -> list[tuple[str, Case, Estimate]]:
    """Return the cases that passed, each with its printable name and its seconds for one call."""
    passed = {outcome.fullname for outcome in run.frobench.outcomes if outcome.status == "passed"}
    return [
        (printable(case.fullname), case, estimate(case_medians(case)))
        for case in run.benchmarks
        if case.fullname in passed
    ]


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


FORMATS: Mapping[str, Callable[[Run], str]] = {
    "github-action-benchmark": github_action,
    "bencher": bencher,
    "openmetrics": openmetrics,
}
"""What writes a run, by the name of the format."""
