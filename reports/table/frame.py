# SPDX-License-Identifier: MIT
"""Stored runs as one tidy table: a row for each case in each launch."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from frobench.reports.table.launches import RATES, WORK, ByLaunch
from frobench.suite.stored.differences import function_of
from frobench.suite.stored.types import Case, Run

COLUMNS = (
    *("run", "machine", "exercise", "case", "function", "device", "status", "headline"),
    *("launch", "seconds", "samples"),
    *WORK,
    *RATES,
)
"""Columns of every row; the case's parameters and parts (``part_enqueue``) follow them."""


def frame(runs: Iterable[Run]) -> pd.DataFrame:
    """Return one row for each case in each launch that measured it.

    Numbers are those of `reports.table.launches.ByLaunch`. A parameter is a column of its own,
    empty where a case does not have it. ``status`` is the case's outcome: what failed keeps its
    samples, and whoever computes with them must want to.
    """
    measured = [each for run in runs for each in facts(run)]
    cases, fixed = [case for case, _ in measured], [each for _, each in measured]
    numbers = ByLaunch(cases)
    there = ~np.isnan(numbers["seconds"]).T
    owner, launch = np.nonzero(there)
    samples = [cases[at].extra_info.launches[n] for at, n in zip(owner, launch, strict=True)]
    parameters = dict.fromkeys(name for each in fixed for name in each)
    # A fact is found out once a case, and then repeated for each of its launches.
    columns: dict[str, Any] = {name: _repeated(name, fixed, owner) for name in parameters}
    columns |= {"launch": launch, "samples": samples}
    names = ("seconds", *WORK, *RATES, *numbers.parts)
    columns |= {name: numbers[name].T[there] for name in names}
    order = dict.fromkeys((*COLUMNS, *parameters, *numbers.parts))
    return pd.DataFrame(columns, columns=list(order))


def facts(run: Run, exercise: str = "") -> Iterator[tuple[Case, dict[str, Any]]]:
    """Return each case of a run, or of one exercise, with what is equal in all its launches."""
    status = {outcome.fullname: outcome.status for outcome in run.frobench.outcomes}
    for case in run.benchmarks:
        if exercise and case.group != exercise:
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


def device_of(case: Case) -> str:
    """Return the device, or the group of them, that gives a case its name."""
    return str(case.params.get("device", case.extra_info.device))
