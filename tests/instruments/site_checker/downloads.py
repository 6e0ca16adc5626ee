# SPDX-License-Identifier: MIT
"""The downloads of a run, computed anew from its stored file."""

import csv
import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from itertools import accumulate, chain, pairwise, permutations
from pathlib import Path
from statistics import median
from typing import Any

from tests.instruments.site_checker.intervals import interval, pseudomedian
from tests.instruments.site_checker.printed import RATIO, Row

Cells = dict[str, str]
ByLaunch = Mapping[int, float]
Fits = Callable[[Row], bool]
TABLES = ("cases", "samples", "findings", "figures", "axes", "models", "others", "sensors")
RATES = {"flops": "FLOP/s", "bytes": "B/s", "items": "items/s"}
CELLS = "cells of tables"
STEP = 1e-3
"""Of the logarithm of a time."""
GUARDED = {f"'{sign}" for sign in "=+-@\t\r"}
"""How a text begins in a table that a spreadsheet would take for a formula."""


@dataclass
class Report:
    """Faults, a line each, and how much was checked.

    checked : how many, by kind
    """

    faults: list[str] = field(default_factory=list)
    checked: Counter[str] = field(default_factory=Counter)

    def check(self, right: object, kind: str, fault: str) -> None:
        """Count something that was checked, and note its fault if it is not right."""
        self.checked[kind] += 1
        if not right:
            self.faults.append(fault)

    def compare(self, found: object, wanted: object, place: str) -> None:
        """Count a cell, and note its fault if it is not what it should be."""
        self.check(agree(found, wanted), CELLS, f"{place} is {found}, and should be {wanted}")


def table(path: Path) -> list[Cells]:
    """Read a table; a mark stands before a text that a spreadsheet would take for a formula."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [
            {name: text[1:] if text[:2] in GUARDED else text for name, text in row.items()}
            for row in csv.DictReader(file)
        ]


def number(text: str) -> float | None:
    """Return a cell's number, or ``None`` of an empty one."""
    return float(text) if text else None


def row(cells: Cells) -> Row | None:
    """Return the estimate of a row, if it has one."""
    value, low, high, launches = (number(cells[one]) for one in Row._fields[:4])
    count = None if launches is None else int(launches)
    return None if value is None else Row(value, low, high, count, cells["unit"])


def estimate(values: Iterable[float], unit: str) -> Row:
    """Return the median over launches with its interval; none below six launches."""
    known = [*values]
    low, high = interval(known) or (None, None)
    return Row(median(known), low, high, len(known), unit)


def agree(one: object, other: object) -> bool:
    """Tell whether cells, numbers or estimates are equal but for the order of additions."""
    if isinstance(one, tuple | list) and isinstance(other, tuple | list):
        return len(one) == len(other) and all(map(agree, one, other))
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-15)
    return one == other


def _equals(wanted: Row, found: Row) -> bool:
    return agree(wanted, found) if found.launches else agree(wanted.value, found.value)


