# SPDX-License-Identifier: MIT
"""What is read of sensors while a run measures, what a run stores of it, and what a call costs."""

import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, count, repeat
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import msgspec
import pytest
from msgspec.structs import replace

from frobench.suite.errors import WrongResultError
from frobench.suite.journal import Begun, Busy, Record, Rested
from frobench.suite.launch import case
from frobench.suite.machine.sensors import sensor as sensors
from frobench.suite.machine.sensors.sensor import ENERGY, HELD_BACK, Sensor, Source, seal
from frobench.suite.machine.vendors import sources
from frobench.suite.machine.vendors.vendor import Identity
from frobench.suite.measure.timed_loop import Sampler
from frobench.suite.run import energy, telemetry
from frobench.suite.run.telemetry import Line, Reading, Unreadable, recording
from frobench.suite.stored.types import Check, Energy, Sensed, Telemetry
from tests.instruments.devices.simulated_nvml import Gpu, install
from tests.instruments.devices.virtual import VirtualClock
from tests.instruments.runs.made_up_records import measured
from tests.instruments.sessions import item, launch_spec, listening

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
    mute = Unreadable(device="cuda:0", quantity="load", reason="why not")
    assert [line for line in lines if isinstance(line, Unreadable)] == [mute]


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


def test_a_hung_source_silences_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telemetry, "PATIENCE", 1.0)
    free, load = threading.Event(), counter()
    hang = Mock(side_effect=lambda: free.wait(120) and [])
    stuck = Sensor("cuda:0", {"fan": counter(), "load": hang, "power_watts": "refused"})
    begun = time.monotonic()
    lines = sampled(
        tmp_path / "t",
        source(stuck),
        Source("amdsmi", ["cuda:1"], hang, ["fan"]),
        source(Sensor("cpu", {"load": load}), name="the system"),
        until=lambda: hang.call_count == 2 and load.call_count >= 3,
    )
    assert time.monotonic() - begun < 60
    free.set()
    assert {line.device for line in lines if isinstance(line, Reading)} == {"cpu"}


def test_a_source_whose_sensors_are_not_found_says_why(tmp_path: Path) -> None:
    path, search = tmp_path / "t", Mock(side_effect=OSError(5, "Input/output error"))
    lines = sampled(path, Source("NVML", ["cuda:0"], search, ["fan"]), until=path.exists)
    why = "NVML: OSError: Input/output error"
    assert lines == [Unreadable(device="cuda:0", quantity="fan", reason=why)]


def test_energy_is_read_first_and_has_a_time_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    now, order = [100.0], list[str]()
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    def ask(name: str) -> float:
        order.append(name)
        now[0] += 0.4
        return 5.0

    sensor = Sensor("cpu", {name: partial(ask, name) for name in ("clock_hz", ENERGY, "load")})
    tick = telemetry.read(sensor, lambda: 7.0)
    assert order == [ENERGY, "clock_hz", "load"]
    assert (tick.at, tick.counted) == pytest.approx((100, 100.2))
    without = Sensor("cpu", {"load": partial(ask, "load")})
    assert telemetry.read(without, lambda: 7.0).counted is None


def test_readings_go_on_behind_those_of_an_earlier_sitting(tmp_path: Path) -> None:
    path = tmp_path / "t"
    first, second = counter(), counter()
    assert telemetry.last_moment(path) == 0
    sampled(path, source(Sensor("cpu", {"load": first})), until=lambda: first.call_count >= 1)
    before = list(telemetry.readings(path))
    assert telemetry.last_moment(path) == 7
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
    return Reading(at=at, run=at - 100, device=device, values=values, held_back=told, took=0.0011)


