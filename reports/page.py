# SPDX-License-Identifier: MIT
"""The page of one run.

A page holds everything it shows, asks nothing of any server, and runs no script. The same
input gives the same bytes: no time enters but the run's own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from reports import facts, views
from reports.contents import Contents
from reports.render import moment, render


@dataclass(frozen=True)
class Download:
    """A file beside the page."""

    href: str
    text: str
    size: str


def run_page(contents: Contents, downloads: Sequence[Download]) -> str:
    """Return the page of one run.

    Parameters
    ----------
    downloads
        The stored file first, then what lies beside it.
    """
    run = contents.run
    return render(
        "run.html",
        title=f"{contents.machine}: Frobench, {moment(run.datetime)}",
        description=contents.summary,
        home="../index.html",
        shown=contents,
        run=run,
        sections=contents.sections,
        numbered=views.numbers(run),
        machine_facts=facts.machine(run),
        method=facts.method(run),
        downloads=downloads,
        samples=next((one.href for one in downloads if one.href.endswith(".samples.csv")), ""),
    )
