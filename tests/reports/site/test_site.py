# SPDX-License-Identifier: MIT
"""A site that is built anew: the same bytes, no more work than needed, nothing left or lost."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from frobench.reports.making import workers
from frobench.reports.making.workers import Workers
from frobench.reports.site import build
from frobench.suite.stored import store
from frobench.suite.stored.types import Conclusion, Run
from tests.instruments.faults.judging import keep, made, rename


def small(number: int, machine: str = "") -> Run:
    """Return a run of two cases, on a machine of its own unless one is named."""
    run = made(launches=6, started=datetime(2026, 2, 1, tzinfo=UTC) + timedelta(days=number))
    kept = {case.fullname for case in run.benchmarks[:2]}
    keep(run, lambda case: case.fullname in kept)
    run.frobench.exercises = {"matmul": run.frobench.exercises["matmul"]}
    run.frobench.conclusions = []
    rename(run, machine or f"machine-{number}")
    return run


def stored(folder: Path, *runs: Run) -> list[Path]:
    return [store.write(run, folder) for run in runs]


def files(out: Path) -> dict[str, bytes]:
    """Return everything that is published, by its path."""
    found = (path for path in out.rglob("*") if path.is_file())
    every = {path.relative_to(out).as_posix(): path.read_bytes() for path in found}
    return {name: content for name, content in every.items() if not name.startswith(".cache/")}


def when_written(out: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in out.rglob("*") if path.is_file()}


def test_neither_order_nor_processes_nor_what_is_kept_change_a_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "FEW", 2)
    paths = stored(tmp_path / "results", small(1), small(2, "machine-1"))
    one, two = tmp_path / "one", tmp_path / "two"
    build.build(paths, one, workers=Workers(1))
    build.build(paths[::-1], two, workers=Workers(2))
    assert files(one) == files(two)
    assert len([name for name in files(one) if name.endswith(".html")]) == 3
    for entry in (two / ".cache").iterdir():
        entry.write_bytes(b'{"key": "of something else", "value": 1}')
    (one / ".cache" / "site").write_bytes(b"\xff")
    for out in (one, two):
        build.build(paths, out, workers=Workers(1))
    assert files(one) == files(two)


def test_one_more_result_changes_its_own_page_and_what_concerns_all(tmp_path: Path) -> None:
    results, out = tmp_path / "results", tmp_path / "site"
    stored(results, small(1), small(2), small(3, "machine-1"))
    build.build([results], out)
    before, written = files(out), when_written(out)
    build.build([results], out)
    again = when_written(out)
    assert {name for name in again if again[name] != written.get(name)} <= {"site"}
    stored(results, small(4), small(5, "machine-1"))
    index, *pages = build.build([results], out)
    after = files(out)
    changed = {name for name in before if after[name] != before[name]}
    assert not {name for name in changed if name.startswith("machine-")}
    assert changed >= {index.name, "runs.csv", "runs.parquet", "estimates.csv", "estimates.parquet"}
    assert {one.relative_to(out).as_posix() for one in pages[:2]} <= after.keys() - before.keys()
    names = {name.rpartition("/")[2] for name in before.keys() - changed}
    assert {name: when_written(out)[name] for name in names} == {n: written[n] for n in names}


def test_what_belongs_to_a_run_that_is_gone_is_removed_and_nothing_else(tmp_path: Path) -> None:
    results, out = tmp_path / "results", tmp_path / "site"
    gone, edited, _ = stored(results, small(1), small(2), small(3))
    build.build([results], out)
    whole = files(out)
    own = out / "machine-1-2-cores" / "notes.txt"
    own.write_text("mine", encoding="utf-8")
    page = next((out / "machine-2-2-cores").glob("*.html"))
    page.write_text("mine too", encoding="utf-8")
    for path in (gone, edited):
        path.unlink()
    build.build([results], out)
    foreign = {own.relative_to(out).as_posix(), page.relative_to(out).as_posix()}
    now = files(out).keys()
    assert now - whole.keys() == foreign - whole.keys()
    assert {name for name in now if name.startswith(("machine-1", "machine-2"))} == foreign
    assert any(name.startswith("machine-3") for name in now)
    kept = {one.stem for one in (out / ".cache").iterdir()} - {"site"}
    assert len(kept) == 1


def test_a_file_that_is_not_whole_is_told_each_time_and_gets_no_page(tmp_path: Path) -> None:
    good, bad = stored(tmp_path / "results", small(1), small(2))
    bad.write_bytes(bad.read_bytes().replace(b'"complete": true', b'"complete": false'))
    for _ in range(2):
        told: dict[Path, list[Conclusion]] = {}
        written = build.build([good, bad], tmp_path / "site", tell=told.__setitem__)
        assert [one.code for one in told[bad]] == ["digest-differs"]
        assert [*told] == [bad]
        assert len(written) == 2
