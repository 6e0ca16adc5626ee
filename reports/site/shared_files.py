# SPDX-License-Identifier: MIT
"""What a site says of all its runs together, beside their pages: the index, tables, metadata."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

import pyarrow as pa

from frobench.reports.charts.words import slug
from frobench.reports.files import downloads, metadata
from frobench.reports.files.downloads import Rows
from frobench.reports.files.metadata import Described, Head, Publication
from frobench.reports.index import index
from frobench.reports.making import cache
from frobench.reports.making.broken import Broken
from frobench.reports.making.cache import Marks, mark
from frobench.reports.making.workers import Workers
from frobench.reports.purchase.prices import Price
from frobench.reports.site.run_files import BADGE
from frobench.reports.summary import card
from frobench.reports.summary.card import Row
from frobench.reports.summary.model import Summary
from frobench.reports.web.render import moment
from frobench.suite.datasheets import published
from frobench.suite.units import counted

INDEX, IMAGE = "index.html", "index.png"
BADGES = "badges"
"""Folder of a badge for each machine."""
PLAIN = ".nojekyll"
"""Empty: hosts that would make pages of files by themselves are told not to."""


def write(  # noqa: PLR0913, PLR0917 - one for each thing that goes in
    summaries: Sequence[Summary],
    rows: Mapping[str, Rows],
    known: Sequence[Price],
    others: Mapping[str, bytes],
    publication: Publication,
    out: Path,
    workers: Workers,
    broken: Sequence[Broken] = (),
    reference: str = "",
) -> Marks:
    """Write what concerns all runs, where it is not there already, and return what is there.

    Parameters
    ----------
    summaries
        Of all runs, oldest first.
    rows
        Their parts of the table of estimates, by the digest of the stored file.
    known
        What devices cost.
    others
        Pages of several runs and what belongs to them, by name.
    broken
        Files without a page.
    reference
        The page of the run that others are compared with at first; empty for the usual one.
    """
    newest_first = summaries[::-1]
    about = _described(newest_first) if newest_first else None
    parts = [rows[summary.sha256] for summary in newest_first]
    tables = downloads.opened(parts)  # a thousand small steps, each of which waits in a thread
    with ThreadPoolExecutor(1) as thread:  # Arrow, hashing and writing leave Python to others
        estimates = thread.submit(lambda: _put(_estimates(parts, tables), out))
        drawing = workers.map(_image, [_lines(newest_first)] if newest_first else [])
        marks = _put({PLAIN: b"", **others, **_runs(newest_first)}, out)
        badges = _put(_badges(summaries, out), out)

        def head() -> Head | None:
            marked = {**marks, **estimates.result(), **badges}
            return metadata.head(about, marked, publication) if about else None

        pages = [name for name in others if name.endswith(".html")]
        further = {INDEX: index.page(newest_first, known, pages, head, broken, reference).encode()}
        further[published.PATH.name] = published.PATH.read_bytes()
    marks |= estimates.result() | badges
    if about:
        [further[IMAGE]] = drawing
    return marks | _put(further, out)


def alone(summary: Summary, rows: Rows, known: Sequence[Price]) -> None:
    """Make what concerns all runs of a single one, to see whether that fails."""
    downloads.joined([rows], downloads.opened([rows]))
    downloads.runs([summary])
    index.page([summary], known)
    _image(_lines([summary]))


def _put(files: Mapping[str, bytes], out: Path) -> Marks:
    """Write what is not there already, and return all."""
    for name, content in files.items():
        path = out / name
        if not _lies(path, content):
            path.parent.mkdir(parents=True, exist_ok=True)
            cache.write(path, content)
    return {name: mark(content) for name, content in files.items()}


def _lies(path: Path, content: bytes) -> bool:
    size = path.stat().st_size if path.is_file() else -1
    return size == len(content) and path.read_bytes() == content


def _estimates(parts: Sequence[Rows], tables: Sequence[pa.Table]) -> dict[str, bytes]:
    tables_by_suffix = downloads.joined(parts, tables)
    return {f"estimates.{suffix}": content for suffix, content in tables_by_suffix.items()}


def _runs(newest_first: Sequence[Summary]) -> dict[str, bytes]:
    runs = downloads.runs(newest_first)
    return {
        "runs.csv": downloads.as_csv(runs),
        "runs.parquet": downloads.as_parquet(runs),
    }


def _badges(summaries: Sequence[Summary], out: Path) -> dict[str, bytes]:
    """Return the badge of the newest run of each device; devices may share a name."""
    newest = {f"{slug(run.machine)}-{run.device_id[:6]}": run for run in summaries}
    return {
        f"{BADGES}/{name}.svg": (out / summary.href).with_suffix(BADGE).read_bytes()
        for name, summary in newest.items()
    }


def _runs_of_machines(runs: Sequence[Summary]) -> str:
    machines = counted(len({run.machine_id for run in runs}), "machine")
    return f"{counted(len(runs), 'stored run')} of {machines}"


def _described(newest_first: Sequence[Summary]) -> Described:
    text = (
        f"{_runs_of_machines(newest_first)}, measured with the PyTorch benchmark suite Frobench: "
        "every run, and the estimates of all cases with their intervals."
    )
    when = max((summary.datetime for summary in newest_first), key=metadata.date)
    return Described("Frobench results", text, "", IMAGE, when)


def _lines(newest_first: Sequence[Summary]) -> tuple[list[Row], str]:
    """Return the machines that were measured last, each with its first number, and a foot."""
    newest: dict[str, Summary] = {}
    for summary in newest_first:
        newest.setdefault(summary.machine_id, summary)
    foot = f"{_runs_of_machines(newest_first)}, the newest of {moment(newest_first[0].datetime)}"
    return [*map(_line, islice(newest.values(), card.ROWS))], foot


def _image(drawn: tuple[list[Row], str]) -> bytes:
    """Draw what `_lines` returns."""
    return card.card("Frobench results", *drawn)


def _line(summary: Summary) -> Row:
    numbers = (f"{row.figure}, {row.label}" for row in card.rows(summary.answers))
    return Row(summary.title, next(numbers, "no figure"))
