# SPDX-License-Identifier: MIT
"""Stored runs to a site of static pages: one a run, and an index of them, with their data beside.

The same files give the same bytes, in whatever order and by however many processes. What was made
before and would come out the same is left as it lies: a page depends on its run, on those measured
before it, and on nothing else. What is made of one run, in whichever process, goes into the cache.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from frobench.reports.files import downloads, metadata
from frobench.reports.files.metadata import ANYWHERE, Head, Publication
from frobench.reports.findings import sections
from frobench.reports.findings.select import remembered
from frobench.reports.fleet import fleet_page
from frobench.reports.fleet.fleet_page import Node
from frobench.reports.index import index
from frobench.reports.making import cache
from frobench.reports.making.broken import Broken, BrokenRunsError, Stage, each, named, of_several
from frobench.reports.making.cache import Cache, Marks, Source, mark, remove, slug, stand, write
from frobench.reports.making.workers import Workers
from frobench.reports.purchase import prices
from frobench.reports.purchase.prices import Price
from frobench.reports.run.page import Contents, Download, Signs, run_page
from frobench.reports.summary import card, views
from frobench.reports.summary.model import DeviceAxes, Summary, equipment_of, summarise, with_others
from frobench.reports.table.launches import estimates, frame
from frobench.reports.web.render import moment
from frobench.suite import checks
from frobench.suite.datasheets import published
from frobench.suite.stored import asked_nodes, store
from frobench.suite.stored.asked_nodes import AskedNodes
from frobench.suite.stored.store import InvalidResult
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
    return Known(made, downloads.rows(run, estimated), fleet_page.node(run, made.axes, estimated))


def write_page(job: PageJob) -> tuple[str, Marks]:
    """Write the page of a run, and its tables beside it; return the key and what was written."""
    whole = judged(job.source)
    run = checks.credible(whole)
    with remembered(run):
        answered = sections(run)
        shown = Contents(run, answered, views.numbers(whole), job.axes, job.price)
    marks, target, when = views.marks(run), job.out / job.href, moment(run.datetime)
    stem, complete = target.stem, run.frobench.complete
    files = {f"{stem}.json": store.content(job.source.path)}
    listed = [(f"{stem}.json", STORED)]
    medians = (stem, downloads.table_of(frame([run])), MEDIANS)
    sheets = [(f"{stem}.{sheet.name}", sheet.table, sheet.text) for sheet in shown.tables]
    for name, sheet, text in [medians, *sheets]:
        files |= downloads.both(name, sheet)
        listed += [(f"{name}.csv", text), (f"{name}.parquet", PARQUET)]
    links = [Download(name, text, format_value(len(files[name]), "B")) for name, text in listed]
    base, url = job.href.removesuffix(".html"), job.publication.url
    name, data = f"{shown.machine}, {when}", _below(files, target)
    about = name, shown.description, run.datetime, data, job.publication
    markdown = f"[![Frobench]({url(base + BADGE)})]({url(job.href)})"
    signs = Signs(Head(*about, job.href, base + IMAGE), stem + IMAGE, stem + BADGE, markdown)
    counts = counted(len(run.frobench.launches), "launch"), counted(len(run.benchmarks), "case")
    foot = ", ".join([when, *counts, *(() if complete else ("partial",))])
    files[signs.image] = card.card(shown.machine, card.rows(answered, marks), foot)
    rate = job.axes.axis("compute")
    files[signs.badge] = card.badge_of_run(rate, marks, shown.machine, when, complete=complete)
    files[target.name] = run_page(shown, links, signs).encode()
    target.parent.mkdir(exist_ok=True)
    for name, content in files.items():
        write(target.with_name(name), content)
    return job.key, _below(files, target)


def _below(files: Mapping[str, bytes], page: Path) -> Marks:
    """Return the files beside a page by their paths below the site."""
    return {f"{page.parent.name}/{name}": mark(content) for name, content in files.items()}


def _stands(job: PageJob, written: tuple[str, Marks]) -> bool:
    key, marks = written
    return key == job.key and stand(marks, job.out)


FAULTS = Stage("faults", list[Conclusion], faults)
SUMMARY = Stage("summary", Known, summarised)
PAGE = Stage("page", tuple[str, Marks], write_page, _stands)


KEPT = ".cache"
"""Folder of what is kept between calls, in that of the site."""
INDEX = "index.html"
BADGES = "badges"
"""Folder of a badge for each machine."""
PLAIN = ".nojekyll"
"""Empty: hosts that would make pages of files by themselves are told not to."""
SITE = "site"
"""Name there of the list of all files that the site consists of."""
Tell = Callable[[Path, list[Conclusion]], None]
"""Called with each file that is not whole, and with the reasons."""
Begin = Callable[[str], None]
Beside = Callable[[Sequence[Summary], Publication], Mapping[str, bytes]]
"""Makes files beside the index, by name, from all runs and the addresses of their pages."""


def build(  # noqa: PLR0913 - one for each thing that a caller may choose
    paths: Iterable[Path],
    out: Path,
    *,
    tell: Tell | None = None,
    workers: Workers | None = None,
    begin: Begin = lambda _: None,
    beside: Sequence[Beside] = (),
    known: Sequence[Price] | None = None,
    publication: Publication = ANYWHERE,
    reference: Path | None = None,
) -> list[Path]:
    """Write the pages of all stored runs among files and folders, and return them, index first.

    Beside each page lie the stored file, byte for byte, and its launch medians; beside the index
    all runs and all estimates. What an earlier call wrote for runs that are gone is removed.

    Parameters
    ----------
    tell
        Is told of every file that is not whole, or that something goes wrong with, and why; it
        gets no page, and the index names it. Without it no file is judged.
    workers
        Processes that share the work; by default one a core, where there is enough of it.
    begin
        Is told what is begun: ``reading``, ``checking``, ``tables``, ``pages`` and ``index``.
    beside
        Make pages of several runs (`reports.purchase.purchase.Maker`) and other files.
    known
        What devices cost; by default what they did at launch.
    publication
        Where the site will lie, and under which licence.
    reference
        The file of the run that the index compares others with at first; see
        `reports.purchase.machines.baseline`.

    Raises
    ------
    frobench.suite.stored.store.InvalidResult
        No page can be made of a file, and there is nobody to tell.
    OSError
        A page cannot be written.
    """
    kept = Cache(out / KEPT, cache.code())
    begin("reading")
    given = [*paths]
    stored, refused = find(given, kept)
    asked, newest = None, asked_nodes.newest(given)
    if newest:
        try:
            asked = asked_nodes.read(newest)
        except InvalidResult as fault:
            refused[newest] = checks.unreadable(fault)
    broken: list[Broken] = []

    def leave_out(path: Path, why: list[Conclusion]) -> None:
        if tell is None:
            raise InvalidResult(f"{path}: {why[0].message}")
        tell(path, why)
        broken.append(named(path.name, why))

    for path, why in refused.items():
        leave_out(path, [why])
    with workers or Workers() as sharing:
        prices_known = prices.read() if known is None else known
        site = _Site(out, kept, sharing, begin, beside, prices_known, publication, asked, reference)
        while True:
            try:
                if tell:
                    begin("checking")
                    stored = _whole(stored, sharing, leave_out)
                return site.write(stored, sorted(broken))
            except BrokenRunsError as error:
                for sha256, conclusions in error.blame.items():
                    leave_out(stored.pop(sha256).path, conclusions)


@dataclass
class _Site:
    """What a site is made with; see `build`.

    asked : which nodes the newest fleet asked, if there was one
    """

    out: Path
    kept: Cache
    workers: Workers
    begin: Begin
    beside: Sequence[Beside]
    known: Sequence[Price]
    publication: Publication
    asked: AskedNodes | None
    reference: Path | None = None

    def write(self, stored: dict[str, Source], broken: Sequence[Broken]) -> list[Path]:
        """Write all pages, and return them, index first.

        Raises `BrokenRunsError` if something cannot be made of a run.
        """
        self.begin("tables")
        made = _addressed(each(self.workers, SUMMARY, [*stored.values()]))
        summaries = [one.summary for one in made]
        self.begin("pages")
        written = each(self.workers, PAGE, [*self._pages(summaries, stored)])
        of_runs = {name: one for _, page in written for name, one in page.items()}
        before = (self.kept.get(SITE, Marks, of_any_code=True) or {}) | of_runs
        self.kept.put(SITE, before)  # some of these runs may turn out broken
        known = {one.summary.sha256: one for one in made}
        fleet = of_several(
            lambda: self._fleet(made), [*known], lambda name: self._fleet([known[name]])
        )
        self.begin("index")
        others: dict[str, bytes] = {}
        for maker in self.beside:
            others |= maker(summaries, self.publication)
        paths = {run.href: stored[run.sha256].path for run in summaries}
        base = next((href for href, path in paths.items() if path == self.reference), "")
        shared = of_several(
            lambda: self._shared(made, others | fleet, broken, base),
            [*known],
            lambda name: self._alone(known[name]),
        )
        after = shared | of_runs
        remove(before.keys() - after.keys(), before, self.out)
        self.kept.put(SITE, after)
        self.kept.forget(but=stored)
        return [self.out / INDEX, *(self.out / summary.href for summary in reversed(summaries))]

    def _fleet(self, runs: Sequence[Known]) -> dict[str, bytes]:
        """Return the page of nodes beside each other, where runs have labels."""
        return fleet_page.files([one.node for one in runs if one.node], self.asked)

    def _shared(
        self,
        made: Sequence[Known],
        others: Mapping[str, bytes],
        broken: Sequence[Broken],
        reference: str,
    ) -> Marks:
        """Write what concerns all runs, where it is not there already, and return what is there.

        others : pages of several runs and what belongs to them, by name
        reference : the page of the run that others are compared with at first; empty for the usual
        """
        newest_first = [one.summary for one in reversed(made)]
        files = {PLAIN: b"", **others, **_badges(newest_first[::-1], self.out)}
        files |= downloads.both("runs", downloads.runs(newest_first))
        table = downloads.joined(one.rows for one in reversed(made))
        marks = _put(files | downloads.both("estimates", table), self.out)
        described = _described(newest_first) if made else None
        head = Head(*described, marks, self.publication) if described else None
        pages = [name for name in others if name.endswith(".html")]
        page = index.page(newest_first, self.known, pages, head, broken, reference)
        further = {published.PATH.name: published.PATH.read_bytes()}
        return marks | _put(further | {INDEX: page.encode()}, self.out)

    def _alone(self, run: Known) -> None:
        """Make what concerns all runs of a single one, to see whether that fails."""
        downloads.both("estimates", downloads.joined([run.rows]))
        downloads.runs([run.summary])
        index.page([run.summary], self.known)

    def _pages(self, summaries: list[Summary], stored: dict[str, Source]) -> Iterator[PageJob]:
        """Yield the page of each run, which depends on those measured before with its device."""
        by_device: dict[str, list[Summary]] = {}
        for summary in summaries:
            earlier = by_device.setdefault(summary.device_id, [])
            others = {run.machine_id: run.axes for run in earlier}
            others.pop(summary.machine_id, None)
            axes = with_others(summary.axes, [run.axes for run in earlier], others.values())
            earlier.append(summary)
            total = prices.total(self.known, equipment_of(summary))
            price = f"{total.price:,.0f} {total.currency} ({total.date})" if total else ""
            key = repr((summary.href, axes, price, *astuple(self.publication)))
            source, given = stored[summary.sha256], (axes, price, self.publication)
            yield PageJob(source, self.out, summary.href, key, *given)


def find(paths: Iterable[Path], kept: Cache) -> tuple[dict[str, Source], dict[Path, Conclusion]]:
    """Return the stored files among files and folders by their digests, each content once.

    What is no file that can be read is returned by its path, with what is wrong.
    """
    sources: dict[str, Source] = {}
    refused: dict[Path, Conclusion] = {}
    for path in store.find(paths):
        try:
            digest = hashlib.sha256(store.content(path)).hexdigest()
        except store.InvalidResult as fault:
            refused[path] = checks.unreadable(fault)
        else:
            sources.setdefault(digest, Source(path, digest, kept))
    return sources, refused


def _whole(stored: dict[str, Source], workers: Workers, leave_out: Tell) -> dict[str, Source]:
    """Leave out the files that are not whole, and return the others."""
    found = each(workers, FAULTS, [*stored.values()])
    for source, why in zip(stored.values(), found, strict=True):
        if why:
            leave_out(source.path, why)
    kept = zip(stored.items(), found, strict=True)
    return {sha256: source for (sha256, source), why in kept if not why}


def _addressed(made: Iterable[Known]) -> list[Known]:
    """Give each run the address of its page below the index, a folder a machine; the oldest first.

    Of two runs of one name the older has the plain one, whatever comes later.
    """
    taken: dict[str, Known] = {}
    for one in sorted(made, key=attrgetter("summary.datetime", "summary.run", "summary.sha256")):
        plain = f"{slug(one.summary.machine)}/{slug(one.summary.run)}"
        more = f"-{one.summary.sha256[:8]}" if f"{plain}.html" in taken else ""
        href = f"{plain}{more}.html"
        node = one.node and replace(one.node, href=href)
        taken[href] = replace(one, summary=replace(one.summary, href=href), node=node)
    return [*taken.values()]


def _put(files: Mapping[str, bytes], out: Path) -> Marks:
    """Write what is not there already, and return all."""
    for name, content in files.items():
        path = out / name
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(exist_ok=True)
            cache.write(path, content)
    return {name: mark(content) for name, content in files.items()}


def _badges(summaries: Sequence[Summary], out: Path) -> dict[str, bytes]:
    """Return the badge of the newest run of each device; devices may share a name."""
    newest = {f"{slug(run.machine)}-{run.device_id[:6]}": run for run in summaries}
    return {
        f"{BADGES}/{name}.svg": (out / summary.href).with_suffix(BADGE).read_bytes()
        for name, summary in newest.items()
    }


def _described(newest_first: Sequence[Summary]) -> tuple[str, str, str]:
    """Return the name of the index, what it holds, and when the newest run was measured."""
    machines = counted(len({run.machine_id for run in newest_first}), "machine")
    text = (
        f"{counted(len(newest_first), 'stored run')} of {machines}, measured with the PyTorch "
        "benchmark suite Frobench: every run, and the estimates of all cases with their intervals."
    )
    when = max((summary.datetime for summary in newest_first), key=metadata.date)
    return "Frobench results", text, when
