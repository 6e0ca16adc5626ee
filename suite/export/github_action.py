# SPDX-License-Identifier: MIT
"""Input of github-action-benchmark with ``tool: customSmallerIsBetter``."""

from suite.export.readings import Reading, readings
from suite.printable import as_json
from suite.stored.run import Run
from suite.units import counted, nanoseconds

UNIT = "ns"
"""One unit for every case and every run, or a chart would jump where the unit changes."""


def text(run: Run) -> str:
    """Return a list of entries with name, unit and value; the interval is the range."""
    entries = [_entry(run, reading) for reading in readings(run)]
    return as_json(entries)


def _entry(run: Run, reading: Reading) -> dict[str, str | float]:
    launches = counted(reading.seconds.launches, "launch")
    if (ends := reading.interval) is None:
        spread = f"no interval: {launches}"
    else:
        low, high = map(nanoseconds, ends)
        spread = f"95% interval {low:g} to {high:g}"
    part = run.frobench
    return {
        "name": reading.name,
        "unit": UNIT,
        "value": nanoseconds(reading.seconds.value),
        "range": spread,
        "extra": f"median over {launches}\n{part.environment.machine}\n{part.run}",
    }
