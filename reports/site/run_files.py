# SPDX-License-Identifier: MIT
"""What is made of one stored run, in whichever process: its summary, its tables and its page.

Everything goes into the cache too, and what lies there by the same key is not made again.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from frobench.reports.files import downloads
from frobench.reports.files.downloads import Rows
from frobench.reports.files.metadata import Described, Publication, head
from frobench.reports.findings import sections
from frobench.reports.findings.select import remembered
from frobench.reports.fleet import nodes
from frobench.reports.fleet.nodes import Node
from frobench.reports.making.broken import Blame, blamed
from frobench.reports.making.cache import Cache, Marks, mark, write
from frobench.reports.run.page import Contents, Download, Signs, contents, run_page
from frobench.reports.summary import badge as badges
from frobench.reports.summary import card, views
from frobench.reports.summary.device_axes import DeviceAxes
from frobench.reports.summary.model import Answer, Change, Summary, answers, change, summarise
from frobench.reports.table.estimates import estimates
from frobench.reports.table.frame import frame
from frobench.reports.web.render import moment
from frobench.suite import checks
from frobench.suite.compare.between_runs import Levels, levels
from frobench.suite.compare.runs import compare_runs
from frobench.suite.stored import store
from frobench.suite.stored.types import Conclusion, Run
from frobench.suite.units import counted, format_value

STORED = "the stored run, every sample"
MEDIANS = "the launch medians, a row for each case in each launch"
PARQUET = "the same as Parquet"
"""What lies beside a page, in words."""
IMAGE, BADGE = ".png", ".badge.svg"
"""Suffixes of what stands for a page elsewhere."""


class Source(NamedTuple):
    """A stored file, and the cache of what is made of it."""

    path: Path
    sha256: str
    kept: Cache


class Written(Struct, frozen=True):
    """What was written for a run.

    files : by their path below the site
    answers : that stand on its page
    """

    files: Marks
    answers: tuple[Answer, ...]


class PageJob(NamedTuple):
    """A page to write.

    key : a digest of what it depends on besides its run
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


class Pair(NamedTuple):
    """A run, and the one before it on its machine with its page.

    others : runs of the machine before both, the newest first
    """

    base: Source
    base_href: str
    new: Source
    others: tuple[Source, ...]

    @property
    def key(self) -> str:
        """What the comparison depends on besides the newer run."""
        runs = " ".join(source.sha256 for source in (self.base, *self.others))
        return f"{runs} {self.base_href}"


def known_faults(source: Source) -> list[Conclusion] | None:
    """Return why a stored file is not whole, if that was found out before."""
    return source.kept.get(f"{source.sha256}.faults", list[Conclusion])


def faults(source: Source) -> list[Conclusion]:
    """Find out why a stored file is not whole, and judge one that is."""
    run, damage = checks.opened(source.path)
    source.kept.put(f"{source.sha256}.faults", damage)
    if run and not damage:
        source.kept.put(f"{source.sha256}.conclusions", checks.conclude(run, whole=True))
    return damage


def judged(source: Source) -> Run:
    """Return a stored run with the conclusions that follow from its facts, which are kept."""
    name = f"{source.sha256}.conclusions"
    known = source.kept.get(name, list[Conclusion])
    run = checks.judged(store.read(source.path), known)
    if known is None:
        source.kept.put(name, run.frobench.conclusions)
    return run


def summarised(source: Source) -> Summary:
    """Make a run's summary, and its part of the table of estimates."""
    run = checks.credible(judged(source))
    estimated = estimates(run)
    medians = {case.case: case.medians for case in estimated}
    with remembered(run, medians):
        made = summarise(run, source.sha256, estimated)
    source.kept.put(f"{source.sha256}.summary", made)
    source.kept.put(f"{source.sha256}.rows", downloads.rows(run, estimated))
    if of_node := nodes.node(run, made.axes, estimated):
        source.kept.put(f"{source.sha256}.node", of_node)
    return made


def summary(source: Source) -> Summary | None:
    """Return a run's summary, if it was made."""
    return source.kept.get(f"{source.sha256}.summary", Summary)


def estimated(source: Source) -> Rows:
    """Return a run's part of the table of estimates, which was made with its summary."""
    if kept := source.kept.get(f"{source.sha256}.rows", Rows):
        return kept
    run = checks.credible(judged(source))
    return downloads.rows(run, estimates(run))


def node(source: Source) -> Node | None:
    """Return a run as one of a node, which was made with its summary; nothing without a label."""
    return source.kept.get(f"{source.sha256}.node", Node)


