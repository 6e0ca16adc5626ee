# SPDX-License-Identifier: MIT
"""The numbers of a run's page held against its downloads.

Each block of text tells by where it stands which rows its numbers must be.
"""

import json
import re
from collections.abc import Iterable, Iterator
from statistics import fmean

from tests.site_checker import formulas
from tests.site_checker.files import Cells, RunFiles, number, row
from tests.site_checker.printed import Printed, Row, estimates, first, plain
from tests.site_checker.recomputed import estimate
from tests.site_checker.report import NUMBERS, Report
from tests.site_checker.run_tables import readings, spread
from tests.site_checker.tree import BLOCKS, Element

SIGNS = {"reading"}
"""Classes of what explains signs by examples."""


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
        sections = page.every("section", class_="exercise")
        ids = [one.attributes["id"] for one in sections]
        self.exercises = dict(zip(ids, self.answers, strict=False))
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
            if block.name in BLOCKS or block.attributes.get("class") == "figure":
                if not any(one.attributes.get("class") in SIGNS for one in block.within()):
                    self._block(block)
            if said := block.attributes.get("aria-label"):
                self._label(block, said)
            if block.name == "meta":
                self._meta(block)
        self._cases_whole()
        self._readings()

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
        elif figure is not None and block.name in {"td", "title"}:
            rows = self._figure(figure)
            for one in found:
                self._expect(one, map(row, self._fitting(rows, block, one)))
        elif found and block.name in {"td"} and line and block.first("a", class_="number"):
            behind = self._linked(block)
            self._each(found, [cells for one in behind for cells in self.cases[one]], behind)
        elif found:
            self._sentence(block, text, found)
        if block.around(id="normal"):
            self._beside(block, text)

    def _each(self, found: list[Printed], rows: list[Cells], behind: list[str]) -> None:
        """Check numbers of some cases in a table: those told of them, or made of them."""
        names = [self.cases[one][0]["case"] for one in behind]
        others = [c for c in self.files.tables["others"] if json.loads(c["cases"]) == names]
        for one in found:
            self._expect(one, map(row, [*rows, *others]))

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

    def _fitting(self, rows: list[Cells], block: Element, one: Printed) -> list[Cells]:
        """Return the rows that a cell of a chart's table, or the words of a point, may be."""
        if block.name == "title":
            return [c for c in rows if block.text().startswith(f"{_words(c['series'])},")]
        line, table = block.around("tr"), block.around("table")
        if line is None or table is None:
            return []
        cells = [cell for cell in line.children if isinstance(cell, Element)]
        at = next(at for at, cell in enumerate(cells) if cell is block)
        head = [cell.text() for cell in table.every("th", scope="col")][at]
        place = cells[0].text()
        if linked := self._linked(block):
            names = [self.cases[case][0]["case"] for case in linked]
            rows = [c for c in rows if set(json.loads(c["cases"])) == set(names)]
        if rows and rows[0]["exercise"] == "roofline":
            return [c for c in rows if c["role"] == ("part" if one.unit == "1" else "series")]
        wanted = [c for c in rows if c["role"] != "bound" and _words(c["series"]) == head]
        return [c for c in wanted if _is_place(place, c)]

    def _sentence(self, block: Element, text: str, found: list[Printed]) -> None:
        """Check the numbers of a sentence: an answer's own, or what its cases give."""
        section = block.around("section", class_="exercise")
        leading = block.around("a")
        if section and block.name in {"p", "dd"}:
            answers = self.answers[self.exercises[section.attributes["id"]]]
            telling = [c for c in answers if text.startswith(_words(c["answer"]))]
            fault = f"{self.name}: {text[:80]!r} is no answer of the table of findings"
            self.report.check(telling, NUMBERS, fault)
            for one in found if telling else ():
                self._answered(one, telling[0])
        elif leading and block.around(class_="brief"):
            exercise = self.exercises.get(leading.attributes["href"].removeprefix("#"), "")
            if block.attributes.get("class") == "figure":
                self._expect(found[0], [row(c) for c in self.answers.get(exercise, ())[:1]])
        elif block.around(id="roofline"):
            rows = [c for key, cells in self.figures.items() if key[0] == "roofline" for c in cells]
            names = dict.fromkeys(name for c in rows for name in json.loads(c["cases"]))
            for one in found:
                self._made(one, [*names], f"roofline: {text[:60]}")
        elif block.around(id="normal"):
            for one in found:
                self._expect(one, map(row, self.files.tables["others"]))
        elif block.around(id="doubts"):
            for one in found:
                told = (self.cases[case] for case in self._linked(block) or self.cases)
                self._expect(one, (row(c) for cells in told for c in cells))
        elif block.around(id="method"):
            for one in found:
                self._expect(one, self._harness())
        else:
            for one in found:
                fault = self._fault(one.text, "in one of the answers")
                self.report.check(one.text in self.printed, NUMBERS, fault)

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
        self._made(one, cases, f"{answer['finding']}: {answer['answer']}")

    def _made(self, one: Printed, cases: list[str], where: str) -> None:
        """Check a number that some formula of the cases must give."""
        units = [one.unit] if one.unit else ["n", "×"]

        def fits(row: Row) -> bool:
            return one.is_value(row.value) if row.launches is None else one.agrees(row)

        said = [shown for shown in plain(where) if shown.unit in {"FLOP/s", "B/s"}]
        ceilings = {shown.value * shown.factor: shown for shown in said}
        pairs = ((shown.unit, ceiling) for ceiling, shown in ceilings.items())
        if formulas.recompute(self.files, cases, units, fits) or (
            one.unit == "1"
            and any(
                _wider(one, ceilings[ceiling]).agrees(part)
                for part, ceiling in formulas.parts(self.files, cases, pairs)
            )
        ):
            self.report.checked[NUMBERS] += 1
        else:
            self.report.unknown.append(f"{self.name}: {one.text!r} in {where}")

    def _harness(self) -> Iterator[Row]:
        """Yield what an empty body takes, of each device."""
        launches = [one["empty_body"] for one in self.files.stored["frobench"]["launches"]]
        for device in {name for one in launches for name in one}:
            yield estimate([one[device] for one in launches if device in one], "s")

    def _label(self, block: Element, said: str) -> None:
        """Check what a drawing says of itself in words."""
        text = said.replace("\u00a0", " ")
        line = block.around("tr", class_="raw")
        figure = block.around("figure")
        if block.attributes.get("class") == "strip" and line is not None:
            return  # with its case, below
        if figure is not None and (rows := self._figure(figure)):
            known = [one for one in map(row, rows) if one]
            for shown in (one for one in plain(text) if f"{one.text} at " in text):
                right = any(shown.unit == k.unit and shown.is_value(k.value) for k in known)
                fault = self._fault(shown.text, "a point of the chart")
                self.report.check(right, NUMBERS, fault)

    def _meta(self, block: Element) -> None:
        if block.attributes.get("name") == "description":
            for one in estimates(block.attributes["content"].replace("\u00a0", " ")):
                fault = self._fault(one.text, "in one of the answers")
                self.report.check(one.text in self.printed, NUMBERS, fault)

    def _cases_whole(self) -> None:
        """Check what stands below each case: how many samples, their ends, the medians."""
        for line in self.page.every("tr", class_="raw"):
            parent = line.parent or line
            rows = [one for one in parent.children if isinstance(one, Element)]
            above = rows[next(at for at, one in enumerate(rows) if one is line) - 1]
            case = above.attributes["id"].removeprefix("case-")
            launches = self.files.samples[int(case)]
            medians = self.files.seconds(self.cases[case][0]["case"])
            every = [sample for one in launches.values() for sample in one]
            summary, ends, below = line.first("summary"), *[*line.every("p")][:2]
            counts = [int(one.value) for one in plain(summary.text() if summary else "")]
            self._same(case, counts, [len(every), len(launches)])
            shown = [one for span in ends.every("span") for one in plain(span.text())]
            self._near(shown, [min(every), max(every)])
            listed = below.text().partition(":")[2].partition(". ")[0].removesuffix(".").split(", ")
            known = [one for text in listed if (one := first(text.strip()))]
            self._near(known, [*medians.values()])
            strip = line.first("svg")
            label = strip.attributes["aria-label"].replace("\u00a0", " ") if strip else ""
            before, _, after = label.partition("; estimate ")
            self._same(case, [int(one.value) for one in plain(before)][:1], [len(every)])
            self._near([*plain(before)][1:], [min(every), max(every)])
            for one in estimates(after):
                self._expect(one, map(row, self.cases[case]))

    def _same(self, case: str, found: list[int], wanted: list[int]) -> None:
        self.report.check(found == wanted, NUMBERS, self._fault(f"case {case}: {found}", wanted))

    def _near(self, shown: list[Printed], wanted: list[float], unit: str = "s") -> None:
        fault = self._fault(str([one.text for one in shown]), f"{len(wanted)} numbers")
        self.report.check(len(shown) == len(wanted), NUMBERS, fault)
        for one, true in zip(shown, wanted, strict=False):
            right = one.is_value(true) and one.unit == unit
            self.report.check(right, NUMBERS, self._fault(one.text, true))

    def _readings(self) -> None:
        """Check the tables of what sensors said."""
        section = self.page.first("section", id="sensors")
        if section is None:
            return
        known = [*readings(self.files).items()]
        for line in _body(section, "sensors-caption"):
            shown = [one for cell in line[2:] if (one := first(cell.text()))]
            if len(shown) == 3:
                right = any(_all(shown, spread(values)) for _, values in known)
            elif shown:
                grown = [values[-1] - values[0] for _, values in known]
                right = any(shown[0].is_value(one) for one in grown)
            else:
                continue
            fault = self._fault(" ".join(cell.text() for cell in line), "what a sensor read")
            self.report.check(right, NUMBERS, fault)
        parts = [fmean(v) for (_, name), v in known if name.startswith("held_back.")]
        told = self.files.stored["frobench"]["telemetry"]
        for block in section.every():
            text = block.text(own=True) if block.name in {"li", "p"} else ""
            if text.endswith("of the readings"):
                self._expect_value(text.rpartition(" in ")[2], parts)
            elif "Reading the sensors took" in text:
                self._expect_value(text.partition(" took ")[2], [told["cost"]])
            elif " at rest" in text:
                watts = text.rpartition(": ")[2]
                self._expect_value(watts, list(told.get("idle_watts", {}).values()))

    def _expect_value(self, text: str, wanted: list[float]) -> None:
        shown = first(text)
        right = shown and any(_two(shown).is_value(one) for one in wanted)
        self.report.check(right, NUMBERS, self._fault(text, wanted))

    def _beside(self, block: Element, text: str) -> None:
        """Check what others measured: ranges in the table, and each figure with its source."""
        rows = [c for c in self.files.tables["others"] if c["measured_by"] != "this run"]
        if block.name == "td" and (found := re.fullmatch(r"(.+) \((\d+)\)", text)):
            line = block.around("tr")
            name = line.first("th").text().casefold() if line and line.first("th") else ""
            mine = [c for c in rows if f"{c['figure']}, {c['device']}".casefold() == name]
            kinds = [[c for c in mine if c["measured_by"] == kind] for kind in ("a stored run", "others")]
            right = any(len(kind) == int(found[2]) and _is_range(found[1], kind) for kind in kinds)
            self.report.check(right, NUMBERS, self._fault(text, "the range of others"))
        elif block.name == "li" and (link := block.first("a")) is not None:
            mine = [c for c in rows if c["source"] == link.attributes["href"]]
            shown = first(text)
            right = shown and any(shown.is_value(float(c["value"])) for c in mine)
            self.report.check(right, NUMBERS, self._fault(text, "a figure of that source"))


