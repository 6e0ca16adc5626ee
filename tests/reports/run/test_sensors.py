# SPDX-License-Identifier: MIT
"""What sensors said, on the page: drawn where it was read, in words, and marked if it matters."""

from typing import Any

import pytest

from frobench.reports.files.metadata import ANYWHERE, Head
from frobench.reports.run import sensors
from frobench.reports.run.page import Contents, Signs, run_page
from frobench.reports.summary import views
from frobench.suite import checks
from frobench.suite.checks import noise, power, rule
from frobench.suite.stored.types import Energy, Run, Sensed, Telemetry, Work
from tests.instruments.faults.judging import made, put
from tests.reports.charts.test_ruler import told as all_of


def page_of(run: Run) -> str:
    """Return the page of a run, without its answers."""
    return run_page(Contents(run, []), [], Signs(Head("", "", "", {}, ANYWHERE), "", "", ""))


def on_gpus() -> Run:
    run = made(accelerators=2)
    series: dict[str, dict[str, list[float | None] | None]] = {
        "cpu": {"clock_hz": [3e9, 3e9, 3e9], "load": [1.5, 2.5, 2.0]},
        "cuda:0": {
            "sm_clock_hz": [2e9, 2e9, 2e9],
            "power_watts": [100.0, None, 300.0],
            "energy_joules": [0, 0, 4],
            "fan": None,
        },
        "cuda:1": {"power_watts": [90, 90, 90]},
    }
    run.frobench.telemetry = Telemetry(
        begun=20.0,
        step=10.0,
        series=series,
        held_back={"cuda:0": {"SwPowerCap": [1.0, None, 0.234]}, "cuda:1": {"SwPowerCap": [None]}},
        launches=[20.0, 24.5, 24.6, 35.0, 36.0],
        unknown={"cuda:0.fan": "NVML: Not Supported"},
        cost=0.0031,
    )
    return run


def test_each_launch_has_a_line_where_it_began_in_every_chart() -> None:
    told: Any = sensors.sensors(on_gpus())
    assert [one.title for one, _ in told.drawn] == ["Clock", "Power"]
    clock = all_of(told.drawn[0][1]).split("; ")
    assert clock[2:7:2] == ["1.96] 0 168", "2] 0 96", "2.04] 0 24"]
    assert clock[-1] == "k1 d0 NVIDIA H200 (cuda:0): 2 GHz to 2 GHz 20 92, 60 92, 100 92"
    assert all_of(told.drawn[1][1]).partition("300] 0 36; ")[2] == (
        "20^ 0 181; 30^ 40 181; 40^ 80 181; time of the run, s] 100 200; W] 0 14; "
        "launch 0 20, 0 164; launch 1 0 14; launch 18 20, 18 164; launch 18 20, 18 164; 3 18 14; "
        "launch 60 20, 60 164; 4 60 14; "
        "launch 64 20, 64 164; k1 d0 NVIDIA H200 (cuda:0): 100 W to 300 W 20 146, 100 32; "
        "k2 d1 NVIDIA H200 (cuda:1): 90 W to 90 W 20 152, 60 152, 100 152"
    )
    assert told.held_back == [("NVIDIA H200 (cuda:0)", "SwPowerCap", "62%")]
    assert told.cost == "0.31%"


def test_energy_is_told_by_call_and_watt_beside_the_power_at_rest() -> None:
    run = on_gpus()
    put(run, "frobench.telemetry.idle_watts", {"cuda:0": 76.4, "cpu": 31.0, "cuda:1": 0.0})
    put(run, "frobench.environment.accelerators.0.power_limit_watts", 560.0)
    case = next(one for one in run.benchmarks if one.extra_info.work.flops)
    case.extra_info.work = Work(flops=3e11)
    joules = [0.3, 0.31, 0.29, 0.3, 0.32, 0.28, None, 0.3]
    seconds = [j and j / 600 for j in joules]
    case.extra_info.energy = Energy(joules=[*joules, 0.0, 0.4], seconds=[*seconds, 1.0, 0.0])
    told: Any = sensors.spent(run, {case.fullname: ("throttled",)})
    (row,) = told.rows
    assert (row.joules.value.value, row.joules.value.launches) == (0.3, 7)
    assert row.watts.value.value == pytest.approx(600)
    assert row.work.value.value == pytest.approx(1e12)
    assert row.work.marks == ("throttled",)
    assert told.devices == [
        "NVIDIA H200 (cuda:0): 76.4 W at rest; its power limit is 560 W, 80% of its default",
        "CPU: 31 W at rest",
    ]
    page = page_of(run)
    assert '300 mJ</span> <span class="interval">[283, 317]' in page


def test_without_a_counter_there_is_no_word_of_energy_but_the_reason() -> None:
    run = on_gpus()
    assert sensors.spent(run, {}) is None  # an older file does not tell
    assert "<h3>Energy</h3>" not in page_of(run)
    first, second, third, *_ = run.frobench.outcomes
    run.frobench.without_energy = dict.fromkeys((first.fullname, third.fullname), "no counter")
    run.frobench.without_energy[second.fullname] = "no time"
    for case, joules in zip(run.benchmarks[3:], (0.0, None), strict=False):
        case.extra_info.energy = Energy(joules=[joules, None], seconds=[2.0, 2.0])
    told: Any = sensors.spent(run, {})
    assert told.left_out == {
        "no counter": [views.name(run, first), views.name(run, third)],
        "no time": [views.name(run, second)],
        "the counter did not move": [views.name(run, run.benchmarks[3])],
    }
    page = page_of(run)
    assert "Energy of 2 headline cases was not measured: no counter</summary>" in page
    assert "Energy of 1 headline case was not measured: no time</summary>" in page
    assert "<code>cuda:0.fan</code>: NVML: Not Supported" in page


def test_a_throttled_case_says_so_beside_its_number() -> None:
    run = made(accelerators=1)
    parts = {"GpuIdle": 0.2, "SwPowerCap": 0.9, "SwThermalSlowdown": 0.4}
    sensed = {"cuda:0": Sensed(readings=40, values={}, held_back=parts)}
    run.benchmarks[0].extra_info.telemetry = sensed
    run.frobench.conclusions = [*rule.conclusions(run, noise, power)]
    name = run.benchmarks[0].fullname
    by_heat, by_power = (one for one in run.frobench.conclusions if one.case == name)
    told = "cuda:0 was held back by heat (SwThermalSlowdown) in 40% of 40 readings"
    assert (by_heat.code, by_heat.severity, by_heat.message) == ("throttled-case", "warning", told)
    assert (by_power.code, by_power.severity) == ("power-limited-case", "info")
    assert "(SwPowerCap) in 90%" in by_power.message
    assert views.marks(run)[name] == ("throttled",)
    assert set(run.frobench.conclusions) <= set(checks.conclude(run))


def test_the_table_beside_the_page_has_every_reading_or_the_reason() -> None:
    run = on_gpus()
    put(run, "frobench.telemetry.launches", [30.0, 44.0])
    (sheet,) = (one for one in Contents(run, []).tables if one.name == "sensors")
    found = [tuple(row.values()) for row in sheet.table.to_pylist()]
    assert [one[2:5] for one in found if one[:2] == ("cuda:0", "power_watts")] == [
        (25.0, None, 100.0),
        (45.0, 1, 300.0),
    ]
    assert ("cuda:0", "fan", None, None, None, "NVML: Not Supported") in found
    assert ("cuda:0", "held_back.SwPowerCap", 45.0, 1, 0.234, None) in found
