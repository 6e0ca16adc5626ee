# SPDX-License-Identifier: MIT
"""The index, compared with its tables, and these with the files of each run."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from tests.instruments.site_checker.downloads import (
    Cells,
    Run,
    check_parquet,
    check_times,
    equal,
    estimate,
    number,
    row,
    same,
    table,
)
from tests.instruments.site_checker.machines import Side, Specimens, log_seconds, score
from tests.instruments.site_checker.pages import Element
from tests.instruments.site_checker.printed import RATIO, Row, estimates, first
from tests.instruments.site_checker.report import CELLS, NUMBERS, Report


def check(folder: Path, page: Element, runs: Mapping[str, Run], report: Report) -> None:
    """Check the index of a site with several runs, by the addresses of their pages."""
    listed = {one["href"]: one for one in table(folder / "runs.csv")}
    known: dict[tuple[str, str], list[Cells]] = {}
    for one in table(folder / "estimates.csv"):
        known.setdefault((one["machine"], one["run"]), []).append(one)
    for name in ("runs.csv", "estimates.csv"):
        check_parquet(folder / name, report)
    for href, cells in listed.items():
        _run(cells, known.get((cells["machine"], cells["run"]), []), runs[href], report)
    _runs(page, listed, report)
    devices, block = page.first("div", id="devices-table"), page.first("script", id="data")
    if devices and block:
        data = json.loads(block.raw())
        hrefs = [one["href"] for one in data["runs"]]
        names = [one["name"] for one in data["workloads"]]
        sides = {href: Side(runs[href]) for href in hrefs}
        others = {
            sides[hrefs[run]]: [sides[hrefs[other]] for other in rest]
            for run, rest, _ in data["groups"]
        }
        for line in devices.every("tr"):
            cell, link = line.first("td", class_="speed"), line.first("a")
            if cell and link:
                both = sides[hrefs[data["base"]]], sides[link.attributes["href"]]
                right = speed_of(*both, names, others)
                below = cell.first("small")  # a mark of noise behind it has numbers, too
                said = [one.text() for one in (cell.first("strong"), below) if one]
                shown = next(estimates(" ".join(said)), None) or first(said[0])
                alone = right and (Row(right.value, unit=RATIO) if both[0] is both[1] else right)
                agrees = shown.agrees(alone) if shown and alone else right is None
                fault = f"index.html: {link.text()}: the speed is {cell.text()!r}, not {right}"
                report.check(agrees, NUMBERS, fault)


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
        logs = log_seconds(seconds) if seconds else None
        fault = f"{place}: log_seconds is {one['log_seconds']}, and should be {logs}"
        report.check(same(number(one["log_seconds"]), logs), CELLS, fault)


def _runs(page: Element, listed: Mapping[str, Cells], report: Report) -> None:
    """Check the numbers of launches and cases in the table of runs."""
    shown = page.first("table", id="runs")
    heads = (
        [one.attributes.get("data-key") for one in shown.every("th", scope="col")] if shown else []
    )
    for line in shown.every("tr") if shown else ():
        link = line.first("a")
        for key, cell in zip(heads, line.elements, strict=False) if link else ():
            if link and key in {"launches", "cases"}:
                right = listed[link.attributes["href"]][key]
                fault = f"index.html: {link.text()}: {cell.text()} {key}, and should be {right}"
                report.check(cell.text() == right, NUMBERS, fault)


def speed_of(base: Side, one: Side, names: list[str], others: Specimens) -> Row | None:
    """Return how many times as fast a device is under the first workload that the base measured."""
    workload = next((one for one in names if score(base, base, one)[0]), names[0])
    if base.accelerated and not one.accelerated:
        return None
    found, _ = score(base, one, workload, others)
    return found.times() if found else None
