# SPDX-License-Identifier: MIT
"""What processors and each vendor's devices tell, in SI units, and what they cannot tell."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pynvml
import pytest
import torch

from frobench.suite.kit.device import Device
from frobench.suite.machine import torch_facts
from frobench.suite.machine.sensors import cpu
from frobench.suite.machine.sensors.sensor import HELD_BACK, OF_ACCELERATORS, Sensor, seal
from frobench.suite.machine.torch_facts import bus_address
from frobench.suite.machine.vendors import sources
from frobench.suite.machine.vendors.vendor import Identity
from frobench.suite.stored.types import Accelerator
from tests.instruments.devices.simulated_nvml import EVENT_REASONS, Gpu, Install
from tests.instruments.processes.project_files import planted


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "affinity", lambda: [0, 1])


def package(number: int, microjoules: int, name: str = "package") -> dict[str, object]:
    zone = f"sys/class/powercap/intel-rapl:{number}"
    return {
        f"{zone}/name": f"{name}-{number}",
        f"{zone}/energy_uj": microjoules,
        f"{zone}/max_energy_range_uj": 1_000_000,
    }


def test_the_clock_is_that_of_the_fastest_usable_core(tmp_path: Path) -> None:
    planted(tmp_path, {"proc/cpuinfo": "cpu MHz\t: 2400.5\ncpu MHz : 3100\ncpu MHz : 900\n"})
    assert cpu.sensor(tmp_path).read()["clock_hz"] == 3.1e9
    clocks = enumerate((800_000, 3_200_000, 4_000_000))
    paths = {f"sys/devices/system/cpu/cpu{n}/cpufreq/scaling_cur_freq": khz for n, khz in clocks}
    planted(tmp_path, paths)
    assert cpu.sensor(tmp_path).read()["clock_hz"] == 3.2e9


def test_what_a_bare_kernel_does_not_tell_has_a_reason_and_no_value(tmp_path: Path) -> None:
    sensor = cpu.sensor(tmp_path)
    assert sensor.read() == {"load": os.getloadavg()[0]}
    assert set(sensor.unknown) == set(cpu.OF_CPU) - {"load"}
    counter = "sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count"
    broken = {"sys/class/powercap/intel-rapl:0/name": "package-0", counter: "many"}
    unknown = cpu.sensor(planted(tmp_path, broken)).unknown
    assert unknown["energy_joules"] == "the packages' energy cannot be read: FileNotFoundError"
    assert unknown[HELD_BACK] == "the kernel's counts of heat cannot be read: ValueError"


def test_package_energy_is_summed_and_survives_the_counters_beginning_anew(tmp_path: Path) -> None:
    planted(tmp_path, package(0, 900_000) | package(1, 100_000) | package(2, 5, name="psys"))
    sensor = cpu.sensor(tmp_path)
    planted(tmp_path, package(0, 100_000) | package(1, 600_000) | package(2, 9_999, name="psys"))
    said = sensor.read()
    assert said["energy_joules"] == pytest.approx(0.2 + 0.5)
    assert said["power_watts"] != 0
    assert sensor.read()["energy_joules"] == said["energy_joules"]  # nothing was used meanwhile


def test_power_is_energy_over_time(monkeypatch: pytest.MonkeyPatch) -> None:
    times, joules = iter([10.0, 12.5]), iter([3.0, 8.0])
    monkeypatch.setattr(cpu, "time", SimpleNamespace(monotonic=lambda: next(times)))
    assert cpu.Rate(lambda: next(joules))() == 2.0


def test_energy_that_is_roots_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    denied = PermissionError(13, "Permission denied")
    monkeypatch.setattr(cpu, "Joules", MagicMock(side_effect=denied))
    unknown = cpu.sensor(planted(tmp_path, package(0, 1))).unknown
    assert unknown["energy_joules"] == "the kernel lets only root read the packages' energy"
    assert unknown["power_watts"] == unknown["energy_joules"]


def test_a_package_that_was_too_hot_since_the_last_reading_says_so(tmp_path: Path) -> None:
    counter = "sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count"
    planted(tmp_path, {counter: 4})
    sensor = cpu.sensor(tmp_path)
    assert sensor.read()[HELD_BACK] == []
    planted(tmp_path, {counter: 6})
    assert [sensor.read()[HELD_BACK] for _ in range(2)] == [["PackageThrottle"], []]


def smi(*buses: int | None, **told: Any) -> Any:  # noqa: ANN401 - a module
    """Return amdsmi, as far as it is asked; what it does not know is the text N/A.

    buses : of the devices, in its order; `None` where it does not tell
    """
    places = buses or (0xC1,)

    def bdf(gpu: int) -> str:
        if (bus := places[gpu]) is None:
            raise RuntimeError("AMDSMI_STATUS_NOT_SUPPORTED")
        return f"0000:{bus:02X}:00.0"

    answers = {
        "power_info": {"current_socket_power": "N/A", "average_socket_power": 450},
        "energy_count": {"energy_accumulator": 2_000_000, "counter_resolution": 15.3},
        "temp_metric": 61,
        "gpu_activity": {"gfx_activity": 88},
        "violation_status": {"active_vr_thrm": False, "active_ppt_pwr": [True], "per": True},
    } | told
    return SimpleNamespace(
        AmdSmiClkType=SimpleNamespace(GFX="gfx", MEM="mem"),
        AmdSmiTemperatureType=SimpleNamespace(HOTSPOT="hotspot"),
        AmdSmiTemperatureMetric=SimpleNamespace(CURRENT="current"),
        amdsmi_init=lambda: None,
        amdsmi_get_processor_handles=lambda: [*range(len(places))],
        amdsmi_get_gpu_device_bdf=bdf,
        amdsmi_get_clock_info=lambda _, kind: {"clk": {"gfx": 1700, "mem": 1300}[kind]},
        amdsmi_get_gpu_fan_speed=lambda gpu, _: 51 + 102 * gpu,  # of the second one 153
        **{f"amdsmi_get_{name}": lambda *_, told=one: told for name, one in answers.items()},
    )


def asked(library: object, devices: list[str], addresses: dict[str, str]) -> list[Sensor]:
    """Return the sensors by a library that is installed."""
    with pytest.MonkeyPatch.context() as installed:
        installed.setitem(sys.modules, "amdsmi", library)
        return sources({d: Identity(None, addresses.get(d)) for d in devices}, "")[1].sensors()


AT = {"cuda:0": "0000:c1:00"}


def test_amds_quantities_are_read_in_si_units() -> None:
    (sensor,) = asked(smi(), ["cuda:0"], AT)
    assert sensor.read() == {
        "sm_clock_hz": 1.7e9,
        "memory_clock_hz": 1.3e9,
        "power_watts": 450,
        "energy_joules": 30.6,
        "temperature_celsius": 61,
        "fan": 0.2,
        "utilization": 0.88,
        HELD_BACK: ["ppt_pwr"],
    }
    power = {"current_socket_power": 470, "average_socket_power": 450}
    energy = {"power": 3_000_000, "counter_resolution": 15.3}  # as older libraries call it
    (sensor,) = asked(smi(power_info=power, energy_count=energy), ["cuda:0"], AT)
    assert [sensor.read()[name] for name in ("power_watts", "energy_joules")] == [470, 45.9]


def test_amds_devices_are_told_apart_by_address_whatever_their_order() -> None:
    places = {"cuda:0": "0000:c1:00", "cuda:1": "0000:03:00"}
    places |= dict.fromkeys(("cuda:2", "cuda:3"), "0000:f0:00")
    found = asked(smi(None, 0xC1, 0x03, 0xF0), [*places, "cuda:4"], places)
    told = {one.device: one.read().get("fan") or one.unknown["fan"] for one in found}
    parts = "at its PCI address torch has 2 devices, amdsmi 1"
    unknown = "at its PCI address torch has 1 device, amdsmi 0"
    several = {"cuda:2": parts, "cuda:3": parts, "cuda:4": unknown}
    assert told == {"cuda:0": 0.6, "cuda:1": 1.0} | several


def test_apples_gpu_tells_its_energy_and_its_power(monkeypatch: pytest.MonkeyPatch) -> None:
    told = iter([1000, 1500, 2500])
    monitor = SimpleNamespace(get_cumulative_energy=lambda: SimpleNamespace(gpu_mj=next(told)))
    zeus = SimpleNamespace(AppleEnergyMonitor=lambda: monitor)
    monkeypatch.setitem(sys.modules, "zeus_apple_silicon", zeus)
    (sensor,) = sources({"mps:0": Identity()}, "")[1].sensors()
    said = sensor.read()
    assert said["energy_joules"] == 1.5
    assert said["power_watts"] != 0
    assert set(sensor.unknown) == set(OF_ACCELERATORS) - set(said)


@pytest.mark.usefixtures("gpus")
def test_each_kind_of_device_has_its_library() -> None:
    seals = {"cuda:0": "a", "mps:0": None, "cuda:2": None, "cuda:1": "b", "xpu:0": None}
    found = sources({device: Identity(seal) for device, seal in seals.items()}, "7")
    assert [(source.name, source.devices) for source in found] == [
        ("the system", ["cpu"]),
        ("NVML", ["cuda:0", "cuda:1"]),
        ("Zeus (the extra `energy`)", ["mps:0"]),
        ("amdsmi (the extra `amd`)", ["cuda:2"]),
        ("xpu", ["xpu:0"]),
    ]
    for source in found:
        for sensor, device in zip(source.sensors(), source.devices, strict=True):
            assert sensor.device == device
            assert {*sensor.answers, *sensor.unknown} == set(source.quantities)


SALT = "7"
UUID = "8932f937-d72c-4106-c12f-20bd9faed9f6"


def seals(**uuids: str) -> dict[str, Identity]:
    """Return what a launch says of its devices; torch's identifiers lack the driver's prefix."""
    return {
        name.replace("_", ":"): Identity(seal(uuid.removeprefix("GPU-"), SALT))
        for name, uuid in uuids.items()
    }


def watched(sealed: dict[str, Identity]) -> list[Sensor]:
    """Return the sensors of NVIDIA's devices with these seals."""
    return sources(sealed, SALT)[1].sensors()


