# SPDX-License-Identifier: MIT
"""What machines hold and cost on the page of machines: axes, capacity, models that fit, rent."""

import re
from collections.abc import Iterator, Mapping

from tests.instruments.site_checker.files import RunFiles, row
from tests.instruments.site_checker.machines import Data, near
from tests.instruments.site_checker.printed import first
from tests.instruments.site_checker.report import CELLS, NUMBERS, Report
from tests.instruments.site_checker.tree import Element
from tests.instruments.site_checker.verdicts import Field

GB = 1e9
FREE, TIGHT = 2 * GB, 4 * GB
"""What is kept free, and below which a model fits tightly."""
BITS = {"int4": 4.5, "bf16": 16.0}
MODELS = ("8 B, int4", "8 B, bf16", "32 B, int4", "14 B, bf16", "70 B, int4", "70 B, bf16")
_MODEL = re.compile(r"(\d+) B, (\w+)")


def check(
    page: Element, field: Field, files: Mapping[str, RunFiles], kwh: float, report: Report
) -> None:
    """Check what a page says of capacity, axes and rent.

    Parameters
    ----------
    files
        Of each run, by the address of its page.
    kwh
        The price of a kilowatt-hour that is assumed.
    """
    for machine in field.machines:
        for fault in (*_axes(machine, files[machine["href"]]), *_memory(machine, files)):
            report.check(not fault, CELLS, f"purchase.html: {machine['run']}: {fault}")
    for fault in (*_fits(page, field), *_rent(page, field, kwh)):
        report.check(not fault, NUMBERS, f"purchase.html: {fault}")


def _axes(machine: Data, files: RunFiles) -> Iterator[str]:
    """Yield in what the axes of a machine are not those that lie beside its run's page."""
    kept = {(one["axis"], one["precision"]): row(one) for one in files.tables["axes"]}
    for one in machine["axes"]:
        right = kept.pop((one["name"], one["precision"]), None)
        same = right and one["unit"] == right.unit
        ends = [(one[name], right and getattr(right, name)) for name in ("value", "low", "high")]
        same = same and all(near(shown, true) for shown, true in ends)
        yield "" if same else f"the axis {one['name']} is {one}, and should be {right}"


def _memory(machine: Data, files: Mapping[str, RunFiles]) -> Iterator[str]:
    """Yield whether a machine's capacity is not that of the measured devices of its first model.

    Where no accelerator was measured, the memory is that of the host.
    """
    told = files[machine["href"]].stored["frobench"]
    every = told["environment"]["accelerators"]
    measured = [
        one for one in every if f"{one['type']}:{one['index']}" in told["settings"]["devices"]
    ]
    measured = measured or [told["environment"]["cpu"] | {"name": ""}]
    alike = [one["memory_bytes"] for one in measured if one["name"] == measured[0]["name"]]
    wanted = sum(alike) if alike and all(alike) else None
    right = machine["memory_bytes"] == wanted
    yield "" if right else f"its memory is {machine['memory_bytes']}, and should be {wanted}"


def _fits(page: Element, field: Field) -> Iterator[str]:
    """Yield what is wrong with the words and numbers of the table of models."""
    known = {field.names[one["run"]]: one["memory_bytes"] for one in field.machines}
    memory = {name: held for name, held in known.items() if held}
    figure = page.first("figure", class_="fits")
    title = figure.first("h3") if figure else None
    whole = {
        name for name, held in memory.items() if held - FREE - max(map(_bytes, MODELS)) >= TIGHT
    }
    said = re.search(r"\), fit on (.*)", title.text()) if title else None
    shown = set(_listed(said[1])) if said else set()
    yield "" if shown == whole else f"every model fits on {whole}, not {shown}"
    heads: list[str] = []
    for line in figure.every("tr") if figure else ():
        cells, head = [*line.every("td")], line.first("th")
        model = _MODEL.fullmatch("".join(map(str, head.children[:1])) if head else "")
        if model is None:
            heads = ["".join(map(str, one.children[:1])) for one in line.every("th", scope="col")]
            continue
        needed = _bytes(model[0])
        for name, cell in zip(heads[1:], cells, strict=True):
            alike = {memory[each] for each in _listed(name)}
            yield "" if len(alike) == 1 else f"{name!r} have not the same memory: {alike}"
            left = min(alike) - FREE - needed
            word = "no" if left < 0 else "tight" if left < TIGHT else "fits"
            note = cell.first("span", class_="note")
            number = first(note.text()) if note else None
            right = cell.text().startswith(word) and number and number.is_value(abs(left))
            yield "" if right else f"{model[0]} on {name}: {cell.text()!r} should be {word}, {left}"


def _bytes(model: str) -> float:
    """Return what the weights of a model take."""
    billions, bits = model.split(" B, ")
    return float(billions) * 1e9 * BITS[bits] / 8


def _listed(names: str) -> list[str]:
    """Return the names of a row such as "A, B and C"."""
    return re.split(r", | and ", names)


def _rent(page: Element, field: Field, kwh: float) -> Iterator[str]:
    """Yield what is wrong with the hours until buying pays."""
    wanted = {}
    for one in field.machines:
        rent = one["rent"]
        if rent and one["price"] and rent["currency"] == one["currency"]:
            saved = rent["price"] - (one["watts"] or 0) / 1000 * kwh
            if saved > 0:
                wanted[field.names[one["run"]]] = one["price"] / saved
    shown = {}
    for table in page.every("table"):
        if (table.first("caption") or table).attributes.get("id") == "table-rent":
            lines = [[*line.every("th"), *line.every("td")] for line in table.every("tr")][1:]
            shown = {name.text(): hours.text() for name, hours in lines}
    for name in wanted.keys() | shown.keys():
        number = first(shown.get(name, ""))
        right = number and name in wanted and number.is_value(wanted[name])
        yield "" if right else f"rent of {name}: {shown.get(name)!r} should be {wanted.get(name)} h"
