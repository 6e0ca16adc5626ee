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
from frobench.suite.stored.machine_identity import machine_id
from frobench.suite.stored.types import Case, Estimate, Run
from frobench.suite.units import counted, nanoseconds

GAUGES = {
    "frobench_case_seconds": ("value", "Seconds of one call, the median over launches."),
    "frobench_case_low_seconds": ("low", "Lower end of the 95% interval."),
    "frobench_case_high_seconds": ("high", "Upper end of the 95% interval."),
    "frobench_case_launches": ("launches", "Launches behind the median."),
    "frobench_run_timestamp_seconds": ("", "When the run was measured."),
}
"""The gauges of `openmetrics`: each with the field of an estimate that it holds, and its help."""


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
    names = {"machine": where.machine, "profile": made.profile, "torch": where.software.torch or ""}
    identity = machine_id(where.cpu, where.accelerators, where.label)
    medians, lines = _medians(run), []
    for gauge, (field, about) in GAUGES.items():
        unit = [f"# UNIT {gauge} seconds"] if gauge.endswith("_seconds") else []
        lines += [f"# TYPE {gauge} gauge", *unit, f"# HELP {gauge} {about}"]
        for name, case, median in medians if field else ():
            known = {"case": name, "exercise": case.group, "device": case.extra_info.device}
            if (number := getattr(median, field)) is not None:
                labels = _labels(**known, machine=where.machine, machine_id=identity)
                lines.append(f"{gauge}{{{labels}}} {number!r}")
    with suppress(OverflowError, ValueError):  # the stored text may be no date
        begun = datetime.fromisoformat(run.datetime).timestamp()
        labels = _labels(run=made.run, **names, machine_id=identity)
        lines.append(f"{gauge}{{{labels}}} {begun!r}")
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
