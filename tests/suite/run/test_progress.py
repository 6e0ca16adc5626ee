# SPDX-License-Identifier: MIT
"""What a run shows while it measures fits the terminal, and has no styles where none are wanted."""

import io
import re
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace

from frobench.suite.journal import Refused
from frobench.suite.run.progress import Reporter, in_brief, reasons, say_refusal
from frobench.suite.stored.types import Outcome
from tests.instruments.runs.made_up_launches import LAUNCHES, NAMES, Quiet, made_up, run

CONTROL = re.compile(r"\x1b\[[?0-9;]*[A-Za-z]|\r")
STYLE = re.compile(r"\x1b\[[0-9;]*m")


class Terminal(io.StringIO):
    """What looks like a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return Terminal()


def show(terminal: Terminal) -> list[str]:
    """Show a run on a terminal; return the lines, without what moves the cursor."""
    with Reporter(terminal) as progress:
        progress.say("launch 1 of about 8 done, and " + "more of it " * 10 + "x" * 100)
        progress.at(0.37 / 0.63 * 3599, 3599, "bench_something[cpu-1000000000-float32]")
        progress.say("bench_it[cpu-8] in 9 launches")
    return CONTROL.sub("", re.sub(r"\r", "\n", terminal.getvalue())).splitlines()


@pytest.mark.parametrize("columns", [30, 40, 60, 80, 200])
def test_every_line_fits(terminal: Terminal, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = show(terminal)
    assert max(map(len, lines)) <= columns
    assert any("37%" in line and "59:59 left" in line for line in lines)
    assert "bench_it[cpu-8] in 9 launches" in terminal.getvalue()  # without styles


def test_there_are_styles_if_wanted(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    show(terminal)
    assert STYLE.search(terminal.getvalue())
    monkeypatch.setenv("NO_COLOR", "1")
    plain = Terminal()
    show(plain)
    assert not STYLE.search(plain.getvalue())


def test_the_bar_fills_and_only_grows(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frobench.suite.run.progress.REDRAW_SECONDS", 0.0)
    with Reporter(terminal) as progress:
        for spent, left in ((1, 3), (1, 9), (3, 2), (9, 0)):
            progress.at(spent, left, "something")
    shown = dict.fromkeys(re.findall(r"\d+%", terminal.getvalue()))
    assert [*shown] == ["0%", "25%", "60%", "100%"]


def test_a_log_gets_whole_lines() -> None:
    log = io.StringIO()
    with Reporter(log) as progress:
        progress.say("x" * 300)
        progress.at(1, 1, "something")
    assert log.getvalue() == "x" * 300 + "\n"


def test_what_skipped_cases_say_alike_is_shown_once_and_what_failed_ones_say_each_time() -> None:
    out = io.StringIO()
    with Reporter(out) as progress:
        for status in ("skipped", "failed"):
            for case in ("first", "second"):
                details = f"no {status} here"
                refused = Refused(launch=0, case=case, status=status, reason="why", details=details)
                say_refusal(refused, progress)
        say_refusal(replace(refused, status="skipped", details=""), progress)  # --verbose names it
    assert out.getvalue().splitlines() == [
        "skipped: first: why",
        "  no skipped here",
        *("failed: first: why", "  no failed here"),
        *("failed: second: why", "  no failed here"),
    ]


def left_out(*reasons: str | None) -> list[Outcome]:
    """Return outcomes with these reasons; the last case failed, the others were skipped."""
    found = [
        Outcome(fullname=f"b.py::bench_{n}", group="", params={}, status="skipped", reason=reason)
        for n, reason in enumerate(reasons)
    ]
    found[-1].status = "failed"
    return found


def test_why_cases_are_left_out_is_said_in_one_line_or_in_a_few() -> None:
    slow = "takes 1 s a call, over this profile's 20 ms"
    told = left_out("no card; none", slow, "no card (here)", slow, slow, None, "a: b", "c", "d")
    assert in_brief(told) == (
        "9 cases left out: too slow for this profile, no card, no reason given, a, 2 more reasons"
    )
    assert in_brief(told[5:8]) == "3 cases left out: no reason given, a, c"
    many = left_out("0", "0", "0", *map(str, range(1, 12)))
    lines = [f"  skipped: bench_{n + 2}: {n}" for n in range(1, 9)]
    failed, skipped = "  failed: bench_13: 11", "  skipped: bench_0 and 2 more: 0"
    assert reasons(many) == [failed, skipped, *lines, "  and 2 more reasons"]
    assert reasons(many[4:]) == [failed, *lines[1:], *reasons(many[11:13])]


def test_a_run_is_done_case_by_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[float, float, str]] = []
    monkeypatch.setattr(Quiet, "at", lambda _, *said: seen.append(said))
    with made_up():
        run(tmp_path)
    lefts = [left for _, left, what in seen if what in NAMES]
    assert [lefts[1] / lefts[0], lefts[3] / lefts[2]] == pytest.approx([3 / 4, 1 / 2])
    done = [part for part, _, _ in seen]
    assert done == sorted(done)
    assert 0 <= done[0] < done[-1] <= 1
    assert max(round(later - one, 6) for one, later in pairwise(done)) <= 1 / LAUNCHES
