# SPDX-License-Identifier: MIT
"""Check a site of `frobench report`: `python -m tests.instruments.check_site DIR [ADDRESS]`.

It has formulas of its own. Every link is followed. Every number with an interval that the page of a
run prints must be a number of its downloads, to the printed precision. The downloads are computed
anew from the stored file: samples, launch medians, rates, energy; the estimate and the interval of
every case; findings, points of charts and axes that one case or two give. So are the estimates of
the index. `docs/methodology.md` has the formulas.

Of numbers that no formula here gives, such as crossovers and fitted lines, page and download have
the same. Parameters, settings, readings of sensors, rooflines' limits, figures of datasheets, and
what the scripts make of machines side by side are not checked.

It ends with 0, or with 1 and a line for each fault.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from unicodedata import category
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup, Tag

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.instruments.site_checker.downloads import Report, Run, check_index, row, table
from tests.instruments.site_checker.printed import Row, estimates

ATTRIBUTES = ("href", "src", "srcset", "action", "data", "poster", "xlink:href")
BLOCKS = ["td", "th", "li", "p", "dt", "dd", "title", "summary", "caption", "text", "h1"]
BLOCKS += ["h2", "h3", "option", "label", "legend", "figcaption"]
TABLES = ("cases", "axes", "models", "figures", "findings", "others")
UNCHECKED = "#method, #roofline, .reading"
"""Parts of a page whose numbers are limits, settings or readings."""


def check(folder: Path, address: str = "") -> Report:
    """Check all pages of a site.

    address : the one that the site was told it has
    """
    report = Report()
    pages = {
        path: BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        for path in sorted(folder.resolve().rglob("*.html"))
    }
    _links(folder.resolve(), pages, address, report)
    listed = {folder.resolve() / one["href"]: one for one in table(folder / "runs.csv")}
    estimated = table(folder / "estimates.csv")
    for path, cells in listed.items():
        try:
            run = Run(path)
            run.check(report)
            check_index(cells, estimated, run, report)
            _page(path.name, pages[path], run, report)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            report.faults.append(f"{path.name}: something else than it should be: {error!r}")
    return report


def _links(folder: Path, pages: Mapping[Path, BeautifulSoup], address: str, report: Report) -> None:
    """Follow all links of all pages."""
    ids = {path: {one["id"] for one in page.find_all(id=True)} for path, page in pages.items()}
    for path, page in pages.items():
        for element in page.find_all():
            for link in (str(element[one]) for one in ATTRIBUTES if element.has_attr(one)):
                parts = urlsplit(link)
                if parts.scheme or parts.netloc:
                    fault = "" if _may(element, link, address) else "leads away from the site"
                else:
                    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
                    inside = folder in target.parents and not parts.path.startswith("/")
                    fault = "" if inside and target.is_file() else "leads to no file of the site"
                    place = unquote(parts.fragment)
                    if place and place not in ids.get(target, {place}):
                        fault = "leads to no place of its page"
                report.check(not fault, "links", f"{path.name}: {link!r} {fault}")


def _may(element: Tag, link: str, address: str) -> bool:
    """Tell whether a link may leave: to the site's own address, or to a source that is marked."""
    return (
        (bool(address) and link.startswith(address))
        or (link.startswith("data:") and element.name == "link")
        or (link.startswith("https:") and "external" in (element.get("rel") or ()))
    )


def _page(name: str, page: BeautifulSoup, run: Run, report: Report) -> None:
    """Check that every number with an interval is one of a download, rounded."""
    answers = " | ".join(_words(one["answer"]) for one in run.tables["findings"])
    known = [*filter(None, map(row, chain.from_iterable(run.tables[one] for one in TABLES)))]
    by_unit: dict[str, list[Row]] = {}
    for one in (*known, *(one.row for one in estimates(answers))):
        by_unit.setdefault(one.unit, []).append(one)
    for text in chain(_blocks(page), _axes(page)):
        for shown in estimates(text):
            rows = chain.from_iterable(map(by_unit.get, shown.units(), [()] * 3))
            fault = f"{name}: {shown.text!r} is in no download"
            report.check(any(map(shown.agrees, rows)), "numbers on pages", fault)


def _blocks(page: BeautifulSoup) -> Iterator[str]:
    """Yield the text of each block, without the blocks within, and what is read out of pictures."""
    left_out = {id(one) for part in page.select(UNCHECKED) for one in (part, *part.find_all())}
    for one in page.find_all():
        if id(one) not in left_out:
            yield _words(str(one.get("aria-label", "")))
            if one.name in BLOCKS:
                texts = one.find_all(string=True)
                yield _words("".join(text for text in texts if text.find_parent(BLOCKS) is one))


def _axes(page: BeautifulSoup) -> Iterator[str]:
    """Yield what an axis is with its interval, which stands below it."""
    for axis in page.select(".axis"):
        big, note = axis.select_one("p.big"), axis.select_one("p.note")
        span = re.match(r"([\d.,]*\d) to ([\d.,]*\d)", note.get_text().strip()) if note else None
        if big and span:
            yield f"{_words(big.get_text())} [{span[1]}, {span[2]}]"


def _words(text: str) -> str:
    """Return text on one line, without control characters and signs that stand for them."""
    shown = (one for one in text if one in " \n\t" or category(one)[0] != "C")
    return " ".join("".join(shown).replace("\ufffd", "").split())


def main() -> int:
    """Check the site of the command line, and say what was found."""
    if len(sys.argv) not in {2, 3}:
        print(__doc__)  # noqa: T201 - a command's output
        return 2
    report = check(Path(sys.argv[1]), *sys.argv[2:])
    checked = ", ".join(f"{count:,} {kind}" for kind, count in report.checked.items())
    lines = [*report.faults, f"{checked} checked: {len(report.faults)} faults"]
    print("\n".join(lines))  # noqa: T201 - likewise
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
