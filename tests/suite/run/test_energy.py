# SPDX-License-Identifier: MIT
"""What a call costs: windows that keep a device busy, and a counter that the runner reads."""

import threading
from collections.abc import Iterator
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from frobench.suite.errors import WrongResultError
from frobench.suite.journal import Busy, Record, Rested
from frobench.suite.launch.case import WINDOW as WINDOW_OF_CASE
from frobench.suite.launch.case import Measure
from frobench.suite.machine.sensors import sensor as sensors
from frobench.suite.machine.sensors.sensor import Sensor, Source, seal
from frobench.suite.machine.vendors import sources
from frobench.suite.machine.vendors.vendor import Identity
from frobench.suite.measure.timed_loop import AT_ONCE, Sampler
from frobench.suite.profiles import LEAD, WINDOW
from frobench.suite.run import energy, telemetry
from frobench.suite.run.telemetry import Line, Reading, lines_of
from frobench.suite.stored.types import Check
from tests.instruments.devices.simulated_nvml import Gpu, install
from tests.instruments.devices.virtual import VirtualClock
from tests.instruments.sessions import item, launch_spec, listening

USED = {"product": ["cuda:0"]}


def ticks(begun: float, ended: float, watts: float, already: float = 1e6) -> Iterator[Line]:
    """Return readings of a counter, ten a second, of a device with this power.

    already : joules that were counted at the time 0, had the device had this power since
    """
    for number in range(round((ended - begun) * 10) + 1):
        at = begun + number / 10
        yield Reading(
            at=at, run=at, device="cuda:0", values={"energy_joules": already + watts * at}
        )


def busy(launch: int, begun: float, ended: float, calls: int) -> Record:
    return Busy(launch=launch, case="product", begun=begun, ended=ended, calls=calls)


def test_a_window_counts_the_calls_in_it_and_none_of_those_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, numbers = VirtualClock(), count(1)
    monkeypatch.setattr("frobench.suite.measure.timed_loop.monotonic", lambda: 1000 + clock.now)

    def body() -> int:
        clock.now += AT_ONCE / 2.5
        return next(numbers)

    sampler = Sampler(body, [], clock=clock)
    window = sampler.repeat()
    batch = 3 * AT_ONCE / 2.5
    before, inside = LEAD // batch + 1, WINDOW // batch + 1
    assert window.calls == 3 * inside
    assert sampler.result == 2 + 3 * (before + inside)
    assert window.seconds == pytest.approx(inside * batch)
    assert window.ended - window.begun == pytest.approx(inside * batch)
    assert window.begun == pytest.approx(1000 + 2 * AT_ONCE / 2.5 + before * batch)


def test_a_window_holds_most_of_its_two_seconds_between_two_readings() -> None:
    slow = 2 * telemetry.PERIOD
    assert WINDOW >= 2
    assert round(WINDOW - 2 * slow, 6) >= energy.LEAST
    assert LEAD >= telemetry.PERIOD


def test_joules_are_the_power_in_the_window_times_the_time_of_a_call() -> None:
    lines = [*ticks(0, 10, 300.0)]
    records = [busy(0, 2.03, 3.78, 1400), busy(2, 6.0, 7.75, 700)]
    found = energy.energy_of_cases(lines, records, USED, launches=3)["product"]
    assert found.seconds == [0.00125, None, 0.0025]
    assert found.joules == [pytest.approx(0.375), None, pytest.approx(0.75)]


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [*ticks(2.0, 3.4, 300.0)],  # most of the window was not seen
        [Reading(at=at, run=at, device="cuda:0", values={"fan": 0.1}) for at in (2.0, 3.7)],
    ],
)
def test_without_readings_for_long_enough_nothing_is_made_up(lines: list[Line]) -> None:
    found = energy.energy_of_cases(lines, [busy(0, 2.0, 3.75, 100)], USED, launches=1)
    assert found == {}


