# SPDX-License-Identifier: MIT
"""The thread that reads sensors while a run measures: what it writes, and what cannot stop it."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from suite import telemetry
from suite.sensors.sensor import HELD_BACK, Sensor
from suite.telemetry import Line, Mute, Sampler, Tick

PERIOD = 0.005


def sampled(path: Path, *sensors: Sensor, until: Callable[[], bool]) -> list[Line]:
    """Sample until something has happened, and return the lines."""
    with Sampler(lambda: sensors, path, lambda: 7.0, PERIOD):
        deadline = time.monotonic() + 20
        while not until() and time.monotonic() < deadline:
            time.sleep(PERIOD)
    return telemetry.read(path)


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
    sensor = Sensor("cuda:0", {"fan": counter, HELD_BACK: lambda: ["GpuIdle"]}, {"load": "why not"})
    lines = sampled(tmp_path / "t", sensor, until=lambda: counter.asked >= 3)
    ticks = [line for line in lines if isinstance(line, Tick)]
    assert [tick.values for tick in ticks[:3]] == [{"fan": 1}, {"fan": 2}, {"fan": 3}]
    assert {tick.device for tick in ticks} == {"cuda:0"}
    assert all(tick.held_back == ["GpuIdle"] and tick.run == 7 for tick in ticks)
    assert begun <= ticks[0].at < ticks[1].at <= time.monotonic()
    assert 0 < sum(tick.took for tick in ticks) < time.monotonic() - begun
    assert [line for line in lines if isinstance(line, Mute)] == [
        Mute(device="cuda:0", quantity="load", reason="why not")
    ]


def test_a_sensor_that_fails_is_dropped_and_the_others_go_on(tmp_path: Path) -> None:
    well, lost = Counter(), Counter(fails_after=1)
    lines = sampled(
        tmp_path / "t",
        Sensor("cuda:0", {"fan": lost}, source="NVML"),
        Sensor("cpu", {"load": well}),
        until=lambda: well.asked >= 4,
    )
    assert lost.asked == 2
    assert Mute(device="cuda:0", quantity="fan", reason="NVML: GPU is lost") in lines
    assert sum(isinstance(line, Tick) and line.device == "cpu" for line in lines) >= 4


def test_a_sensor_that_hangs_does_not_hang_the_runner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telemetry, "PATIENCE", 0.05)
    hanging, free = threading.Event(), threading.Event()

    def hang() -> float:
        hanging.set()
        free.wait(20)
        return 1.0

    counter = Counter()
    cpu, lost = Sensor("cpu", {"load": counter}), Sensor("cuda:0", {"fan": hang})
    begun = time.monotonic()
    lines = sampled(tmp_path / "t", cpu, lost, until=hanging.is_set)
    assert time.monotonic() - begun < 10
    free.set()
    assert [line.values for line in lines if isinstance(line, Tick)] == [{"load": 1}]


def test_what_is_costly_to_read_is_read_less_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telemetry, "SHARE", 1e-6)
    cheap, dear = Counter(), Counter()
    monkeypatch.setattr(time, "thread_time", lambda: dear.asked * 1e-5)
    sensors = Sensor("cpu", {"load": cheap}), Sensor("cuda:0", {"fan": dear})
    sampled(tmp_path / "t", *sensors, until=lambda: cheap.asked >= 5)
    assert dear.asked == 1


def test_readings_go_on_behind_those_of_an_earlier_sitting(tmp_path: Path) -> None:
    path = tmp_path / "t"
    first, second = Counter(), Counter()
    sampled(path, Sensor("cpu", {"load": first}), until=lambda: first.asked >= 1)
    before = telemetry.read(path)
    with path.open("ab") as file:
        file.write(b'{"type":"tick","at":')  # the process was killed here
    assert telemetry.read(path) == before
    sampled(path, Sensor("cpu", {"load": second}), until=lambda: second.asked >= 1)
    assert telemetry.read(path)[: len(before)] == before
    assert len(telemetry.read(path)) > len(before)


def test_without_anything_to_read_the_thread_ends_and_says_why(tmp_path: Path) -> None:
    path = tmp_path / "t"
    lines = sampled(path, Sensor("cpu", {}, {"load": "no kernel"}), until=path.exists)
    assert lines == [Mute(device="cpu", quantity="load", reason="no kernel")]
    assert telemetry.read(tmp_path / "none") == []


def test_a_disk_that_refuses_does_not_disturb_the_run(tmp_path: Path) -> None:
    with Sampler(lambda: [Sensor("cpu", {"load": Counter()})], tmp_path / "no" / "t", float):
        pass
