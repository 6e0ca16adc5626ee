# SPDX-License-Identifier: MIT
"""What a person sees while a run measures: a bar on a terminal, plain lines elsewhere.

The bar is redrawn when a case begins and not by a timer: a redraw in a sample would be measured.
"""

import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Self, TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
from rich.table import Column

from frobench.suite.errors import NothingMeasuredError
from frobench.suite.journal import Record, Refused
from frobench.suite.printable import plain_stream, printable
from frobench.suite.profiles import OVER
from frobench.suite.stored.machine_identity import short_name
from frobench.suite.stored.types import Outcome
from frobench.suite.units import counted

REDRAW_SECONDS = 0.5
LONGEST_NAME, FIGURES = 28, 20
"""Columns of a name, and those of the shortest bar, the percentage and the time left of a run of
less than 17 hours, with the gaps."""
MOST_REASONS, MOST_NAMED = 10, 4
"""Reasons that are printed, those of failed cases first; and those that one line names."""


class Reporter:
    """Shows how far a run is: with a bar on a terminal, else by lines.

    out : by default the stream of messages, which is none if it was closed before the start
    verbose : whether to name every case that is left out
    texts : of skipped cases that were shown
    """

    texts: frozenset[str] = frozenset()

    def __init__(self, out: TextIO | None = None, *, verbose: bool = False) -> None:
        self.verbose = verbose
        self._out = out = out or sys.stderr
        self._part = 0.0
        self._bar: Progress | None = None
        if out is None or not out.isatty():
            return
        console = Console(file=plain_stream(out))
        width = min(LONGEST_NAME, max(0, console.width - FIGURES))
        name = Column(width=width, no_wrap=True, overflow="crop")
        self._bar = Progress(
            TextColumn("{task.description}", markup=False, table_column=name),  # it has brackets
            BarColumn(bar_width=30),
            TaskProgressColumn(),
            TextColumn("{task.fields[left]}"),
            console=console,
            auto_refresh=False,
            transient=True,
        )
        self._task = self._bar.add_task("", total=1.0, left="")
        self._drawn = 0.0

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            with suppress(OSError):
                self._bar.stop()

    def say(self, line: str) -> None:
        """Show a line that stays."""
        with suppress(OSError):  # the reader may have closed the stream; the run goes on
            if self._bar is not None:
                self._bar.console.print(printable(line), markup=False, highlight=False)
            elif self._out is not None:
                print(line, file=self._out, flush=True)

    def at(self, spent: float, left: float, what: str) -> None:
        """Show the seconds spent and left, and what is being done; the bar never moves back."""
        self._part = max(self._part, spent / (spent + left) if left > 0 else 1.0)
        now = time.monotonic()
        if self._bar is not None and now - self._drawn >= REDRAW_SECONDS:
            self._drawn = now
            with suppress(OSError):
                self._bar.update(
                    self._task,
                    completed=self._part,
                    description=printable(what),
                    left=f"{remaining(left)} left",
                    refresh=True,
                )


def remaining(seconds: float) -> str:
    """Return a time as minutes and seconds, such as `3:05`."""
    whole = max(0, round(seconds))
    return f"{whole // 60}:{whole % 60:02}"


def say_refusal(record: Record, reporter: Reporter) -> None:
    """Show immediately what a failed case raised, and once each text with which cases are skipped.

    Texts of others are stored nowhere else.
    """
    if not isinstance(record, Refused):
        return
    if record.status == "skipped" and record.details in reporter.texts | {""}:
        return
    reporter.texts |= {record.details}
    reporter.say(printable(f"{record.status}: {short_name(record.case)}: {record.reason}"))
    for line in record.details.splitlines():
        reporter.say(printable(f"  {line}"))


def reasons(outcomes: Iterable[Outcome]) -> list[str]:
    """Return a line for each reason why cases were not measured, with the name of the first."""
    alike: dict[tuple[str, str], list[str]] = {}
    for outcome in sorted(outcomes, key=lambda outcome: outcome.status):
        reason = outcome.reason or "no reason given"
        alike.setdefault((outcome.status, reason), []).append(short_name(outcome.fullname))
    lines = [
        f"  {status}: {names[0]}{f' and {len(names) - 1} more' if names[1:] else ''}: {reason}"
        for (status, reason), names in alike.items()
    ]
    if len(lines) > MOST_REASONS:
        lines[MOST_REASONS:] = [f"  and {counted(len(lines) - MOST_REASONS, 'more reason')}"]
    return lines


def in_brief(outcomes: Sequence[Outcome]) -> str:
    """Say in one line how many cases are left out, and why, the commonest reason first."""
    counts = Counter(
        "too slow for this profile"
        if OVER in (reason := outcome.reason or "no reason given")
        else re.split(r"[;:,(]", reason)[0].strip()
        for outcome in outcomes
    )
    causes = [cause for cause, _ in counts.most_common(MOST_NAMED)]
    more = [counted(len(counts) - MOST_NAMED, "more reason")] * (len(counts) > MOST_NAMED)
    return f"{counted(len(outcomes), 'case')} left out: {', '.join([*causes, *more])}"


def require_any(outcomes: Sequence[Outcome]) -> None:
    """Raise `NothingMeasuredError` with the reasons if no case passed."""
    if any(outcome.status == "passed" for outcome in outcomes):
        return
    failed = sum(outcome.status == "failed" for outcome in outcomes)
    message = (
        f"nothing was measured, so nothing is stored: {counted(failed, 'case')} failed, "
        f"{len(outcomes) - failed} skipped"
    )
    raise NothingMeasuredError("\n".join([message, *reasons(outcomes)]), failed=failed > 0)
