# SPDX-License-Identifier: MIT
"""The page of one run.

A page holds everything it shows, asks nothing of any server, and runs no script. The same
input gives the same bytes: no time enters but the run's own.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reports.files.metadata import Head
from reports.run.contents import Contents
from reports.summary import views
from reports.table import facts
from reports.web.render import moment, render


@dataclass(frozen=True)
class Download:
    """A file beside the page."""

    href: str
    text: str
    size: str


@dataclass(frozen=True)
class Signs:
    """What stands for the page elsewhere.

    Parameters
    ----------
    head
        What its head tells machines.
    image, badge
        Files beside the page.
    markdown
        That shows the badge and leads to the page.
    """

    head: Head
    image: str
    badge: str
    markdown: str


def run_page(contents: Contents, downloads: Sequence[Download], signs: Signs) -> str:
    """Return the page of one run.

    Parameters
    ----------
    downloads
        The stored file first, then what lies beside it.
    signs
        What stands for the page elsewhere.
    """
    run = contents.run
    numbered = contents.numbers

    def origins(cases: Iterable[str]) -> list[int]:
        return sorted({numbered[name] for name in cases if name in numbered})

    return render(
        "run.html",
        styles=["run.css"],
        title=f"{contents.machine}: Frobench, {moment(run.datetime)}",
        description=contents.description,
        home="../index.html",
        head=signs.head,
        signs=signs,
        shown=contents,
        run=run,
        sections=contents.sections,
        numbered=numbered,
        origins=origins,
        places={name: numbered[case] for case, name in views.case_names(run).items()},
        machine_facts=facts.machine(run),
        method=facts.method(run),
        downloads=downloads,
        samples=next((one.href for one in downloads if one.href.endswith(".samples.csv")), ""),
    )