def only(gpus: Install, gpu: Gpu) -> Sensor:
    """Return the sensor of the only GPU."""
    gpus(gpu)
    (found,) = watched(seals(cuda_0=gpu.uuid))
    return found


def test_every_quantity_is_read_in_si_units(gpus: Install) -> None:
    gpu = Gpu(
        clocks={0: 1, 1: 1830, 2: 3201, 3: 2},
        power=652_400,
        energy=9_876_543,
        temperature=67,
        fan=34,
        utilization=(99, 5),
        reasons=pynvml.nvmlClocksEventReasonSwPowerCap,
        refuses={},
    )
    sensor = only(gpus, gpu)
    assert sensor.read() == {
        "sm_clock_hz": 1.83e9,
        "memory_clock_hz": 3.201e9,
        "power_watts": 652.4,
        "energy_joules": 9876.543,
        "temperature_celsius": 67,
        "fan": 0.34,
        "utilization": 0.99,
        HELD_BACK: ["SwPowerCap"],
    }
    assert sensor.unknown == {}


@pytest.mark.parametrize("name", sorted(set(EVENT_REASONS) - {"UserDefinedClocks"}))
def test_every_reason_has_nvmls_name(gpus: Install, name: str) -> None:
    assert only(gpus, Gpu(reasons=EVENT_REASONS[name])).read()[HELD_BACK] == [name]


