# SPDX-License-Identifier: MIT
"""The numbers of a run's page that have no interval by nature, where it is known what they are.

They are the samples below each case, what sensors read, and what others measured.
"""

import re
from collections.abc import Iterable, Iterator
from statistics import fmean, median

from tests.instruments.site_checker.files import Cells, RunFiles, row
from tests.instruments.site_checker.printed import Printed, estimates, first, plain
from tests.instruments.site_checker.report import NUMBERS, Report
from tests.instruments.site_checker.run_tables import readings
from tests.instruments.site_checker.tree import Element

KINDS = ("a stored run", "others")


class Rest:
    """The rest of a run's page beside its downloads."""

    def __init__(self, name: str, page: Element, files: RunFiles, report: Report) -> None:
        self.name, self.page, self.files, self.report = name, page, files, report
        self.rows: dict[str, list[Cells]] = {}
        for cells in files.tables["cases"]:
            self.rows.setdefault(cells["number"], []).append(cells)

    def check(self) -> None:
        """Check all of it."""
        for line in self.page.every("tr", class_="raw"):
            case = _above(line).attributes.get("id", "").removeprefix("case-")
            known = case in self.rows
            self.report.check(known, NUMBERS, f"{self.name}: no case has the number {case!r}")
            if known:
                self._samples(line, case)
        self._sensors()
        for block in self._blocks("normal", "td", "li"):
            self._beside(block, block.text(own=True))

    def _blocks(self, section: str, *names: str) -> Iterator[Element]:
        found = self.page.first("section", id=section)
        return (one for one in (found.every() if found else ()) if one.name in names)

    def _say(self, right: object, printed: str, wanted: object) -> None:
        self.report.check(right, NUMBERS, f"{self.name}: {printed!r} should be {wanted}")

    def _samples(self, line: Element, case: str) -> None:
        """Check how many samples a case has, the shortest and the longest, and the medians."""
        launches = self.files.samples[int(case)]
        medians = self.files.seconds(self.rows[case][0]["case"])
        every = [sample for one in launches.values() for sample in one]
        summary, ends, below = line.first("summary"), *[*line.every("p")][:2]
        self._counted(summary.text() if summary else "", [len(every), len(launches)])
        self._times(" ".join(one.text() for one in ends.every("span")), [min(every), max(every)])
        listed = below.text().partition(":")[2].partition(". ")[0].removesuffix(".")
        self._times(listed.replace("none", ""), [*medians.values()])
        strip = line.first("svg")
        label = strip.attributes["aria-label"].replace("\u00a0", " ") if strip else ""
        count, _, rest = label.partition(" by launch, ")
        self._counted(count, [len(every)])
        self._times(rest.partition("; estimate ")[0], [min(every), max(every)])
        for one in estimates(rest):
            right = any(found and one.agrees(found) for found in map(row, self.rows[case]))
            self._say(right, one.text, f"as case {case} has it")

    def _counted(self, text: str, wanted: list[int]) -> None:
        self._say([int(one.value) for one in plain(text)] == wanted, text, wanted)

    def _times(self, text: str, wanted: list[float]) -> None:
        shown = [*plain(text)]
        self._say(len(shown) == len(wanted), text, wanted)
        for one, true in zip(shown, wanted, strict=False):
            self._say(one.is_value(true) and one.unit == "s", one.text, true)

    def _sensors(self) -> None:
        """Check the tables of readings, and the sentences around them."""
        known = {key: [value for _, value in one] for key, one in readings(self.files).items()}
        ends = [(min(one), median(one), max(one)) for one in known.values()]
        grown = [one[-1] - one[0] for one in known.values()]
        for line in self._blocks("sensors", "tr"):
            cells = [one for one in line.children if isinstance(one, Element)]
            if line.around("table") and cells[-1].name == "td" and _is_reading(line):
                shown = [one for cell in cells[2:] if (one := first(cell.text()))]
                if len(shown) == len(cells) - 2 and shown:
                    right = any(_all(shown, one) for one in ends) or any(
                        _all(shown, [one]) for one in grown
                    )
                    self._say(right, line.text(), "what a sensor read")
        for block in self._blocks("sensors", "figure"):
            self._course(block)
        told = self.files.stored["frobench"].get("telemetry") or {}
        parts = [fmean(one) for (_, name), one in known.items() if name.startswith("held_back.")]
        for block in self._blocks("sensors", "li", "p"):
            text = block.text(own=True)
            if text.endswith("of the readings"):
                self._value(text.rpartition(" in ")[2], parts)
            elif "Reading the sensors took" in text:
                self._value(text.partition(" took ")[2], [told["cost"]])
            elif " at rest" in text:
                self._value(text.rpartition(": ")[2], told["idle_watts"].values())

    def _course(self, figure: Element) -> None:
        """Check the table of a chart: of each device one quantity, launch by launch."""
        lines: dict[str, list[tuple[str, list[Printed]]]] = {}
        for line in figure.every("tr"):
            device, part, *cells = [one.text() for one in line.children if isinstance(one, Element)]
            if shown := [one for cell in cells if (one := first(cell))]:
                lines.setdefault(device, []).append((part, shown))
        self._say(lines, figure.text(), "a chart with a table")
        for device, rows in lines.items():
            right = any(_is_course(rows, one) for one in readings(self.files).values())
            told = [(part, [one.text for one in shown]) for part, shown in rows]
            self._say(right, f"{device}: {told}", "what a sensor read in each launch")

    def _value(self, text: str, wanted: Iterable[float]) -> None:
        """Check a number of two digits at least."""
        shown, wanted = first(text), list(wanted)
        if shown and shown.step < 1:
            shown = shown._replace(step=shown.step * 10)
        self._say(shown and any(map(shown.is_value, wanted)), text, wanted)

    def _beside(self, block: Element, text: str) -> None:
        """Check what others measured: ranges in the table, and each figure with its source."""
        rows = [c for c in self.files.tables["others"] if c["measured_by"] in KINDS]
        if block.name == "td" and (found := re.fullmatch(r"(.+) \((\d+)\)", text)):
            line = block.around("tr")
            head = line.first("th") if line else None
            name = head.text().casefold() if head else ""
            mine = [c for c in rows if f"{c['figure']}, {c['device']}".casefold() == name]
            right = any(
                len(each) == int(found[2]) and _is_range(found[1], each)
                for kind in KINDS
                if (each := [float(c["value"]) for c in mine if c["measured_by"] == kind])
            )
            self._say(right, text, "the range of others")
        elif block.name == "li" and (link := block.first("a")) is not None:
            values = [float(c["value"]) for c in rows if c["source"] == link.attributes["href"]]
            shown = first(text)
            self._say(shown and any(map(shown.is_value, values)), text, "a figure of that source")


