# SPDX-License-Identifier: MIT
"""Machines side by side on one page, for readers who choose between them.

The scripts of the page write its parts here, as they are before a reader sets anything, so that
the page is complete without scripts. The same scripts draw the parts anew in the reader's browser.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
from markupsafe import Markup
from msgspec import Struct
from msgspec.structs import replace

from frobench.reports.files import metadata
from frobench.reports.files.metadata import ANYWHERE, Publication
from frobench.reports.making.broken import of_several
from frobench.reports.purchase import machines, script
from frobench.reports.purchase.prices import Price
from frobench.reports.summary import card
from frobench.reports.summary.model import Summary
from frobench.reports.web.render import moment, render
from frobench.suite.printable import printable
from frobench.suite.stored import store
from frobench.suite.units import counted

NAME = "purchase"
PAGE, IMAGE = f"{NAME}.html", f"{NAME}.png"
STYLE = "purchase.css"
ONE_DEVICE = "all files are runs of one device; `frobench compare` compares runs"


class Shown(Struct, frozen=True):
    """What the scripts show of machines before a reader sets anything.

    parts : by the name of each part of the page, its markup
    heading, description : the machines and the verdicts, in a line and in a few sentences
    headline : the verdict alone
    reference : the name of the machine that the others are compared with
    ranked : the machines with their speeds, fastest first, and the shares of the largest speed
    """

    parts: dict[str, str]
    heading: str
    headline: str
    description: str
    reference: str
    ranked: list[tuple[str, float]]


@dataclass
class Maker:
    """What a site lays beside its index where two files or more are to be compared.

    paths : of the stored runs, in the order in which machines are shown
    reference : one of them; see `files`
    made : whether there were two of them that are whole, and the page was written
    refused : why the page was not written although there were two; else empty
    """

    paths: Sequence[Path]
    reference: Path | None
    prices: Sequence[Price]
    made: bool = False
    refused: str = ""

    def __call__(self, runs: Sequence[Summary], publication: Publication) -> dict[str, bytes]:
        """Return the page and its picture by their names.

        runs : all of the site, those in `paths` among them
        """
        known = {run.sha256: run for run in runs}
        digests: dict[Path, str] = {}
        for path in self.paths:
            with suppress(store.InvalidResult):
                digests[path] = sha256(store.content(path)).hexdigest()
        shown = [known[name] for name in dict.fromkeys(digests.values()) if name in known]
        if len(shown) > 1:
            several = len({run.device_id for run in shown}) > 1
            self.refused = script.missing() if several else ONE_DEVICE
        self.made = len(shown) > 1 and not self.refused
        if not self.made:
            return {}
        left_out = [printable(path.name) for path in self.paths if digests.get(path) not in known]
        named = known.get(digests.get(self.reference, "")) if self.reference else None
        reference = named.href if named else None
        return of_several(
            lambda: files(shown, reference, self.prices, publication, left_out),
            [run.sha256 for run in shown],
            lambda name: files([known[name], replace(known[name], href="")], None, self.prices),
        )


def files(
    runs: Sequence[Summary],
    reference: str | None,
    prices: Sequence[Price],
    publication: Publication = ANYWHERE,
    left_out: Sequence[str] = (),
) -> dict[str, bytes]:
    """Return the page of machines side by side and its picture, by their names.

    reference : the page of the run that the others are compared with; see `machines.data`
    left_out : names of files that were to be compared and have no page
    """
    data = machines.data(runs, prices, reference)
    shown = show(data)
    when = max((run.datetime for run in runs), key=metadata.date)
    page = render(
        f"{NAME}.html",
        scripts=script.PAGE,
        styles=(STYLE,),
        title=shown.heading,
        description=shown.description,
        home="index.html",
        head=metadata.Head(shown.heading, shown.description, when, {}, publication, PAGE, IMAGE),
        filled={name: Markup(part) for name, part in shown.parts.items()},  # noqa: S704 - escaped
        left_out=left_out,
        data=data,
    )
    foot = f"times as fast as {shown.reference}, {moment(when)}"
    foot = f"{counted(len(shown.ranked), 'machine')}, {foot}"
    bars = (card.Row(text, "", share) for text, share in shown.ranked)
    return {PAGE: page.encode(), IMAGE: card.card(shown.headline, bars, foot)}


def show(data: dict[str, Any]) -> Shown:
    """Return what is shown of the machines in `machines.data`.

    Raises `reports.purchase.script.MissingEngineError` if there is no engine for the scripts.
    """
    return msgspec.convert(script.call("built.page", data), Shown)