def known_change(pair: Pair) -> Change | None:
    """Return how a run compares with the one before it, if that was found out before."""
    return pair.new.kept.get(f"{pair.new.sha256}.change", Change, pair.key)


def changed(pair: Pair) -> Change:
    """Compare a run with the one before it, and keep what later comparisons learn from that one."""
    base, others = judged(pair.base), [*map(_levels, pair.others)]
    changes = change(compare_runs(base, judged(pair.new), others), pair.base_href)
    _levels(pair.base, base)
    pair.new.kept.put(f"{pair.new.sha256}.change", changes, pair.key)
    return changes


def to_blame(pair: Pair, why: Conclusion) -> Blame:
    """Return which runs of a comparison are to blame for its failure: they fail with themselves."""
    sources = {source.sha256: source for source in (*reversed(pair.others), pair.base, pair.new)}

    def alone(sha256: str) -> None:
        run = judged(sources[sha256])
        compare_runs(run, run, [levels(run)])

    return blamed([*sources], alone, why)


def _levels(source: Source, run: Run | None = None) -> Levels:
    """Return what a run says to comparisons of others, and keep it.

    run : the run itself, if it was read already
    """
    name = f"{source.sha256}.levels"
    known = source.kept.get(name, Levels)
    if known is None:
        known = levels(run or judged(source))
        source.kept.put(name, known)
    return known


def known_page(source: Source, key: str) -> Written | None:
    """Return what was written for a run, if it would come out the same."""
    return source.kept.get(f"{source.sha256}.page", Written, key)


def write_page(job: PageJob) -> Written:
    """Write the page of a run, and its tables beside it."""
    whole = judged(job.source)
    run = checks.credible(whole)
    with remembered(run):
        return _written(job, whole, run)


def _written(job: PageJob, whole: Run, run: Run) -> Written:
    data = store.content(job.source.path)
    answered = sections(run)
    marks = views.marks(run)
    shown = contents(run, answered, views.numbers(whole), job.axes, job.price)
    target = job.out / job.href
    files, listed = {f"{target.stem}.json": data}, [(f"{target.stem}.json", STORED)]
    medians = (target.stem, downloads.table_of(frame([run])), MEDIANS)
    sheets = [(f"{target.stem}.{sheet.name}", sheet.table, sheet.text) for sheet in shown.tables]
    for name, sheet, text in [medians, *sheets]:
        files |= {
            f"{name}.csv": downloads.as_csv(sheet),
            f"{name}.parquet": downloads.as_parquet(sheet),
        }
        listed += [(f"{name}.csv", text), (f"{name}.parquet", PARQUET)]
    short_answers = answers(answered, marks)
    signs = _shown_elsewhere(job, shown, {name: mark(content) for name, content in files.items()})
    links = [Download(name, text, format_value(len(files[name]), "B")) for name, text in listed]
    files |= _signs(job, shown, short_answers, marks)
    files[target.name] = run_page(shown, links, signs).encode()
    target.parent.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        write(target.with_name(name), content)
    marked = {f"{target.parent.name}/{name}": mark(content) for name, content in files.items()}
    written = Written(marked, short_answers)
    job.source.kept.put(f"{job.source.sha256}.page", written, job.key)
    return written


def _signs(
    job: PageJob, shown: Contents, short_answers: Sequence[Answer], marks: views.Marks
) -> dict[str, bytes]:
    """Draw what stands for a page elsewhere."""
    run, stem = shown.run, Path(job.href).stem
    complete, when = run.frobench.complete, moment(run.datetime)
    measured = counted(len(run.frobench.launches), "launch"), counted(len(run.benchmarks), "case")
    foot = ", ".join([when, *measured, *(() if complete else ("partial",))])
    compute = job.axes.axis("compute")
    return {
        f"{stem}{IMAGE}": card.card(shown.machine, card.rows(short_answers), foot),
        f"{stem}{BADGE}": badges.of_run(compute, marks, shown.machine, when, complete=complete),
    }


def _shown_elsewhere(job: PageJob, shown: Contents, data: Marks) -> Signs:
    """Tell what stands for a page elsewhere; `data` are the files beside it, by their names."""
    folder, stem = str(Path(job.href).parent), Path(job.href).stem
    files = {f"{folder}/{name}": content for name, content in data.items()}
    image, badge = (f"{stem}{suffix}" for suffix in (IMAGE, BADGE))
    name = f"{shown.machine}, {moment(shown.run.datetime)}"
    about = Described(name, shown.description, job.href, f"{folder}/{image}", shown.run.datetime)
    url = job.publication.url
    return Signs(
        head(about, files, job.publication),
        image,
        badge,
        f"[![Frobench]({url(f'{folder}/{badge}')})]({url(job.href)})",
    )
