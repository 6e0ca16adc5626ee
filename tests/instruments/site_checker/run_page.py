# SPDX-License-Identifier: MIT
"""The numbers of a run's page held against its downloads.

Each block of text tells by where it stands which rows its numbers must be.
"""

import json
import re
from collections.abc import Iterable, Iterator

from tests.instruments.site_checker import formulas
from tests.instruments.site_checker.files import Cells, RunFiles, number, row
from tests.instruments.site_checker.printed import (
    RATIO,
    UNITS,
    Printed,
    Row,
    estimates,
    first,
    first_number,
    plain,
)
from tests.instruments.site_checker.recomputed import estimate
from tests.instruments.site_checker.report import NUMBERS, Report
from tests.instruments.site_checker.tree import BLOCKS, Element, words

AXES = {
    "Compute": "compute",
    "Memory": "memory",
    "Overhead per operation": "overhead",
    "Overhead per value read back": "read_back",
    "Link": "link_to_device",
}
"""The axes by what their titles begin with."""
PRECISIONS = {
    "bfloat16": "bf16",
    "float16": "fp16",
    "tfloat32": "tf32",
    "float32": "fp32",
    "float64": "fp64",
    "float8_e4m3fn": "fp8",
}
SIGNS = "reading"
"""Class of what explains signs by examples."""