def test_idle_power_is_that_of_the_end_of_the_rest() -> None:
    lines = [*ticks(0, 1.2, 200.0), *ticks(1.3, 3.3, 75.0, already=1e6 + 1.2 * (200.0 - 75.0))]
    assert energy.idle_watts(lines, [Rested(begun=0.0, ended=3.3)]) == {"cuda:0": 75.0}
    assert energy.idle_watts(lines, []) == {}


BEGUN_ANEW = [*ticks(2.0, 3.0, 300.0), *ticks(3.1, 3.8, 300.0, already=0.0)]


@pytest.mark.parametrize("lines", [[], [*ticks(2.0, 3.8, 0.0)], BEGUN_ANEW])
def test_a_counter_that_does_not_count_tells_no_energy(lines: list[Line]) -> None:
    window, rest = busy(0, 2.0, 3.75, 100), Rested(begun=1.0, ended=3.8)
    assert energy.energy_of_cases(lines, [window], USED, launches=1) == {}
    assert energy.idle_watts(lines, [rest]) == {}


def test_the_runner_finds_out_which_devices_count_and_waits_for_no_driver(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refuses = {"nvmlDeviceGetTotalEnergyConsumption": 3}
    install(monkeypatch, Gpu(uuid="GPU-a"), Gpu(uuid="GPU-b", refuses=refuses))
    gpus = {"cuda:0": Identity(seal("a", "7")), "cuda:1": Identity(seal("b", "7"))}
    _, watched = sources(gpus, "7")
    assert telemetry.why_no_counter([watched]) == {"cuda:0": None, "cuda:1": "NVML: Not Supported"}

    free = threading.Event()

    def hang() -> list[Sensor]:
        free.wait(20)
        return [Sensor("cuda:2", {"energy_joules": lambda: 1.0})]

    monkeypatch.setattr(telemetry, "LONGEST_SEARCH", 0.02)
    found = telemetry.why_no_counter([Source("NVML", ["cuda:2"], hang), watched])
    assert found["cuda:0"] is None
    assert found["cuda:2"] == "NVML did not answer within 0 s"
    free.set()


def test_a_window_repeats_a_body_without_a_pause_and_checks_its_last_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = Busy(begun=1.0, ended=3.5, calls=30, seconds=2.1)

    def repeat(sampler: Sampler) -> Busy:
        sampler.result = sampler.body()
        return replace(seen)

    monkeypatch.setattr(Sampler, "repeat", repeat)
    session, records = listening(launch_spec("measure", launch=4))
    again = item("product")
    again.stash[WINDOW_OF_CASE] = True
    Measure(session, again)(lambda: 7, check=lambda result: Check("it", float(result != 7), 0.0))
    assert records[-1] == replace(seen, launch=4, case="product")
    with pytest.raises(WrongResultError):
        Measure(session, again)(lambda: 7, check=lambda _: Check("it", 1.0, 0.0))


def test_a_sampled_simulated_gpu_gives_the_joules_that_it_spent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [100.0]

    def look() -> float:  # at a clock, which takes 20 ms, and nothing else any time
        now[0] += 0.02
        return now[0]

    gpu = Gpu(uuid="GPU-a", energy=lambda: int(1000 * 420.0 * now[0]))
    install(monkeypatch, gpu)
    (sensor,) = sources({"cuda:0": Identity(seal("a", "7"))}, "7")[1].sensors()
    source = Source("NVML", ["cuda:0"], lambda: [sensor])
    stepped = SimpleNamespace(monotonic=look, thread_time=lambda: 0.0)
    monkeypatch.setattr(telemetry, "time", stepped)
    monkeypatch.setattr(sensors, "time", stepped)
    over: Any = SimpleNamespace(wait=lambda seconds: now.__setitem__(0, now[0] + seconds))
    lines: list[Line] = []
    for line in lines_of(source, lambda: now[0], over):
        lines.append(line)
        if now[0] > 104:
            break
    found = energy.energy_of_cases(lines, [busy(0, 101.0, 103.0, 5)], USED, launches=1)["product"]
    assert found.joules == [pytest.approx(420.0 * 0.4, rel=1e-3)]
