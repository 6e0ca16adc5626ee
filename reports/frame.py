# SPDX-License-Identifier: MIT
"""Stored runs as one tidy table: a row for each case in each launch."""

from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd

from suite.model import Case, Run
from suite.names import short_name
from suite.statistics import launch_medians

COLUMNS = (
    "run",
    "machine",
    "exercise",
    "case",
    "function",
    "device",
    "status",
    "headline",
    "launch",
    "seconds",
    "samples",
    "flops",
    "bytes",
    "items",
    "flop_rate",
    "byte_rate",
    "item_seconds",
)
"""Columns of every row; the case's parameters and parts (``part_overlap``) follow them."""


def frame(runs: Iterable[Run]) -> pd.DataFrame:
    """Return one row for each case in each launch that measured it.

    ``seconds`` is the median of the launch's samples, for one call of the body; ``flops``,
    ``bytes`` and ``items`` are the work of that call, and rates are work by time. A
    parameter is a column of its own, empty where a case does not have it. ``status`` is the
    case's outcome: what failed keeps its samples, and whoever computes with them must want to.
    """
    rows = [row for run in runs for row in _rows(run)]
    parameters = dict.fromkeys(name for row in rows for name in row)
    return pd.DataFrame(rows, columns=list(dict.fromkeys((*COLUMNS, *parameters))))


def _rows(run: Run) -> Iterator[dict[str, Any]]:
    status = {outcome.fullname: outcome.status for outcome in run.frobench.outcomes}
    for case in run.benchmarks:
        fixed = {
            "run": run.frobench.run,
            "machine": run.frobench.environment.machine,
            "exercise": case.group,
            "case": case.fullname,
            "function": function_of(case.fullname),
            "device": device_of(case),
            "status": status.get(case.fullname, "passed"),
            "headline": case.extra_info.headline,
        }
        yield from ({**case.params, **fixed, **varying} for varying in _launches(case))


def _launches(case: Case) -> Iterator[dict[str, Any]]:
    info, work = case.extra_info, case.extra_info.work
    medians = launch_medians(case.stats.data, info.launches)
    for launch, (seconds, samples) in enumerate(zip(medians, info.launches, strict=True)):
        if seconds is not None:
            yield {
                "launch": launch,
                "seconds": seconds,
                "samples": samples,
                "flops": work.flops,
                "bytes": work.bytes,
                "items": work.items,
                "flop_rate": None if work.flops is None else work.flops / seconds,
                "byte_rate": None if work.bytes is None else work.bytes / seconds,
                "item_seconds": seconds / work.items if work.items else None,
                **{f"part_{name}": values[launch] for name, values in info.parts.items()},
            }


def function_of(fullname: str) -> str:
    """Return the name of the benchmark function in a case's full name."""
    return short_name(fullname).partition("[")[0]


def device_of(case: Case) -> str:
    """Return the device, or the group of them, that gives a case its name."""
    return str(case.params.get("device", case.extra_info.device))
