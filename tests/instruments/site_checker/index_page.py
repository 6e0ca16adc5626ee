# SPDX-License-Identifier: MIT
"""The index held against its tables, and these against the files of each run."""

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.instruments.site_checker import device_rows
from tests.instruments.site_checker.files import Cells, RunFiles, number, table
from tests.instruments.site_checker.recomputed import STEP, estimate, log_error, log_seconds, same
from tests.instruments.site_checker.report import CELLS, NUMBERS, Report
from tests.instruments.site_checker.tree import Element

DIGITS = [chr(code) for code in range(ord("!"), ord("~")) if chr(code) not in '"&<>\\']
GAP, ONE_MISSING = "~", " "


def check(folder: Path, page: Element, files: Mapping[str, RunFiles], report: Report) -> None:
    """Check the index.

    Parameters
    ----------
    files
        Of each run, by the address of its page.
    """
    runs = {one["href"]: one for one in table(folder / "runs.csv")}
    known: dict[str, list[Cells]] = {href: [] for href in runs}
    places = {(one["machine"], one["run"]): href for href, one in runs.items()}
    for one in table(folder / "estimates.csv"):
        known[places[one["machine"], one["run"]]].append(one)
    for href, cells in runs.items():
        _run(cells, known[href], files[href], report)
    shown = page.first("table", id="runs")
    lines = [*_lines(shown)]
    hrefs = [link.attributes["href"] for line in lines if (link := line[1].first("a"))]
    for href, line in zip(hrefs, lines, strict=True):
        _line(shown or page, line, runs[href], report)
    block = page.first("script", id="data")
    if block is not None:
        data = json.loads("".join(map(str, block.children)))
        _packed(data, [known[href] for href in hrefs], report)
        devices = (page.first("div", id="devices-table") or page).first("table")
        device_rows.check(devices, data, hrefs, files, report)


def _run(cells: Cells, rows: list[Cells], files: RunFiles, report: Report) -> None:
    """Check what both tables say of a run."""
    part = files.stored["frobench"]
    states = [
        "failed" if one["fullname"] in files.withdrawn else one["status"]
        for one in part["outcomes"]
    ]
    wanted = {
        "launches": len(part["launches"]),
        "cases": len(files.stored["benchmarks"]) - len(files.withdrawn),
        **{state: states.count(state) for state in ("failed", "skipped")},
    }
    for name, count in wanted.items():
        fault = f"runs.csv: {cells['run']}: {name} are {cells[name]}, and should be {count}"
        report.check(cells[name] == str(count), CELLS, fault)
    for one in rows:
        medians = [*files.seconds(one["case"]).values()]
        right = estimate(medians, "s")._asdict() if medians else {"value": None}
        right |= {"seconds": right["value"], "log_seconds": log_seconds(medians)}
        right |= {"log_error": log_error(medians)}
        work = files.stored_cases[one["case"]]["extra_info"]["work"]
        for amount, rate in (("flops", "flop_rate"), ("bytes", "byte_rate")):
            right[amount] = work.get(amount)
            right[rate] = work[amount] / right["seconds"] if work.get(amount) else None
        for name in (
            "seconds",
            "low",
            "high",
            "log_seconds",
            "log_error",
            "launches",
            *(
                "flops",
                "bytes",
                "flop_rate",
                "byte_rate",
            ),
        ):
            fault = f"estimates.csv: {cells['run']}, {one['case']}: {name} is {one[name]}"
            report.check(same(number(one[name]), right[name]), CELLS, f"{fault}, not {right[name]}")


def _lines(shown: Element | None) -> Iterator[list[Element]]:
    for line in shown.every("tr") if shown else ():
        cells = [one for one in line.children if isinstance(one, Element)]
        if cells[-1].name == "td":
            yield cells


def _line(shown: Element, line: list[Element], run: Cells, report: Report) -> None:
    """Check a row of the table of runs."""
    keys = [one.attributes["data-key"] for one in shown.every("th") if "data-key" in one.attributes]
    for key, cell in zip(keys, line[1:], strict=True):
        if key in {"launches", "cases"}:
            text = cell.text()
            fault = f"index.html: {run['run']}: {text} {key}, and should be {run[key]}"
            report.check(text == run[key], NUMBERS, fault)


def _packed(data: Mapping[str, Any], runs: list[list[Cells]], report: Report) -> None:
    """Unpack the times that the script compares, and hold them against the table of estimates."""
    owners = [one["name"] for one in data["exercises"] for _ in range(one["cases"])]
    packed = data["times"]
    for text, rows in zip(packed["runs"], runs, strict=True):
        found: dict[str, list[float]] = {}
        for place, step in _unpacked(text, packed["widths"]):
            steps = packed["least"][place] + step
            found.setdefault(owners[place].removesuffix(".cpu"), []).append(steps * STEP)
        for exercise, logs in found.items():
            mine = [c for c in rows if c["exercise"] == exercise and c["status"] == "passed"]
            true = sorted(float(one["log_seconds"]) for one in mine if one["log_seconds"])
            left = sorted(logs)
            for log in left:
                near = min(true, key=lambda one: abs(one - log), default=math.inf)
                right = abs(near - log) < STEP / 2
                fault = (
                    f"index.html: a packed time of {exercise}, {math.exp(log)} s, is no estimate"
                )
                report.check(right, NUMBERS, fault)


def _unpacked(text: str, widths: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the place of each case and its steps."""
    value = {digit: place for place, digit in enumerate(DIGITS)}
    place, at = 0, 0
    while at < len(text):
        if text[at] == ONE_MISSING:
            place, at = place + 1, at + 1
            continue
        if text[at] == GAP:
            place += value[text[at + 1]] * len(DIGITS) + value[text[at + 2]]
            at += 3
            continue
        number = 0
        for digit in text[at : at + widths[place]]:
            number = number * len(DIGITS) + value[digit]
        yield place, number
        at += widths[place]
        place += 1
