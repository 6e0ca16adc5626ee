# SPDX-License-Identifier: MIT
"""The vendors of accelerators: a module for each, and what the system shows of them.

Not every accelerator that is shown can be used by torch, and an integrated, virtual or management
display is none.
"""

from collections.abc import Mapping
from pathlib import Path

from frobench.suite.machine.host import ROOT, read
from frobench.suite.machine.sensors import cpu
from frobench.suite.machine.sensors.sensor import Source
from frobench.suite.machine.vendors.amd import Amd
from frobench.suite.machine.vendors.apple import Apple
from frobench.suite.machine.vendors.intel import Intel
from frobench.suite.machine.vendors.nvidia import Nvidia
from frobench.suite.machine.vendors.vendor import Gpu, Identity, Vendor

VENDORS: dict[str, Vendor] = {one.name: one for one in (Nvidia(), Amd(), Intel(), Apple())}


def shown(root: Path = ROOT) -> list[Gpu]:
    """Return the accelerators on the PCI bus, or else those that a vendor's library lists.

    The bus is not shown on Windows and in Linux inside it. `root` is where `/proc` and `/sys` lie.
    """
    gpus = []
    for card in sorted((root / "sys/bus/pci/devices").glob("*")):
        kind, pci = read(card / "class")[:6], read(card / "vendor")
        for vendor in VENDORS.values():
            if pci == vendor.pci and vendor.is_accelerator(card, kind):
                label = f"{vendor.name} GPU ({pci[2:]}:{read(card / 'device')[2:]})"
                gpus.append(Gpu(vendor, vendor.model(card, root) or label, card))
    return gpus or [
        Gpu(vendor, str(one.sensor.read().get("name", one.gpu.name)))
        for vendor in VENDORS.values()
        for one in vendor.examine([], ["name"])
    ]


def vendor_of(kind: str, *, has_uuid: bool) -> Vendor:
    """Return the vendor of torch's devices of a type; ROCm's and CUDA's have the same."""
    for vendor in VENDORS.values():
        if (vendor.type, vendor.has_uuid) == (kind, has_uuid):
            return vendor
    unknown = Vendor()
    unknown.type = kind
    return unknown


def sources(identities: Mapping[str, Identity], salt: str) -> list[Source]:
    """Return the sources for the processor and for the accelerators that a run measures.

    identities : by torch's name
    salt : what UUIDs are sealed with
    """
    devices: dict[tuple[str, bool], dict[str, Identity]] = {}
    for device, identity in identities.items():
        backend = device.partition(":")[0], identity.seal is not None
        devices.setdefault(backend, {})[device] = identity
    found = [Source("the system", [cpu.CPU], lambda: [cpu.sensor()], cpu.OF_CPU)]
    for (kind, has_uuid), of_kind in devices.items():
        found.append(vendor_of(kind, has_uuid=has_uuid).source(of_kind, salt))
    return found