class RunPage:
    """A run's page beside its downloads.

    Parameters
    ----------
    name
        Of the page, for faults.
    """

    def __init__(self, name: str, page: Element, files: RunFiles, report: Report) -> None:
        self.name, self.page, self.files, self.report = name, page, files, report
        tables = files.tables
        self.cases: dict[str, list[Cells]] = {}
        for cells in tables["cases"]:
            self.cases.setdefault(cells["number"], []).append(cells)
        self.answers: dict[str, list[Cells]] = {}
        for cells in tables["findings"]:
            self.answers.setdefault(cells["exercise"], []).append(cells)
        rows = page.every("details", class_="exercise")
        told = [name for name, found in self.answers.items() if not _is_absent(found[0])]
        self.exercises = dict(zip((one.attributes["id"] for one in rows), told, strict=False))
        self.figures: dict[tuple[str, str], list[Cells]] = {}
        for cells in tables["figures"]:
            self.figures.setdefault((cells["exercise"], cells["figure"]), []).append(cells)
        self.printed = {
            one.text: one
            for cells in tables["findings"]
            for one in estimates(cells["answer"].replace("\u00a0", " "))
        }

    def check(self) -> None:
        """Check every number with an interval, and what stands without one where it is known."""
        for block in self.page.every():
            if block.name in BLOCKS and not block.around(class_=SIGNS):
                self._block(block)
            if said := block.attributes.get("aria-label"):
                self._label(block, said)
            if "rule" in block.attributes.get("class", "").split():
                self._rule(block)
            if block.name == "meta":
                self._meta(block)

    def _fault(self, printed: str, wanted: object) -> str:
        return f"{self.name}: {printed!r} should be {wanted}"

    def _expect(self, printed: Printed, rows: Iterable[Row | None]) -> bool:
        """Check a number that must be one of these rows."""
        known = [one for one in rows if one]
        right = any(printed.agrees(one) for one in known)
        wanted = " or ".join(map(str, known[:3])) if known else "in a download, and is not"
        self.report.check(right, NUMBERS, self._fault(printed.text, wanted))
        return right

    def _block(self, block: Element) -> None:
        text = block.text(own=True)
        found = [*estimates(text)]
        line = block.around("tr")
        figure = block.around("figure")
        if line and line.attributes.get("id", "").startswith("case-"):
            self._case(block, line)
        elif block.name == "p" and (axis := block.around(class_="axis")):
            self._axis(block, axis)
        elif figure is not None and block.name in {"td", "title"}:
            rows = self._figure(figure)
            for one in found:
                self._expect(one, map(row, self._fitting(rows, block, one)))
        elif figure is not None and block.name == "h3" and self._figure(figure):
            self._headline(text, figure)
        elif found and block.name == "td" and line and block.first("a", class_="number"):
            behind = self._linked(block)
            names = [c["case"] for case in behind for c in self.cases.get(case, [])[:1]]
            others = [c for c in self.files.tables["others"] if json.loads(c["cases"]) == names]
            self._all(found, [c for case in behind for c in self.cases.get(case, [])] + others)
        elif found:
            self._sentence(block, text, found)

    def _linked(self, block: Element) -> list[str]:
        links = (one.attributes.get("href", "") for one in block.every("a"))
        return [one.removeprefix("#case-") for one in links if one.startswith("#case-")]

    def _case(self, block: Element, line: Element) -> None:
        """Check a cell of a case: its time, its rate, its error and the error's bound."""
        rows = self.cases.get(line.attributes["id"].removeprefix("case-"), [])
        cells = [one for one in line.children if isinstance(one, Element)]
        place = next((at for at, one in enumerate(cells) if one is block), 0)
        text = block.text()
        if place in {2, 3}:
            quantity = ("time", "rate")[place - 2]
            for one in estimates(text):
                self._expect(one, (row(c) for c in rows if c["quantity"] == quantity))
        elif place == 4 and rows and " of " in text:
            for shown, column in zip(text.split(" of "), ("error", "bound"), strict=True):
                true = number(rows[0][column])
                right = true is not None and shown == f"{true:.1e}"
                self.report.check(right, NUMBERS, self._fault(shown, true))

    def _figure(self, figure: Element) -> list[Cells]:
        """Return the rows of a chart: it stands at the same place as in the table of figures."""
        name, _, place = figure.attributes.get("id", "").rpartition("-")
        exercise = self.exercises.get(name, name)
        names = [key for key in self.figures if key[0] == exercise]
        at = int(place or 0) - 1
        return self.figures[names[at]] if 0 <= at < len(names) else []

    def _headline(self, text: str, figure: Element) -> None:
        """Check that a chart's title has the numbers of its table, to the same digits."""
        cells = " ".join(one.text() for name in ("td", "th") for one in figure.every(name))
        for one in plain(text):
            bare = one.text.strip(",") if one.unit in UNITS else first_number(one.text)
            known = re.search(rf"(?<![\d.,]){re.escape(bare)}(?![\d.,]*\d)", cells)
            fault = self._fault(one.text, "in the table below the chart")
            self.report.check(known is not None, NUMBERS, fault)

    def _fitting(self, rows: list[Cells], block: Element, one: Printed) -> list[Cells]:
        """Return the rows that a cell of a chart's table, or the words of a point, may be."""
        if block.name == "title":
            return [c for c in rows if block.text().startswith(f"{words(c['series'])},")]
        line, table = block.around("tr"), block.around("table")
        if line is None or table is None:
            return []
        cells = [cell for cell in line.children if isinstance(cell, Element)]
        at = next(at for at, cell in enumerate(cells) if cell is block)
        head = [cell.text() for cell in table.every("th", scope="col")][at]
        place = cells[0].text()
        if linked := self._linked(block):
            names = [c["case"] for case in linked for c in self.cases.get(case, [])[:1]]
            rows = [c for c in rows if set(json.loads(c["cases"])) == set(names)]
        if rows and rows[0]["exercise"] == "roofline":
            return [c for c in rows if c["role"] == ("part" if one.unit == "1" else "series")]
        wanted = [c for c in rows if c["role"] != "bound" and words(c["series"]) == head]
        return [c for c in wanted if _is_place(place, c)]

    def _sentence(self, block: Element, text: str, found: list[Printed]) -> None:
        """Check the numbers of a sentence by the place where it stands."""
        section = block.around("details", class_="exercise")
        if section and block.name in {"p", "dd"}:
            self._telling(self.exercises.get(section.attributes["id"], ""), text, found)
        elif section and block.name == "summary":
            self._row(found, self.answers[self.exercises[section.attributes["id"]]][0])
        elif block.around(id="roofline"):
            self._roofline(found, text)
        elif block.around(id="normal"):
            self._all(found, self.files.tables["others"])
        elif block.around(id="doubts"):
            told = (self.cases.get(case, []) for case in self._linked(block) or self.cases)
            self._all(found, [cells for each in told for cells in each])
        elif block.around(id="method"):
            for one in found:
                self._expect(one, self._harness())
        else:
            self._quoted(found)

    def _axis(self, block: Element, axis: Element) -> None:
        """Check an axis: its number, its interval, and its part of the datasheet."""
        if "big" not in block.attributes.get("class", ""):
            return
        title, note = axis.first("h2"), axis.first("p", class_="note")
        name = AXES.get(title.text().partition(",")[0] if title else "", "")
        precision = title.text().partition(", ")[2] if title and name == "compute" else ""
        rows = [
            cells
            for cells in self.files.tables["axes"]
            if cells["axis"] == name and short(cells["precision"]) == precision
        ]
        said = note.text() if note else ""
        ends = re.match(r"([\d.,]*\d) to ([\d.,]*\d)", said)
        printed = f"{block.text()} [{ends[1]}, {ends[2]}]" if ends else block.text()
        for one in estimates(printed):
            self._expect(one, map(row, rows))
        for shown in (one for one in plain(said) if one.unit == "1"):
            parts = [float(cells["part"]) for cells in rows if cells["part"]]
            fault = self._fault(shown.text, "the part of the datasheet")
            self.report.check(any(map(shown.to_last_digit().is_value, parts)), NUMBERS, fault)

    def _row(self, found: list[Printed], lead: Cells) -> None:
        """Check the numbers of a row, which are those of the leading answer."""
        own, cases = row(lead), json.loads(lead["cases"])
        told = {one.text for one in estimates(lead["answer"].replace("\u00a0", " "))}
        for one in found:
            right = one.text in told or (own is not None and one.agrees(own))
            right = right or self._is_made(one, cases, lead["answer"])
            self.report.check(right, NUMBERS, self._fault(one.text, f"in {lead['answer']}"))

    def _roofline(self, found: list[Printed], text: str) -> None:
        """Check the ceilings of a roofline, and where they meet."""
        every = [
            c for (group, _), rows in self.figures.items() if group == "roofline" for c in rows
        ]
        names = dict.fromkeys(name for c in every for name in json.loads(c["cases"]))
        meeting = [row for c in every if c["role"] == "bound" for row in self._ceilings(c)]
        for one in found:
            fault = self._fault(one.text, "what products and copies give")
            right = any(map(one.agrees, meeting)) or self._is_made(one, [*names], text)
            self.report.check(right, NUMBERS, fault)

    def _ceilings(self, bound: Cells) -> Iterator[Row]:
        """Yield the bandwidth of a ceiling, and the intensity at which the peak meets it."""
        *copies, product = json.loads(bound["cases"])
        slope = formulas.bandwidth(self.files, copies)
        peak = self.files.quantities(product)["flops", "FLOP/s"]
        yield estimate(list(slope.values()), "B/s")
        yield estimate([peak[at] / slope[at] for at in peak.keys() & slope.keys()], "FLOP/B")

    def _all(self, found: list[Printed], rows: list[Cells]) -> None:
        for one in found:
            self._expect(one, map(row, rows))

    def _quoted(self, found: Iterable[Printed]) -> None:
        """Check numbers that an answer must have, printed alike."""
        for one in found:
            fault = self._fault(one.text, "in one of the answers")
            self.report.check(one.text in self.printed, NUMBERS, fault)

    def _telling(self, exercise: str, text: str, found: list[Printed]) -> None:
        """Check a sentence that must be an answer of the table of findings."""
        answers = self.answers.get(exercise, [])
        telling = [c for c in answers if text.startswith(words(c["answer"]))]
        fault = f"{self.name}: {text!r} is no answer of the table of findings"
        self.report.check(telling, NUMBERS, fault)
        for one in found if telling else ():
            self._answered(one, telling[0])

    def _rule(self, block: Element) -> None:
        """Check that a rule of thumb is one of the answers' of its exercise."""
        section = block.around("details", class_="exercise")
        answers = self.answers[self.exercises[section.attributes["id"]]] if section else []
        rules = {words(cells["rule_of_thumb"]) for cells in answers}
        if block.around("summary"):
            rules = set(map(short, rules))
        fault = f"{self.name}: {block.text()!r} is no rule of thumb of the table of findings"
        self.report.check(block.text() in rules, NUMBERS, fault)

    def _answered(self, one: Printed, answer: Cells) -> None:
        own = row(answer)
        if own and one.agrees(own):
            self.report.checked[NUMBERS] += 1
            return
        cases = json.loads(answer["cases"])
        points = [
            row(c)
            for key, cells in self.figures.items()
            if key[0] == answer["exercise"]
            for c in cells
            if set(json.loads(c["cases"])) <= set(cases)
        ]
        if any(one.agrees(point) for point in points if point):
            self.report.checked[NUMBERS] += 1
            return
        if self._is_made(one, cases, answer["answer"]):
            self.report.checked[NUMBERS] += 1
        else:
            where = f"{answer['finding']}: {answer['answer']}"
            self.report.unknown.append(f"{self.name}: {one.text!r} in {where}")

    def _is_made(self, one: Printed, cases: list[str], text: str) -> bool:
        """Tell whether some formula of the cases gives a number, or that by a rate in the text."""
        units = [one.unit] if one.unit else ["n", RATIO]

        def fits(row: Row) -> bool:
            return one.is_value(row.value) if row.launches is None else one.agrees(row)

        said = [shown for shown in plain(text) if shown.unit in {"FLOP/s", "B/s"}]
        ceilings = {shown.value * shown.factor: shown for shown in said}
        pairs = ((shown.unit, ceiling) for ceiling, shown in ceilings.items())
        return formulas.recompute(self.files, cases, units, fits) or (
            one.unit == "1"
            and any(
                one.within(ceilings[ceiling]).agrees(part)
                for part, ceiling in formulas.parts(self.files, cases, pairs)
            )
        )

    def _harness(self) -> Iterator[Row]:
        """Yield what an empty body takes, of each device."""
        launches = [one["empty_body"] for one in self.files.stored["frobench"]["launches"]]
        for device in {name for one in launches for name in one}:
            yield estimate([one[device] for one in launches if device in one], "s")

    def _label(self, block: Element, said: str) -> None:
        """Check what a drawing says of itself in words."""
        text = said.replace("\u00a0", " ")
        figure = block.around("figure")
        if figure is not None and (rows := self._figure(figure)):
            for shown in estimates(text):
                self._expect(shown, map(row, rows))

    def _meta(self, block: Element) -> None:
        if not {"description", "og:description"}.isdisjoint(block.attributes.values()):
            self._quoted(estimates(words(block.attributes["content"])))


def _is_absent(answer: Cells) -> bool:
    return answer["answer"].startswith("Not measured: ")


def short(text: str) -> str:
    """Call precisions as rows and axes do."""
    for name, called in PRECISIONS.items():
        text = re.sub(rf"\b{name}\b", called, text)
    return text


def _is_place(text: str, cells: Cells) -> bool:
    """Tell whether the head of a row is the place of a point."""
    try:
        true = float(cells["place"])
    except ValueError:
        return text == words(cells["place"])
    shown = first(text)
    return shown is not None and shown.is_value(true) and shown.unit == cells["place_unit"]
