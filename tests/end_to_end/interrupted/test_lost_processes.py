# SPDX-License-Identifier: MIT
"""A process that is lost costs a run at most the case in flight, and what happened is named."""

import signal
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from msgspec.structs import replace

from frobench.suite.errors import CannotRunError, CutShortError, Interrupted, NothingSelectedError
from frobench.suite.journal import Begun, Imported, Journal, Record, Refused, Stopped, Tried
from frobench.suite.kit.search_strategy import Shape, Try
from frobench.suite.plan import LaunchSpec
from frobench.suite.profiles import settings_for
from frobench.suite.run import launches, unfinished
from frobench.suite.run.launches import MISUSED, LaunchProcess
from frobench.suite.stored.machine_identity import short_name
from frobench.suite.stored.types import Run
from tests.instruments.processes.command import TRICKY
from tests.instruments.runs import made_up_launches, made_up_records
from tests.instruments.runs.made_up_launches import LAUNCHES, Launch, Quiet, identity, made_up, run

pytestmark = pytest.mark.usefixtures("unjudged")


class Lost(Launch):
    """A launch whose first processes of a mode end early.

    mode : of the processes that end early
    records_before : the records that they write
    code : with which they end
    times : how many do
    """

    mode = "measure"
    records_before = 0
    code = -signal.SIGKILL
    times = 1

    def run(self) -> int:
        """Write all records or the first few only, and return the exit code."""
        if self.spec.mode != self.mode or self.modes.count(self.mode) > self.times:
            return super().run()
        journal = Journal(Path(self.spec.journal))
        for record in islice(self.records(), self.records_before):
            journal.write(record)
        self._log.write(b"".join(b"%d\n" % line for line in range(16)))
        return self.code


def lost(**attributes: object) -> type[Launch]:
    return type("Lost", (Lost,), attributes)


def launches_of(stored: Run) -> dict[str, list[int]]:
    return {case.name: case.extra_info.launches for case in stored.benchmarks}


@pytest.mark.parametrize("records_before", [0, 2])
def test_a_launch_killed_between_two_cases_goes_on(tmp_path: Path, records_before: int) -> None:
    reporter = Quiet()
    with made_up(lost(records_before=records_before)):
        _, stored = run(tmp_path, reporter=reporter)
    assert launches_of(stored) == dict.fromkeys(made_up_launches.NAMES, [3] * LAUNCHES)
    assert reporter.lines[2:] == [
        "launch 1: its process was ended by SIGKILL between two cases",
        *(f"launch {number} of about 2 done" for number in (1, 2)),
    ]


def test_an_expression_that_pytest_collects_but_cannot_read_is_misused(tmp_path: Path) -> None:
    misused = lost(mode="pilot", code=MISUSED, records_before=2)
    with made_up(misused), pytest.raises(NothingSelectedError):
        run(tmp_path)


def test_a_launch_that_is_killed_again_ends_the_run_which_can_be_resumed(tmp_path: Path) -> None:
    with made_up(lost(times=2)):
        with pytest.raises(CutShortError, match="launch 1 lost 2 processes in a row") as ended:
            run(tmp_path)
        assert str(ended.value).split("\n")[1:] == [*map(str, range(1, 16))]
        assert run(tmp_path, resume="last")[1].frobench.complete


def test_a_launch_may_lose_few_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launches, "TRIES", 1)
    with made_up(lost(records_before=2)), pytest.raises(CutShortError, match=r"^launch 1 lost 1 "):
        run(tmp_path)


@pytest.mark.parametrize(
    ("records_before", "message"),
    [(0, "collected .its process was ended by SIGKILL."), (2, "the pilot lost 2 processes to")],
)
def test_a_pilot_killed_twice_ends_a_run(tmp_path: Path, records_before: int, message: str) -> None:
    twice = lost(mode="pilot", records_before=records_before, times=2)
    with made_up(twice), pytest.raises(CannotRunError, match=message):
        run(tmp_path)


@pytest.mark.parametrize("code", [0, 1, 2, 4, 5, 70, 71])
@pytest.mark.parametrize(("mode", "before"), [("pilot", 3), ("measure", 1)])
def test_a_body_that_exits_fails_alone(tmp_path: Path, code: int, mode: str, before: int) -> None:
    reporter = Quiet()
    with made_up(lost(mode=mode, code=code, records_before=before)):
        _, stored = run(tmp_path, reporter=reporter)
    (failed,) = (one for one in stored.frobench.outcomes if one.status == "failed")
    (passed,) = (one for one in stored.frobench.outcomes if one.status == "passed")
    assert failed.reason == f"its process ended with exit code {code}"
    assert [line for line in reporter.lines if "about 0:" not in line] == [
        "2 cases to try first, which shows how long each of them takes",
        f"failed: bench_one[cpu]: {failed.reason}",
        *(f"launch {number} of about 2 done" for number in (1, 2)),
    ]
    assert launches_of(stored) == {short_name(passed.fullname): [3] * LAUNCHES}
    assert stored.frobench.complete


