# SPDX-License-Identifier: MIT
"""NVIDIA's sensors, read through the real pynvml from a simulated driver."""

from types import SimpleNamespace
from typing import Any

import pynvml
import pytest
import torch

from frobench.suite.kit.device import Device
from frobench.suite.machine.sensors.sensor import HELD_BACK, OF_ACCELERATORS, Sensor, seal
from frobench.suite.machine.torch_facts import bus_address
from frobench.suite.machine.vendors import sources
from frobench.suite.machine.vendors.nvidia import reasons
from frobench.suite.machine.vendors.vendor import Identity
from tests.instruments.devices.simulated_nvml import EVENT_REASONS, Gpu, install, install_none

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


def only(gpu: Gpu) -> Sensor:
    (found,) = watched(seals(cuda_0=gpu.now("uuid")))
    return found


def test_every_quantity_is_read_in_si_units(monkeypatch: pytest.MonkeyPatch) -> None:
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
    install(monkeypatch, gpu)
    sensor = only(gpu)
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
def test_every_reason_has_nvmls_name(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    gpu = Gpu(reasons=EVENT_REASONS[name])
    install(monkeypatch, gpu)
    assert only(gpu).read()[HELD_BACK] == [name]


def test_reasons_come_together_and_a_new_one_by_its_number() -> None:
    assert reasons(0) == []
    assert reasons(0x4 | 0x40 | 0x4000) == ["SwPowerCap", "HwThermalSlowdown", "0x4000"]


def test_an_older_driver_tells_its_reasons_by_the_older_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gpu = Gpu(reasons=pynvml.nvmlClocksEventReasonGpuIdle)
    install(monkeypatch, gpu).lacks.add("nvmlDeviceGetCurrentClocksEventReasons")
    assert only(gpu).read()[HELD_BACK] == ["GpuIdle"]


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (pynvml.NVML_ERROR_NO_PERMISSION, "NVML: Insufficient Permissions"),
        (pynvml.NVML_ERROR_NOT_SUPPORTED, "NVML: Not Supported"),
        (pynvml.NVML_ERROR_UNKNOWN, "NVML: Unknown Error"),
        (pynvml.NVML_ERROR_TIMEOUT, "NVML: Timeout"),
    ],
)
@pytest.mark.parametrize(
    ("function", "quantity"),
    [
        ("nvmlDeviceGetPowerUsage", "mean_power_watts"),
        ("nvmlDeviceGetTotalEnergyConsumption", "energy_joules"),
        ("nvmlDeviceGetTemperatureV", "temperature_celsius"),
        ("nvmlDeviceGetUtilizationRates", "utilization"),
        ("nvmlDeviceGetCurrentClocksEventReasons", HELD_BACK),
    ],
)
def test_what_is_refused_has_a_reason_and_no_value(
    monkeypatch: pytest.MonkeyPatch, function: str, quantity: str, code: int, reason: str
) -> None:
    others = ("nvmlDeviceGetTemperature", "nvmlDeviceGetFieldValues")
    gpu = Gpu(refuses=dict.fromkeys([function, *others], code))
    library = install(monkeypatch, gpu)
    sensor = only(gpu)
    said = sensor.read()
    assert quantity not in said
    assert len(said) >= len(OF_ACCELERATORS) - 2  # the rest goes on, but for what it asks as well
    assert sensor.unknown[quantity] == reason
    library.calls.clear()
    sensor.read()
    assert function not in library.calls, "what has failed is asked again"


def test_a_device_lost_in_mid_run_is_silent_with_its_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gpu, other = Gpu(), Gpu(uuid="GPU-other", refuses={})
    install(monkeypatch, gpu, other)
    lost, well = watched(seals(cuda_0=gpu.now("uuid"), cuda_1="GPU-other"))
    assert lost.read()
    gpu.lost = True
    assert lost.read() == {}
    assert not lost.answers
    assert set(lost.unknown) == set(OF_ACCELERATORS)
    assert "lost" in lost.unknown["power_watts"].lower()
    assert len(well.read()) == len(OF_ACCELERATORS)


def test_devices_are_told_apart_by_uuid_whatever_the_mask_makes_of_their_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    install(monkeypatch, *(Gpu(uuid=f"GPU-{name}", power=name * 1000) for name in range(4)))
    found = watched(seals(cuda_0="GPU-3", cuda_1="GPU-1"))
    assert {one.device: one.read()["power_watts"] for one in found} == {"cuda:0": 3, "cuda:1": 1}


def test_a_lost_device_hides_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, Gpu(uuid="GPU-gone", lost=True), Gpu(uuid="GPU-here"))
    gone, here = watched(seals(cuda_0="GPU-gone", cuda_1="GPU-here"))
    assert not gone.answers
    assert "no GPU with this UUID" in gone.unknown["fan"]
    assert here.read()


def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch).refuses["nvmlInitWithFlags"] = pynvml.NVML_ERROR_DRIVER_NOT_LOADED


@pytest.mark.parametrize("plant", [install_none, broken])
def test_without_a_driver_every_quantity_has_a_reason(
    monkeypatch: pytest.MonkeyPatch,
    plant: Any,  # noqa: ANN401 - a function above
) -> None:
    plant(monkeypatch)
    (found,) = watched(seals(cuda_0="GPU-1"))
    assert found.read() == {}
    assert set(found.unknown) == set(OF_ACCELERATORS)
    assert all(reason.startswith("NVML: ") for reason in found.unknown.values())


def test_a_seal_names_no_device() -> None:
    assert UUID[:8] not in seal(UUID, SALT)
    assert seal(UUID, SALT) == seal(UUID.upper(), SALT)
    assert seal(UUID, SALT) != seal(UUID, "8")


def test_what_a_launch_says_of_its_devices_is_found_by_the_runner(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = SimpleNamespace(uuid=UUID, pci_domain_id=1, pci_bus_id=0xC1, pci_device_id=0)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: told)
    install(monkeypatch, Gpu(uuid="GPU-other"), Gpu(uuid=f"GPU-{UUID}", temperature=55))
    sealed = {"cuda:0": Identity(seal(Device("cuda:0").uuid or "", SALT))}
    assert bus_address("cuda:0") == "0001:c1:00"
    (gpu,) = sources(sealed, SALT)[1].sensors()
    assert gpu.device == "cuda:0"
    assert gpu.read()["temperature_celsius"] == 55


def test_a_device_of_amds_has_no_uuid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.version, "hip", "7.0")
    assert Device("cuda:0").uuid is None


@pytest.mark.parametrize(
    ("capability", "told"),
    [((7, 5), "power_watts"), ((8, 0), "power_watts"), ((8, 6), "mean_power_watts")],
)
def test_where_the_power_of_the_moment_is_not_told_the_mean_of_a_second_is_called_so(
    monkeypatch: pytest.MonkeyPatch, capability: tuple[int, int], told: str
) -> None:
    refuses = {"nvmlDeviceGetFieldValues": pynvml.NVML_ERROR_NOT_SUPPORTED}
    gpu = Gpu(power=350_000, capability=capability, refuses=refuses)
    install(monkeypatch, gpu)
    said = only(gpu).read()
    assert {name for name in said if "power" in name} == {told}
    assert said[told] == 350


def test_the_power_of_the_moment_is_read_where_there_is_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gpu = Gpu(power=350_000, refuses={"nvmlDeviceGetPowerUsage": pynvml.NVML_ERROR_UNKNOWN})
    install(monkeypatch, gpu)
    assert only(gpu).read()["power_watts"] == 350
