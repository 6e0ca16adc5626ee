# SPDX-License-Identifier: MIT
"""A run that something goes wrong with costs its own page: every other one is as without it."""

import gc
import os
import pkgutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from click.testing import CliRunner

from frobench.command import main
from frobench.reports.making import broken, workers
from frobench.reports.making.cache import Cache, Source
from frobench.reports.making.workers import Workers
from frobench.reports.purchase import purchase
from frobench.reports.site import build
from frobench.suite.stored.types import Conclusion
from tests.reports.site.test_site import files, small, stored

HOSTILE = "Ouch\x1b]0;x\x07 <b>"
INDEX = "index.html"
COMMIT = "0a1b2c3" + "d" * 33
"""Of the run that something goes wrong with."""


def fails_for(commit: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that fails where a run of this commit is among what it is given."""

    def failing(*given: Any, **named: Any) -> Any:  # noqa: ANN401 - what the function takes
        if commit in repr([getattr(one, "run", one) for one in given]):  # of contents their run
            raise ZeroDivisionError(HOSTILE)
        return function(*given, **named)

    return failing


def built(paths: list[Path], out: Path, *beside: purchase.Maker) -> dict[Path, list[Conclusion]]:
    """Build a site, and return what is said of the files that are left out."""
    why: dict[Path, list[Conclusion]] = {}
    build.build(paths, out, tell=why.__setitem__, workers=Workers(1), beside=[*beside])
    return why


@pytest.mark.parametrize(
    "name",
    [
        *("suite.checks.conclude", "reports.index.index._rows", "reports.files.downloads.runs"),
        *(f"reports.site.build.{name}" for name in ("estimates", "sections", "run_page")),
    ],
)
def test_whatever_goes_wrong_with_a_run_costs_its_page_alone(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [small(1), small(2, "machine-1"), small(3, "machine-1"), small(4)]
    runs[1].commit_info.id = COMMIT
    bad = runs[1].frobench.run
    paths = stored(tmp_path / "results", *runs)
    assert built([paths[0], *paths[2:]], tmp_path / "without") == {}
    whole = pkgutil.resolve_name(f"frobench.{name}")
    monkeypatch.setattr(f"frobench.{name}", fails_for(COMMIT, whole))
    ((path, (told,)),) = built(paths, tmp_path / "with").items()
    assert (path, told.code) == (paths[1], "broken")
    left, without = files(tmp_path / "with"), files(tmp_path / "without")
    assert left.keys() == without.keys()
    assert {path for path in left if left[path] != without[path]} == {INDEX}
    page = left[INDEX].decode()
    assert "1 file without a page" in page
    assert f"<strong>{bad}.json</strong>: broken: ZeroDivisionError in test_broken.py" in page
    assert ("<b>" in page, "\x1b" in page) == (False, False)


def test_other_processes_tell_failures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(99), raising=False)
    assert Workers().processes == workers.MOST
    monkeypatch.setattr(workers, "FEW", 4)
    handler = signal.getsignal(signal.SIGINT)
    kept = Cache(tmp_path, "")
    jobs = [Source(tmp_path, digit, kept) for digit in "1234"]
    stage = broken.Stage("odd", int, odd_only)
    with workers.Workers(2) as two, pytest.raises(broken.BrokenRunsError) as found:
        broken.each(two, stage, jobs)
    assert [*found.value.blame] == ["2", "4"]
    assert "ZeroDivisionError" in found.value.blame["2"][0].message
    assert signal.getsignal(signal.SIGINT) is handler
    assert [stage.known(job) for job in jobs] == [1, None, 3, None]


def odd_only(source: Source) -> int:
    """Work where Ctrl+C is left to the first process, and seldom looks for cycles of objects."""
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    assert (ignored, sys.flags.safe_path, gc.get_threshold()[0]) == (True, True, workers.SELDOM)
    if int(source.sha256) % 2 == 0:
        raise ZeroDivisionError
    return int(source.sha256)


def test_a_full_disk_is_no_fault_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = OSError(28, "No space left on device")
    monkeypatch.setattr(build, "write", Mock(side_effect=full))
    with pytest.raises(OSError, match="No space"):
        built(stored(tmp_path / "results", small(1)), tmp_path / "site")


def test_a_page_leaves_out_what_breaks_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [small(number) for number in (1, 2, 3)]
    for run in runs:
        run.frobench.environment.cpu.model = f"Processor {run.frobench.run}"
    paths = stored(tmp_path / "results", *runs)
    failing = fails_for(runs[0].frobench.run, purchase.show)
    monkeypatch.setattr(purchase, "show", failing)
    beside = purchase.Maker(paths, None, [])
    assert [*built(paths, tmp_path / "site", beside)] == [paths[0]]
    assert beside.made
    page = (tmp_path / "site" / purchase.PAGE).read_text(encoding="utf-8")
    assert all(one.frobench.run in page for one in runs[1:])
    left_out = f'Not compared: {paths[0].name}. <a href="index.html#broken">'
    assert left_out in page
    assert runs[0].frobench.run not in page.replace(left_out, "")


def test_a_file_with_several_faults_is_named_by_the_first_and_how_many_more_there_are() -> None:
    odd = Conclusion(code="odd", severity="error", message="see /home/me/x or \x1b", advice="")
    told = "a\ufffd", "odd: see \u2026 or \ufffd", ", and 2 more"
    assert (broken.named("a\x1b", [odd] * 3), broken.named("a", [odd]).more) == (told, "")


def test_a_site_of_broken_runs_alone_names_them(tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text("{}")
    result = CliRunner().invoke(main, ["report", str(path), "-o", str(tmp_path / "site")])
    assert result.exit_code == 1
    assert "bad.json: unreadable: not a run of Frobench: " in result.output
    page = (tmp_path / "site" / INDEX).read_text(encoding="utf-8")
    assert "<strong>bad.json</strong>: unreadable: not a run of Frobench: " in page
