# SPDX-License-Identifier: MIT
"""The table of machines and the grid of exercises on the purchase page, from its data."""

from collections.abc import Callable, Mapping

from tests.instruments.site_checker.machines import Data
from tests.instruments.site_checker.printed import RATIO, Printed, Row, first, scale
from tests.instruments.site_checker.report import NUMBERS, Report
from tests.instruments.site_checker.tree import Element

AXES = {"Memory": "memory", "Overhead": "overhead", "Link": "link_to_device"}
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
            found = _printed(text)
            factor = scale(unit)[0] if unit else 1.0
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
    shown = page.first("table", class_="heat")
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


def _printed(text: str) -> Printed | None:
    """Read a number whose interval is not shown."""
    number = first(text)
    return number and number.to_last_digit()


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
