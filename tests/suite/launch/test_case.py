# SPDX-License-Identifier: MIT
"""What is written down of a case that was timed, refused or lost, and what a session shares."""

import sys
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import torch
from msgspec.structs import replace

from frobench.suite.errors import LostRankError, WrongResultError
from frobench.suite.journal import Begun, Gauged, Harness, Measured, NodesSeen, Refused, Tried
from frobench.suite.kit.abilities import needed
from frobench.suite.kit.check_result import is_brief
from frobench.suite.kit.device import Device
from frobench.suite.kit.search_strategy import Shape, Try
from frobench.suite.kit.workers import WorkerError
from frobench.suite.launch import case as timed
from frobench.suite.launch import session as resources
from frobench.suite.launch.case import Measure, refusal
from frobench.suite.launch.session import Session
from frobench.suite.machine.cpu_time import Accounts
from frobench.suite.measure.timed_loop import Sampler
from frobench.suite.measure.too_slow import Explorer
from frobench.suite.profiles import settings_for
from frobench.suite.stored.types import Check, Launch, NodeFacts, Search
from tests.instruments.devices.virtual import VirtualClock, VirtualDevice, taking
from tests.instruments.faults.secrets import PLACED, RAISED
from tests.instruments.runs.factory_machine import environment
from tests.instruments.runs.made_up_launches import identity
from tests.instruments.runs.made_up_records import measured
from tests.instruments.sessions import case, item, launch_spec, listening

SETTINGS = replace(settings_for("quick", ["cpu"]), case_seconds=0.1)
CASE = identity("bench_body[cpu]")
PASSED = Check("made up", 0.0, 1.0)
ENVIRONMENT = environment(None, 1)


def timed_case(
    *devices: VirtualDevice,
    session: Session | None = None,
    check: Callable[[Any], Check | bool] = lambda _: PASSED,
    seconds: float = 0.02,
    **more: Any,  # noqa: ANN401 - as `measure` takes it
) -> Measured:
    """Measure a body that takes so many seconds a call."""
    clock = VirtualClock(cost=1e-9)
    measure = Measure(session or made(), item(), 0.0)
    measure.involve(*devices)  # type: ignore[arg-type] # stand-ins
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timed, "Sampler", partial(Sampler, clock=clock))
        measure(taking(clock, seconds), check=check, apart={"compile": 3.0}, **more)
    assert measure.measured is not None
    return measure.measured


def made(mode: Any = "measure", launch: int = 0, done: int = 0) -> Session:  # noqa: ANN401 - as a specification has it
    spec = launch_spec(mode, launch=launch, settings=SETTINGS)
    spec.plan.cases = [CASE] * (done + 1)
    spec.order = [CASE.fullname]
    session = Session(spec)
    session.blocker = lambda _: None  # type: ignore[assignment,method-assign]
    session.explorer = Explorer(SETTINGS, lambda: None)  # other programs wait meanwhile
    return session


def test_memory_is_that_of_all_devices_and_those_that_held_none_are_named() -> None:
    def device(name: str, peak: int | None) -> Any:  # noqa: ANN401 - stands in for a device
        made = VirtualDevice(VirtualClock())
        reset = lambda: vars(made).update(peak_bytes=lambda: peak)  # noqa: E731 - short
        vars(made).update(name=name, peak_bytes=lambda: 10**9, reset_peak_bytes=reset)
        return made

    peaks = {"a": 100, "b": 0, "c": None, "d": 7}
    record = timed_case(*(device(name, peak) for name, peak in peaks.items()))
    assert (record.peak_bytes, record.idle_devices) == (107, ["b"])
    assert timed_case(device("c", None)).peak_bytes is None


