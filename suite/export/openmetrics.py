# SPDX-License-Identifier: MIT
"""OpenMetrics text, for Prometheus and what else reads it."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from suite.export.readings import Reading, readings
from suite.printable import printable
from suite.stored.run import Run

CASE = "frobench_case"
"""What the names of a case's metrics begin with."""


def text(run: Run) -> str:
    """Return gauges in seconds: the estimate of each case and both ends of its interval.

    No sample has a timestamp: a collector that reads a file refuses samples of the past. When the
    run was measured is a gauge of its own.
    """
    labelled = [(reading, _labels(run, reading)) for reading in readings(run)]
    ends = [(labels, reading.interval) for reading, labels in labelled]
    times = [(labels, reading.seconds.value) for reading, labels in labelled]
    lows = [(labels, both[0]) for labels, both in ends if both]
    highs = [(labels, both[1]) for labels, both in ends if both]
    launches = [(labels, reading.seconds.launches) for reading, labels in labelled]
    lines = [
        *_gauge(CASE, "seconds", "Seconds of one call, the median over launches.", times),
        *_gauge(f"{CASE}_low", "seconds", "Lower end of the 95% interval.", lows),
        *_gauge(f"{CASE}_high", "seconds", "Upper end of the 95% interval.", highs),
        *_gauge(f"{CASE}_launches", "", "Launches behind the median.", launches),
        *_gauge("frobench_run_timestamp", "seconds", "When the run was measured.", _begun(run)),
        "# EOF",
    ]
    return "\n".join(lines)


def _labels(run: Run, reading: Reading) -> dict[str, str]:
    case = reading.case
    return {
        "case": reading.name,
        "exercise": case.group,
        "device": case.extra_info.device,
        "machine": run.frobench.environment.machine,
    }


def _begun(run: Run) -> list[tuple[Mapping[str, str], float]]:
    part = run.frobench
    labels = {
        "run": part.run,
        "machine": part.environment.machine,
        "profile": part.profile,
        "torch": part.environment.software.torch,
    }
    try:
        return [(labels, datetime.fromisoformat(run.datetime).timestamp())]
    except (OverflowError, ValueError):  # the stored text is no date
        return []


def _gauge(
    name: str, unit: str, text: str, samples: Sequence[tuple[Mapping[str, str], float]]
) -> Iterator[str]:
    full = f"{name}_{unit}" if unit else name
    yield f"# TYPE {full} gauge"
    if unit:
        yield f"# UNIT {full} {unit}"
    yield f"# HELP {full} {text}"
    for labels, value in samples:
        escaped = str.maketrans({"\\": r"\\", '"': r"\""})
        plain = {label: printable(text).translate(escaped) for label, text in labels.items()}
        listed = ",".join(f'{label}="{text}"' for label, text in plain.items())
        yield f"{full}{{{listed}}} {value!r}"
