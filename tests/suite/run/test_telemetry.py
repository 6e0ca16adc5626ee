# SPDX-License-Identifier: MIT
"""What is read of sensors while a run measures, what a run stores of it, and what stops none."""

import threading
import time
from collections.abc import Callable
from itertools import chain, repeat
from pathlib import Path
from unittest.mock import Mock

import msgspec
import pytest
from msgspec.structs import replace

from frobench.suite.journal import Begun, Record
from frobench.suite.machine.sensors.sensor import ENERGY, HELD_BACK, Sensor, Source
from frobench.suite.run import telemetry
from frobench.suite.run.telemetry import Line, Reading, Unreadable, recording
from frobench.suite.stored.types import Sensed, Telemetry
from tests.instruments.runs.made_up_records import measured

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


def counter(fails_after: int = 10**6) -> Mock:
    """Return a reading that counts how often it was asked, and fails from some time on."""
    counts = range(1, fails_after + 1)
    return Mock(side_effect=chain(counts, repeat(RuntimeError("GPU is lost"))))


def test_readings_are_written_with_both_clocks_and_their_cost(tmp_path: Path) -> None:
    begun, fan = time.monotonic(), counter()
    sensor = Sensor("cuda:0", {"fan": fan, HELD_BACK: lambda: ["GpuIdle"], "load": "why not"})
    lines = sampled(tmp_path / "t", source(sensor), until=lambda: fan.call_count >= 3)
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
    well, lost = counter(), counter(fails_after=1)
    lines = sampled(
        tmp_path / "t",
        source(Sensor("cuda:0", {"fan": lost}, source="NVML"), Sensor("cpu", {"load": well})),
        until=lambda: well.call_count >= 4,
    )
    assert lost.call_count == 2
    assert Unreadable(device="cuda:0", quantity="fan", reason="NVML: RuntimeError") in lines
    assert sum(isinstance(line, Reading) and line.device == "cpu" for line in lines) >= 4


def test_a_source_that_hangs_silences_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telemetry, "PATIENCE", 1.0)
    hanging, free, load = threading.Event(), threading.Event(), counter()

    def hang() -> float:
        hanging.set()
        free.wait(120)
        return 1.0

    def search() -> list[Sensor]:
        free.wait(120)
        return []

    stuck = Sensor("cuda:0", {"fan": counter(), "load": hang, "power_watts": "refused"})
    begun = time.monotonic()
    lines = sampled(
        tmp_path / "t",
        source(stuck),
        Source("amdsmi", ["cuda:1"], search, ["fan"]),
        source(Sensor("cpu", {"load": load}), name="the system"),
        until=lambda: hanging.is_set() and load.call_count >= 3,
    )
    assert time.monotonic() - begun < 60
    free.set()
    assert {line.device for line in lines if isinstance(line, Reading)} == {"cpu"}


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
    path, search = tmp_path / "t", Mock(side_effect=error)
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


def test_readings_go_on_behind_those_of_an_earlier_sitting(tmp_path: Path) -> None:
    path = tmp_path / "t"
    first, second = counter(), counter()
    sampled(path, source(Sensor("cpu", {"load": first})), until=lambda: first.call_count >= 1)
    before = list(telemetry.readings(path))
    with path.open("ab") as file:
        file.write(b'{"type":"tick","at":')  # the process was killed here
    assert list(telemetry.readings(path)) == before
    sampled(path, source(Sensor("cpu", {"load": second})), until=lambda: second.call_count >= 1)
    assert list(telemetry.readings(path))[: len(before)] == before
    assert len(list(telemetry.readings(path))) > len(before)


DEVICES = {"product": ["cuda:0"], "loop": ["cpu/0", "cpu/1"]}


def tick(at: float, device: str = "cuda:0", *held_back: str, **values: float) -> Reading:
    """Return a reading of a run that began at 100 s of the monotonic clock."""
    told = list(held_back) if device != "cpu" else None
    return Reading(at=at, run=at - 100, device=device, values=values, held_back=told, took=0.001)


def flight(launch: int, case: str, at: float, seconds: float) -> list[Record]:
    """Return what the journal says of a case."""
    return [
        Begun(launch=launch, case=case, at=at),
        measured(case, launch=launch, wall_seconds=seconds),
    ]


RECORDS = [
    *flight(0, "product", 110, 1),
    *flight(0, "loop", 111, 1),
    *flight(1, "loop", 120, 1),
    *flight(1, "product", 121, 1),
]


def of_cases(*lines: Line) -> dict[str, dict[str, Sensed]]:
    return telemetry.sensors_of_cases(lines, RECORDS, DEVICES)


def alone(at: float, **values: float) -> Reading:
    """Return a reading that tells nothing of the clock."""
    return replace(tick(at, "cuda:0", **values), held_back=None)


