# SPDX-License-Identifier: MIT
"""Check a site of `frobench report`: `python tests/instruments/check_site.py DIR [ADDRESS]`.

It needs Python and nothing else, and shares no line with what made the site. Every link is
followed. Every number with an interval that a page prints is held against the downloads beside
it, to its printed precision; what cannot be told is listed as not checked. Of the downloads

- from the stored file's raw samples are recomputed: samples, launch medians, rates, energy and
  readings; every case's estimate and interval; those findings and points of charts that are a
  case's own, a ratio, a difference, a sum by a whole, a part of a peak, of a ceiling or of the
  best, operations for each byte, a line's latency, rate and half, or a size from which something
  holds (a crossover); numbers inside sentences by the same formulae; the index's estimates,
  standard errors and packed times; the log ratios of machines and of their work for a joule, and
  the variances and quantiles of both, for which the joint bootstrap is done again, draw by draw;
- only compared with the download is whatever the last lines of the report name. Overall ratios,
  their intervals, prices by work and cost of ownership follow from the above by the formulae of
  `docs/methodology.md`.

Counts, parameters, settings and figures of datasheets are not checked.

It ends with 0, or with 1 and a line for each fault.
"""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.instruments.site_checker import index_page, links, run_tables, tree
from tests.instruments.site_checker.files import RunFiles, table
from tests.instruments.site_checker.purchase_page import PurchasePage
from tests.instruments.site_checker.report import Report
from tests.instruments.site_checker.run_page import RunPage
from tests.instruments.site_checker.run_rest import Rest

Part = Callable[[], None]


def check(folder: Path, address: str = "") -> Report:
    """Check all pages of a site.

    Parameters
    ----------
    address
        The one that the site was told it has.
    """
    report = Report()
    paths = sorted(folder.rglob("*.html"))
    pages = {path.relative_to(folder).as_posix(): tree.read(path) for path in paths}
    links.check(folder, pages, address, report)
    runs = [one["href"] for one in table(folder / "runs.csv")]
    files = {href: RunFiles(folder / href) for href in runs if href in pages}
    parts: list[tuple[str, Part]] = []
    for href, one in files.items():
        parts.append((href, partial(run_tables.check, one, report)))
        parts.append((href, RunPage(href, pages[href], one, report).check))
        parts.append((href, Rest(href, pages[href], one, report).check))
    index, purchase = pages.get("index.html"), pages.get("purchase.html")
    if index:
        parts.append(("index.html", partial(index_page.check, folder, index, files, report)))
    if purchase:
        parts.append(("purchase.html", PurchasePage(folder, purchase, files, report).check))
    for name, part in parts:
        try:
            part()
        except (AttributeError, LookupError, ValueError, StopIteration) as error:
            report.faults.append(f"{name}: something else than it should be: {error!r}")
    return report


def main() -> int:
    """Check the site of the command line, and say what was found."""
    if len(sys.argv) not in {2, 3}:
        print(__doc__)  # noqa: T201 - a command's output
        return 2
    report = check(Path(sys.argv[1]), *sys.argv[2:])
    lines = [
        *report.faults,
        *(f"not checked: {one}" for one in report.unknown),
        *(f"only compared: {name} ({count})" for name, count in sorted(report.compared.items())),
        ", ".join(f"{count:,} {kind}" for kind, count in report.checked.items()) + " checked: "
        f"{len(report.faults)} faults, {len(report.unknown)} not checked",
    ]
    print("\n".join(lines))  # noqa: T201 - likewise
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
