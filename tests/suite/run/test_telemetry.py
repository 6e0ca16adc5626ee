# SPDX-License-Identifier: MIT
"""The threads that read sensors while a run measures: what they write, and what stops none."""

import resource
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest

from frobench.suite.machine.sensors.sensor import ENERGY, HELD_BACK, Sensor, Source
from frobench.suite.run import telemetry
from frobench.suite.run.telemetry import Line, Reading, Unreadable, recording

PERIOD = 0.005


@pytest.fixture(autouse=True)
def _read_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telemetry, "PERIOD", PERIOD)


def source(*sensors: Sensor, name: str = "NVML") -> Source:
    """Return a source of these sensors, of whose devices the fan is asked."""
    return Source(name, [one.device for one in sensors], lambda: sensors, ["fan"])


def sampled(path: Path, *sources: Source, until: Callable[[], bool]) -> list[Line]:
    """Sample until something has happened, and return the lines."""
    with recording(sources, path, lambda: 7.0):
        deadline = time.monotonic() + 60
        while not until() and time.monotonic() < deadline:
            time.sleep(PERIOD)
    return list(telemetry.readings(path))


class Counter:
    """A reading that counts how often it was asked, and fails from some time on."""

    def __init__(self, fails_after: int = 10**6) -> None:
        self.asked = 0
        self._fails_after = fails_after

    def __call__(self) -> float:
        """Return how often it was asked."""
        self.asked += 1
        if self.asked > self._fails_after:
            msg = "GPU is lost"
            raise RuntimeError(msg)
        return float(self.asked)


def test_readings_are_written_with_both_clocks_and_their_cost(tmp_path: Path) -> None:
    begun, counter = time.monotonic(), Counter()
    sensor = Sensor("cuda:0", {"fan": counter, HELD_BACK: lambda: ["GpuIdle"], "load": "why not"})
    lines = sampled(tmp_path / "t", source(sensor), until=lambda: counter.asked >= 3)
    ticks = [line for line in lines if isinstance(line, Reading)]
    assert [tick.values for tick in ticks[:3]] == [{"fan": 1}, {"fan": 2}, {"fan": 3}]
    assert {tick.device for tick in ticks} == {"cuda:0"}
    assert all(tick.held_back == ["GpuIdle"] and tick.run == 7 for tick in ticks)
    assert begun <= ticks[0].at < ticks[1].at <= time.monotonic()
    assert 0 < sum(tick.took for tick in ticks) < time.monotonic() - begun
    assert [line for line in lines if isinstance(line, Unreadable)] == [
        Unreadable(device="cuda:0", quantity="load", reason="why not")
    ]


def test_a_sensor_that_fails_is_dropped_and_the_others_go_on(tmp_path: Path) -> None:
    well, lost = Counter(), Counter(fails_after=1)
    lines = sampled(
        tmp_path / "t",
        source(Sensor("cuda:0", {"fan": lost}, source="NVML"), Sensor("cpu", {"load": well})),
        until=lambda: well.asked >= 4,
    )
    assert lost.asked == 2
    assert Unreadable(device="cuda:0", quantity="fan", reason="NVML: RuntimeError") in lines
    assert sum(isinstance(line, Reading) and line.device == "cpu" for line in lines) >= 4


def test_a_source_that_hangs_silences_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telemetry, "PATIENCE", 1.0)
    hanging, free, counter = threading.Event(), threading.Event(), Counter()

    def hang() -> float:
        hanging.set()
        free.wait(120)
        return 1.0

    def search() -> list[Sensor]:
        free.wait(120)
        return []

    stuck = Sensor("cuda:0", {"fan": Counter(), "load": hang, "power_watts": "refused"})
    begun = time.monotonic()
    lines = sampled(
        tmp_path / "t",
        source(stuck),
        Source("amdsmi", ["cuda:1"], search, ["fan"]),
        source(Sensor("cpu", {"load": counter}), name="the system"),
        until=lambda: hanging.is_set() and counter.asked >= 3,
    )
    assert time.monotonic() - begun < 60
    free.set()
    assert {line.device for line in lines if isinstance(line, Reading)} == {"cpu"}


