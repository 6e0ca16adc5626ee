# SPDX-License-Identifier: MIT
"""Stored runs to a site of static pages: one a run, and an index of them, with their data beside.

The same files give the same bytes, in whatever order and by however many processes. What was made
before and would come out the same is left as it lies: a page depends on its run, on those measured
before it, and on nothing else.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path

from msgspec.structs import replace

from frobench.reports.files.metadata import ANYWHERE, Publication
from frobench.reports.fleet import fleet_page
from frobench.reports.fleet.peers import Placed
from frobench.reports.making import cache
from frobench.reports.making.broken import Broken, BrokenRunsError, begun, named, of_several
from frobench.reports.making.cache import Cache, Marks, remove, stand
from frobench.reports.making.workers import Workers
from frobench.reports.purchase import prices
from frobench.reports.purchase.prices import Price
from frobench.reports.run import normal
from frobench.reports.site import inputs, run_files, shared_files, summarised
from frobench.reports.site.run_files import PageJob, Source, Written
from frobench.reports.site.summarised import Tell
from frobench.reports.summary.model import Summary, equipment_of
from frobench.suite.stored.asked_nodes import AskedNodes
from frobench.suite.stored.store import InvalidResult
from frobench.suite.stored.types import Conclusion

KEPT = ".cache"
"""Folder of what is kept between calls, in that of the site."""
SITE = "site"
"""Name there of the list of all files that the site consists of."""
Begin = Callable[[str], None]
Beside = Callable[[Sequence[Summary], Publication], Mapping[str, bytes]]
"""What else is to lie beside the index, by name, given all runs with the addresses of pages."""


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
        Is told what is begun: ``reading``, ``checking``, ``tables``, ``changes``, ``pages`` and
        ``index``.
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
    stored, refused = inputs.find(given, kept)
    asked, unreadable = inputs.asked(given)
    refused |= unreadable
    broken: list[Broken] = []

    def leave_out(path: Path, why: list[Conclusion]) -> None:
        if tell is None:
            raise InvalidResult(str(path), why[0].message)
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
                    stored = summarised.whole(stored, sharing, leave_out)
                return site.write(stored, sorted(broken))
            except BrokenRunsError as error:
                for sha256, conclusions in error.blame.items():
                    leave_out(stored.pop(sha256).path, conclusions)


@dataclass
class _Site:
    """What a site is made with; see `build`.

    asked : which nodes the newest fleet asked, if there was one
    attempted : files that were written for runs, some of which may have turned out broken since
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
    attempted: Marks = field(default_factory=dict)

    def write(self, stored: dict[str, Source], broken: Sequence[Broken]) -> list[Path]:
        """Write all pages, and return them, index first.

        Raises `BrokenRunsError` if something cannot be made of a run.
        """
        self.begin("tables")
        summaries = summarised.summaries_of(stored, self.workers)
        self.begin("changes")
        summaries = summarised.with_changes(summaries, stored, self.workers)
        self.begin("pages")
        finish = self._begin_pages(summaries, stored)
        pages = {summary.sha256: summary.href for summary in summaries}
        try:
            fleet = self._fleet(pages, stored)  # while other processes make pages
            rows = {name: run_files.estimated(stored[name]) for name in pages}
        finally:
            summaries, made = finish()
            of_runs = {name: mark for marks in made.values() for name, mark in marks.items()}
            self.attempted |= of_runs
        self.begin("index")
        others: dict[str, bytes] = {}
        for maker in self.beside:
            others |= maker(summaries, self.publication)
        by_digest = {summary.sha256: summary for summary in summaries}
        shared = of_several(
            lambda: shared_files.write(
                summaries,
                rows,
                self.known,
                others | fleet,
                self.publication,
                self.out,
                self.workers,
                broken,
                next((pages[name] for name in pages if stored[name].path == self.reference), ""),
            ),
            [*by_digest],
            lambda name: shared_files.alone(by_digest[name], rows[name], self.known),
        )
        self._sweep(stored, shared | of_runs)
        return [
            self.out / "index.html",
            *(self.out / summary.href for summary in reversed(summaries)),
        ]

    def _fleet(self, pages: Mapping[str, str], stored: dict[str, Source]) -> dict[str, bytes]:
        """Return the page of nodes beside each other, where runs have labels."""

        def made(names: Sequence[str]) -> dict[str, bytes]:
            nodes = [(run_files.node(stored[name]), pages[name]) for name in names]
            return fleet_page.files(
                [Placed(node, href) for node, href in nodes if node], self.asked
            )

        return of_several(lambda: made([*pages]), [*pages], lambda name: made([name]))

    def _begin_pages(
        self, summaries: list[Summary], stored: dict[str, Source]
    ) -> Callable[[], tuple[list[Summary], dict[str, Marks]]]:
        """Begin with the pages that are not there as they would be now.

        What it returns waits for them, adds the answers on all pages to the summaries, and
        returns these and the files by the digest of their run.
        """
        earlier_runs = normal.EarlierRuns()
        written: dict[str, Written] = {}
        jobs = []
        for summary in summaries:
            source = stored[summary.sha256]
            price = self._price(summary)
            key = repr(
                (summary.href, earlier_runs.before(summary), price, *astuple(self.publication))
            )
            before = run_files.known_page(source, key)
            if before and stand(before.files, self.out):
                written[summary.sha256] = before
            else:
                held = normal.verdicts(
                    summary.figures, [other.figures for other in earlier_runs.others(summary)]
                )
                beside = tuple(held), earlier_runs.axes(summary), price
                jobs.append(PageJob(source, self.out, summary.href, key, *beside, self.publication))
            earlier_runs.put(summary)
        made = begun(
            self.workers, run_files.write_page, jobs, lambda job, why: {job.source.sha256: [why]}
        )

        def finish() -> tuple[list[Summary], dict[str, Marks]]:
            pages = written | {
                job.source.sha256: page for job, page in zip(jobs, made(), strict=True)
            }
            answered = [
                replace(summary, answers=pages[summary.sha256].answers) for summary in summaries
            ]
            return answered, {sha256: page.files for sha256, page in pages.items()}

        return finish

    def _price(self, summary: Summary) -> str:
        """Spell what the devices of a run cost together; nothing where that is not known."""
        price = prices.total(self.known, equipment_of(summary))
        return f"{price.price:,.0f} {price.currency} ({price.date})" if price else ""

    def _sweep(self, stored: dict[str, Source], written: Marks) -> None:
        """Remove what an earlier call or attempt wrote and this one did not, and forget it."""
        before = (self.kept.get(SITE, Marks, None) or {}) | self.attempted
        remove(before.keys() - written.keys(), before, self.out)
        self.kept.put(SITE, written)
        self.kept.forget(but=stored)
