# SPDX-License-Identifier: MIT
"""What a driver tells of a device is stored in SI units, and what it refuses with a reason."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pynvml
import pytest
import torch

from frobench.suite.doctor import Offer, judge, unusable_accelerators
from frobench.suite.doctor.examined import examine_without_torch
from frobench.suite.machine import torch_facts
from frobench.suite.machine.sensors import throttle_causes
from frobench.suite.machine.sensors.throttle_causes import Cause
from frobench.suite.machine.vendors import VENDORS, sources
from frobench.suite.machine.vendors.vendor import Identity, Reader, Vendor
from frobench.suite.stored.types import Accelerator
from frobench.suite.terminal import doctor_page
from tests.instruments.devices.simulated_nvml import Gpu, install, install_none
from tests.instruments.processes.project_files import planted
from tests.suite.doctor.test_doctor import NONE, codes

UUID = "8932f937-d72c-4106-c12f-20bd9faed9f6"
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


def _gpu(uuid: str = UUID, **facts: Any) -> Gpu:  # noqa: ANN401 - of a `Gpu`
    return Gpu(uuid=f"GPU-{uuid}", **facts)


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


def test_the_drivers_facts_are_in_watts_and_hertz(
    monkeypatch: pytest.MonkeyPatch, described: Described
) -> None:
    gpu = _gpu(
        power_limit=600_000,
        generation=4,
        width=8,
        numa_node=1,
        mig=(0, 1),
        processes=[(os.getpid(), 2**20), (os.getpid() + 1, None)],
    )
    install(monkeypatch, Gpu(uuid="GPU-other"), gpu)
    told, unknown = described()
    assert {name: getattr(told, name) for name in TOLD} == TOLD
    assert unknown.keys() == {"multiprocessors"}


def test_a_fact_that_is_refused_has_the_drivers_reason_and_takes_no_other_along(
    monkeypatch: pytest.MonkeyPatch, described: Described
) -> None:
    install(monkeypatch, _gpu(refuses={"nvmlDeviceGetEccMode": pynvml.NVML_ERROR_NOT_SUPPORTED}))
    _, unknown = described()
    assert unknown.pop("ecc") == "NVML: Not Supported"
    assert unknown.keys() == {"multiprocessors"}


def test_a_limit_and_a_clock_of_0_are_unknown(
    monkeypatch: pytest.MonkeyPatch, described: Described
) -> None:
    install(monkeypatch, _gpu(power_limit=0, max_clocks=dict.fromkeys(range(4), 0)))
    told, unknown = described()
    assert (told.power_limit_watts, told.power_limit_default_watts) == (None, 700.0)
    zeros = {"power_limit_watts", "max_clock_hz", "max_memory_clock_hz"}
    assert {name for name, why in unknown.items() if why == "its driver says 0"} == zeros


def test_without_a_driver_every_fact_has_a_reason(
    monkeypatch: pytest.MonkeyPatch, described: Described
) -> None:
    library = install(monkeypatch, Gpu(uuid="GPU-other"))
    assert {described()[1][name] for name in TOLD} == {
        "NVML lists no GPU with this UUID, as for a part of one"
    }
    library.refuses["nvmlInitWithFlags"] = pynvml.NVML_ERROR_DRIVER_NOT_LOADED
    assert {described()[1][name] for name in TOLD} == {"NVML: Driver Not Loaded"}
    install_none(monkeypatch)
    assert {described()[1][name] for name in TOLD} == {"NVML: NVML Shared Library Not Found"}


CARD = {
    "sys/bus/pci/devices/0000:21:00.0/class": "0x030000",
    "sys/bus/pci/devices/0000:21:00.0/vendor": "0xacce",
    "sys/bus/pci/devices/0000:21:00.0/device": "0x0001",
    "sys/bus/pci/devices/0000:21:00.0/max_link_width": "16",
    "sys/module/accme/refcnt": "1",
    "dev/accme0": "",
}


class Accme(Vendor):
    """A vendor that nobody has heard of."""

    name, type, build, pci = "Accme", "acc", "ACC", "0xacce"
    guide = "https://accme.example"
    driver = ("sys/module/accme",)
    nodes = "dev/accme*"
    masks = ("ACC_VISIBLE_DEVICES",)
    container = "--device /dev/accme0"
    api = "accsmi"
    readers: ClassVar[Mapping[str, Reader]] = {
        "driver": lambda card: card["version"],
        "power_watts": lambda card: card["watts"],
        "power_limit_watts": lambda _: 200.0,
        "power_limit_default_watts": lambda _: 300.0,
        "held_back": lambda _: ["acc_hot"],
    }

    def handles(self, devices: Mapping[str, Identity], salt: str) -> Mapping[str, Any]:  # noqa: ARG002 - it has no UUID
        """Return what its library knows of the card at each address."""
        cards = {"0000:21:00": {"version": "7.1", "watts": 150.0}}
        return {name: cards[identity.address or ""] for name, identity in devices.items()}


@pytest.fixture(autouse=True)
def accme(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add the vendor."""
    install_none(monkeypatch)
    monkeypatch.setitem(VENDORS, "Accme", Accme())
    monkeypatch.setitem(throttle_causes.CAUSES, "acc_hot", Cause("wrong", "heat", "cool card {0}"))


