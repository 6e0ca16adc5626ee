# SPDX-License-Identifier: MIT
"""Stored runs as one tidy table: a row for each case in each launch."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from suite.model import Case, Run
from suite.names import short_name
from suite.statistics import launch_medians

WORK = ("flops", "bytes", "items")
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
    *WORK,
    "flop_rate",
    "byte_rate",
    "item_seconds",
)
"""Columns of every row; the case's parameters and parts (``part_overlap``) follow them."""


def frame(runs: Iterable[Run], exercises: Collection[str] = ()) -> pd.DataFrame:
    """Return one row for each case in each launch that measured it, of these exercises or of all.

    ``seconds`` is the median of the launch's samples, for one call of the body; ``flops``,
    ``bytes`` and ``items`` are the work of that call, and rates are work by time. A
    parameter is a column of its own, empty where a case does not have it. ``status`` is the
    case's outcome: what failed keeps its samples, and whoever computes with them must want to.
    """
    measured = [each for run in runs for each in facts(run, exercises)]
    cases, fixed = [case for case, _ in measured], [each for _, each in measured]
    launches = _launches(cases)
    owner = launches.pop("owner")
    parameters = dict.fromkeys(name for each in fixed for name in each)
    # A fact is found out once a case, and then repeated for each of its launches.
    columns: dict[str, Any] = {name: _repeated(name, fixed, owner) for name in parameters}
    columns |= launches | _rates(columns, launches["seconds"]) if cases else {}
    order = dict.fromkeys((*COLUMNS, *parameters, *launches))
    return pd.DataFrame(columns, columns=list(order))


def facts(run: Run, exercises: Collection[str] = ()) -> Iterator[tuple[Case, dict[str, Any]]]:
    """Return each case of a run, or of some exercises, with what is equal in all its launches."""
    status = {outcome.fullname: outcome.status for outcome in run.frobench.outcomes}
    for case in run.benchmarks:
        if exercises and case.group not in exercises:
            continue
        work = case.extra_info.work
        yield (
            case,
            {
                **case.params,
                "run": run.frobench.run,
                "machine": run.frobench.environment.machine,
                "exercise": case.group,
                "case": case.fullname,
                "function": function_of(case.fullname),
                "device": device_of(case),
                "status": status.get(case.fullname, "passed"),
                "headline": case.extra_info.headline,
                **{name: getattr(work, name) for name in WORK},
            },
        )


def _repeated(
    name: str, fixed: list[dict[str, Any]], owner: "np.ndarray[Any, Any]"
) -> "pd.Series[Any]":
    """Return a fact of each case for each of its launches; texts are Python's, which is faster."""
    values = [each.get(name) for each in fixed]
    texts = any(isinstance(value, str) for value in values)
    column = np.array(values, object) if texts else pd.Series(values).to_numpy()
    return pd.Series(column[owner], dtype=column.dtype)


def _launches(cases: list[Case]) -> dict[str, Any]:
    """Return the columns that differ by launch, and of each row the place of its case."""
    rows = [
        (owner, launch, seconds, count)
        for owner, case in enumerate(cases)
        for launch, (seconds, count) in enumerate(
            zip(
                launch_medians(case.stats.data, case.extra_info.launches),
                case.extra_info.launches,
                strict=True,
            )
        )
        if seconds is not None
    ]
    owner, launch, seconds, count = zip(*rows, strict=True) if rows else ((), (), (), ())
    columns = {"owner": np.array(owner, int), "launch": np.array(launch, int)}
    columns |= {"seconds": np.array(seconds, float), "samples": np.array(count, int)}
    for name in dict.fromkeys(part for case in cases for part in case.extra_info.parts):
        nothing = [None] * max(len(case.extra_info.launches) for case in cases)
        parts = [case.extra_info.parts.get(name, nothing) for case in cases]
        values = [parts[at][number] for at, number in zip(owner, launch, strict=True)]
        columns[f"part_{name}"] = np.array(values, float)
    return columns


def _rates(columns: dict[str, Any], seconds: "np.ndarray[Any, Any]") -> dict[str, Any]:
    """Return work, which may be unknown, and what it gives with time, if a clock saw any."""
    took = np.where(seconds == 0, np.nan, seconds)
    flops, moved, items = (np.array(columns[name], float) for name in WORK)
    return {
        "flops": flops,
        "bytes": moved,
        "items": items,
        "flop_rate": flops / took,
        "byte_rate": moved / took,
        "item_seconds": seconds / np.where(items == 0, np.nan, items),
    }


def function_of(fullname: str) -> str:
    """Return the name of the benchmark function in a case's full name."""
    return short_name(fullname).partition("[")[0]


def device_of(case: Case) -> str:
    """Return the device, or the group of them, that gives a case its name."""
    return str(case.params.get("device", case.extra_info.device))
