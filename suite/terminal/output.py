# SPDX-License-Identifier: MIT
"""What the command's verbs share on a terminal: files found and judged, paths and tables shown.

Tables are laid out here and not by `rich.table`, which has no cell across columns, cannot leave a
long name whole above its cells, and takes 0.5 ms a row.
"""

import re
import shutil
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import NamedTuple

import click

from frobench.suite.printable import as_json, printable
from frobench.suite.stored.machine_identity import short_name
from frobench.suite.stored.types import Conclusion, Run, Severity

# ruff: noqa: PLC0415 - imported where needed, so that no verb waits for another's

MOST_CONCLUSIONS = 3
"""Warnings of one code that are shown; the others stand beside their cases."""
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
PAGE = 100
"""Columns of a text where there is no terminal."""
UNLIMITED = 10_000
"""Columns of a table where there is no terminal."""
GAP = "  "
NAMES = 2
"""What stands before the cells of a row: its title and its name."""
_FIXED = "\N{NO-BREAK SPACE}"
_ESTIMATE = re.compile(r"(?:[\d.,]+ )?\S+ \[[^][]*\]")
"""A number, its unit and its interval."""


class Table(NamedTuple):
    """Rows below headings.

    columns : of each heading, how the cells below it are aligned, ``<`` or ``>`` as in `format`
    rows : a title that neighbours share, a name, and a cell for each column or none at all
    """

    columns: Mapping[str, str]
    rows: Sequence[tuple[str, ...]]

    def lines(self, width: int) -> Iterator[str]:
        """Yield the headings and the rows.

        A name that has no room stands above its cells. Where cells have none, a row is a sentence.
        """
        filled = [row for row in self.rows if len(row) > NAMES]
        columns = zip(self.columns, *(row[NAMES:] for row in filled), strict=True)
        widths = [max(map(len, column)) for column in columns]
        room = width - sum(widths) - len(GAP) * len(widths)
        names = [len(GAP + row[1]) for row in filled]
        fitting = [length for length in names if length <= room]
        first = max(fitting, default=min(room, len(GAP)))  # cells stand further right than names

        def line(name: str, cells: Iterable[str]) -> str:
            placed = zip(cells, self.columns.values(), widths, strict=True)
            aligned = [f"{cell:{side}{size}}" for cell, side, size in placed]
            return GAP.join([f"{name:{first}}", *aligned]).rstrip()

        if room >= 0:
            yield line("", self.columns)
        above = ""
        for title, name, *cells in self.rows:
            if title != above:
                yield from wrapped(title, width)
                above = title
            if not cells:
                yield from indented(name, width)
            elif room < 0:
                pairs = zip(self.columns, cells, strict=True)
                text = ", ".join(f"{heading} {cell}".strip() for heading, cell in pairs if cell)
                yield from indented(f"{name}: {text}", width)
            elif len(GAP + name) <= first:
                yield line(GAP + name, cells)
            else:
                yield from (GAP + name, line("", cells))


def stored_runs(paths: tuple[Path, ...], results: Path) -> list[Path]:
    """Return the stored runs at some paths, or those of the folder of results."""
    from frobench.suite.stored import store

    runs = store.find(paths or [path for path in (results,) if path.exists()])
    if not runs:
        where = ", ".join(map(str, paths)) or f"{results}/"
        raise click.UsageError(f"no stored run in {where}; `frobench run` makes one")
    return runs


def is_honest(path: Path, *, err: bool = True, but: Collection[str] = ()) -> bool:
    """Return whether a stored run is whole and can be believed, and print its conclusions."""
    from frobench.suite import checks

    conclusions = checks.review(path, but)
    tell(path, conclusions, err=err)
    return all(conclusion.severity != "error" for conclusion in conclusions)


def tell(path: Path, conclusions: Iterable[Conclusion], *, err: bool = True) -> None:
    """Print what is to be said of a stored run, a line each but for many alike."""
    for (first, *_), texts in _by_code(conclusions, "{} more, in the report"):
        word = "" if first.severity == "error" else f"{first.severity}: "
        say(*(f"{shown(path)}: {word}{first.code}: {text}" for text in texts), err=err)


def shown(path: Path) -> str:
    """Return a path as a person would type it here."""
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def say(*lines: str, err: bool = False) -> None:
    """Print lines, other people's texts made harmless."""
    for line in lines:
        for part in line.split("\n"):
            click.echo(printable(part), err=err)


def show(table: Table) -> None:
    """Print a table with an empty line behind it; what is piped to a program stays whole."""
    if table.rows:
        say(*table.lines(shutil.get_terminal_size((UNLIMITED, 0)).columns), "")


def warn(line: str) -> None:
    """Print a line beside the output."""
    say(line, err=True)


def fold(*lines: str, err: bool = False) -> None:
    """Print lines, wrapped to the width of a terminal; what is piped to a program stays whole."""
    columns = width() if (sys.stderr if err else sys.stdout).isatty() else 0
    for line in lines:
        text = line.lstrip()
        indent = " " * (len(line) - len(text))
        say(*(wrapped(text, columns, indent, f"{indent}  ") if columns else [line]), err=err)


def dump(data: object) -> None:
    """Print data as JSON, for programs."""
    click.echo(as_json(data))


def width() -> int:
    """Return the columns of the terminal, or those of a page where there is none."""
    return shutil.get_terminal_size((PAGE, 0)).columns


def doubts(judged: Run, columns: int) -> Iterator[str]:
    """Yield what a run's numbers may be trusted for: errors first, a few cases of each code."""
    ordered = sorted(judged.frobench.conclusions, key=lambda each: SEVERITIES.index(each.severity))
    for alike, texts in _by_code(ordered, "and {} more: `frobench show FILE --cases`"):
        first, times = alike[0], f", {len(alike)} times" if len(alike) > 1 else ""
        head = f"{first.severity}: {first.code}{times}. {first.advice}"
        yield from ("", *wrapped(head, columns, "", GAP))
        for text in texts:
            yield from indented(text, columns)


def _by_code(
    conclusions: Iterable[Conclusion], rest: str
) -> Iterator[tuple[list[Conclusion], list[str]]]:
    """Yield conclusions of one code and what is said of them: all errors, a few of the others.

    rest : says how many more there are
    """
    by_code: dict[tuple[str, Severity], list[Conclusion]] = {}
    for conclusion in conclusions:
        by_code.setdefault((conclusion.code, conclusion.severity), []).append(conclusion)
    for (_, severity), alike in by_code.items():
        cases = [f"{short_name(each.case)}: " if each.case else "" for each in alike]
        texts = [f"{case}{each.message}" for case, each in zip(cases, alike, strict=True)]
        if severity != "error" and len(texts) > MOST_CONCLUSIONS:
            texts[MOST_CONCLUSIONS:] = [rest.format(len(texts) - MOST_CONCLUSIONS)]
        yield alike, texts


def indented(text: str, columns: int) -> list[str]:
    """Break a text into lines that stand below what they belong to."""
    return wrapped(text, columns, GAP, GAP * 2)


def wrapped(text: str, columns: int, first: str = "", rest: str = "") -> list[str]:
    """Break a text into lines; `first` and `rest` are their beginnings; estimates stay whole."""
    whole = _ESTIMATE.sub(lambda match: match[0].replace(" ", _FIXED), printable(text))
    lines = wrap(
        whole,
        columns,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,  # names and paths stay whole
        break_on_hyphens=False,
    )
    return [line.replace(_FIXED, " ") for line in lines] or [first.rstrip()]
