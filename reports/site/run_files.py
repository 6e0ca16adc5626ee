# SPDX-License-Identifier: MIT
"""What is made of one stored run, in whichever process: its summary, its tables and its page.

Everything goes into the cache too, and what lies there is not made again.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from frobench.reports.files import downloads
from frobench.reports.files.metadata import Publication, head
from frobench.reports.findings import sections
from frobench.reports.findings.select import remembered
from frobench.reports.fleet import peers
from frobench.reports.fleet.peers import Node
from frobench.reports.making.broken import Stage
from frobench.reports.making.cache import Marks, Source, mark, stand, write
from frobench.reports.run.page import Contents, Download, Signs, contents, run_page
from frobench.reports.summary import card, views
from frobench.reports.summary.device_axes import DeviceAxes
from frobench.reports.summary.model import Summary, summarise
from frobench.reports.table.launches import estimates, frame
from frobench.reports.web.render import moment
from frobench.suite import checks
from frobench.suite.stored import store
from frobench.suite.stored.types import Conclusion, Run
from frobench.suite.units import counted, format_value

STORED = "the stored run, every sample"
MEDIANS = "the launch medians, a row for each case in each launch"
PARQUET = "the same as Parquet"
"""What lies beside a page, in words."""
IMAGE, BADGE = ".png", ".badge.svg"
"""Suffixes of what stands for a page elsewhere."""


class Known(Struct, frozen=True):
    """What is known of a run.

    rows : its part of the table of estimates
    node : itself as one of a node; nothing without a label
    """

    summary: Summary
    rows: bytes
    node: Node | None


class PageJob(NamedTuple):
    """A page to write.

    key : what it depends on besides its run
    axes : those of its device, beside those of other runs
    price : what the device costs, with its date; empty where that is not known
    publication : what the page says of the site
    """

    source: Source
    out: Path
    href: str
    key: str
    axes: DeviceAxes
    price: str
    publication: Publication


def faults(source: Source) -> list[Conclusion]:
    """Find out why a stored file is not whole, and judge one that is."""
    run, damage = checks.opened(source.path)
    if run and not damage:
        source.kept("conclusions", checks.conclude(run, whole=True))
    return damage


def judged(source: Source) -> Run:
    """Return a stored run with the conclusions that follow from its facts, which are kept."""
    known = source.get("conclusions", list[Conclusion])
    run = checks.judged(store.read(source.path), known)
    if known is None:
        source.kept("conclusions", run.frobench.conclusions)
    return run


def summarised(source: Source) -> Known:
    """Find out what the pages of several runs need of one."""
    run = checks.credible(judged(source))
    estimated = estimates(run)
    medians = {case.case: case.medians for case in estimated}
    with remembered(run, medians):
        made = summarise(run, source.sha256, estimated)
    return Known(made, downloads.rows(run, estimated), peers.node(run, made.axes, estimated))


def write_page(job: PageJob) -> tuple[str, Marks]:
    """Write the page of a run, and its tables beside it; return the key and what was written."""
    whole = judged(job.source)
    run = checks.credible(whole)
    with remembered(run):
        answered = sections(run)
        shown = contents(run, answered, views.numbers(whole), job.axes, job.price)
    marks, target = views.marks(run), job.out / job.href
    stored = f"{target.stem}.json"
    files, listed = {stored: store.content(job.source.path)}, [(stored, STORED)]
    medians = (target.stem, downloads.table_of(frame([run])), MEDIANS)
    sheets = [(f"{target.stem}.{sheet.name}", sheet.table, sheet.text) for sheet in shown.tables]
    for name, sheet, text in [medians, *sheets]:
        files |= downloads.both(name, sheet)
        listed += [(f"{name}.csv", text), (f"{name}.parquet", PARQUET)]
    links = [Download(name, text, format_value(len(files[name]), "B")) for name, text in listed]
    data, pictured = _below(files, target), card.rows(answered, marks)
    files |= _pictures(job, shown, pictured, marks)
    files[target.name] = run_page(shown, links, _signs(job, shown, data)).encode()
    target.parent.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        write(target.with_name(name), content)
    return job.key, _below(files, target)


def _below(files: Mapping[str, bytes], page: Path) -> Marks:
    """Return the files beside a page by their paths below the site."""
    return {f"{page.parent.name}/{name}": mark(content) for name, content in files.items()}


def _pictures(
    job: PageJob, shown: Contents, pictured: Sequence[card.Row], marks: views.Marks
) -> dict[str, bytes]:
    """Draw what stands for a page elsewhere."""
    run, stem = shown.run, Path(job.href).stem
    complete, when = run.frobench.complete, moment(run.datetime)
    measured = counted(len(run.frobench.launches), "launch"), counted(len(run.benchmarks), "case")
    foot = ", ".join([when, *measured, *(() if complete else ("partial",))])
    compute = job.axes.axis("compute")
    return {
        f"{stem}{IMAGE}": card.card(shown.machine, pictured, foot),
        f"{stem}{BADGE}": card.badge_of_run(compute, marks, shown.machine, when, complete=complete),
    }


def _signs(job: PageJob, shown: Contents, data: Marks) -> Signs:
    """Tell what stands for a page elsewhere; `data` are the files beside it."""
    base, url = job.href.removesuffix(".html"), job.publication.url
    name = f"{shown.machine}, {moment(shown.run.datetime)}"
    about = name, shown.description, shown.run.datetime, data, job.publication
    markdown = f"[![Frobench]({url(base + BADGE)})]({url(job.href)})"
    stem = Path(job.href).stem
    return Signs(head(*about, job.href, base + IMAGE), stem + IMAGE, stem + BADGE, markdown)


def _stands(job: PageJob, written: tuple[str, Marks]) -> bool:
    key, marks = written
    return key == job.key and stand(marks, job.out)


FAULTS = Stage("faults", list[Conclusion], faults)
SUMMARY = Stage("summary", Known, summarised)
PAGE = Stage("page", tuple[str, Marks], write_page, _stands)