def test_a_case_gets_the_readings_of_its_time_in_all_launches_but_not_the_counter_alone() -> None:
    found = of_cases(
        tick(109.9, power_watts=1),
        tick(110.2, power_watts=300),
        alone(110.3, energy_joules=5.0),
        tick(110.9, power_watts=500),
        tick(111.5, power_watts=2),
        tick(121.5, power_watts=400),
        alone(121.6, energy_joules=6.0),
    )
    assert set(found) == {"product"}
    seen = found["product"]["cuda:0"]
    assert seen.readings == 3
    assert seen.values == {"power_watts": (300, 400, 500)}


def test_a_case_has_the_processor_and_no_device_that_it_does_not_use() -> None:
    loop = of_cases(tick(111.5, "cpu", load=2.0), tick(111.6, "cuda:0", fan=0.5))["loop"]
    assert set(loop) == {"cpu"}
    assert loop["cpu"].held_back is None
    idle = of_cases(tick(110.5, fan=0.1))["product"]
    assert idle["cuda:0"].held_back == {}  # nothing, where the driver tells


def test_reasons_are_parts_of_the_readings_and_the_energy_counter_is_no_value() -> None:
    seen = of_cases(
        tick(110.1, "cuda:0", "SwPowerCap", fan=0.5, energy_joules=5),
        tick(110.8, "cuda:0", "SwPowerCap", "HwSlowdown", fan=0.5, energy_joules=6),
        alone(110.9),
        tick(115.0, "cuda:0", "GpuIdle", fan=0.5, energy_joules=7),
        tick(121.1, "cuda:0", fan=0.5, energy_joules=8),
        tick(121.2, "cuda:0", fan=0.5, energy_joules=9),
    )["product"]["cuda:0"]
    assert seen.held_back == {"HwSlowdown": 0.25, "SwPowerCap": 0.5}
    assert seen.values == {"fan": (0.5, 0.5, 0.5)}


def test_a_case_that_failed_or_was_not_reached_has_no_readings() -> None:
    records = [Begun(launch=0, case="product", at=110.0)]
    assert telemetry.sensors_of_cases([tick(110.5, fan=0.1)], records, DEVICES) == {}


def of_run(*lines: Line) -> Telemetry:
    found = telemetry.of_run(lines, RECORDS, {})
    assert found is not None
    return found


def test_the_series_are_medians_of_equal_steps_with_gaps_where_nothing_was_read() -> None:
    fans = ((100.0, 0.1), (100.1, 0.3), (100.2, 0.2), (101, 1))
    found = of_run(*(tick(at, fan=fan) for at, fan in fans))
    assert (found.begun, found.step) == (0, telemetry.LEAST_STEP)
    assert found.series == {"cuda:0": {"fan": [0.2, None, None, None, 1]}}


def test_a_long_run_has_a_few_hundred_points_and_a_small_file() -> None:
    found = of_run(*(
        tick(100 + at / 10, f"cuda:{gpu}", "SwPowerCap", power_watts=612.3, sm_clock_hz=1.98e9 + at)
        for at in range(5000)
        for gpu in range(2)
    ))  # fmt: skip
    assert {len(one or ()) for device in found.series.values() for one in device.values()} == {301}
    assert len(msgspec.json.encode(found)) < 20_000 * 2
    assert found.cost == pytest.approx(0.02, rel=0.01)


def test_energy_counts_from_the_first_reading() -> None:
    found = of_run(tick(100, energy_joules=98_765.4), tick(100.5, energy_joules=98_800.5))
    assert found.series["cuda:0"]["energy_joules"] == [0, None, 35.1]


def test_a_quantity_that_cannot_be_read_is_null_with_its_reason() -> None:
    found = of_run(
        Unreadable(device="cuda:0", quantity="fan", reason="NVML: Not Supported"),
        tick(100, power_watts=7),
        Unreadable(device="cuda:0", quantity="power_watts", reason="NVML: GPU is lost"),
    )
    assert found.series["cuda:0"] == {"fan": None, "power_watts": [7]}
    assert found.unknown == {
        "cuda:0.fan": "NVML: Not Supported",
        "cuda:0.power_watts": "NVML: GPU is lost",
    }


def test_launches_begin_on_the_runs_clock_also_after_another_sitting() -> None:
    later = replace(tick(119.5, fan=0.1), run=30.0)  # 10.5 s were no part of the run
    assert of_run(tick(109.5, fan=0.1), later).launches == [10, 30.5]


def test_a_run_that_could_read_nothing_says_why_and_one_that_did_not_ask_nothing() -> None:
    found = of_run(Unreadable(device="cpu", quantity="load", reason="none"))
    assert (found.series, found.unknown) == ({"cpu": {"load": None}}, {"cpu.load": "none"})
    assert (found.launches, found.cost) == ([], 0)
    assert telemetry.of_run([], RECORDS, {}) is None
