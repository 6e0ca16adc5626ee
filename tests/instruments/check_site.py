# SPDX-License-Identifier: MIT
"""Check a site of `frobench report`: `python -m tests.instruments.check_site DIR [ADDRESS]`.

It has formulas of its own. Every link is followed. Every number with an interval that the page of a
run prints is compared with the downloads, to its printed precision. The downloads are computed anew
from the stored file: samples, launch medians, rates, energy; the estimate and the interval of every
case; findings, points of charts and axes that one case or two give. So are the estimates of the
index. `docs/methodology.md` has the formulas.

The last line counts numbers that no formula here gives, such as crossovers and fitted lines: page
and download have the same. Parameters, settings, readings of sensors, rooflines' limits, figures of
datasheets, and what the scripts make of machines side by side are not checked.

It ends with 0, or with 1 and a line for each fault.
"""

import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.instruments.site_checker import index_page, links, pages, run_page
from tests.instruments.site_checker.downloads import Run, table
from tests.instruments.site_checker.report import Report


def check(folder: Path, address: str = "") -> Report:
    """Check all pages of a site.

    address : the one that the site was told it has
    """
    report = Report()
    read = {
        path.relative_to(folder).as_posix(): pages.read(path)
        for path in sorted(folder.rglob("*.html"))
    }
    links.check(folder, read, address, report)
    hrefs = [one["href"] for one in table(folder / "runs.csv")]
    runs = {href: Run(folder / href) for href in hrefs if href in read}
    parts = [(href, partial(run.check, report)) for href, run in runs.items()]
    for href, run in runs.items():
        parts.append((href, partial(run_page.check, href, read[href], run, report)))
    parts.append(("index.html", partial(index_page.check, folder, runs, report)))
    for name, part in parts:
        try:
            part()
        except (AttributeError, LookupError, TypeError, ValueError, StopIteration) as error:
            report.faults.append(f"{name}: something else than it should be: {error!r}")
    return report


def main() -> int:
    """Check the site of the command line, and say what was found."""
    if len(sys.argv) not in {2, 3}:
        print(__doc__)  # noqa: T201 - a command's output
        return 2
    report = check(Path(sys.argv[1]), *sys.argv[2:])
    checked = ", ".join(f"{count:,} {kind}" for kind, count in report.checked.items())
    copied = f"{report.copied.total():,} numbers only compared"
    lines = [*report.faults, f"{checked} checked: {len(report.faults)} faults; {copied}"]
    print("\n".join(lines))  # noqa: T201 - likewise
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