def test_a_case_that_is_measured_has_its_place_in_the_launch_and_a_wrong_one_has_none() -> None:
    session = made(done=3)
    assert timed_case(session=session).order == 4
    with pytest.raises(WrongResultError):
        timed_case(session=session, check=lambda _: Check("made up", 2.0, 1.0))
    with pytest.raises(WrongResultError, match="right or wrong"):
        timed_case(session=session, check=lambda _: False)
    session.spec.plan.brief = [item().nodeid]
    right = timed_case(session=session, check=lambda _: True)
    assert (right.order, right.check) == (5, Check("right or wrong", 0.0, 0.0))
    assert len(right.samples) == 2  # it is brief


def test_parts_hold_what_was_spent_apart_and_samples_of_the_other_version_stand_beside() -> None:
    session, blocked = made(), list[object]()
    session.blocker = blocked.append  # type: ignore[assignment,method-assign]
    record = timed_case(session=session)
    assert record.parts == {"compile": 3.0}
    assert record.against is None
    assert record.samples == pytest.approx([0.02] * len(record.samples))
    beside = timed_case(session=session, against=lambda: None)
    assert beside.against == pytest.approx([0.0] * len(beside.samples), abs=1e-6)
    apart = timed_case(session=session, before=lambda: None, control=True)
    told = [(one.in_a_row, one.control) for one in (record, beside, apart)]
    assert told == [(True, False), (True, False), (False, True)]
    assert blocked.count([]) == 1  # for the one body that nothing stands beside


def test_a_benchmark_measures_once_and_empties_no_cache_of_a_worker() -> None:
    measure = Measure(made(), item(), 0.0)
    for match in ("^cold=True is for devices of this process", "^a benchmark measures once"):
        with pytest.raises(pytest.fail.Exception, match=match):
            measure(lambda: None, cold=True)
        measure.measured = measured(CASE.fullname)


@pytest.mark.parametrize(
    ("mode", "launch", "brief"),
    [("pilot", 0, True), ("measure", 0, False), ("measure", 1, True), ("alone", 1, False)],
)
def test_the_first_launch_checks_results_whole(mode: str, launch: int, *, brief: bool) -> None:
    seen = timed_case(session=made(mode, launch), check=lambda _: Check(f"{is_brief()}", 0.0, 1.0))
    assert seen.check == Check(f"{brief}", 0.0, 1.0)
    assert not is_brief()


def test_a_pilot_notes_its_quickest_call_and_looks_at_no_input() -> None:
    zeros = torch.zeros(100).clone
    pilot, record = timed_case(session=made("pilot"), against=zeros), timed_case(against=zeros)
    assert pilot.undisturbed == pytest.approx(0.02)
    assert record.undisturbed is None
    assert (pilot.commonest, record.commonest) == (None, 1.0)


@pytest.mark.parametrize(("mode", "limit"), [("pilot", 0.4), ("alone", 0.025)])
def test_a_case_that_takes_too_long_and_those_beyond_it_are_skipped(
    mode: str, limit: float
) -> None:
    session = made(mode)
    assert timed_case(session=session, seconds=0.95 * limit).samples
    with pytest.raises(pytest.skip.Exception, match="over this profile's") as skipped:
        timed_case(session=session, seconds=1.05 * limit)
    refused = timed.refusal(0, "case", "skipped", skipped.value, Path())
    assert refused.reason == str(skipped.value)
    with pytest.raises(pytest.skip.Exception):
        session.skip_if_left_out(item(n=32))


NAME = "bench_made_up.py::bench_body"
CPU, GPU = Device("cpu"), Device("cuda:0")


