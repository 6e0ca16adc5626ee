# SPDX-License-Identifier: MIT
"""Ranks on the page of machines: from the comparison of each two, whatever the order."""

from collections.abc import Iterator

from tests.instruments.site_checker.report import CELLS, Report
from tests.instruments.site_checker.tree import Element
from tests.instruments.site_checker.verdicts import Field, letter


def check(page: Element, field: Field, usual: str, report: Report) -> None:
    """Check ranks by workload, and places under the one that the page shows."""
    for fault in (*_ranks(page, field), *_places(page, field, usual)):
        report.check(not fault, CELLS, f"purchase.html: {fault}")


def _span(ranks: tuple[int, int] | None) -> str:
    return " to ".join(map(str, dict.fromkeys(ranks))) if ranks else ""


def _ranks(page: Element, field: Field) -> Iterator[str]:
    """Yield what is wrong with the table of ranks by workload."""
    marks = {letter(place): one["run"] for place, one in enumerate(field.machines)}
    columns = {one["title"]: one["name"] for one in field.shown["workloads"]}
    for lines in _tables(page, "table-ranks"):
        heads = [cell.text() for cell in lines[0].every("th")]
        for line in lines[1:]:
            mark = line.first("span", class_="letter")
            for title, cell in zip(heads[1:], line.every("td"), strict=True):
                known = field.ranks(columns[title]).get(marks[mark.text() if mark else ""])
                wanted = _span(known) or "not measured"
                right = cell.text() == wanted
                yield "" if right else f"rank {cell.text()!r} under {title} should be {wanted}"


def _places(page: Element, field: Field, usual: str) -> Iterator[str]:
    """Yield what is wrong with the places beside the speeds."""
    known, by_href = field.ranks(usual), {one["href"]: one["run"] for one in field.machines}
    for lines in _tables(page, "table-speed"):
        for line in lines[1:]:
            link, cell = line.first("a"), line.first("td")
            if link and cell:
                wanted = _span(known.get(by_href[link.attributes["href"]])) or "-"
                right = cell.text() == wanted
                yield "" if right else f"place {cell.text()!r} of {link.text()} should be {wanted}"


def _tables(page: Element, key: str) -> Iterator[list[Element]]:
    """Yield the lines of a table."""
    for table in page.every("table"):
        if (table.first("caption") or table).attributes.get("id") == key:
            yield [*table.every("tr")]
