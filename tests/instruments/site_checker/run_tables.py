# SPDX-License-Identifier: MIT
"""A run's downloads held against its stored file and its samples."""

import json
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import accumulate, pairwise

from tests.instruments.site_checker import formulas
from tests.instruments.site_checker.files import WORK, Cells, RunFiles, number, row
from tests.instruments.site_checker.printed import Row
from tests.instruments.site_checker.recomputed import equal, estimate, same
from tests.instruments.site_checker.report import CELLS, Report


def check(files: RunFiles, report: Report) -> None:
    """Recompute every table that lies beside a run's page."""
    for one in (_samples, _launches, _cases, _answers, _axes, _sensors):
        one(files, report)


def _fault(place: str, what: str, found: object, wanted: object) -> str:
    return f"{place}: {what} is {found}, and should be {wanted}"


def _samples(files: RunFiles, report: Report) -> None:
    """Hold the samples against those that are stored."""
    for place, case in enumerate(files.stored["benchmarks"], start=1):
        data, counts = case["stats"]["data"], case["extra_info"]["launches"]
        wanted = {
            launch: data[begin:end]
            for launch, (begin, end) in enumerate(pairwise(accumulate(counts, initial=0)))
            if end > begin and case["fullname"] not in files.withdrawn
        }
        found = files.samples.get(place, {})
        report.checked[CELLS] += len(data) - 1
        fault = f"{files.beside('samples.csv').name}: case {place} has not the samples stored"
        report.check(found == wanted, CELLS, fault)


def _launches(files: RunFiles, report: Report) -> None:
    """Hold the medians of launches, their work and their rates against samples and stored work."""
    name = files.beside("csv").name
    medians = {case: files.seconds(case) for case in files.numbers}
    for at, cells in enumerate(files.launch_rows, start=1):
        case, launch = cells["case"], int(cells["launch"])
        seconds = medians.get(case, {}).get(launch)
        work = files.stored_cases.get(case, {"extra_info": {"work": {}}})["extra_info"]["work"]
        wanted = {"seconds": seconds, **{one: work.get(one) for one in ("flops", "bytes", "items")}}
        for rate, amount in WORK.items():
            wanted[rate] = work[amount] / seconds if work.get(amount) and seconds else None
        for column, right in wanted.items():
            found = number(cells[column])
            fault = _fault(f"{name}, row {at}", column, found, right)
            report.check(same(found, right), CELLS, fault)


def _cases(files: RunFiles, report: Report) -> None:
    """Estimate every case from its samples, and what it costs from the counters that are stored."""
    for case in files.withdrawn:
        doubted = 'id="doubts"' in files.page.read_text(encoding="utf-8")
        fault = f"{files.page.name}: {case} counts for nothing, and the page has no doubts"
        report.check(doubted, CELLS, fault)
    name = files.beside("cases.csv").name
    for at, cells in enumerate(files.tables["cases"], start=1):
        wanted, found = _quantity(files, cells), row(cells)
        fault = _fault(f"{name}, row {at}", cells["quantity"], found, wanted)
        report.check(found and wanted and equal(found, wanted), CELLS, fault)
        place = files.numbers[cells["case"]]
        right = cells["number"] == str(place)
        report.check(right, CELLS, _fault(f"{name}, row {at}", "number", cells["number"], place))
        told = files.stored_cases[cells["case"]]["extra_info"].get("check") or {}
        for column in ("error", "bound"):
            shown = number(cells[column])
            fault = _fault(f"{name}, row {at}", column, shown, told.get(column))
            report.check(same(shown, told.get(column)), CELLS, fault)


def _quantity(files: RunFiles, cells: Cells) -> Row | None:
    """Return what is told of a case, made anew."""
    seconds, unit = files.seconds(cells["case"]), cells["unit"]
    info = files.stored_cases[cells["case"]]["extra_info"]
    work = info["work"].get("flops" if unit.startswith("FLOP") else "bytes")
    energy = info.get("energy") or {"joules": [], "seconds": []}
    spent = [pair for pair in zip(energy["joules"], energy["seconds"], strict=True) if all(pair)]
    values = {
        "time": [*seconds.values()],
        "rate": [work / one for one in seconds.values()] if work else [],
        "energy of a call": [joules for joules, _ in spent],
        "power": [joules / time for joules, time in spent],
        "work for a joule": [work / joules for joules, _ in spent] if work else [],
    }[cells["quantity"]]
    return estimate(values, unit) if values else None


