# SPDX-License-Identifier: MIT
"""What lies beside a run's page, read with nothing but the standard library."""

import csv
import json
import math
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any

from tests.instruments.site_checker.printed import RATIO, Row
from tests.instruments.site_checker.recomputed import ByLaunch

Cells = dict[str, str]
WORK = {"flop_rate": "flops", "byte_rate": "bytes"}

GUARDED = {f"'{sign}" for sign in "=+-@\t\r"}
"""How a text begins in a table that a spreadsheet would take for a formula."""


def table(path: Path) -> list[Cells]:
    """Read a table; a text that a spreadsheet would take for a formula stands behind a mark."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file)]
    return [
        {name: text[1:] if text[:2] in GUARDED else text for name, text in row.items()}
        for row in rows
    ]


def number(text: str) -> float | None:
    """Return a cell's number, or ``None`` of an empty one."""
    return float(text) if text else None


def row(cells: Cells) -> Row | None:
    """Return the estimate of a row, if it has one."""
    value = number(cells["value"])
    if value is None:
        return None
    low, high, launches = (number(cells[name]) for name in ("low", "high", "launches"))
    return Row(value, low, high, None if launches is None else int(launches), cells["unit"])


class RunFiles:
    """The downloads of one run, and what its samples say.

    Parameters
    ----------
    page
        The run's page, beside which they lie.
    """

    def __init__(self, page: Path) -> None:
        self.page = page

    def beside(self, ending: str) -> Path:
        """Return the file of an ending, such as ``cases.csv``."""
        return self.page.with_suffix(f".{ending}")

    @cached_property
    def stored(self) -> dict[str, Any]:
        """The stored file."""
        found: dict[str, Any] = json.loads(self.beside("json").read_bytes())
        return found

    @cached_property
    def stored_cases(self) -> dict[str, dict[str, Any]]:
        """The stored cases by full name."""
        return {case["fullname"]: case for case in self.stored["benchmarks"]}

    @cached_property
    def tables(self) -> dict[str, list[Cells]]:
        """The tables of what the page shows, by name."""
        names = ("cases", "samples", "findings", "figures", "axes", "others", "sensors")
        return {name: table(self.beside(f"{name}.csv")) for name in names}

    @cached_property
    def launch_rows(self) -> list[Cells]:
        """The table of launch medians."""
        return table(self.beside("csv"))

    @cached_property
    def samples(self) -> dict[int, dict[int, list[float]]]:
        """The samples by launch, by the number of their case."""
        found: dict[int, dict[int, list[float]]] = {}
        for one in self.tables["samples"]:
            launches = found.setdefault(int(one["number"]), {})
            launches.setdefault(int(one["launch"]), []).append(float(one["seconds"]))
        return found

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each case, by full name: its place in the stored file."""
        return {name: place for place, name in enumerate(self.stored_cases, start=1)}

    @cached_property
    def withdrawn(self) -> set[str]:
        """Cases whose samples are stored and count for nothing, as the page must say."""
        return self.stored_cases.keys() - {cells["case"] for cells in self.tables["cases"]}

    def seconds(self, case: str) -> dict[int, float]:
        """Return a case's launch medians, from its raw samples."""
        launches = self.samples.get(self.numbers.get(case, 0), {})
        return {launch: median(samples) for launch, samples in launches.items()}

    def quantities(self, case: str) -> dict[tuple[str, str], ByLaunch]:
        """Return what a case says launch by launch: its time, its rates, its parts, with units."""
        seconds, info = self.seconds(case), self.stored_cases[case]["extra_info"]
        work = info["work"]
        found: dict[tuple[str, str], ByLaunch] = {("time", "s"): seconds}
        for name, unit in (("flops", "FLOP/s"), ("bytes", "B/s"), ("items", "items/s")):
            if work.get(name):
                found[name, unit] = {at: work[name] / one for at, one in seconds.items()}
        if work.get("items"):
            found["item", "s"] = {at: one / work["items"] for at, one in seconds.items()}
        for part in ("device", "sustained"):
            own = dict(enumerate(info.get("parts", {}).get(part, [])))
            for name, unit in (("flops", "FLOP/s"), ("bytes", "B/s")):
                if own and work.get(name):
                    found[f"{name}, {part}", unit] = {
                        at: work[name] / (one or seconds[at])
                        for at, one in own.items()
                        if one or (part == "device" and at in seconds)
                    }
        for name, values in info.get("parts", {}).items():
            unit = "1" if name in {"concurrency", "overlap", "balance"} else "s"
            found[name, unit] = {at: one for at, one in enumerate(values) if one is not None}
        if work.get("items"):
            params = self.stored_cases[case]["params"]
            each, passed = params.get("batch", 1), work["items"] * params.get("layers", 1)
            found["step", "s"] = {at: one / work["items"] * each for at, one in seconds.items()}
            found["layers", "items/s"] = {at: passed / one for at, one in seconds.items()}
        if info.get("against"):
            found |= self._beside(case, found.get(("step", "s"), {}))
        return found

    def _beside(self, case: str, step: ByLaunch) -> dict[tuple[str, str], ByLaunch]:
        """Return a case's time by that of the version beside it, in pairs, and what it has more.

        A silent training reads back once, at its end; what that takes is put right here.
        """
        stored = self.stored_cases[case]
        pairs = zip(stored["stats"]["data"], stored["extra_info"]["against"], strict=True)
        logs = [math.log(own / other) for own, other in pairs]
        params, items = stored["params"], stored["extra_info"]["work"].get("items") or math.inf
        part = int(params.get("every", 0)) * int(params.get("batch", 0)) / items
        ratio, corrected, begin = {}, {}, 0
        for launch, samples in self.samples[self.numbers[case]].items():
            ratio[launch] = math.exp(median(logs[begin : begin + len(samples)]))
            begin += len(samples)
            added = (ratio[launch] - 1) / (1 - part) if part < 1 else 0.0
            corrected[launch] = 1 + added / (1 - added * part)
        more = {at: one * (1 - 1 / corrected[at]) for at, one in step.items()}
        return {("pairs", RATIO): ratio, ("silent", RATIO): corrected, ("more", "s"): more}
