# SPDX-License-Identifier: MIT
"""The index, compared with its tables, and these with the files of each run."""

import hashlib
import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from tests.instruments.site_checker.downloads import (
    ByLaunch,
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
from tests.instruments.site_checker.pages import Element
from tests.instruments.site_checker.report import CELLS, NUMBERS, Report

STEP = 1e-3
"""Of the logarithm of a time."""


def check(folder: Path, page: Element, runs: Mapping[str, Run], report: Report) -> None:
    """Check the index of a site with several runs, by the addresses of their pages."""
    listed = {one["href"]: one for one in table(folder / "runs.csv")}
    known: dict[tuple[str, str], list[Cells]] = {}
    for one in table(folder / "estimates.csv"):
        known.setdefault((one["machine"], one["run"]), []).append(one)
    for href, cells in listed.items():
        _run(cells, known.get((cells["machine"], cells["run"]), []), runs[href], report)
    _runs(page, listed, report)


def _run(cells: Cells, rows: list[Cells], run: Run, report: Report) -> None:
    """Check what both tables say of a run."""
    part, name = run.stored["frobench"], cells["run"]
    digest = hashlib.sha256(run.page.with_suffix(".json").read_bytes()).hexdigest()
    states = Counter(
        "failed" if one["fullname"] in run.withdrawn else one["status"] for one in part["outcomes"]
    )
    wanted = {
        "launches": len(part["launches"]),
        "cases": len(run.stored_cases) - len(run.withdrawn),
        "failed": states["failed"],
        "skipped": states["skipped"],
        "sha256": digest,
    }
    for column, right in wanted.items():
        fault = f"runs.csv: {name}: {column} is {cells[column]}, and should be {right}"
        report.check(cells[column] == str(right), CELLS, fault)
    for one in rows:
        place, seconds = f"estimates.csv: {name}, {one['case']}", run.seconds[one["case"]]
        right = estimate(seconds.values(), "s") if seconds else None
        found = row(one | {"value": one["seconds"], "unit": "s"})
        fault = f"{place}: seconds is {found}, and should be {right}"
        report.check(equal(found, right), CELLS, fault)
        check_times(one, run.stored_cases[one["case"]], right and right.value, report, place)
        logs = _log_seconds(seconds) if seconds else None
        fault = f"{place}: log_seconds is {one['log_seconds']}, and should be {logs}"
        report.check(same(number(one["log_seconds"]), logs), CELLS, fault)


def _log_seconds(seconds: ByLaunch) -> float:
    """Return the logarithm of a case's time, in whole steps."""
    return round(pseudomedian([*map(math.log, seconds.values())]) / STEP) * STEP


def _runs(page: Element, listed: Mapping[str, Cells], report: Report) -> None:
    """Check the numbers of launches and cases in the table of runs."""
    shown = page.first("table", id="runs")
    heads = [one.text().lower() for one in shown.every("th", scope="col")] if shown else []
    for line in shown.every("tr") if shown else ():
        link = line.first("a")
        for key, cell in zip(heads, line.elements, strict=False) if link else ():
            if link and key in {"launches", "cases"}:
                right = listed[link.attributes["href"]][key]
                fault = f"index.html: {link.text()}: {cell.text()} {key}, and should be {right}"
                report.check(cell.text() == right, NUMBERS, fault)
