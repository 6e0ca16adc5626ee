# SPDX-License-Identifier: MIT
"""What a session writes down of its cases, and what they share."""

from itertools import cycle
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from frobench.suite.journal import DEVICE_LOST, Begun, Measured, Refused, Tried
from frobench.suite.kit.device import Device
from frobench.suite.kit.search_strategy import Shape, Try
from frobench.suite.kit.worker_process import Seat
from frobench.suite.launch import session as resources
from frobench.suite.launch.session import Session
from frobench.suite.machine.cpu_time import Accounts
from frobench.suite.stored.types import Search
from tests.instruments.runs.made_up_records import measured
from tests.instruments.sessions import Sitting, case, item, launch_spec, listening

CASE = "bench_made_up.py::bench_body"
CPU, GPU = Device("cpu"), Device("cuda:0")
SKIPPED = Refused(launch=2, case=CASE, status="skipped", reason="not here")


FAILED = Refused(launch=2, case=CASE, status="failed", reason="it broke")


@pytest.fixture(autouse=True)
def nine_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a case begin after 5 seconds and be over after 14, by the monotonic clock."""
    moments = cycle([5.0, 14.0])
    monkeypatch.setattr("frobench.suite.launch.case.monotonic", lambda: next(moments))


def concluded(session: Session, name: str = CASE, refused: Refused | None = None) -> None:
    """Begin a case, and conclude it with samples, which may not be believed."""
    ended = case(session, name)
    ended.measured, ended.refused = measured(name, launch=2), refused
    ended.conclude()


@pytest.mark.parametrize(("mode", "kept"), [("pilot", Accounts(2.0, 1.0)), ("measure", None)])
def test_a_pilot_alone_keeps_accounts_of_a_case(
    monkeypatch: pytest.MonkeyPatch, mode: str, kept: Accounts | None
) -> None:
    states = iter([Accounts(1.0, 1.0), Accounts(3.0, 2.0)])
    monkeypatch.setattr("frobench.suite.launch.case.accounts", lambda: next(states))
    made, records = listening(launch_spec(mode, launch=2))
    concluded(made)
    begun, record = records
    assert begun == Begun(launch=2, case=CASE, at=5.0)
    assert isinstance(record, Measured)
    assert record.accounts == kept


def test_the_time_of_a_case_holds_no_search_and_what_searches_have_is_left_to_others() -> None:
    made, records = listening(launch_spec("measure", launch=2))
    made.searches.waiting = {CASE, "other"}
    made.searches.took[CASE] = 2.5
    concluded(made)
    assert isinstance(records[-1], Measured)
    assert records[-1].wall_seconds == 6.5
    assert made.searches.waiting == {"other"}


def test_what_a_search_found_is_written_with_the_case() -> None:
    known = Search(shape=[64, 128, 256], shapes=9, seconds=1.0, runner_up=0.9)
    made, records = listening(launch_spec("measure", launch=2))
    made.searches.found[CASE] = known
    concluded(made)
    concluded(made, "other")
    assert [record.search for record in records if isinstance(record, Measured)] == [known, None]


def test_a_refused_case_is_written_alone() -> None:
    made, records = listening(launch_spec("pilot", launch=2))
    concluded(made, refused=replace(SKIPPED))
    assert records[1:] == [SKIPPED]


@pytest.mark.parametrize(("refused", "failed"), [(SKIPPED, False), (FAILED, True), (None, None)])
def test_a_session_recovers_from_cases_without_samples(
    monkeypatch: pytest.MonkeyPatch, refused: Refused | None, *, failed: bool | None
) -> None:
    made, _ = listening(launch_spec("measure", launch=2))
    recovered: list[Any] = []
    monkeypatch.setattr(made, "recover", lambda **how: recovered.append(how))
    concluded(made, refused=refused)
    assert recovered == ([] if failed is None else [{"failed": failed, "lost": ""}])


def test_a_case_that_changed_the_process_ends_a_launch_but_no_session_without_runner() -> None:
    made, records = listening(launch_spec("measure", launch=2))
    made.is_changed = True
    concluded(made)
    made.journal = SimpleNamespace()  # type: ignore[assignment] # there is one
    with pytest.raises(pytest.exit.Exception) as exit_:
        concluded(made)
    assert exit_.value.returncode == DEVICE_LOST
    assert len(records) == 4


@pytest.mark.parametrize(("mode", "known"), [("pilot", True), ("measure", False)])
def test_a_pilot_takes_up_what_an_earlier_process_saw_of_its_own_cases(
    monkeypatch: pytest.MonkeyPatch, mode: str, *, known: bool
) -> None:
    made, _ = listening(launch_spec(mode, launch=2))
    tried = Tried(case=CASE, attempt=Try(Shape(1, 2, 3), 1.0, 2.0))
    foreign = Refused(launch=0, case="other", status="failed", reason="")
    records = [Begun(launch=0, case=CASE, at=1.0), measured(CASE, launch=2), foreign, tried]
    made.journal = records  # type: ignore[assignment] # the records of a journal
    climbed: list[Any] = []
    monkeypatch.setattr(made.explorer, "remember", lambda *seen: climbed.append(seen))
    made.remember([item(CASE)])
    assert [name for (name, _), *_ in climbed] == ["bench_made_up.bench_body"] * known
    assert made.searches.tries == ({CASE: [tried.attempt]} if known else {})


def test_one_device_is_blocked_by_one_blocker_where_samples_are_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(resources, "blocker", lambda device: [device.name])
    shared = Session(launch_spec("measure", "cpu", "cuda:0"))
    first: Any = shared.blocker([GPU])
    assert first == ["cuda:0"]
    assert shared.blocker([GPU]) is first
    assert shared.blocker([CPU, GPU]) is None
    assert shared.blocker([]) is None
    assert Session(launch_spec("alone", "cuda:0")).blocker([GPU]) == first
    assert Session(launch_spec("pilot", "cuda:0")).blocker([GPU]) is None


def test_a_case_that_failed_costs_the_workers_and_one_that_was_left_out_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(resources, "Worker", Sitting)
    shared = Session(launch_spec("measure"))
    seats = [Seat("cpu/0", "cpu", (0,)), Seat("cpu/1", "cpu", (1,))]
    first: Any = shared.workers(seats)
    assert [worker.seat for worker in first] == seats
    shared.recover(failed=False)
    assert [*shared.workers(seats)] == first
    assert not any(worker.is_closed for worker in first)
    shared.recover(failed=True)
    assert all(worker.is_closed for worker in first)
    assert not {*shared.workers(seats)} & {*first}