def flight(launch: int, case: str, at: float, seconds: float) -> list[Record]:
    """Return what the journal says of a case."""
    return [
        Begun(launch=launch, case=case, at=at, settled=0.0),
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
    return replace(tick(at), values=values, held_back=None)


def test_a_case_gets_the_readings_of_its_time_in_all_launches_but_not_the_counter_alone() -> None:
    found = of_cases(
        tick(109.99, power_watts=1),
        tick(110.0, power_watts=300),
        alone(110.3, energy_joules=5.0),
        tick(110.9, power_watts=500, mean_power_watts=7),  # also of the time before
        tick(111.5, power_watts=2),
        tick(122.0, power_watts=400, mean_power_watts=350),
        alone(121.6, energy_joules=6.0),
        tick(122.01, power_watts=3),
    )
    values = {"power_watts": (300.0, 400.0, 500.0), "mean_power_watts": (350.0, 350.0, 350.0)}
    assert found == {"product": {"cuda:0": Sensed(readings=3, values=values, held_back={})}}


def test_a_case_has_the_processor_and_no_device_that_it_does_not_use() -> None:
    loop = of_cases(tick(111.5, "cpu", load=2.0), tick(111.6, "cuda:0", fan=0.5))["loop"]
    assert loop == {"cpu": Sensed(readings=1, values={"load": (2, 2, 2)}, held_back=None)}
    idle = of_cases(tick(110.5, fan=0.1))["product"]
    assert idle["cuda:0"].held_back == {}  # nothing, where the driver tells


def test_reasons_are_parts_of_the_readings_and_the_energy_counter_is_no_value() -> None:
    seen = of_cases(
        tick(110.1, "cuda:0", "SwPowerCap", fan=0.5, energy_joules=5),
        tick(110.8, "cuda:0", "SwPowerCap", "HwSlowdown", fan=0.5, energy_joules=6),
        alone(110.9),
        tick(115.0, "cuda:0", "GpuIdle", fan=0.5, energy_joules=7),
        tick(121.1, "cuda:0", fan=0.5, energy_joules=8),
    )["product"]["cuda:0"]
    assert seen.held_back == {"HwSlowdown": 0.333, "SwPowerCap": 0.667}
    assert seen.values == {"fan": (0.5, 0.5, 0.5)}


def test_a_case_that_failed_or_was_not_reached_has_no_readings() -> None:
    records = [Begun(launch=0, case="product", at=110.0, settled=0.0)]
    assert telemetry.sensors_of_cases([tick(110.5, fan=0.1)], records, DEVICES) == {}


def of_run(*lines: Line) -> Telemetry:
    found = telemetry.of_run(lines, RECORDS, {})
    assert found is not None
    return found


def test_the_series_are_medians_of_equal_steps_with_gaps_where_nothing_was_read() -> None:
    fans = ((100.0014, 0.1), (100.1, 0.3), (100.2, 0.2), (101.1, 1))
    lines = [tick(at, "cuda:0", *["Cap"] * (fan == 0.3), fan=fan) for at, fan in fans]
    found = of_run(*lines)
    assert (found.begun, found.step) == (0.001, 0.25)
    assert found.series == {"cuda:0": {"fan": [0.2, None, None, None, 1]}}
    assert found.held_back == {"cuda:0": {"Cap": [0.33, None, None, None, 0]}}


def test_a_long_run_has_a_few_hundred_points_and_a_small_file() -> None:
    found = of_run(*(
        tick(100 + at / 10, f"cuda:{gpu}", "SwPowerCap", power_watts=612.3, sm_clock_hz=1.98e9 + at)
        for at in range(5000)
        for gpu in range(2)
    ))  # fmt: skip
    assert {len(one or ()) for device in found.series.values() for one in device.values()} == {301}
    assert len(msgspec.json.encode(found)) < 20_000 * 2
    assert (found.step, found.cost) == (1.666333, 0.022004)


def test_energy_counts_from_the_first_reading_and_no_sensor_tells_more_than_it_knows() -> None:
    more: Any = {"sm_clock_hz": 1_234_567_890, "temperature_celsius": 41.26, "fan": 0.12345}
    found = of_run(tick(100, energy_joules=98_765.4, **more), tick(100.5, energy_joules=98_800.53))
    first = {name: seen and seen[0] for name, seen in found.series["cuda:0"].items()}
    assert first == {
        "energy_joules": 0,
        "sm_clock_hz": 1_234_600_000,
        "temperature_celsius": 41.3,
        "fan": 0.123,
    }
    assert found.series["cuda:0"]["energy_joules"] == [0, None, 35.1]


def test_a_quantity_that_cannot_be_read_is_null_with_its_reason() -> None:
    found = of_run(
        Unreadable(device="cuda:0", quantity="fan", reason="NVML: Not Supported"),
        tick(100, power_watts=7),
        Unreadable(device="cuda:0", quantity="power_watts", reason="NVML: GPU is lost"),
    )
    assert found.series["cuda:0"] == {"fan": None, "power_watts": [7]}
    lost = {"cuda:0.power_watts": "NVML: GPU is lost"}
    assert found.unknown == {"cuda:0.fan": "NVML: Not Supported"} | lost


def test_launches_begin_on_the_runs_clock_also_after_another_sitting() -> None:
    later = replace(tick(119.5, fan=0.1), run=30.0014)  # 10.5 s were no part of the run
    assert of_run(tick(110.5, fan=0.1), later).launches == [10, 30.501]


def test_a_run_that_could_read_nothing_says_why_and_one_that_did_not_ask_nothing() -> None:
    found = of_run(Unreadable(device="cpu", quantity="load", reason="none"))
    assert (found.series, found.unknown) == ({"cpu": {"load": None}}, {"cpu.load": "none"})
    assert (found.launches, found.cost) == ([], 0)
    assert telemetry.of_run([], RECORDS, {}) is None


# What a call costs: windows that keep a device busy, and a counter that the runner reads

USED = {"product": ["cuda:0"], "both": ["cuda:0", "cuda:1", "cpu"]}


def ticks(begun: float, ended: float, watts: float, already: float = 1e6) -> Iterator[Line]:
    """Return readings of a counter, ten a second, of a device with this power.

    already : joules that were counted at the time 0, had the device had this power since
    """
    for number in range(round((ended - begun) * 10) + 1):
        at = begun + number / 10
        yield Reading(at=at, run=at, device="cuda:0", values={ENERGY: already + watts * at})


def busy(launch: int, begun: float, ended: float, calls: int) -> Busy:
    facts: Any = {"begun": begun, "ended": ended, "calls": calls, "seconds": 0.0}
    return Busy(launch=launch, case="product", **facts)


def test_a_window_counts_its_calls_and_none_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, numbers = VirtualClock(), count(1)
    monkeypatch.setattr("frobench.suite.measure.timed_loop.monotonic", lambda: 1000 + clock.now)

    def body() -> int:
        clock.now += 0.04
        return next(numbers)

    sampler = Sampler(body, [], clock=clock)
    window = sampler.repeat()
    # Three calls together take a tenth of a second. They run 3 times before the window, 17 in it.
    assert (window.calls, sampler.result) == (3 * 17, 2 + 3 * (3 + 17))
    assert window.seconds == pytest.approx(17 * 0.12)
    assert window.ended - window.begun == pytest.approx(17 * 0.12)
    assert window.begun == pytest.approx(1000 + 2 * 0.04 + 3 * 0.12)


def test_joules_are_the_power_in_the_window_times_the_time_of_a_call() -> None:
    lines = [*ticks(0, 10, 300.01234), *(replace(it, device="cuda:1") for it in ticks(0, 7, 100.0))]
    records = [busy(0, 2.0, 3.5, 1200), busy(2, 6.0, 7.75, 700), busy(3, 8.0, 10.0, 700)]
    records += [replace(record, case="both") for record in records]
    assert energy.energy_of_cases(lines, records, USED, launches=3) == {
        "product": Energy(joules=[0.375015, None, 0.750031], seconds=[0.00125, None, 0.0025]),
        "both": Energy(joules=[0.500015, None, None], seconds=[0.00125, None, None]),
    }


def test_idle_power_is_that_of_the_end_of_the_rest() -> None:
    lines = [*ticks(0, 1.2, 200.0), *ticks(1.3, 3.3, 75.06, already=1e6 + 1.2 * (200.0 - 75.0))]
    assert energy.idle_watts(lines, [Rested(begun=0.0, ended=3.3)]) == {"cuda:0": 75.1}
    assert energy.idle_watts(lines, []) == {}


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [tick(at, fan=0.1) for at in (2.0, 3.7)],
        [*ticks(2.0, 3.4, 300.0)],  # most of the window was not seen
        [*ticks(2.0, 3.8, 0.0)],
        [*ticks(2.0, 3.0, 300.0), *ticks(3.1, 3.8, 300.0, already=0.0)],
    ],
)
def test_a_counter_that_does_not_count_or_was_not_seen_tells_no_energy(lines: list[Line]) -> None:
    window, rest = busy(0, 2.0, 3.75, 100), Rested(begun=1.0, ended=3.8)
    assert energy.energy_of_cases(lines, [window], USED, launches=1) == {}
    assert energy.idle_watts(lines, [rest]) == {}


