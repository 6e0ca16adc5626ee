# SPDX-License-Identifier: MIT
"""What is made of one stored run, in whichever process: its summary, its tables and its page.

Everything goes into the cache too, and what lies there by the same key is not made again.
"""

from collections.abc import Sequence
from pathlib import Path
from shutil import copyfile
from typing import NamedTuple

from msgspec import Struct

from reports import badges, downloads, images, views
from reports.cache import Cache, Mark, Marks, mark, write
from reports.contents import Contents, contents
from reports.downloads import Rows
from reports.findings import sections
from reports.frame import frame
from reports.headlines import Figure, figures
from reports.metadata import Described, Publication, head
from reports.normal import Verdict, rows
from reports.page import Download, Signs, run_page
from reports.render import moment
from reports.summary import Answer, Change, Summary, answers, change, summarise
from suite import checks, compare, store
from suite.model import Conclusion
from suite.units import counted, format_value

TABLES = {
    ".json": "the stored run, every sample",
    ".csv": "the launch medians, a row for each case in each launch",
    ".parquet": "the same as Parquet",
}
"""Files beside a page by their suffix, and what they hold."""
IMAGE, BADGE = ".png", ".badge.svg"
"""Suffixes of what stands for a page elsewhere."""


class Source(NamedTuple):
    """A stored file, and the cache of what is made of it."""

    path: Path
    sha256: str
    kept: Cache

    def staged(self, suffix: str) -> Path:
        """Return where a file waits until it is known where it belongs."""
        return self.kept.folder / f"{self.sha256}{suffix}"


class Written(Struct, frozen=True):
    """What was written for a run.

    files : by their path below the site
    answers : that stand on a page
    """

    files: Marks
    answers: tuple[Answer, ...] = ()


class PageJob(NamedTuple):
    """A page to write.

    key : a digest of what it depends on besides its run
    held : its headline figures beside those of others
    publication : what the page says of the site
    """

    source: Source
    out: Path
    href: str
    key: str
    held: tuple[Verdict, ...]
    publication: Publication


class Pair(NamedTuple):
    """A run, and the one before it on its machine with its page."""

    base: Source
    base_href: str
    new: Source

    @property
    def key(self) -> str:
        """What the comparison depends on besides the newer run."""
        return f"{self.base.sha256} {self.base_href}"


def known_faults(source: Source) -> list[Conclusion] | None:
    """Return why a stored file is not whole, if that was found out before."""
    return source.kept.get(f"{source.sha256}.faults", list[Conclusion])


def faults(source: Source) -> list[Conclusion]:
    """Find out why a stored file is not whole."""
    found = checks.damage(source.path)
    source.kept.put(f"{source.sha256}.faults", found)
    return found


def tables(source: Source) -> Marks:
    """Make a run's summary, and the files beside its page, which wait among what is kept."""
    run = store.read(source.path)
    table = frame([run])
    columns = downloads.table_of(table)
    found = summarise(run, source.sha256, figures(run, table))
    source.kept.put(f"{source.sha256}.summary", found)
    source.kept.put(f"{source.sha256}.rows", downloads.rows(found))
    stored = source.staged(".json")
    copyfile(source.path, stored)
    contents = {".csv": downloads.as_csv(columns), ".parquet": downloads.as_parquet(columns)}
    for suffix, content in contents.items():
        write(source.staged(suffix), content)
    marks = {suffix: mark(content) for suffix, content in contents.items()}
    return {".json": Mark(stored.stat().st_size, source.sha256), **marks}


def summary(source: Source) -> Summary | None:
    """Return a run's summary, if it was made."""
    return source.kept.get(f"{source.sha256}.summary", Summary)


def estimated(source: Source, one: Summary) -> Rows:
    """Return a run's part of the table of estimates, which was made with its summary."""
    return source.kept.get(f"{source.sha256}.rows", Rows) or downloads.rows(one)


def known_change(pair: Pair) -> Change | None:
    """Return how a run compares with the one before it, if that was found out before."""
    return pair.new.kept.get(f"{pair.new.sha256}.change", Change, pair.key)


def changed(pair: Pair) -> Change:
    """Compare a run with the one before it."""
    compared = compare.compare_runs(store.read(pair.base.path), store.read(pair.new.path))
    found = change(compared, pair.base_href)
    pair.new.kept.put(f"{pair.new.sha256}.change", found, pair.key)
    return found


def write_page(job: PageJob) -> Written:
    """Write the page of a run, beside which its tables lie already."""
    run = store.read(job.source.path)
    table = frame([run])
    answered = sections(run, table)
    marks = views.marks(run)
    shown = contents(run, table, answered, rows(run, job.held, marks))
    target = job.out / job.href
    beside = [(target.with_suffix(suffix), text) for suffix, text in TABLES.items()]
    listed = [_download(path.name, text, path.stat().st_size) for path, text in beside]
    files: dict[str, bytes] = {}
    for sheet in shown.tables:
        for suffix, encode in (("csv", downloads.as_csv), ("parquet", downloads.as_parquet)):
            name = f"{target.stem}.{sheet.name}.{suffix}"
            files[name] = encode(sheet.table)
            text = sheet.text if suffix == "csv" else TABLES[".parquet"]
            listed.append(_download(name, text, len(files[name])))
    found = answers(answered, marks)
    data = {name: mark(content) for name, content in files.items()}
    files |= _signs(job, shown, found, figures(run, table), marks)
    files[target.name] = run_page(shown, listed, _shown_elsewhere(job, shown, data)).encode()
    for name, content in files.items():
        write(target.with_name(name), content)
    marked = {f"{target.parent.name}/{name}": mark(content) for name, content in files.items()}
    written = Written(marked, found)
    job.source.kept.put(f"{job.source.sha256}.page", written, job.key)
    return written


def _signs(
    job: PageJob,
    shown: Contents,
    found: Sequence[Answer],
    headlines: Sequence[Figure],
    marks: views.Marks,
) -> dict[str, bytes]:
    """Draw what stands for a page elsewhere."""
    run, stem = shown.run, Path(job.href).stem
    complete, when = run.frobench.complete, moment(run.datetime)
    measured = counted(len(run.frobench.launches), "launch"), counted(len(run.benchmarks), "case")
    foot = ", ".join([when, *measured, *(() if complete else ("partial",))])
    return {
        f"{stem}{IMAGE}": images.card(shown.machine, images.rows(found), foot),
        f"{stem}{BADGE}": badges.of_run(headlines, marks, shown.machine, when, complete=complete),
    }


def _shown_elsewhere(job: PageJob, shown: Contents, data: Marks) -> Signs:
    """Tell what stands for a page elsewhere; `data` are its own tables, by their names."""
    folder, stem = str(Path(job.href).parent), Path(job.href).stem
    tables = job.source.kept.get(f"{job.source.sha256}.tables", Written, job.href)
    files = {f"{folder}/{name}": one for name, one in data.items()}
    files |= tables.files if tables else {}
    image, badge = (f"{stem}{suffix}" for suffix in (IMAGE, BADGE))
    name = f"{shown.machine}, {moment(shown.run.datetime)}"
    about = Described(name, shown.summary, job.href, f"{folder}/{image}", shown.run.datetime)
    url = job.publication.url
    return Signs(
        head(about, files, job.publication),
        image,
        badge,
        f"[![Frobench]({url(f'{folder}/{badge}')})]({url(job.href)})",
    )


def _download(name: str, text: str, size: int) -> Download:
    return Download(name, text, format_value(size, "B"))
