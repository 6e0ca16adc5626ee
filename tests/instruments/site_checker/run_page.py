# SPDX-License-Identifier: MIT
"""The numbers of a run's page, compared with its downloads.

Every number with an interval must be a row of a download, rounded; which row, tells the place
where it is printed.
"""

import json
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain

from tests.instruments.site_checker.downloads import Cells, Run, row
from tests.instruments.site_checker.pages import BLOCKS, Element, words
from tests.instruments.site_checker.printed import RATIO, Printed, Row, estimates, first, plain
from tests.instruments.site_checker.report import NUMBERS, Report

AXES = {
    "Compute": "compute",
    "Memory": "memory",
    "Overhead per operation": "overhead",
    "Overhead per value read back": "read_back",
    "Link": "link_to_device",
}
"""The axes by what their titles begin with."""
PRECISIONS = {
    "bf16": "bfloat16",
    "fp16": "float16",
    "tf32": "tfloat32",
    "fp32": "float32",
    "fp64": "float64",
    "fp8": "float8_e4m3fn",
}


def check(name: str, page: Element, run: Run, report: Report) -> None:
    """Check a page by its downloads."""
    RunPage(name, page, run, report).check()


class RunPage:
    """A run's page beside its downloads.

    name : of the page, for faults
    """

    def __init__(self, name: str, page: Element, run: Run, report: Report) -> None:
        self.name, self.page, self.run, self.report = name, page, run, report
        self.answers: dict[str, list[Cells]] = {}
        for cells in run.tables["findings"]:
            self.answers.setdefault(cells["exercise"], []).append(cells)
        told = [name for name, found in self.answers.items() if not _is_absent(found[0])]
        rows = (one.attributes["id"] for one in page.every("details", class_="exercise"))
        self.exercises = dict(zip(rows, told, strict=False))
        self.figures: dict[tuple[str, str], list[Cells]] = {}
        for cells in run.tables["figures"]:
            self.figures.setdefault((cells["exercise"], cells["figure"]), []).append(cells)

    def check(self) -> None:
        """Check all blocks of the page."""
        for block in self.page.every():
            if block.name in BLOCKS and not block.around(class_="reading"):
                text = block.text(own=True)
                self._block(block, text, [*estimates(text)])
            if block.name == "b" and block.around("p", class_="lead"):
                axes = {one.text() for one in self.page.every("p", class_="big")}
                fault = self._fault(block.text(), f"one of {axes}")
                self.report.check(block.text() in axes, NUMBERS, fault)

    def _fault(self, printed: str, wanted: object) -> str:
        return f"{self.name}: {printed!r} should be {wanted}"

    def _expect(self, found: Iterable[Printed], rows: Iterable[Row | None]) -> None:
        """Check that numbers are among these rows."""
        known = [*filter(None, rows)]
        for one in found:
            wanted = " or ".join(map(str, known[:3])) or "in a download, and is not"
            right = any(map(one.agrees, known))
            self.report.check(right, NUMBERS, self._fault(one.text, wanted))

    def _block(self, block: Element, text: str, found: list[Printed]) -> None:
        line, figure = block.around("tr"), block.around("figure")
        section = block.around("details", class_="exercise")
        exercise = self.exercises.get(section.attributes["id"], "") if section else ""
        if line and line.attributes.get("id", "").startswith("case-"):
            self._case(block, line, found)
        elif text.startswith("Medians of the launches: ") and line:
            self._launches(text, line)
        elif block.name == "p" and (axis := block.around(class_="axis")):
            self._axis(block, axis)
        elif not found:
            return
        elif figure and block.name in {"td", "title"} and (rows := self._figure(figure)):
            self._expect(found, map(row, self._fitting(rows, block)))
        elif exercise and block.name in {"p", "dd"}:
            self._answer(exercise, text)
        elif exercise and block.name == "summary":
            lead = self.answers[exercise][0]
            self._expect(found, [row(lead), *_printed(lead)])
        elif not block.around(id="method") and not block.around(id="roofline"):
            links = (one.attributes.get("href", "") for one in block.every("a"))
            linked = {one.removeprefix("#case-") for one in links if one.startswith("#case-")}
            names = {name for name, at in self.run.numbers.items() if str(at) in linked}
            every = chain(*self.known.values())
            self._expect(found, self.known.get(frozenset(names), []) if names else every)

    @cached_property
    def known(self) -> dict[frozenset[str], list[Row]]:
        """All numbers of the downloads, by the cases that they are of."""
        found: dict[frozenset[str], list[Row]] = {}
        for name in ("cases", "axes", "models", "figures", "findings", "others"):
            for cells in self.run.tables[name]:
                names = json.loads(cells["cases"]) if "cases" in cells else {cells["case"]}
                rows = found.setdefault(frozenset(names), [])
                rows += [one] if (one := row(cells)) else []
                rows += _printed(cells) if name == "findings" else []
        return found

    def _case(self, block: Element, line: Element, found: list[Printed]) -> None:
        """Check a cell of a case: its time or its rate."""
        at = line.attributes["id"].removeprefix("case-")
        rows = [one for one in self.run.tables["cases"] if one["number"] == at]
        place = line.elements.index(block)
        if place in {2, 3}:
            quantity = ("time", "rate")[place - 2]
            self._expect(found, (row(one) for one in rows if one["quantity"] == quantity))

    def _launches(self, text: str, line: Element) -> None:
        """Check the median of each launch of the case whose samples are shown."""
        siblings = (line.parent or line).elements
        above = siblings[siblings.index(line) - 1].attributes["id"]
        name = {str(at): one for one, at in self.run.numbers.items()}[above.removeprefix("case-")]
        shown = [*plain(text.partition(": ")[2].partition(". ")[0])]
        true = [*self.run.seconds[name].values()]
        right = len(shown) == len(true) and all(map(Printed.is_value, shown, true))
        self.report.check(right, NUMBERS, self._fault(text, true))

    def _axis(self, block: Element, axis: Element) -> None:
        """Check an axis: its number and its interval."""
        title, note = axis.first("h2"), axis.first("p", class_="note")
        if "big" not in block.attributes.get("class", "") or not title or not note:
            return
        name, _, precision = title.text().partition(", ")
        asked = AXES.get(name, ""), PRECISIONS.get(precision, "")
        rows = [
            one
            for one in self.run.tables["axes"]
            if one["axis"] == asked[0] and (asked[0] != "compute" or one["precision"] == asked[1])
        ]
        text, known = block.text(), [*filter(None, map(row, rows))]
        if span := re.match(r"([\d.,]+) to ([\d.,]+) (.*)", text):
            text = f"{span[1]} {span[3]} [{span[1]}, {span[2]}]"
            known = [one._replace(value=one.low or 0.0) for one in known]
        elif span := re.match(r"([\d.,]*\d) to ([\d.,]*\d)", note.text()):
            text += f" [{span[1]}, {span[2]}]"
        self._expect(estimates(text), known)

    def _figure(self, figure: Element) -> list[Cells]:
        """Return the rows of a chart: its place is that in the table of figures."""
        name, _, place = figure.attributes.get("id", "").rpartition("-")
        exercise = self.exercises.get(name, name)
        names = [key for key in self.figures if key[0] == exercise]
        at = int(place or 0) - 1
        return self.figures[names[at]] if 0 <= at < len(names) else []

    def _fitting(self, rows: list[Cells], block: Element) -> Iterator[Cells]:
        """Yield the rows that a cell of a chart's table, or the words of a point, may be."""
        line, table = block.around("tr"), block.around("table")
        if line is None or table is None:
            yield from (one for one in rows if block.text().startswith(f"{words(one['series'])},"))
            return
        heads = [cell.text() for cell in table.every("th", scope="col")]
        head, place = heads[line.elements.index(block)], line.elements[0].text()
        roof = rows[0]["exercise"] == "roofline"
        for one in rows:
            right = words(one["series"]) == head and _is_place(place, one)
            if one["role"] != "bound" and (roof or right):
                yield one

    def _answer(self, exercise: str, text: str) -> None:
        """Check a sentence, which must be an answer of the table of findings, and its numbers."""
        telling = [c for c in self.answers[exercise] if text.startswith(words(c["answer"]))]
        fault = f"{self.name}: {text!r} is no answer of the table of findings"
        self.report.check(telling, NUMBERS, fault)
        for answer in telling[:1]:
            wanted, shown = row(answer), [*estimates(text)]
            right = not wanted or wanted.unit == "n" or any(one.agrees(wanted) for one in shown)
            self.report.check(right, NUMBERS, self._fault(text, wanted))
            for one in shown:
                if self._follows(one, exercise, json.loads(answer["cases"])):
                    self.report.checked[NUMBERS] += 1
                else:
                    self.report.copied["answers"] += 1

    def _follows(self, one: Printed, exercise: str, cases: list[str]) -> bool:
        """Tell whether a number follows from the cases of an answer, or is one of its exercise."""
        figures = (
            cells for key, rows in self.figures.items() if key[0] == exercise for cells in rows
        )
        known = map(row, chain(self.answers[exercise], figures))
        units = [one.unit] if one.unit else ["n", RATIO]
        return any(map(one.agrees, known)) or self.run.gives(
            cases, units, lambda row: one.agrees(row) if row.launches else one.is_value(row.value)
        )


def _printed(answer: Cells) -> Iterator[Row]:
    """Yield the numbers of an answer as they are printed."""
    for one in estimates(words(answer["answer"])):
        value, low, high = (end and end * one.factor for end in one[1:4])
        yield Row(value or 0.0, low, high, one.launches, one.unit)


def _is_absent(answer: Cells) -> bool:
    return answer["answer"].startswith("Not measured: ")


def _is_place(text: str, cells: Cells) -> bool:
    """Tell whether the head of a row is the place of a point."""
    try:
        true = float(cells["place"])
    except ValueError:
        return text == words(cells["place"])
    shown = first(text)
    return shown is not None and shown.is_value(true) and shown.unit == cells["place_unit"]
