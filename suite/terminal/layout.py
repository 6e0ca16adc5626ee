# SPDX-License-Identifier: MIT
"""What the command's verbs share on a terminal: files found and judged, paths and tables shown."""

import shutil
import sys
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from textwrap import wrap

import click

from frobench.suite.printable import as_json, printable
from frobench.suite.stored.differences import short_name
from frobench.suite.stored.types import Conclusion, Run, Severity

# ruff: noqa: PLC0415 - imported where needed, so that no verb waits for another's

MOST_CONCLUSIONS = 3
"""Warnings of one code that are shown; the others stand beside their cases."""
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
PAGE = 100
"""Columns of a text where there is no terminal."""


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


def tell(path: Path, conclusions: list[Conclusion], *, err: bool = True) -> None:
    """Print what is to be said of a stored run, a line each but for many alike."""
    many = Counter(conclusion.code for conclusion in conclusions if conclusion.severity != "error")
    lines_of: Counter[str] = Counter()
    for conclusion in conclusions:
        code, is_error = conclusion.code, conclusion.severity == "error"
        lines_of[code] += not is_error
        if lines_of[code] <= MOST_CONCLUSIONS or is_error:
            text = _of_case(conclusion)
        elif lines_of[code] == many[code]:
            text = f"{many[code] - MOST_CONCLUSIONS} more, in the report"
        else:
            continue
        word = "" if is_error else f"{conclusion.severity}: "
        say(f"{shown(path)}: {word}{code}: {text}", err=err)


def shown(path: Path) -> str:
    """Return a path as a person would type it here."""
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def say(*lines: str, err: bool = False) -> None:
    """Print lines, other people's texts made harmless."""
    for line in lines:
        for part in line.split("\n"):
            click.echo(printable(part), err=err)


def warn(line: str) -> None:
    """Print a line beside the output."""
    say(line, err=True)


def fold(*lines: str, err: bool = False) -> None:
    """Print lines, wrapped to the width of a terminal; what is piped to a program stays whole."""
    columns = width() if (sys.stderr if err else sys.stdout).isatty() else 0
    for line in lines:
        text = line.lstrip()
        indent = " " * (len(line) - len(text))
        folded = wrapped(text, columns, indent, f"{indent}  ") if columns else [line]
        say(*(folded or [""]), err=err)


def dump(data: object) -> None:
    """Print data as JSON, for programs."""
    click.echo(as_json(data))


def width() -> int:
    """Return the columns of the terminal, or those of a page where there is none."""
    return shutil.get_terminal_size((PAGE, 0)).columns


def doubts(judged: Run, columns: int) -> Iterator[str]:
    """Yield what a run's numbers may be trusted for: errors first, a few cases of each code."""
    conclusions = judged.frobench.conclusions
    by_code: dict[str, list[Conclusion]] = {}
    for conclusion in sorted(conclusions, key=lambda each: SEVERITIES.index(each.severity)):
        by_code.setdefault(conclusion.code, []).append(conclusion)
    for code, alike in by_code.items():
        first, often = alike[0], len(alike)
        times = f", {often} times" if often > 1 else ""
        yield ""
        yield from wrapped(f"{first.severity}: {code}{times}. {first.advice}", columns, "", "  ")
        most = often if first.severity == "error" else MOST_CONCLUSIONS
        texts = [_of_case(conclusion) for conclusion in alike[:most]]
        if often > most:
            texts.append(f"and {often - most} more: `frobench show FILE --cases`")
        for text in texts:
            yield from wrapped(text, columns, "  ", "    ")


def _of_case(conclusion: Conclusion) -> str:
    case = f"{short_name(conclusion.case)}: " if conclusion.case else ""
    return f"{case}{conclusion.message}"


def wrapped(text: str, columns: int, first: str = "", rest: str = "") -> list[str]:
    """Break a text into lines, the first of which and the rest begin so."""
    return wrap(
        printable(text),
        max(columns, 20),  # a narrower terminal breaks the lines itself
        initial_indent=first,
        subsequent_indent=rest,
        break_on_hyphens=False,
    )
