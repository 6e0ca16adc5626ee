# SPDX-License-Identifier: MIT
"""The numbers of a run's page, compared with its downloads.

Every number with an interval must be a row of a download, rounded: of the case in whose line it
is, of the cases that its text links to, or else of any.
"""

import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain

from tests.instruments.site_checker.downloads import Cells, Run, row
from tests.instruments.site_checker.pages import BLOCKS, Element, words
from tests.instruments.site_checker.printed import RATIO, Printed, Row, estimates
from tests.instruments.site_checker.report import NUMBERS, Report

Known = dict[frozenset[str], list[Row]]
"""All numbers of the downloads, by the cases that they are of."""


def check(name: str, page: Element, run: Run, report: Report) -> None:
    """Check all blocks of a page by its downloads."""
    known = _known(run)
    for block in page.every():
        if block.name not in BLOCKS or block.around(class_="reading"):
            continue
        text, line = block.text(own=True), block.around("tr")
        rows: Iterable[Row | None] = chain(*known.values())
        links = (one.attributes.get("href", "") for one in block.every("a"))
        linked = {one.removeprefix("#case-") for one in links if one.startswith("#case-")}
        if line and line.attributes.get("id", "").startswith("case-"):
            rows = _of_line(block, line, run)
        elif block.around("details", class_="exercise") and block.name in {"p", "dd"}:
            _answer(name, text, run, report)
            continue
        elif block.around(class_="axis") and "big" in block.attributes.get("class", ""):
            text, rows = _of_axis(text, block, run)
        elif block.around(id="method") or block.around(id="roofline"):
            continue
        elif linked:
            names = {name for name, at in run.numbers.items() if str(at) in linked}
            rows = known.get(frozenset(names), [])
        these = [*filter(None, rows)]
        for one in estimates(text):
            wanted = " or ".join(map(str, these[:3])) or "in a download, and is not"
            fault = f"{name}: {one.text!r} should be {wanted}"
            report.check(any(map(one.agrees, these)), NUMBERS, fault)


def _known(run: Run) -> Known:
    found: Known = {}
    for name in ("cases", "axes", "models", "figures", "findings", "others"):
        for cells in run.tables[name]:
            names = json.loads(cells["cases"]) if "cases" in cells else {cells["case"]}
            rows = found.setdefault(frozenset(names), [])
            rows += [one] if (one := row(cells)) else []
            rows += _printed(cells) if name == "findings" else []
    return found


def _of_line(block: Element, line: Element, run: Run) -> Iterator[Row | None]:
    """Yield what a cell of a case may show: its time or its rate."""
    quantity = {2: "time", 3: "rate"}.get(line.elements.index(block))
    for cells in run.tables["cases"]:
        if f"case-{cells['number']}" == line.attributes["id"] and cells["quantity"] == quantity:
            yield row(cells)


def _of_axis(text: str, block: Element, run: Run) -> tuple[str, list[Row]]:
    """Return the number of an axis with the interval in its note, or a range; and the axes."""
    rows = [*filter(None, map(row, run.tables["axes"]))]
    if span := re.match(r"([\d.,]+) to ([\d.,]+) (.*)", text):
        rows = [one._replace(value=one.low or 0.0) for one in rows]
        return f"{span[1]} {span[3]} [{span[1]}, {span[2]}]", rows
    axis = block.around(class_="axis")
    note = axis and axis.first("p", class_="note")
    span = re.match(r"([\d.,]*\d) to ([\d.,]*\d)", note.text() if note else "")
    return f"{text} [{span[1]}, {span[2]}]" if span else text, rows


def _answer(name: str, text: str, run: Run, report: Report) -> None:
    """Check a sentence, which must be an answer of the table of findings, and its numbers."""
    answers = run.tables["findings"]
    telling = [cells for cells in answers if text.startswith(words(cells["answer"]))]
    shown = [*estimates(text)]
    if not shown:
        return
    fault = f"{name}: {text!r} is no answer of the table of findings"
    report.check(telling, NUMBERS, fault)
    for answer in telling[:1]:
        wanted = row(answer)
        right = not wanted or wanted.unit == "n" or any(one.agrees(wanted) for one in shown)
        report.check(right, NUMBERS, f"{name}: {text!r} should be {wanted}")
        for one in shown:
            if _follows(one, answer, run):
                report.checked[NUMBERS] += 1
            else:
                report.copied["answers"] += 1


def _follows(one: Printed, answer: Cells, run: Run) -> bool:
    """Tell whether a number follows from the cases of an answer, or is one of its exercise."""
    same = [
        cells
        for cells in chain(run.tables["findings"], run.tables["figures"])
        if cells["exercise"] == answer["exercise"]
    ]
    return any(map(one.agrees, map(row, same))) or run.gives(
        json.loads(answer["cases"]),
        [one.unit] if one.unit else ["n", RATIO],
        lambda row: one.agrees(row) if row.launches else one.is_value(row.value),
    )


def _printed(answer: Cells) -> Iterator[Row]:
    """Yield the numbers of an answer as they are printed."""
    for one in estimates(words(answer["answer"])):
        value, low, high = (end and end * one.factor for end in one[1:4])
        yield Row(value or 0.0, low, high, one.launches, one.unit)