def _answers(files: RunFiles, report: Report) -> None:
    """Recompute what a simple formula gives; the rest is counted as only compared."""
    kinds_of = {"findings": "finding", "figures": "figure", "axes": "axis", "others": "figure"}
    for name, kinds in kinds_of.items():
        compared: Counter[str] = Counter()
        for cells in files.tables[name]:
            found = row(cells)
            cases = json.loads(cells["cases"])
            if found is None or cells.get("role") == "bound" or not cases:
                continue
            right = partial(_is, found)
            if cells.get("role") == "part":
                fault = _fault(
                    files.beside(f"{name}.csv").name, cells[kinds], found, "another part"
                )
                report.check(any(map(right, _parts(files, cells))), CELLS, fault)
            elif formulas.recompute(files, cases, [found.unit], right):
                report.checked[CELLS] += 3
            else:
                compared[cells[kinds].partition("-cpu")[0].partition("-cuda")[0]] += 1
        report.compared.update({f"{name}.csv: {one}": n for one, n in compared.items()})


def _axes(files: RunFiles, report: Report) -> None:
    """Hold each axis against its datasheet: the part of it that each launch reached."""
    name = files.beside("axes.csv").name
    for cells in files.tables["axes"]:
        found, sheet = row(cells), number(cells["datasheet"])
        if found is None or sheet is None:
            continue
        ends = found.value, found.low, found.high
        for end, column in zip(ends, ("part", "part_low", "part_high"), strict=True):
            wanted, told = end and end / sheet, number(cells[column])
            fault = _fault(f"{name}, {cells['axis']}", column, told, wanted)
            report.check(same(told, wanted), CELLS, fault)


def _parts(files: RunFiles, cells: Cells) -> Iterator[Row]:
    """Yield what part a product's rate may be of its ceiling, in each precision of the roofline."""
    (name,) = json.loads(cells["cases"])
    work = files.stored_cases[name]["extra_info"]["work"]
    intensity, rate = work["flops"] / work["bytes"], files.quantities(name)["flops", "FLOP/s"]
    for bound in files.tables["figures"]:
        if bound["role"] == "bound" and bound["figure"] == cells["figure"]:
            *copies, product = json.loads(bound["cases"])
            slope = formulas.bandwidth(files, copies)
            peak = files.quantities(product)["flops", "FLOP/s"]
            every = rate.keys() & slope.keys() & peak.keys()
            parts = [rate[at] / min(slope[at] * intensity, peak[at]) for at in every]
            yield estimate(parts, "1")


def _is(other: Row, one: Row) -> bool:
    """Tell whether an estimate is another, or without its ends may be."""
    return same(one.value, other.value) if one.launches is None else equal(one, other)


def _sensors(files: RunFiles, report: Report) -> None:
    """Hold the readings against those that are stored, and their launches against the clock."""
    told = files.stored["frobench"].get("telemetry") or {"series": {}, "launches": []}
    wanted = Counter(
        (device, quantity, told["begun"] + (step + 0.5) * told["step"], value)
        for device, quantities in told["series"].items()
        for quantity, values in quantities.items()
        for step, value in enumerate(values or ())
        if value is not None
    )
    rows = [one for one in files.tables["sensors"] if one["value"]]
    found = Counter(
        (one["device"], one["quantity"], float(one["seconds"]), float(one["value"]))
        for one in rows
        if not one["quantity"].startswith("held_back.")
    )
    report.checked[CELLS] += max(0, found.total() - 1)
    name = files.beside("sensors.csv").name
    report.check(found == wanted, CELLS, f"{name}: readings are not those stored")
    for at, one in enumerate(rows, start=1):
        begun = sum(moment <= float(one["seconds"]) for moment in told["launches"])
        right = one["launch"] == (str(begun - 1) if begun else "")
        fault = _fault(f"{name}, row {at}", "launch", one["launch"], begun - 1)
        report.check(right, CELLS, fault)


def readings(files: RunFiles) -> dict[tuple[str, str], list[tuple[str, float]]]:
    """Return the readings of each quantity of each device in order, each with its launch."""
    found: dict[tuple[str, str], list[tuple[str, float]]] = {}
    for cells in files.tables["sensors"]:
        if cells["value"]:
            one = cells["launch"], float(cells["value"])
            found.setdefault((cells["device"], cells["quantity"]), []).append(one)
    return found
