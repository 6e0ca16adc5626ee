# SPDX-License-Identifier: MIT
"""The devices of this machine, and which of them a session measures."""

from collections.abc import Iterable

import torch

from suite.machine.accelerators.hardware import serves


class UnknownDeviceError(ValueError):
    """A device was named that this machine does not have."""


def accelerators() -> list[str]:
    """Name every accelerator that torch can use, visible-device masks honoured."""
    kind = torch.accelerator.current_accelerator(check_available=True)
    if kind is None:
        return []
    return [f"{kind.type}:{index}" for index in range(torch.accelerator.device_count())]


def try_device(index: int = 0) -> torch.device:
    """Return accelerator `index` where it exists, and the CPU where it does not."""
    names = accelerators()
    return torch.device(names[index] if 0 <= index < len(names) else "cpu")


def all_devices() -> list[torch.device]:
    """Return every accelerator, or the CPU alone where there is none."""
    return [torch.device(name) for name in accelerators() or ["cpu"]]


def choose(wanted: Iterable[str]) -> list[str]:
    """Name the devices to measure: those wanted, or the CPU and every accelerator that is served.

    Where none is served, all are named, so that a run never silently measures the CPU alone.

    Raises `UnknownDeviceError` for a name that this machine does not have.
    """
    here = accelerators()
    present = ["cpu", *here]
    lacking = unserved(here)
    chosen = []
    for name in wanted or ["cpu", *([name for name in here if name not in lacking] or here)]:
        full = f"{name}:0" if name != "cpu" and name.isalpha() else name
        if full not in present:
            msg = f"no device {name!r} here; there is {', '.join(present)} (--devices chooses)"
            raise UnknownDeviceError(msg)
        chosen.append(full)
    return list(dict.fromkeys(chosen))


def unserved(names: Iterable[str]) -> list[str]:
    """Return the devices that torch sees and has no code for."""
    built = torch.cuda.get_arch_list() if torch.version.cuda else []
    return [
        name
        for name in names
        if built and name.startswith("cuda:")
        if not serves(built, "{}.{}".format(*torch.cuda.get_device_capability(name)))
    ]
