# SPDX-License-Identifier: MIT
"""What a run stores of its readings: a summary for each case, short series, and nothing made up."""

import msgspec
import pytest

from frobench.suite.journal import Begun, Record
from frobench.suite.run import telemetry
from frobench.suite.run.telemetry import Line, Reading, Unreadable
from frobench.suite.stored.types import Telemetry
from tests.instruments.runs.made_up_records import measured

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


def test_a_case_gets_the_readings_of_its_time_in_all_launches() -> None:
    lines = [
        tick(109.9, power_watts=1),
        tick(110.2, power_watts=300),
        tick(110.9, power_watts=500),
        tick(111.5, power_watts=2),
        tick(121.5, power_watts=400),
    ]
    found = telemetry.sensors_of_cases(lines, RECORDS, DEVICES)
    assert set(found) == {"product"}
    seen = found["product"]["cuda:0"]
    assert seen.readings == 3
    assert seen.values == {"power_watts": (300, 400, 500)}


def test_a_mean_power_of_the_time_before_a_case_is_not_its_own() -> None:
    records = [*flight(0, "product", 110, 1), *flight(1, "product", 120, 5)]
    lines = [tick(at, mean_power_watts=at) for at in (110.2, 110.9, 120.4, 121.1, 123.0)]
    seen = telemetry.sensors_of_cases(lines, records, DEVICES)["product"]["cuda:0"]
    assert (seen.readings, seen.values) == (5, {"mean_power_watts": (121.1, 122.0, 123.0)})
    assert telemetry.sensors_of_cases(lines[:2], records, DEVICES)["product"]["cuda:0"].values == {}


def test_the_energy_counter_read_by_itself_is_no_reading_of_a_case() -> None:
    lines = [
        tick(110.2, power_watts=300),
        Reading(at=110.3, run=10.3, device="cuda:0", values={"energy_joules": 5.0}),
        Reading(at=121.5, run=21.5, device="cuda:0", values={"energy_joules": 6.0}),
    ]
    seen = telemetry.sensors_of_cases(lines, RECORDS, DEVICES)["product"]["cuda:0"]
    assert (seen.readings, seen.values) == (1, {"power_watts": (300, 300, 300)})


def test_a_case_has_the_processor_and_no_device_that_it_does_not_use() -> None:
    lines = [tick(111.5, "cpu", load=2.0), tick(111.6, "cuda:0", fan=0.5)]
    found = telemetry.sensors_of_cases(lines, RECORDS, DEVICES)
    assert set(found["loop"]) == {"cpu"}
    assert found["loop"]["cpu"].held_back is None


def test_reasons_are_parts_of_the_readings_and_the_energy_counter_is_no_value() -> None:
    lines = [
        tick(110.1, "cuda:0", "SwPowerCap", fan=0.5, energy_joules=5),
        tick(110.8, "cuda:0", "SwPowerCap", "HwSlowdown", fan=0.5, energy_joules=6),
        Reading(at=110.9, run=10.9, device="cuda:0", values={}),  # it told nothing of its clock
        tick(115.0, "cuda:0", "GpuIdle", fan=0.5, energy_joules=7),
        tick(121.1, "cuda:0", fan=0.5, energy_joules=8),
        tick(121.2, "cuda:0", fan=0.5, energy_joules=9),
    ]
    seen = telemetry.sensors_of_cases(lines, RECORDS, DEVICES)["product"]["cuda:0"]
    assert seen.held_back == {"HwSlowdown": 0.25, "SwPowerCap": 0.5}
    assert seen.values == {"fan": (0.5, 0.5, 0.5)}


def test_nothing_held_back_is_not_the_same_as_nothing_known() -> None:
    assert (
        telemetry.sensors_of_cases([tick(110.5, fan=0.1)], RECORDS, DEVICES)["product"][
            "cuda:0"
        ].held_back
        == {}
    )


def test_a_case_that_failed_or_was_not_reached_has_no_readings() -> None:
    records = [Begun(launch=0, case="product", at=110.0)]
    assert telemetry.sensors_of_cases([tick(110.5, fan=0.1)], records, DEVICES) == {}


def run(lines: list[Line]) -> Telemetry:
    found = telemetry.of_run(lines, RECORDS, {})
    assert found is not None
    return found


def test_the_series_are_medians_of_equal_steps_with_gaps_where_nothing_was_read() -> None:
    found = run(
        [tick(100.0, fan=0.1), tick(100.1, fan=0.3), tick(100.2, fan=0.2), tick(101, fan=1)]
    )
    assert found.begun == 0
    assert found.step == telemetry.LEAST_STEP
    assert found.series == {"cuda:0": {"fan": [0.2, None, None, None, 1]}}


def test_a_long_run_has_a_few_hundred_points_and_a_small_file() -> None:
    lines: list[Line] = [
        tick(100 + at / 10, f"cuda:{gpu}", "SwPowerCap", power_watts=612.3, sm_clock_hz=1.98e9 + at)
        for at in range(5000)
        for gpu in range(2)
    ]
    found = run(lines)
    assert {len(one or ()) for device in found.series.values() for one in device.values()} == {301}
    assert len(msgspec.json.encode(found)) < 20_000 * 2
    assert found.cost == pytest.approx(0.02, rel=0.01)


def test_energy_counts_from_the_first_reading() -> None:
    found = run([tick(100, energy_joules=98_765.4), tick(100.5, energy_joules=98_800.5)])
    assert found.series["cuda:0"]["energy_joules"] == [0, None, 35.1]


def test_a_quantity_that_cannot_be_read_is_null_with_its_reason() -> None:
    found = run([
        Unreadable(device="cuda:0", quantity="fan", reason="NVML: Not Supported"),
        tick(100, power_watts=7),
        Unreadable(device="cuda:0", quantity="power_watts", reason="NVML: GPU is lost"),
    ])  # fmt: skip
    assert found.series["cuda:0"] == {"fan": None, "power_watts": [7]}
    assert found.unknown == {
        "cuda:0.fan": "NVML: Not Supported",
        "cuda:0.power_watts": "NVML: GPU is lost",
    }


def test_what_held_the_clock_back_is_a_part_of_each_step() -> None:
    found = run([tick(100, "cuda:0", "SwPowerCap"), tick(100.1), tick(101, "cuda:0", "SwPowerCap")])
    assert found.held_back == {"cuda:0": {"SwPowerCap": [0.5, None, None, None, 1]}}


def test_launches_begin_on_the_runs_clock_also_after_another_sitting() -> None:
    lines: list[Line] = [
        tick(109.5, fan=0.1),
        Reading(
            at=119.5, run=30.0, device="cuda:0", values={"fan": 0.1}
        ),  # 10.5 s were no part of it
    ]
    assert run(lines).launches == [10, 30.5]


def test_a_run_that_could_read_nothing_says_why_and_one_that_did_not_ask_nothing() -> None:
    found = run([Unreadable(device="cpu", quantity="load", reason="none")])
    assert (found.series, found.unknown) == ({"cpu": {"load": None}}, {"cpu.load": "none"})
    assert (found.launches, found.cost) == ([], 0)
    assert telemetry.of_run([], RECORDS, {}) is None