def _wider(one: Printed, ceiling: Printed) -> Printed:
    """Let a part of a ceiling be off by as much as the ceiling is rounded."""
    return one._replace(step=one.step + one.value * ceiling.step / ceiling.value)


def _words(text: str) -> str:
    return " ".join(text.replace("\u00a0", " ").split())


def _is_place(text: str, cells: Cells) -> bool:
    """Tell whether the head of a row is the place of a point."""
    try:
        true = float(cells["place"])
    except ValueError:
        return text == _words(cells["place"])
    shown = first(text)
    return shown is not None and shown.is_value(true) and shown.unit == cells["place_unit"]


def _body(section: Element, caption: str) -> Iterator[list[Element]]:
    """Yield the cells of each row of the table of a caption."""
    head = section.first("caption", id=caption)
    table = head.around("table") if head else None
    for line in table.every("tr") if table else ():
        cells = [one for one in line.children if isinstance(one, Element)]
        if cells and cells[-1].name == "td":
            yield cells


def _all(shown: list[Printed], wanted: Iterable[float]) -> bool:
    return all(one.is_value(true) for one, true in zip(shown, wanted, strict=True))


def _two(one: Printed) -> Printed:
    """Read a number as one of two digits."""
    return one._replace(step=one.step * 10 if one.step < 1 else one.step)


def _is_range(text: str, rows: list[Cells]) -> bool:
    """Tell whether "3.1 to 3.3 TB/s" are the ends of these rows."""
    values = [float(c["value"]) for c in rows]
    low, _, high = text.rpartition(" to ")
    last = first(high)
    if last is None or not values:
        return False
    begin = (first(low) or last) if low else last
    if begin.unit == "" and last.unit:
        begin = begin._replace(unit=last.unit, factor=last.factor)
    return begin.is_value(min(values)) and last.is_value(max(values))
