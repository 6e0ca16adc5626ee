# SPDX-License-Identifier: MIT
"""The table beside the page of machines side by side: a row for each machine and exercise."""

from collections.abc import Sequence

import pyarrow as pa
from msgspec import Struct

from reports.purchase.comparison import Comparison

SCHEMA = pa.schema(
    {
        **dict.fromkeys(("run", "machine", "device", "exercise"), pa.string()),
        **dict.fromkeys(("log_ratio", "log_error", "ratio", "low", "high"), pa.float64()),
        **dict.fromkeys(("cases", "every"), pa.int64()),
    }
)


class Single(Struct, frozen=True):
    """How fast a machine is in one exercise; ``None`` without a common case.

    log, error : logarithm of the ratio to the reference, and its standard error
    value, low, high : the ratio
    """

    run: str
    exercise: str
    log: float | None
    error: float | None
    value: float | None
    low: float | None
    high: float | None


def rows(comparison: Comparison, singles: Sequence[Single]) -> pa.Table:
    """Return the rows of a comparison as a table."""
    machines = {machine.run: machine for machine in comparison.machines}
    totals = {exercise.name: exercise.total for exercise in comparison.exercises}
    records = [
        {
            "run": one.run,
            "machine": machines[one.run].title,
            "device": machines[one.run].device,
            "exercise": one.exercise,
            "log_ratio": one.log,
            "log_error": one.error,
            "ratio": one.value,
            "low": one.low,
            "high": one.high,
            "cases": machines[one.run].counts[one.exercise],
            "every": totals[one.exercise],
        }
        for one in singles
    ]
    return pa.Table.from_pylist(records, schema=SCHEMA)