@pytest.mark.parametrize(("mode", "kept"), [("pilot", Accounts(2.0, 1.0)), ("measure", None)])
def test_a_pilot_alone_keeps_accounts_of_a_case_and_none_counts_its_search(
    monkeypatch: pytest.MonkeyPatch, mode: str, kept: Accounts | None
) -> None:
    states = iter([Accounts(1.0, 1.0), Accounts(3.0, 2.0)])
    moments = iter([5.0, 14.0])
    monkeypatch.setattr(timed, "accounts", lambda: next(states))
    monkeypatch.setattr(timed, "monotonic", lambda: next(moments))
    made, records = listening(launch_spec(mode, launch=2))
    found = Search(shape=[64, 128, 256], shapes=9, seconds=1.0, runner_up=0.9)
    made.searches.found = {NAME: found}
    made.searches.took = {NAME if kept else "another": 2.5}
    ended = case(made, NAME)
    ended.measured = measured(NAME, launch=2)
    ended.conclude()
    seen: dict[str, Any] = {"wall_seconds": 6.5 if kept else 9.0, "search": found}
    begun = Begun(launch=2, case=NAME, at=5.0, settled=0.25)
    assert records == [begun, measured(NAME, launch=2, accounts=kept, **seen)]


def test_workers_end_with_a_case_that_failed_and_stay_with_one_that_was_left_out() -> None:
    made, records = listening(launch_spec("measure"))
    lost: list[str] = []
    made.drop_workers = lost.append  # type: ignore[assignment,method-assign]
    made.searches.waiting = {NAME, "another"}
    for refuse, error in (("failed", ValueError()), ("skipped", LostRankError("no rank"))):
        ended = case(made, NAME)
        ended.refuse(refuse, error)  # type: ignore[arg-type] # as it is named
        ended.conclude()
        assert (lost, records[-1], made.searches.waiting) == ([""], ended.refused, {"another"})
    ended.refuse("failed", LostRankError("rank 1 ended"))
    ended.conclude()
    assert lost == ["", "rank 1 ended"]
    sys.last_value = error  # with which pytest keeps all that the case held
    made.tidy_up()
    assert not hasattr(sys, "last_value")


def test_clocks_settle_first_and_behind_cases_of_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    made, records = listening(launch_spec("measure", "cpu", "cuda:0", launch=2))
    made.journal = records  # type: ignore[assignment] # so that it is a run's
    settled, gauge = Mock(), Mock(finish=lambda: {"cpu/copy": 1e-3})
    stand_ins = {"steady_clocks": settled, "Gauge": lambda *_: gauge, "dev.global_state": dict}
    stand_ins |= {"of_each": lambda devices, _: {one.name: 1e-6 for one in devices}}
    stand_ins |= {"perf_counter": partial(next, count(1.0, 1.5))}
    stand_ins |= {"environment.capture": lambda _: ENVIRONMENT}
    stand_ins |= {"timed_loop.timer_step": lambda: 1e-9}
    for name, stand_in in stand_ins.items():
        monkeypatch.setattr(f"{resources.__name__}.{name}", stand_in)
    assert made.before_case(["cuda:0"]) == 0  # it is not ready yet
    made.get_ready(3)
    cases = (["cuda:0"], ["cpu"], ["cpu"], ["cpu", "cuda:0"], ["cuda:0"])
    assert [made.before_case(devices) for devices in cases] == [1.5] * 5
    made.finish()
    assert [told.args[1] for told in settled.call_args_list] == [1.0, 1.0]
    assert gauge.read_before_case.call_count == 5
    facts: dict[str, Any] = {"empty_body": {"cpu": 1e-6, "cuda:0": 1e-6}, "timer_step": 1e-9}
    facts |= {"ready_reading": {"cuda:0": 1e-6}, "waits": {"cuda:0": 1e-6}, "warmup_seconds": 1.5}
    told = Launch(started="", seconds=0.0, body_seconds=0.0, state={}, **facts)
    gauged = Gauged(launch=2, seconds={"cpu/copy": 1e-3})
    assert records == [Harness(launch=2, environment=ENVIRONMENT, facts=told), gauged]