def test_the_end_waits_no_longer_for_many_that_hang_than_for_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free, waits = threading.Event(), [1.02]

    def join(_: threading.Thread, seconds: float) -> None:
        waits.append(seconds)
        free.wait(0.02)

    def search() -> list[Sensor]:
        free.wait(120)
        return []

    monkeypatch.setattr(threading.Thread, "join", join)
    stuck = [Source(f"{number}", [f"cuda:{number}"], search) for number in range(5)]
    with recording(stuck, tmp_path / "t", float):
        pass
    free.set()
    assert telemetry.PATIENCE <= 1
    assert all(later <= before - 0.02 for before, later in pairwise(waits))
    assert len(waits) == 1 + len(stuck)


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (OSError(5, "Input/output error"), "OSError: Input/output error"),
        (RuntimeError("no driver"), "RuntimeError"),
    ],
)
def test_a_source_whose_sensors_are_not_found_says_why(
    tmp_path: Path, error: Exception, why: str
) -> None:
    def search() -> list[Sensor]:
        raise error

    path = tmp_path / "t"
    lines = sampled(path, Source("NVML", ["cuda:0"], search, ["fan"]), until=path.exists)
    assert lines == [Unreadable(device="cuda:0", quantity="fan", reason=f"NVML: {why}")]


def test_the_energy_counter_is_read_first_and_has_a_time_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, order = [100.0], list[str]()
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    def slow(name: str) -> Callable[[], float]:
        def ask() -> float:
            order.append(name)
            now[0] += 0.4
            return 5.0

        return ask

    sensor = Sensor("cpu", {name: slow(name) for name in ("clock_hz", ENERGY, "load")})
    tick = telemetry.read(sensor, lambda: 7.0)
    assert order == [ENERGY, "clock_hz", "load"]
    assert tick.at == 100
    assert tick.counted == pytest.approx(100.2)
    without = Sensor("cpu", {"load": slow("load")})
    assert telemetry.read(without, lambda: 7.0).counted is None


def test_what_is_costly_to_read_is_read_less_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telemetry, "SHARE", 1e-6)
    cheap, dear = Counter(), Counter()
    monkeypatch.setattr(time, "thread_time", lambda: dear.asked * 1e-5)
    both = source(Sensor("cpu", {"load": cheap}), Sensor("cuda:0", {"fan": dear}))
    sampled(tmp_path / "t", both, until=lambda: cheap.asked >= 5)
    assert dear.asked == 1


def test_what_is_costly_to_read_does_not_keep_the_energy_counter_from_being_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telemetry, "SHARE", 1e-6)
    counter, dear = Counter(), Counter()
    monkeypatch.setattr(time, "thread_time", lambda: dear.asked * 1e-5)
    sensor = Sensor("cuda:0", {"fan": dear, ENERGY: counter, "load": "why not"})
    lines = sampled(tmp_path / "t", source(sensor), until=lambda: counter.asked >= 5)
    assert dear.asked == 1
    ticks = [line for line in lines if isinstance(line, Reading)]
    assert sorted(tick.values.keys() == {"fan"} for tick in ticks)[-2:] == [False, True]
    assert all((ENERGY in tick.values) == (tick.counted is not None) for tick in ticks)
    assert Unreadable(device="cuda:0", quantity="load", reason="why not") in lines


def test_readings_go_on_behind_those_of_an_earlier_sitting(tmp_path: Path) -> None:
    path = tmp_path / "t"
    first, second = Counter(), Counter()
    sampled(path, source(Sensor("cpu", {"load": first})), until=lambda: first.asked >= 1)
    before = list(telemetry.readings(path))
    with path.open("ab") as file:
        file.write(b'{"type":"tick","at":')  # the process was killed here
    assert list(telemetry.readings(path)) == before
    sampled(path, source(Sensor("cpu", {"load": second})), until=lambda: second.asked >= 1)
    assert list(telemetry.readings(path))[: len(before)] == before
    assert len(list(telemetry.readings(path))) > len(before)


def test_mending_the_readings_writes_none_of_them_anew(tmp_path: Path) -> None:
    path = tmp_path / "t"
    ticks: list[Line] = [
        Reading(at=float(n), run=0.0, device="cpu", values={}) for n in range(1000)
    ]
    telemetry.readings(path).append(ticks)
    with path.open("ab") as file:
        file.write(b'{"type":"tick","at":')  # the process was killed here
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))  # the disk takes no more
    try:
        with suppress(OSError):
            telemetry.readings(path).mend()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(telemetry.readings(path)) == ticks


def test_without_anything_to_read_the_thread_ends_and_says_why(tmp_path: Path) -> None:
    path = tmp_path / "t"
    lines = sampled(path, source(Sensor("cpu", {"load": "no kernel"})), until=path.exists)
    assert lines == [Unreadable(device="cpu", quantity="load", reason="no kernel")]
    assert list(telemetry.readings(tmp_path / "none")) == []


def test_a_disk_that_refuses_does_not_disturb_the_run(tmp_path: Path) -> None:
    with recording([source(Sensor("cpu", {"load": Counter()}))], tmp_path / "no" / "t", float):
        pass