@pytest.mark.parametrize(
    ("function", "quantity"),
    [
        ("nvmlDeviceGetPowerUsage", "mean_power_watts"),
        ("nvmlDeviceGetCurrentClocksEventReasons", HELD_BACK),
    ],
)
def test_what_is_refused_has_a_reason_alone(gpus: Install, function: str, quantity: str) -> None:
    others = ("nvmlDeviceGetTemperature", "nvmlDeviceGetFieldValues")
    gpu = Gpu(refuses=dict.fromkeys([function, *others], pynvml.NVML_ERROR_NO_PERMISSION))
    library = gpus(gpu)
    (sensor,) = watched(seals(cuda_0=gpu.uuid))
    said = sensor.read()
    assert quantity not in said
    assert len(said) >= len(OF_ACCELERATORS) - 2  # the rest goes on, but for what it asks as well
    assert sensor.unknown[quantity] == "NVML: Insufficient Permissions"
    library.calls.clear()
    sensor.read()
    assert function not in library.calls, "what has failed is asked again"


def test_a_device_lost_in_mid_run_is_silent_with_its_reason(gpus: Install) -> None:
    gpu = Gpu()
    gpus(gpu, Gpu(uuid="GPU-other", refuses={}))
    lost, well = watched(seals(cuda_0=gpu.uuid, cuda_1="GPU-other"))
    assert lost.read()
    gpu.lost = True
    assert lost.read() == {}
    assert not lost.answers
    assert set(lost.unknown) == set(OF_ACCELERATORS)
    assert "lost" in lost.unknown["power_watts"].lower()
    assert len(well.read()) == len(OF_ACCELERATORS)