class Run:
    """The downloads of one run, and the launches of its stored cases.

    page : the run's page, beside which the downloads lie
    """

    def __init__(self, page: Path) -> None:
        self.page = page
        self.stored: dict[str, Any] = json.loads(page.with_suffix(".json").read_bytes())
        self.stored_cases = {case["fullname"]: case for case in self.stored["benchmarks"]}
        self.numbers = {name: at for at, name in enumerate(self.stored_cases, start=1)}
        self.tables = {name: table(page.with_suffix(f".{name}.csv")) for name in TABLES}
        self.withdrawn = self.numbers.keys() - {one["case"] for one in self.tables["cases"]}
        self.quantities = cache(lambda case: [*self._quantities(case)])

    def samples(self, case: str) -> dict[int, list[float]]:
        """Return the stored samples of each launch that measured a case."""
        stored = self.stored_cases[case]
        ends = pairwise(accumulate(stored["extra_info"]["launches"], initial=0))
        data = stored["stats"]["data"]
        return {at: data[begin:end] for at, (begin, end) in enumerate(ends) if end > begin}

    @cached_property
    def seconds(self) -> dict[str, ByLaunch]:
        """The launch medians of every case."""
        return {
            name: {at: median(one) for at, one in self.samples(name).items()}
            for name in self.stored_cases
        }

    def _quantities(self, case: str) -> Iterator[tuple[str, ByLaunch]]:
        """Return what launches say of a case, with units: its time, its rates and its parts."""
        info, seconds = self.stored_cases[case]["extra_info"], self.seconds[case]
        yield "s", seconds
        parts = {
            name: {at: one for at, one in enumerate(values) if one is not None}
            for name, values in (info.get("parts") or {}).items()
        }
        for values in parts.values():
            yield "s", values
            yield "1", values
        for work, unit in RATES.items():
            if amount := info["work"].get(work):
                yield unit, {at: amount / one for at, one in seconds.items()}
                for part in {"device", "sustained"} & parts.keys():
                    timed = {at: one or seconds.get(at) for at, one in parts[part].items()}
                    yield unit, {at: amount / one for at, one in timed.items() if one}
        if items := info["work"].get("items"):
            params = self.stored_cases[case]["params"]
            each, layers = params.get("batch", 1), params.get("layers", 1)
            yield "s", {at: one / items for at, one in seconds.items()}
            yield "s", {at: one / items * each for at, one in seconds.items()}
            yield "items/s", {at: items * layers / one for at, one in seconds.items()}

    def gives(self, cases: list[str], units: Collection[str], fits: Fits) -> bool:
        """Tell whether cases give an estimate: one of them alone, or two by ratio or difference.

        fits : tells it of a value without its ends first, which is quick
        """
        known = [one for name in cases if name in self.numbers for one in self.quantities(name)]
        tried = ((values, unit) for own, values in known for unit in units if _is(own, unit))
        return any(_fits(*one, fits) for one in chain(tried, _pairs(known, units)))

    def check(self, report: Report) -> None:
        """Check every table that lies beside the page."""
        self._samples(report)
        for at, cells in enumerate(table(self.page.with_suffix(".csv")), start=1):
            seconds = self.seconds[cells["case"]].get(int(cells["launch"]))
            place = f"{self.page.stem}.csv, row {at}"
            check_times(cells, self.stored_cases[cells["case"]], seconds, report, place)
        self._cases(report)
        self._made(report)

    def _samples(self, report: Report) -> None:
        found: dict[str, dict[str, list[float]]] = {}
        for one in self.tables["samples"]:
            launches = found.setdefault(one["number"], {})
            launches.setdefault(one["launch"], []).append(float(one["seconds"]))
        for name, at in self.numbers.items():
            stored = {} if name in self.withdrawn else self.samples(name)
            right = found.get(str(at), {}) == {str(one): data for one, data in stored.items()}
            fault = f"{self.page.stem}.samples.csv: case {at} has not the samples stored"
            report.check(right, CELLS, fault)

    def _cases(self, report: Report) -> None:
        for at, cells in enumerate(self.tables["cases"], start=1):
            place, found, name = f"{self.page.stem}.cases.csv, row {at}", row(cells), cells["case"]
            # A row without an estimate is a fault, even if none can be computed.
            report.compare(found or "none", self._of_case(cells), f"{place}: {cells['quantity']}")
            report.compare(cells["number"], str(self.numbers[name]), f"{place}: number")

    def _of_case(self, cells: Cells) -> Row | None:
        """Return what a case's samples, declared work and counted energy give."""
        info, unit = self.stored_cases[cells["case"]]["extra_info"], cells["unit"]
        seconds = self.seconds[cells["case"]].values()
        work = info["work"].get("flops" if unit.startswith("FLOP") else "bytes") or 0
        energy = info.get("energy") or {"joules": [], "seconds": []}
        spent = [one for one in zip(energy["joules"], energy["seconds"], strict=True) if all(one)]
        values = {
            "time": [*seconds],
            "rate": [work / one for one in seconds],
            "energy of a call": [joules for joules, _ in spent],
            "power": [joules / time for joules, time in spent],
            "work for a joule": [work / joules for joules, _ in spent],
        }[cells["quantity"]]
        return estimate(values, unit) if values else None

    def _made(self, report: Report) -> None:
        """Check findings, points of charts and axes as far as one formula gives them."""
        for name in ("findings", "figures", "axes", "models"):
            for at, cells in enumerate(self.tables[name], start=1):
                wanted, cases = row(cells), json.loads(cells["cases"])
                place = f"{self.page.stem}.{name}.csv, row {at}"
                if not wanted or not cases:
                    continue
                if amount := number(cells.get("per_token", "")):
                    self._computed(cells, amount, place, report)
                    continue
                given = self.gives(cases, [wanted.unit], partial(_equals, wanted))
                if given or (len(cases) <= 2 and wanted.unit in {"s", *RATES.values()}):
                    fault = f"{place}: {wanted} does not follow from its cases"
                    report.check(given or cells.get("role") == "bound", CELLS, fault)
                if sheet := number(cells.get("datasheet", "")):
                    parts = [number(cells[one]) for one in ("part", "part_low", "part_high")]
                    right = [one and one / sheet for one in wanted[:3]]
                    report.compare(parts, right, f"{place}: parts of the datasheet")

    def _computed(self, cells: Cells, amount: float, place: str, report: Report) -> None:
        """Check what is computed from a measured rate, over an amount."""
        quantity = cells["quantity"]
        rates = (one for one in self.tables["models"] if one["quantity"] == quantity)
        found, rate = row(cells), row(next(rates))
        right = rate and tuple(one and one / amount for one in rate[:3])
        report.compare(found and found[:3], right or "another", place)


