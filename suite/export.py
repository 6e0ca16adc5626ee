# SPDX-License-Identifier: MIT
"""Stored runs for dashboards: the estimate of each case with its interval, in others' formats.

A dashboard that reads the stored file itself finds pytest-benchmark's statistics there, which pool
the samples of all launches. These formats carry the median over launches instead.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime

from frobench.suite.printable import as_json, printable
from frobench.suite.statistics import case_medians, estimate
from frobench.suite.stored.types import Case, Estimate, Run
from frobench.suite.units import counted, nanoseconds

GAUGES = {
    "frobench_case_seconds": "Seconds of one call, the median over launches.",
    "frobench_case_low_seconds": "Lower end of the 95% interval.",
    "frobench_case_high_seconds": "Upper end of the 95% interval.",
    "frobench_case_launches": "Launches behind the median.",
    "frobench_run_timestamp_seconds": "When the run was measured.",
}
"""What the gauges of `openmetrics` hold, by their names."""


def bencher(run: Run) -> str:
    """Return Bencher Metric Format: its built-in measure of time, with its two ends."""
    latencies = {}
    for name, _, median in _medians(run):
        ends = {"value": median.value, "lower_value": median.low, "upper_value": median.high}
        known = {key: nanoseconds(end) for key, end in ends.items() if end is not None}
        latencies[name] = {"latency": known}
    return as_json(latencies)


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
    made, where = run.frobench, run.frobench.environment
    gauges: dict[str, list[tuple[str, float]]] = {name: [] for name in GAUGES}
    for name, case, median in _medians(run):
        device = case.extra_info.device
        labels = _labels(case=name, exercise=case.group, device=device, machine=where.machine)
        numbers = (median.value, median.low, median.high, median.launches)
        for samples, number in zip(gauges.values(), numbers, strict=False):
            if number is not None:
                samples.append((labels, number))
    names = {"machine": where.machine, "profile": made.profile, "torch": where.software.torch}
    with suppress(OverflowError, ValueError):  # the stored text may be no date
        begun = datetime.fromisoformat(run.datetime).timestamp()
        gauges["frobench_run_timestamp_seconds"].append((_labels(run=made.run, **names), begun))
    lines = []
    for name, samples in gauges.items():
        lines.append(f"# TYPE {name} gauge")
        if name.endswith("_seconds"):
            lines.append(f"# UNIT {name} seconds")
        lines.append(f"# HELP {name} {GAUGES[name]}")
        lines += [f"{name}{{{labels}}} {value!r}" for labels, value in samples]
    return "\n".join([*lines, "# EOF"])


def _medians(run: Run) -> list[tuple[str, Case, Estimate]]:
    """Return the cases that passed, each with its printable name and its seconds for one call."""
    passed = {outcome.fullname for outcome in run.frobench.outcomes if outcome.status == "passed"}
    return [
        (printable(case.fullname), case, estimate(case_medians(case)))
        for case in run.benchmarks
        if case.fullname in passed
    ]


def _labels(**labels: str) -> str:
    escaped = str.maketrans({"\\": r"\\", '"': r"\""})
    return ",".join(f'{k}="{printable(text).translate(escaped)}"' for k, text in labels.items())


FORMATS: Mapping[str, Callable[[Run], str]] = {
    "github-action-benchmark": github_action,
    "bencher": bencher,
    "openmetrics": openmetrics,
}
"""What writes a run, by the name of the format."""
