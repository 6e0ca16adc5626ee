# SPDX-License-Identifier: MIT
"""The sensors of processors, of AMD's and of Apple's devices, each with what it cannot tell."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from suite import telemetry
from suite.sensors import amd, cpu, zeus
from suite.sensors.sensor import HELD_BACK, OF_ACCELERATORS, Sensor


def put(root: Path, files: dict[str, object]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{content}\n")
    return root


def clocks(root: Path, *kilohertz: int) -> None:
    for core, clock in enumerate(kilohertz):
        put(root, {f"sys/devices/system/cpu/cpu{core}/cpufreq/scaling_cur_freq": clock})


def package(number: int, microjoules: int, name: str = "package") -> dict[str, object]:
    zone = f"sys/class/powercap/intel-rapl:{number}"
    return {
        f"{zone}/name": f"{name}-{number}",
        f"{zone}/energy_uj": microjoules,
        f"{zone}/max_energy_range_uj": 1_000_000,
    }


def test_the_clock_is_that_of_the_fastest_usable_core(tmp_path: Path) -> None:
    clocks(tmp_path, 800_000, 3_200_000, 4_000_000)
    sensor = cpu.sensor(tmp_path, cores=[0, 1])
    assert sensor.read()["clock_hz"] == 3.2e9


def test_without_cpufreq_the_clock_is_the_one_in_cpuinfo(tmp_path: Path) -> None:
    put(tmp_path, {"proc/cpuinfo": "cpu MHz\t\t: 2596.140\ncpu MHz\t\t: 2601.5\n"})
    assert cpu.sensor(tmp_path, cores=[0]).read()["clock_hz"] == 2601.5e6


def test_the_load_is_that_of_the_last_minute(tmp_path: Path) -> None:
    put(tmp_path, {"proc/loadavg": "3.27 5.95 6.25 6/121 17174"})
    assert cpu.sensor(tmp_path).read()["load"] == 3.27


def test_what_a_bare_kernel_does_not_tell_has_a_reason_and_no_value(tmp_path: Path) -> None:
    sensor = cpu.sensor(tmp_path, cores=[0])
    assert sensor.read() == {}
    assert not sensor.works
    assert set(sensor.unknown) == {"clock_hz", "load", "energy_joules", "power_watts", HELD_BACK}


def test_package_energy_is_summed_and_survives_the_counters_beginning_anew(
    tmp_path: Path,
) -> None:
    put(tmp_path, package(0, 900_000) | package(1, 100_000) | package(2, 5, name="psys"))
    sensor = cpu.sensor(tmp_path, cores=[0])
    put(tmp_path, package(0, 100_000) | package(1, 600_000) | package(2, 9_999, name="psys"))
    said = sensor.read()
    assert said["energy_joules"] == pytest.approx(0.2 + 0.5)
    assert "power_watts" in said


def test_power_is_energy_over_time(monkeypatch: pytest.MonkeyPatch) -> None:
    times, joules = iter([10.0, 12.5]), iter([3.0, 8.0])
    monkeypatch.setattr(cpu, "time", SimpleNamespace(monotonic=lambda: next(times)))
    assert cpu.Rate(lambda: next(joules))() == 2.0


def test_energy_that_only_root_may_read_has_that_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, package(0, 1))

    def forbidden(_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(cpu, "Energy", forbidden)
    sensor = cpu.sensor(tmp_path, cores=[0])
    assert sensor.unknown["energy_joules"] == "the kernel lets only root read the packages' energy"
    assert sensor.unknown["power_watts"] == sensor.unknown["energy_joules"]


def test_a_package_that_was_too_hot_since_the_last_reading_says_so(tmp_path: Path) -> None:
    counter = "sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count"
    put(tmp_path, {counter: 4})
    sensor = cpu.sensor(tmp_path, cores=[0])
    assert sensor.read()[HELD_BACK] == []
    put(tmp_path, {counter: 6})
    assert [sensor.read()[HELD_BACK] for _ in range(2)] == [[cpu.THROTTLED], []]


def test_what_fails_in_mid_run_is_dropped_with_a_reason_that_names_no_path(tmp_path: Path) -> None:
    put(tmp_path, {"proc/loadavg": "1.0 1 1 1/1 1"})
    clocks(tmp_path, 2_000_000)
    sensor = cpu.sensor(tmp_path, cores=[0])
    (tmp_path / "proc/loadavg").unlink()
    assert set(sensor.read()) == {"clock_hz"}
    assert sensor.unknown["load"] == "No such file or directory"


class Smi:
    """amdsmi, as far as it is asked; what it does not know is the text N/A."""

    AmdSmiClkType = SimpleNamespace(GFX="gfx", MEM="mem")
    AmdSmiTemperatureType = SimpleNamespace(HOTSPOT="hotspot")
    AmdSmiTemperatureMetric = SimpleNamespace(CURRENT="current")

    def __init__(self, devices: int = 1, **told: Any) -> None:  # noqa: ANN401 - as below
        self._devices = list(range(devices))
        self._told = {
            "clock_info": {"clk": 1700},
            "power_info": {"current_socket_power": "N/A", "average_socket_power": 450},
            "energy_count": {"energy_accumulator": 2_000_000, "counter_resolution": 15.3},
            "temp_metric": 61,
            "gpu_fan_speed": 51,
            "gpu_activity": {"gfx_activity": 88},
            "gpu_pci_replay_counter": 2,
            "violation_status": {"active_ppt_pwr": True, "active_vr_thrm": False, "per": True},
        } | told

    def amdsmi_init(self) -> None:
        """Begin."""

    def amdsmi_get_processor_handles(self) -> list[int]:
        """List the devices."""
        return self._devices

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the library tells
        return lambda *_: self._told[name.removeprefix("amdsmi_get_")]


def test_amds_quantities_are_read_in_si_units() -> None:
    (sensor,) = amd.sensors(["cuda:0"], Smi())
    assert sensor.read() == {
        "sm_clock_hz": 1.7e9,
        "memory_clock_hz": 1.7e9,
        "power_watts": 450,
        "energy_joules": pytest.approx(30.6),
        "temperature_celsius": 61,
        "fan": 0.2,
        "utilization": 0.88,
        "pcie_replays": 2,
        HELD_BACK: ["ppt_pwr"],
    }


def test_amds_missing_values_are_dropped_with_a_reason() -> None:
    (sensor,) = amd.sensors(
        ["cuda:0"], Smi(temp_metric="N/A", gpu_activity={"gfx_activity": "N/A"})
    )
    assert not {"temperature_celsius", "utilization"} & set(sensor.read())
    assert "N/A" in sensor.unknown["temperature_celsius"]
    assert sensor.unknown["utilization"].startswith("amdsmi: ")


def test_amds_devices_behind_a_mask_are_not_mistaken_for_each_other() -> None:
    (sensor,) = amd.sensors(["cuda:0"], Smi(devices=2))
    assert not sensor.works
    assert "which is which" in sensor.unknown["fan"]


def test_without_amds_library_the_reason_names_the_extra() -> None:
    (sensor,) = amd.sensors(["cuda:0"])
    assert "extra `amd`" in sensor.unknown["power_watts"]


def test_apples_gpu_tells_its_energy_and_its_power() -> None:
    told = iter([1000, 1500, 2500])
    monitor = SimpleNamespace(get_cumulative_energy=lambda: SimpleNamespace(gpu_mj=next(told)))
    (sensor,) = zeus.sensors(["mps:0"], monitor)
    said = sensor.read()
    assert said["energy_joules"] == 1.5
    assert said["power_watts"] != 0
    assert set(sensor.unknown) == set(OF_ACCELERATORS) - set(said)


def test_an_apple_without_a_gpu_counter_and_no_apple_at_all_have_a_reason() -> None:
    none = SimpleNamespace(get_cumulative_energy=lambda: SimpleNamespace(gpu_mj=None))
    for found in (zeus.sensors(["mps:0"], none), zeus.sensors(["mps:0"])):
        assert not found[0].works
        assert found[0].unknown["energy_joules"].startswith("Zeus (the extra `energy`): ")


def test_each_kind_of_device_is_asked_of_its_library(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, list[str]]] = []

    def asks(name: str) -> Any:  # noqa: ANN401 - a function of a library's module
        def sensors(devices: Any, *_: str) -> list[Sensor]:  # noqa: ANN401 - names or seals
            asked.append((name, list(devices)))
            return []

        return sensors

    for module in ("nvml", "amd", "zeus"):
        monkeypatch.setattr(getattr(telemetry, module), "sensors", asks(module))
    telemetry.sensors({"cuda:0": "a", "cuda:1": "b"}, "7")
    telemetry.sensors({"cuda:0": None}, "7")
    telemetry.sensors({"mps:0": None}, "7")
    assert asked == [("nvml", ["cuda:0", "cuda:1"]), ("amd", ["cuda:0"]), ("zeus", ["mps:0"])]


def test_a_device_that_nothing_reads_says_so() -> None:
    processor, other = telemetry.sensors({"xpu:0": None}, "7")
    assert processor.device == "cpu"
    assert other.unknown["power_watts"] == "no library asked here reads xpu devices"


def test_counts_of_heat_that_cannot_be_read_take_nothing_else_along(tmp_path: Path) -> None:
    count = tmp_path / "sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count"
    count.mkdir(parents=True)  # opening it fails, for root too
    put(tmp_path, {"proc/loadavg": "3.27 2 1 1/100 7"})
    sensor = cpu.sensor(tmp_path, cores=[0])
    assert sensor.read() == {"load": 3.27}
    assert "cannot be read" in sensor.unknown[HELD_BACK]