def test_the_doctor_knows_it(tmp_path: Path) -> None:
    root = planted(tmp_path, CARD)
    environ = {"ACC_VISIBLE_DEVICES": "0"}
    there = examine_without_torch(root, root, environ)
    [device] = there.accelerators
    assert (device.vendor, device.type, device.name) == ("Accme", "acc", "Accme GPU (acce:0001)")
    assert (device.driver, device.power_watts, device.pcie_width_max) == ("7.1", 150.0, 16)
    assert device.unknown["memory_bytes"] == "accsmi does not tell it"
    assert there.host.masks == environ
    found = {one.code: one for one in judge(there, Offer("2.13.0", {"ACC": "7"}, 1), root).troubles}
    assert found["held-back"].advice == "cool card NUMBER"
    assert "200 W of 300 W" in found["power-cap"].message
    assert "Accme GPU" in "\n".join(doctor_page.lines(there, [], 80))


@pytest.mark.parametrize(
    ("environ", "without", "code"),
    [
        ({}, "sys/module/accme/refcnt", "driver-missing"),
        ({}, "dev/accme0", "devices-not-passed-on"),
        ({"ACC_VISIBLE_DEVICES": "7"}, "", "mask-hides-all"),
        ({}, "", "unused-accelerator"),
    ],
)
def test_what_keeps_torch_from_it_is_named(
    tmp_path: Path, environ: dict[str, str], without: str, code: str
) -> None:
    root = planted(tmp_path, CARD, without=without)
    assert codes(unusable_accelerators(root, environ, Offer("2.13.0", {"ACC": "7"}, 0))) == [code]
    other = unusable_accelerators(root, environ, Offer("2.13.0+cpu", NONE, 0))
    assert other[0].message.endswith("is built for the CPU alone, not for ACC")


def test_a_run_describes_it_and_reads_its_sensors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = SimpleNamespace(name="Accme 1", pci_domain_id=0, pci_bus_id=0x21, pci_device_id=0)
    monkeypatch.setattr(torch_facts, "_properties", lambda _: card)
    monkeypatch.setattr(torch, "device", lambda _: SimpleNamespace(type="acc", index=0))
    unknown: dict[str, str] = {}
    device = torch_facts.accelerator("acc:0", "", unknown, planted(tmp_path, CARD))
    assert (device.name, device.driver, device.power_limit_watts) == ("Accme 1", "7.1", 200.0)
    assert "acc devices" in unknown["memory_bytes"]
    _, source = sources({"acc:0": Identity(address="0000:21:00")}, "7")
    (sensor,) = source.sensors()
    assert sensor.read() == {"power_watts": 150.0, "held_back": ["acc_hot"]}
    assert sensor.unknown["fan"] == "accsmi does not tell it"