def _above(line: Element) -> Element:
    """Return the row above."""
    rows = [one for one in (line.parent or line).children if isinstance(one, Element)]
    return rows[next(at for at, one in enumerate(rows) if one is line) - 1]


def _is_reading(line: Element) -> bool:
    table = line.around("table")
    return table is not None and table.first("caption", id="sensors-caption") is not None


def _is_course(rows: list[tuple[str, list[Printed]]], told: list[tuple[str, float]]) -> bool:
    """Tell whether the ends of all readings, and of those of each launch, are these rows."""
    parts = {"all": [value for _, value in told]}
    for launch, value in told:
        if launch:
            parts.setdefault(str(int(launch) + 1), []).append(value)
    return parts.keys() == {part for part, _ in rows} and all(
        _all(shown, (min(one), median(one), max(one)))
        for part, shown in rows
        for one in [parts[part]]
    )


def _all(shown: list[Printed], wanted: Iterable[float]) -> bool:
    values = list(wanted)
    return len(values) == len(shown) and all(
        one.is_value(true) for one, true in zip(shown, values, strict=True)
    )


def _is_range(text: str, values: list[float]) -> bool:
    """Tell whether "3.1 to 3.3 TB/s" are the ends of these."""
    low, _, high = text.rpartition(" to ")
    last = first(high)
    if last is None:
        return False
    begin = (first(low) or last) if low else last
    if begin.unit == "" and last.unit:
        begin = begin._replace(unit=last.unit, factor=last.factor)
    return begin.is_value(min(values)) and last.is_value(max(values))
