# SPDX-License-Identifier: MIT
"""The tables of the index, compared with the files of each run."""

import hashlib
import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from tests.instruments.site_checker.downloads import (
    Cells,
    Run,
    check_times,
    equal,
    estimate,
    number,
    row,
    same,
    table,
)
from tests.instruments.site_checker.intervals import pseudomedian
from tests.instruments.site_checker.report import CELLS, Report

STEP = 1e-3
"""Of the logarithm of a time."""


def check(folder: Path, runs: Mapping[str, Run], report: Report) -> None:
    """Check what both tables say of several runs, by the addresses of their pages."""
    of_runs = {(one["machine"], one["run"]): one for one in table(folder / "runs.csv")}
    for cells in of_runs.values():
        _run(cells, runs[cells["href"]], report)
    for cells in table(folder / "estimates.csv"):
        _case(cells, runs[of_runs[cells["machine"], cells["run"]]["href"]], report)


def _run(cells: Cells, run: Run, report: Report) -> None:
    part = run.stored["frobench"]
    states = Counter(one["status"] for one in part["outcomes"])
    wanted = {
        "launches": len(part["launches"]),
        "cases": len(run.stored_cases),
        "failed": states["failed"],
        "skipped": states["skipped"],
        "sha256": hashlib.sha256(run.page.with_suffix(".json").read_bytes()).hexdigest(),
    }
    for column, right in wanted.items():
        fault = f"runs.csv: {cells['run']}: {column} is {cells[column]}, and should be {right}"
        report.check(cells[column] == str(right), CELLS, fault)


def _case(cells: Cells, run: Run, report: Report) -> None:
    place, seconds = f"estimates.csv: {cells['run']}, {cells['case']}", run.seconds[cells["case"]]
    right = estimate(seconds.values(), "s")
    found = row(cells | {"value": cells["seconds"], "unit": "s"})
    fault = f"{place}: seconds is {found}, and should be {right}"
    report.check(equal(found, right), CELLS, fault)
    check_times(cells, run.stored_cases[cells["case"]], right.value, report, place)
    logs = round(pseudomedian([*map(math.log, seconds.values())]) / STEP) * STEP
    fault = f"{place}: log_seconds is {cells['log_seconds']}, and should be {logs}"
    report.check(same(number(cells["log_seconds"]), logs), CELLS, fault)