class InterruptedInTheSecond(Launch):
    """A launch that is interrupted after its first case."""

    def records(self) -> Iterator[Record]:
        """Yield what it writes."""
        for number, record in enumerate(super().records()):
            yield record
            if self.spec.launch == 1 and number == 1 and self.modes.count("measure") == 2:
                signal.raise_signal(signal.SIGINT)


@pytest.fixture
def interrupted(tmp_path: Path) -> Iterator[Path]:
    """Return the folder of a run that is interrupted in its second launch, where it can go on."""
    with made_up(InterruptedInTheSecond):
        with pytest.raises(Interrupted):
            run(tmp_path)
        (folder,) = (tmp_path / unfinished.RUNS).iterdir()
        yield folder


@pytest.mark.parametrize("line", range(7))
def test_a_damaged_line_of_the_journal_costs_what_it_said(interrupted: Path, line: int) -> None:
    path, reporter = interrupted / "launches.jsonl", Quiet()
    lines = path.read_bytes().splitlines(keepends=True)
    lines[line] = b"\xff" + lines[line][5:]
    path.write_bytes(b"".join(lines))
    _, stored = run(interrupted.parents[1], resume="last", reporter=reporter)
    assert len(lines) == 7
    assert f"{path} has 1 damaged line, the first is line {line + 1}" in reporter.lines[0]
    lost = [count for counts in launches_of(stored).values() for count in counts if count != 3]
    assert lost in ([], [0])
    assert stored.frobench.complete
    assert made_up_launches.follow_each_other(stored)


def test_a_run_is_resumed_by_one_process_at_a_time(tmp_path: Path, interrupted: Path) -> None:
    with unfinished.locked(interrupted), pytest.raises(CannotRunError, match="in another process"):
        run(tmp_path, resume="last")
    assert run(tmp_path, resume="last")[1].frobench.complete


def test_a_run_of_an_older_version_is_not_resumed_and_it_is_said_what_to_do(tmp_path: Path) -> None:
    folder = tmp_path / unfinished.RUNS / "20260101T000000Z-0a1b2c3"
    folder.mkdir(parents=True)
    text = '{"draft": {"run": "20260101T000000Z-0a1b2c3"}, "cases": []}'
    (folder / "plan.json").write_text(text)
    with made_up(), pytest.raises(CannotRunError) as refused:
        run(tmp_path, resume="last")
    assert f"remove {folder}, and measure anew" in str(refused.value)
    assert "version of Frobench" in str(refused.value)
    assert (folder / "plan.json").read_text() == text


QUICK = settings_for("quick", ["cpu"], budget=1)
BEGUN = Begun(launch=0, case="a", at=100.0, settled=0.0)
TRIED = Tried(case="a", attempt=Try(Shape(1, 2, 3), 1.0, 1.0))
HUNG = "did not end within its deadline of 5 s"
FAILED = Refused(launch=0, case="a", status="failed", reason=HUNG, fatal=True)


@pytest.mark.parametrize(
    ("said", "ends", "last"),
    [
        ({}, 180.5, []),
        ({100: Imported(launch=0, inside=1)}, 280.5, []),
        ({100: BEGUN}, 105.5, [FAILED]),
        ({100: BEGUN, 104: TRIED, 108: TRIED}, 113.5, [FAILED]),
        ({100: BEGUN, 104: made_up_records.measured("a")}, 284.5, []),
    ],
)
def test_a_case_has_its_deadline_and_a_launch_three_minutes_between_two(
    said: dict[int, Record], ends: float, last: list[Record], tmp_path: Path
) -> None:
    now, journal, heard = [0.0], Journal(tmp_path / "launches.jsonl"), list[Record]()

    def sleep(_: float) -> None:
        now[0] += 0.5
        if now[0] in said:
            journal.write(said[int(now[0])])

    spec = replace(made_up_records.spec("measure", QUICK), journal=str(journal.path))
    with made_up(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(launches, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=sleep))
        process = Mock(pid=made_up_launches.PID, poll=lambda: None)
        patch.setattr("subprocess.Popen", lambda *_, **__: process)
        launch = LaunchProcess(spec, deadline=lambda _: 5.0)
        assert launch.watch(Journal(journal.path), heard.append) == (0 if last else None)
    assert (now, heard) == ([ends], [*said.values(), *last])


@pytest.mark.long
def test_a_launch_ends_before_it_measures_another_version_of_a_benchmark(tmp_path: Path) -> None:
    fine = "tricky/bench_tricky.py::bench_fine[cpu-8]"
    planned = replace(identity("bench_fine[cpu-8]"), fullname=fine, version="another")
    spec = LaunchSpec(
        plan=made_up_records.plan(QUICK, benchmarks=str(TRICKY), cases=[planned]),
        mode="measure",
        journal=str(tmp_path / "launches.jsonl"),
        order=[fine, f"{fine.partition('::')[0]}::bench_gone[cpu]"],
    )
    records: list[Record] = []
    LaunchProcess(spec).watch(Journal(Path(spec.journal)), records.append)
    (stopped,) = records
    assert isinstance(stopped, Stopped)
    assert stopped.message.startswith("bench_fine, bench_gone: changed, or not found any more")