def test_which_devices_count_is_asked_for_a_limited_time(monkeypatch: pytest.MonkeyPatch) -> None:
    refuses = {"nvmlDeviceGetTotalEnergyConsumption": 3}
    install(monkeypatch, Gpu(uuid="GPU-a"), Gpu(uuid="GPU-b", refuses=refuses))
    gpus = {"cuda:0": Identity(seal("a", "7")), "cuda:1": Identity(seal("b", "7"))}
    _, watched = sources(gpus, "7")
    assert telemetry.why_no_counter([watched]) == {"cuda:0": None, "cuda:1": "NVML: Not Supported"}

    free, late = threading.Event(), Sensor("cuda:2", {ENERGY: lambda: 1.0})
    monkeypatch.setattr(telemetry, "LONGEST_SEARCH", 0.02)
    slow = Source("NVML", ["cuda:2"], lambda: [late] if free.wait(20) else [])
    found = telemetry.why_no_counter([slow, watched])
    assert found["cuda:0"] is None
    assert found["cuda:2"] == "NVML did not answer within 0 s"
    free.set()


def test_a_window_has_no_pause_and_checks_its_last_result(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Busy(begun=1.0, ended=3.5, calls=30, seconds=2.1)

    def repeat(sampler: Sampler) -> Busy:
        sampler.result = sampler.body()
        return replace(seen)

    monkeypatch.setattr(Sampler, "repeat", repeat)
    session, records = listening(launch_spec("measure", launch=4))
    again = item("product")
    again.stash[case.WINDOW] = True
    case.Measure(session, again, 0.0)(lambda: 7, check=lambda it: Check("it", float(it != 7), 0.0))
    assert records[-1] == replace(seen, launch=4, case="product")
    with pytest.raises(WrongResultError):
        case.Measure(session, again, 0.0)(lambda: 7, check=lambda _: Check("it", 1.0, 0.0))


def test_a_simulated_gpu_gives_the_joules_that_it_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]

    def look() -> float:  # at a clock, which takes 20 ms, and nothing else any time
        now[0] += 0.02
        return now[0]

    gpu = Gpu(uuid="GPU-a", energy=lambda: int(1000 * 420.0 * now[0]))
    install(monkeypatch, gpu)
    (sensor,) = sources({"cuda:0": Identity(seal("a", "7"))}, "7")[1].sensors()
    source = Source("NVML", ["cuda:0"], lambda: [sensor])
    stepped = SimpleNamespace(monotonic=look, thread_time=lambda: (now[0] - 100) / 50)
    monkeypatch.setattr(telemetry, "time", stepped)
    monkeypatch.setattr(sensors, "time", stepped)
    over: Any = SimpleNamespace(wait=lambda seconds: now.__setitem__(0, now[0] + seconds))
    lines: list[Line] = []
    for line in telemetry.lines_of(source, lambda: now[0], over):
        lines.append(line)
        if now[0] > 104:
            break
    found = energy.energy_of_cases(lines, [busy(0, 101.0, 103.0, 5)], USED, launches=1)["product"]
    assert found.joules == [pytest.approx(420.0 * 0.4, rel=1e-3)]
    told = [line for line in lines if isinstance(line, Reading)][:4]
    assert [round(line.at, 3) for line in told] == [100.06, 100.16, 100.38, 100.6]
    assert [round(line.took, 4) for line in told] == [0.002, 0.004, 0.0024, 0.0044]
