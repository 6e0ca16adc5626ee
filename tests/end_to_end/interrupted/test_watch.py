# SPDX-License-Identifier: MIT
"""A run that goes on can be looked at: its page shows what is measured so far."""

from pathlib import Path

import pytest

from frobench.reports.site.build import build
from frobench.suite.journal import Begun, Ended, Journal, Plan, Record
from frobench.suite.run.unfinished import as_files
from frobench.suite.stored import store
from frobench.suite.stored.types import CommitInfo, Exercise, Settings
from tests.instruments.runs import factory_machine
from tests.instruments.runs.made_up_launches import NAMES, identity, measured


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of a run that has planned two cases and measured nothing."""
    settings = Settings(
        profile="quick", longest_sample=0.02, case_seconds=0.1, budget=60.0, devices=["cpu"]
    )
    plan = Plan(
        run="20260101T120000Z-eeeeeee",
        started="2026-01-01T12:00:00+00:00",
        seed=1,
        settings=settings,
        benchmarks="benchmarks",
        commit=CommitInfo(id="e" * 40),
        environment=factory_machine.environment(None, 0),
        exercises={"it": Exercise(question="How fast is it?", explanation="It.")},
        cases=[identity(name) for name in NAMES],
        plan_seconds=5.0,
        launch_seconds=3.0,
    )
    found = tmp_path / "results" / ".runs" / plan.run
    found.mkdir(parents=True)
    plan.write(found)
    return found


def journal(folder: Path, *records: Record) -> None:
    for record in records:
        Journal(folder / "launches.jsonl").write(record)


def test_what_is_measured_so_far_is_a_partial_run(folder: Path) -> None:
    journal(
        folder,
        measured(0, NAMES[0], 0.25),
        measured(0, NAMES[1], 0.5),
        Ended(launch=0, started="2026-01-01T12:00:05+00:00", seconds=4.0, begun=1.0),
        measured(1, NAMES[1], 0.5),
        Begun(launch=1, case=identity(NAMES[0]).fullname, at=1.0),
    )
    with (folder / "launches.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"type": "measu')  # it writes just now
    with as_files([folder]) as (path,):
        run = store.read(path)
    assert not run.frobench.complete
    assert [case.extra_info.launches for case in run.benchmarks] == [[3, 0], [3, 3]]
    assert run.frobench.seconds == 5.0 + 4.0 + 1.5
    assert [launch.seconds for launch in run.frobench.launches] == [4.0, 1.5]
    assert not path.exists()


@pytest.mark.usefixtures("unjudged")
def test_its_page_says_how_far_it_is(folder: Path, tmp_path: Path) -> None:
    ended = Ended(launch=0, started="2026-01-01T12:00:05+00:00", seconds=1.5, begun=5.0)
    journal(folder, measured(0, NAMES[0], 0.25), ended)  # and the next has not begun
    with as_files([folder]) as files:
        page = build(files, tmp_path / "site")[1]
    text = page.read_text(encoding="utf-8")
    assert "This run is partial." in text
    assert "begun 1 launch of 1 case, and measured 1 of 1 times" in text
    assert "taken 6.5 s of its budget of 60 s" in text
    assert "the run ended before it" in text


def test_nothing_is_shown_before_the_first_sample(folder: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nothing is measured yet"), as_files([folder]):
        pass


def test_what_is_no_run_that_goes_on_stays_as_it_is(tmp_path: Path) -> None:
    paths = [tmp_path, tmp_path / "a.json"]
    with as_files(paths) as found:
        assert found == paths