@pytest.mark.parametrize(("mode", "known"), [("pilot", True), ("measure", False)])
def test_a_pilot_takes_up_what_an_earlier_process_saw_of_its_own_cases(
    monkeypatch: pytest.MonkeyPatch, mode: str, *, known: bool
) -> None:
    made, seen = listening(launch_spec(mode, launch=2))
    nodes = [NodeFacts(ranks=1), NodeFacts(ranks=1, link=1e9)]
    made.groups = Mock(examine=lambda: nodes)
    groups = [made.group("cpu/2x1") for _ in range(2)]
    assert (groups, seen) == ([made.groups.find()] * 2, [NodesSeen(nodes=nodes)] * known)
    tried = Tried(case=NAME, attempt=Try(Shape(1, 2, 3), 1.0, 2.0))
    foreign = Refused(launch=0, case="other", status="failed", reason="")
    records = [case(made, NAME), measured(NAME, launch=2), foreign, tried]
    made.journal = records  # type: ignore[assignment] # the records of a journal
    climbed: list[Any] = []
    monkeypatch.setattr(made.explorer, "remember", lambda *seen: climbed.append(seen))
    made.remember([item(NAME)])
    assert [name for (name, _), *_ in climbed] == ["bench_made_up.bench_body"] * known
    assert made.searches.tries == ({NAME: [tried.attempt]} if known else {})


def test_one_device_has_one_blocker_for_all_its_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "blocker", lambda device: [device.name])
    shared = Session(launch_spec("measure", "cpu", "cuda:0"))
    first: Any = shared.blocker([GPU])
    assert first == ["cuda:0"]
    assert shared.blocker([GPU]) is first
    assert shared.blocker([CPU, GPU]) is None
    assert shared.blocker([]) is None
    assert Session(launch_spec("alone", "cuda:0")).blocker([GPU]) == first
    assert Session(launch_spec("pilot", "cuda:0")).blocker([GPU]) is None


MINE = Path(__file__)


def test_a_long_reason_is_cut_and_of_long_details_the_end_is_kept() -> None:
    refused = refusal(0, "case", "failed", LostRankError("x" * 301), MINE)
    assert (refused.reason, refused.details) == ("x" * 300, "")
    details = refusal(0, "case", "failed", RuntimeError("x" * 20_000 + "end"), MINE).details
    assert details == "x" * 19_996 + "end"  # and the end of the line


@pytest.mark.parametrize("kind", [RuntimeError, OSError, AssertionError, pytest.fail.Exception])
def test_no_text_that_a_benchmark_raises_is_stored(kind: type[BaseException]) -> None:
    for secret, text in {**RAISED, **PLACED}.items():
        refused = refusal(0, "case", "failed", kind(text), MINE)
        assert secret not in refused.reason
        assert secret in refused.details


def test_a_skip_of_a_foreign_benchmark_has_its_line_and_its_text_in_the_terminal_alone() -> None:
    with pytest.raises(pytest.skip.Exception) as skipped:
        pytest.skip("needs the blue card")
    refused = refusal(0, "case", "skipped", skipped.value, MINE)
    assert refused.reason == f"pytest.skip ({MINE.name}:{skipped.traceback[0].lineno + 1})"
    assert refused.details == "needs the blue card"


def test_what_a_machine_lacks_is_stored_without_the_text_of_a_library() -> None:
    with pytest.raises(pytest.skip.Exception) as skipped, needed("blue card"):
        raise RuntimeError("no card in jane's slot")
    refused = refusal(0, "case", "skipped", skipped.value, MINE)
    assert refused.reason == "no blue card here: RuntimeError"
    assert refused.details == "no card in jane's slot"


def test_a_worker_s_error_and_a_lost_rank_are_named_by_what_is_known_of_them() -> None:
    error = WorkerError("worker cpu/0: ValueError: jane's", "worker cpu/0: ValueError")
    refused = refusal(0, "case", "failed", error, MINE)
    assert (refused.reason, refused.lost) == ("worker cpu/0: ValueError", False)
    assert "jane's" in refused.details
    lost = LostRankError(error.brief)
    lost.__cause__ = error
    refused = refusal(0, "case", "failed", lost, MINE)
    assert (refused.reason, refused.lost) == ("worker cpu/0: ValueError", True)
    assert refused.details == "worker cpu/0: ValueError: jane's"
