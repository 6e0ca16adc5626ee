# SPDX-License-Identifier: MIT
"""What is written down of a case that was timed, on a clock that only its body advances."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from frobench.suite.errors import WrongResultError
from frobench.suite.journal import Measured, Refused
from frobench.suite.kit.check_result import is_brief
from frobench.suite.launch import case
from frobench.suite.launch.case import Measure
from frobench.suite.launch.session import Session
from frobench.suite.measure.timed_loop import Sampler
from frobench.suite.measure.too_slow import Explorer
from frobench.suite.profiles import settings_for
from frobench.suite.stored.types import Check
from tests.instruments.devices.virtual import VirtualClock, VirtualDevice
from tests.instruments.runs.made_up_launches import identity
from tests.instruments.sessions import item, launch_spec

SETTINGS = replace(settings_for("quick", ["cpu"]), case_seconds=0.1)
CASE = identity("bench_body[cpu]")
PASSED = Check("made up", 0.0, 1.0)
Measuring = Callable[..., Measured]


@dataclass
class Remembering(VirtualDevice):
    """A device that says how much memory was in use at most."""

    name: str = ""
    peak: int | None = None

    def peak_bytes(self) -> int | None:
        """Return the most bytes in use."""
        return self.peak


class Emptying:
    """Stands for what empties the caches: 30 bytes on each device."""

    def __call__(self) -> None:
        """Empty nothing."""

    def bytes_on(self, _: object) -> int:
        """Return its own bytes on a device."""
        return 30

    def flushed_bytes(self) -> int:
        """Return the bytes that were driven out."""
        return 60


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Measuring:
    """Return what measures a body that takes so many seconds a call."""

    def measured(
        *devices: Remembering,
        session: Session | None = None,
        check: Callable[[Any], Check] = lambda _: PASSED,
        seconds: float = 0.02,
        cold: Emptying | None = None,
        **more: Any,  # noqa: ANN401 - as `measure` takes it
    ) -> Measured:
        clock = VirtualClock(cost=1e-9)

        def body() -> None:
            clock.now += seconds

        monkeypatch.setattr(case, "Sampler", partial(Sampler, clock=clock))
        monkeypatch.setattr(case, "ColdCaches", lambda _: cold)
        measure = Measure(session or made(), item())
        measure._devices += devices  # type: ignore[arg-type] # stand-ins
        measure(body, check=check, apart={"compile": 3.0}, cold=cold is not None, **more)
        assert measure.measured is not None
        return measure.measured

    return measured


def made(mode: Any = "measure", launch: int = 0, done: int = 0) -> Session:  # noqa: ANN401 - as a specification has it
    spec = launch_spec(mode, launch=launch, settings=SETTINGS)
    spec.plan.cases = [CASE] * (done + 1)
    spec.order = [CASE.fullname]
    session = Session(spec)
    session.blocker = lambda _: None  # type: ignore[assignment,method-assign]
    session.explorer = Explorer(SETTINGS, lambda: None)  # other programs wait meanwhile
    return session


def test_memory_is_that_of_all_devices_and_those_that_held_none_are_named(
    measured: Measuring,
) -> None:
    clock = VirtualClock()
    peaks = {"a": 100, "b": 0, "c": None, "d": 7}
    record = measured(*(Remembering(clock, name=name, peak=peak) for name, peak in peaks.items()))
    assert record.peak_bytes == 107
    assert record.idle_devices == ["b"]
    assert measured(Remembering(clock, name="c")).peak_bytes is None


def test_a_device_is_not_idle_that_holds_an_input(
    measured: Measuring, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpu = Remembering(VirtualClock(), name="cuda:0", peak=0)
    assert measured(gpu).idle_devices == ["cuda:0"]
    monkeypatch.setattr(
        "frobench.suite.measure.caches_and_inputs.Inputs.devices", lambda _: {"cuda:0"}
    )
    assert measured(gpu).idle_devices == []


def test_what_empties_the_caches_is_not_the_memory_of_the_case(measured: Measuring) -> None:
    clock = VirtualClock()
    gpus = [Remembering(clock, name="a", peak=100), Remembering(clock, name="b", peak=20)]
    record = measured(*gpus, cold=Emptying())
    assert record.peak_bytes == 70
    assert record.flushed_bytes == 60
    assert not record.in_a_row
    warm = measured(*gpus)
    assert (warm.peak_bytes, warm.flushed_bytes, warm.in_a_row) == (120, None, True)
    assert not measured(before=lambda: None).in_a_row


def test_a_case_that_is_measured_has_its_place_in_the_launch_and_a_wrong_one_has_none(
    measured: Measuring,
) -> None:
    session = made(done=3)
    assert measured(session=session).order == 4
    with pytest.raises(WrongResultError):
        measured(session=session, check=lambda _: Check("made up", 2.0, 1.0))
    with pytest.raises(WrongResultError, match="right or wrong"):
        measured(session=session, check=lambda _: False)
    right = measured(session=session, check=lambda _: True)
    assert (right.order, right.check) == (5, Check("right or wrong", 0.0, 0.0))


def test_parts_hold_what_was_spent_apart_and_samples_of_the_other_version_stand_beside(
    measured: Measuring,
) -> None:
    record = measured()
    assert record.parts == {"compile": 3.0}
    assert record.against is None
    assert record.samples == pytest.approx([0.02] * len(record.samples))
    beside = measured(against=lambda: None)
    assert beside.against == pytest.approx([0.0] * len(beside.samples), abs=1e-6)


@pytest.mark.parametrize(
    ("mode", "launch", "brief"),
    [("pilot", 0, True), ("measure", 0, False), ("measure", 1, True), ("alone", 1, False)],
)
def test_results_are_checked_briefly_by_a_pilot_and_after_the_first_launch(
    measured: Measuring, mode: str, launch: int, *, brief: bool
) -> None:
    were: list[bool] = []

    def check(_: object) -> Check:
        were.append(is_brief())
        return PASSED

    measured(session=made(mode, launch=launch), check=check)
    assert were == [brief]
    assert not is_brief()


def test_a_pilot_notes_its_quickest_call_and_looks_at_no_input(measured: Measuring) -> None:
    record = measured(session=made("pilot"))
    assert record.undisturbed == pytest.approx(0.02)
    assert record.commonest is None
    assert measured().undisturbed is None


def test_a_case_that_takes_too_long_and_those_beyond_it_are_skipped(measured: Measuring) -> None:
    session = made("pilot")
    with pytest.raises(pytest.skip.Exception, match="over this profile's") as skipped:
        measured(session=session, seconds=100.0)
    refused = case.refusal(0, "case", "skipped", skipped.value, Path())
    assert refused.reason == str(skipped.value)
    with pytest.raises(pytest.skip.Exception):
        session.skip_if_left_out(item(n=32))


def test_a_later_process_of_a_pilot_knows_what_earlier_ones_left_out() -> None:
    session, small = made("pilot"), item()
    passing = Refused(launch=0, case=small.nodeid, status="skipped", reason="not now")
    session.journal = [passing]  # type: ignore[assignment] # the records of a journal
    session.remember([small])
    session.skip_if_left_out(item(n=32))
    session.journal = [replace(passing, reason="it hung", fatal=True)]  # type: ignore[assignment]
    session.remember([small])
    with pytest.raises(pytest.skip.Exception, match="it hung"):
        session.skip_if_left_out(item(n=32))