def test_the_runner_finds_a_launchs_devices(monkeypatch: pytest.MonkeyPatch, gpus: Install) -> None:
    told = SimpleNamespace(uuid=UUID, pci_domain_id=1, pci_bus_id=0xC1, pci_device_id=0)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: told)
    gpus(Gpu(uuid="GPU-other"), Gpu(uuid=f"GPU-{UUID}", temperature=55))
    sealed = {"cuda:0": Identity(seal(Device("cuda:0").uuid or "", SALT))}
    assert bus_address("cuda:0") == "0001:c1:00"
    (gpu,) = sources(sealed, SALT)[1].sensors()
    assert gpu.device == "cuda:0"
    assert gpu.read()["temperature_celsius"] == 55


MOMENT, MEAN = "nvmlDeviceGetFieldValues", "nvmlDeviceGetPowerUsage"


@pytest.mark.parametrize(
    ("refused", "capability", "told"),
    [
        (MEAN, (9, 0), "power_watts"),
        (MOMENT, (8, 0), "power_watts"),
        (MOMENT, (8, 6), "mean_power_watts"),
    ],
)
def test_where_the_power_of_the_moment_is_not_told_the_mean_of_a_second_is_called_so(
    gpus: Install, refused: str, capability: tuple[int, int], told: str
) -> None:
    refuses = {refused: pynvml.NVML_ERROR_NOT_SUPPORTED}
    said = only(gpus, Gpu(power=350_000, capability=capability, refuses=refuses)).read()
    assert {name: watts for name, watts in said.items() if "power" in name} == {told: 350}


# facts of a device, which stay as they are

TOLD: dict[str, Any] = {
    "driver": "580.95.05",
    "power_limit_watts": 600.0,
    "power_limit_default_watts": 700.0,
    "max_clock_hz": 1.98e9,
    "max_memory_clock_hz": 3.201e9,
    "ecc": True,
    "persistence": True,
    "mig": False,
    "pcie_generation": 4,
    "pcie_width": 8,
    "pcie_generation_max": 5,
    "pcie_width_max": 16,
    "numa_node": 1,
    "processes": 1,
}


Described = Callable[[], tuple[Accelerator, dict[str, str]]]


@pytest.fixture
def described(monkeypatch: pytest.MonkeyPatch) -> Described:
    """Return what describes a device that torch knows by name and UUID alone, with reasons."""
    card = SimpleNamespace(name="NVIDIA H200", uuid=UUID)
    monkeypatch.setattr(torch_facts, "_properties", lambda _: card)

    def describe() -> tuple[Accelerator, dict[str, str]]:
        unknown: dict[str, str] = {}
        return torch_facts.accelerator("cuda:0", "", unknown), unknown

    return describe


def test_the_drivers_facts_are_in_watts_and_hertz(gpus: Install, described: Described) -> None:
    gpu = Gpu(
        power_limit=600_000,
        generation=4,
        width=8,
        numa_node=1,
        mig=(0, 1),
        processes=[(os.getpid(), 2**20), (os.getpid() + 1, None)],
    )
    gpus(Gpu(uuid="GPU-other"), gpu)
    told, unknown = described()
    assert {name: getattr(told, name) for name in TOLD} == TOLD
    assert unknown.keys() == {"multiprocessors"}


def test_a_limit_and_a_clock_of_0_are_unknown(gpus: Install, described: Described) -> None:
    gpus(Gpu(power_limit=0, max_clocks=dict.fromkeys(range(4), 0)))
    told, unknown = described()
    assert (told.power_limit_watts, told.power_limit_default_watts) == (None, 700.0)
    zeros = {"power_limit_watts", "max_clock_hz", "max_memory_clock_hz"}
    assert {name for name, why in unknown.items() if why == "its driver says 0"} == zeros


def test_without_a_driver_every_fact_has_a_reason(gpus: Install, described: Described) -> None:
    def reasons() -> set[str]:
        return {described()[1][name] for name in TOLD}

    assert reasons() == {"NVML: NVML Shared Library Not Found"}
    library = gpus(Gpu(uuid="GPU-other"))
    assert reasons() == {"NVML lists no GPU with this UUID, as for a part of one"}
    library.refuses["nvmlInitWithFlags"] = pynvml.NVML_ERROR_DRIVER_NOT_LOADED
    assert reasons() == {"NVML: Driver Not Loaded"}
