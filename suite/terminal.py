# SPDX-License-Identifier: MIT
"""What the command's verbs share on a terminal: files found and judged, paths and tables shown."""

import shutil
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

import click

from suite.names import short_name

if TYPE_CHECKING:
    from suite.compare.tables import Table
    from suite.model import Conclusion, Run

# ruff: noqa: PLC0415 - imported where needed, so that no verb waits for another's

MOST_CONCLUSIONS = 10
"""Conclusions of one code that are shown; the rest is on the page."""


def stored_runs(paths: tuple[Path, ...], results: Path) -> list[Path]:
    """Return the stored runs at some paths, or those of the folder of results."""
    from suite import store

    found = store.find(paths or [path for path in (results,) if path.exists()])
    if not found:
        where = ", ".join(map(str, paths)) or f"{results}/"
        raise click.UsageError(f"no stored run in {where}; `frobench run` makes one")
    return found


def is_valid(path: Path, *, err: bool = True, but: Collection[str] = ()) -> bool:
    """Tell whether a stored run is whole; print a line for every fault but those of some codes."""
    from suite import checks

    return not tell(path, [one for one in checks.damage(path) if one.code not in but], err=err)


def is_honest(path: Path, *, err: bool = True, but: Collection[str] = ()) -> bool:
    """Tell whether a stored run is whole and can be believed; print all that is to be said of it.

    What makes it doubtful, and what has changed since, is told and no fault.
    """
    from suite import checks

    found = tell(path, checks.review(path, but), err=err)
    return all(one.severity != "error" for one in found)


def tell(path: Path, found: "list[Conclusion]", *, err: bool) -> "list[Conclusion]":
    """Print what is to be said of a stored run, a line each, and return it."""
    for one in found:
        case = f"{short_name(one.case)}: " if one.case else ""
        word = "" if one.severity == "error" else f"{one.severity}: "
        click.echo(f"{shown(path)}: {word}{one.code}: {case}{one.message}", err=err)
    return found


def shown(path: Path) -> str:
    """Return a path as a person would type it here."""
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def say(*lines: str) -> None:
    """Print lines."""
    for line in lines:
        click.echo(line)


def show(table: "Table") -> None:
    """Print a table with an empty line behind it, laid out for the terminal's width."""
    from suite.compare import tables

    if table.rows:
        width = shutil.get_terminal_size((tables.UNLIMITED, 0)).columns
        say(*tables.lines(table, width), "")


def conclude(stored: "Run") -> None:
    """Tell a person what became of the run, and what its numbers may be trusted for."""
    from suite.units import counted

    counts = dict.fromkeys(("passed", "failed", "skipped"), 0)
    for outcome in stored.frobench.outcomes:
        counts[outcome.status] += 1
    click.echo(
        f"{counted(counts['passed'], 'case')} measured in "
        f"{counted(len(stored.frobench.launches), 'launch')}, {counts['failed']} failed, "
        f"{counts['skipped']} skipped",
        err=True,
    )
    by_code: dict[str, list[Conclusion]] = {}
    for conclusion in stored.frobench.conclusions:
        by_code.setdefault(conclusion.code, []).append(conclusion)
    for code, conclusions in by_code.items():
        first, often = conclusions[0], len(conclusions)
        times = f", {often} times" if often > 1 else ""
        click.echo(f"{first.severity}: {code}{times}. {first.advice}", err=True)
        for conclusion in conclusions[:MOST_CONCLUSIONS]:
            where = f"{short_name(conclusion.case)}: " if conclusion.case else ""
            click.echo(f"  {where}{conclusion.message}", err=True)
        if len(conclusions) > MOST_CONCLUSIONS:
            more = len(conclusions) - MOST_CONCLUSIONS
            click.echo(f"  and {more} more, in the report", err=True)
