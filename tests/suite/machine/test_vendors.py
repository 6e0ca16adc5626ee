# SPDX-License-Identifier: MIT
"""A new vendor takes a module, a line in `VENDORS` and the names of what holds its clocks back."""

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
import torch

from frobench.suite.doctor import Offer, judge, unusable_accelerators
from frobench.suite.doctor.examined import examine_without_torch
from frobench.suite.machine import torch_facts
from frobench.suite.machine.sensors import throttle_causes
from frobench.suite.machine.sensors.throttle_causes import Cause
from frobench.suite.machine.vendors import VENDORS, sources
from frobench.suite.machine.vendors.vendor import Identity, Reader, Vendor
from frobench.suite.terminal import doctor_page
from tests.instruments.devices.simulated_nvml import install_none
from tests.instruments.processes.project_files import planted
from tests.suite.doctor.test_doctor import NONE, codes

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
