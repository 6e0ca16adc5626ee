# SPDX-License-Identifier: MIT
"""The table of machines and the grid of exercises on the purchase page, from its data."""

import math
from collections.abc import Callable, Mapping

from tests.instruments.site_checker.machines import Data
from tests.instruments.site_checker.printed import RATIO, Printed, Row, first, scale
from tests.instruments.site_checker.report import CELLS, NUMBERS, Report
from tests.instruments.site_checker.tree import Element

AXES = {"Memory": "memory", "Overhead": "overhead", "Link": "link_to_device"}
MEASURED = {"Compute", *AXES}
"""Columns of amounts with an interval."""
AMOUNTS = {"Speed": "Speed", "Capacity": "Memory", "Price": "Price"}
"""Columns by what `PurchasePage` calls the amount."""
HALF = ("bfloat16", "float16", "float32")


def check_cards(
    page: Element,
    machines: Mapping[str, Data],
    amounts: Callable[[Data], Mapping[str, Row | None]],
    report: Report,
) -> None:
    """Check every number in the cells of the table of machines.

    Parameters
    ----------
    machines
        By the addresses of their runs' pages.
    amounts
        Of a machine, by their names.
    """
    shown = page.first("table", class_="stack")
    for line in shown.every("tr") if shown else ():
        link = line.first("a")
        if link is None:
            continue
        machine = machines[link.attributes["href"]]
        known = amounts(machine)
        for cell in line.every("td"):
            title, _, unit = cell.attributes["data-l"].partition(", ")
            wanted = _values(title, machine, known)
            number = cell.first("span", class_="num")
            text = number.text() if number else ""
            found = _printed(text, measured=title in MEASURED)
            factor = scale(unit)[0]
            right = (
                any(found.is_value(one / factor) for one in wanted if one is not None)
                if found
                else wanted == [None]
            )
            fault = f"purchase.html: {title} {text!r} {unit} should be one of {wanted}"
            report.check(right, NUMBERS, fault)


def check_heat(
    page: Element,
    machines: Mapping[str, Data],
    exercises: list[Data],
    ratio: Callable[[Data, str], Row | None],
    report: Report,
) -> None:
    """Check that every number of the grid is a ratio of its exercise."""
    tables = [
        one
        for one in page.every("table", class_="heat")
        if "score" not in one.attributes["class"].split()
    ]
    shown = tables[0] if tables else None
    titles = {one["title"]: one["name"] for one in exercises}
    for line in shown.every("tr") if shown else ():
        cells = [*line.every("td")]
        head = line.first("th")
        if not cells or head is None:
            continue
        known = [ratio(one, titles[head.text()]) for one in machines.values()]
        for cell in cells:
            text = cell.text()
            found = _printed(text)
            right = (found is None and "not measured" in text) or any(
                found and one and found.unit == RATIO and found.is_value(one.value) for one in known
            )
            fault = f"purchase.html: {head.text()} {text!r} should be one of {known}"
            report.check(right, NUMBERS, fault)


def check_parts(page: Element, data: Data, workload: str, report: Report) -> None:
    """Check what the score is made of: weights, speeds in the parts, and what they come to.

    The last row must be the product of the rows above, each to the power of its weight, as far
    as a machine has them.
    """
    asked = [one for one in data["parts"] if one["weights"].get(workload)]
    weights = {one["name"]: one["weights"][workload] for one in asked}
    every = math.fsum(weights.values())
    logs = [one["parts"]["logs"] for one in data["machines"]]
    wanted = {
        one["title"]: (weights[one["name"]] / every, [each.get(one["name"]) for each in logs])
        for one in asked
    }
    wanted["Score"] = 1.0, [_score(each, weights) for each in logs]
    shown = page.first("table", class_="score")
    heads = [line.first("th", scope="row") for line in shown.every("tr")] if shown else []
    titles = [head.text() for head in heads if head]
    fault = f"purchase.html: the score is made of {titles}, not {[*wanted]}"
    report.check(not shown or titles == [*wanted], CELLS, fault)
    for line in shown.every("tr") if shown else ():
        head = line.first("th", scope="row")
        if head and head.text() in wanted:
            _check_part(line, *wanted[head.text()], report)


def _check_part(line: Element, weight: float, known: list[float | None], report: Report) -> None:
    """Check the weight in a row of the score, and that its speeds are those of machines."""
    share, _, *cells = line.every("td")
    found = first(share.text())
    right = found is not None and found.is_value(weight)
    report.check(right, NUMBERS, f"purchase.html: a weight is {share.text()!r}, not {weight}")
    for cell in cells:
        speed = _printed(cell.text())
        right = (speed is None and "not measured" in cell.text()) or any(
            speed and log is not None and speed.is_value(math.exp(log)) for log in known
        )
        fault = f"purchase.html: a speed in a part is {cell.text()!r}, and should be in {known}"
        report.check(right, NUMBERS, fault)


def _score(logs: Mapping[str, float], weights: Mapping[str, float]) -> float | None:
    """Return the logarithm of the score over the parts that a machine has."""
    there = {name: weight for name, weight in weights.items() if name in logs}
    every = math.fsum(there.values())
    return math.fsum(at * logs[name] for name, at in there.items()) / every if every else None


def _printed(text: str, *, measured: bool = False) -> Printed | None:
    """Read a number whose interval is not shown.

    Zeros at the end of a measured one may be places that the interval leaves open.
    """
    number = first(text)
    if number is None:
        return None
    digits = text.replace(",", "")
    zeros = len(digits) - len(digits.rstrip("0")) if measured and digits.isdecimal() else 0
    finest = number.to_last_digit()
    return finest._replace(step=max(finest.step, 10.0**zeros))


def _values(title: str, machine: Data, known: Mapping[str, Row | None]) -> list[float] | list[None]:
    """Return what may stand in a column."""
    axes: list[Data] = machine["axes"]
    if title == "Compute":
        found = [one["value"] for one in axes if one["name"] == "compute"]
        return found or [None]
    if title in AXES:
        found = [one["value"] for one in axes if one["name"] == AXES[title]]
        return found or [None]
    if title == "Power":
        load = machine["load"]
        watts = load["value"] if load else machine["watts"]
        return [watts]
    if title == "Value":
        row, speed = known["Price of a device"], known["Speed"]
        return [1000 * speed.value / row.value] if row and speed else [None]
    row = known["Cost of ownership" if title.startswith("Cost of") else AMOUNTS[title]]
    return [row.value] if row else [None]