def _is(own: str, unit: str) -> bool:
    """Tell whether a quantity is meant by a unit: items have names, such as tokens."""
    return own == unit or (own == "items/s" and unit.endswith("/s") and unit not in RATES.values())


def _pairs(
    known: Sequence[tuple[str, ByLaunch]], units: Collection[str]
) -> Iterator[tuple[ByLaunch, str]]:
    for (unit, one), (its, other) in permutations(known, 2):
        both = one.keys() & other.keys()
        if unit == its and unit in units:
            yield {at: one[at] - other[at] for at in both}, unit
        if unit == its and all(other[at] for at in both):
            for ratio in {"1", RATIO} & {*units}:
                yield {at: one[at] / other[at] for at in both}, ratio


def _fits(values: ByLaunch, unit: str, fits: Fits) -> bool:
    return (
        bool(values)
        and fits(Row(median(values.values()), unit=unit))
        and fits(estimate([values[at] for at in sorted(values)], unit))
    )


def check_times(
    cells: Cells, case: Mapping[str, Any], seconds: float | None, report: Report, place: str
) -> None:
    """Check a time of a table, and the rates that follow from it."""
    wanted = {"seconds": seconds}
    for work, rate in (("flops", "flop_rate"), ("bytes", "byte_rate")):
        amount = case["extra_info"]["work"].get(work)
        wanted[rate] = amount / seconds if amount and seconds else None
    for column, right in wanted.items():
        report.compare(number(cells[column]), right, f"{place}: {column}")


def check_index(cells: Cells, estimated: Iterable[Cells], run: Run, report: Report) -> None:
    """Check what the index says of a run: its row of runs.csv, and its rows of estimates.csv."""
    part, name = run.stored["frobench"], cells["run"]
    states = Counter(
        "failed" if one["fullname"] in run.withdrawn else one["status"] for one in part["outcomes"]
    )
    wanted = {
        "launches": len(part["launches"]),
        "cases": len(run.stored_cases) - len(run.withdrawn),
        "failed": states["failed"],
        "skipped": states["skipped"],
        "sha256": hashlib.sha256(run.page.with_suffix(".json").read_bytes()).hexdigest(),
    }
    for column, right in wanted.items():
        report.compare(cells[column], str(right), f"runs.csv: {name}: {column}")
    for one in estimated:
        if (one["machine"], one["run"]) != (cells["machine"], name):
            continue
        place, seconds = f"estimates.csv: {name}, {one['case']}", run.seconds[one["case"]]
        right = estimate(seconds.values(), "s")
        found = row(one | {"value": one["seconds"], "unit": "s"})
        report.compare(found, right, f"{place}: seconds")
        check_times(one, run.stored_cases[one["case"]], right.value, report, place)
        log = round(pseudomedian([*map(math.log, seconds.values())]) / STEP) * STEP
        report.compare(number(one["log_seconds"]), log, f"{place}: log_seconds")
