# SPDX-License-Identifier: MIT
"""One accelerator: what torch says of it, and for NVIDIA's what the driver's NVML says."""

from collections.abc import Callable
from typing import Any

import pynvml
import torch

from suite.machine.facts import Facts
from suite.model import Accelerator

READINGS: dict[str, Callable[[Any, Any], str | float | bool]] = {
    "driver": lambda nvml, _: nvml.nvmlSystemGetDriverVersion(),
    "power_limit_watts": lambda nvml, gpu: nvml.nvmlDeviceGetPowerManagementLimit(gpu) / 1000,
    "power_limit_default_watts": (
        lambda nvml, gpu: nvml.nvmlDeviceGetPowerManagementDefaultLimit(gpu) / 1000
    ),
    "max_clock_hz": (
        lambda nvml, gpu: nvml.nvmlDeviceGetMaxClockInfo(gpu, nvml.NVML_CLOCK_SM) * 1e6
    ),
    "ecc": lambda nvml, gpu: bool(nvml.nvmlDeviceGetEccMode(gpu)[0]),
    "persistence": lambda nvml, gpu: bool(nvml.nvmlDeviceGetPersistenceMode(gpu)),
    "mig": lambda nvml, gpu: bool(nvml.nvmlDeviceGetMigMode(gpu)[0]),
    "pcie_generation": lambda nvml, gpu: nvml.nvmlDeviceGetCurrPcieLinkGeneration(gpu),
    "pcie_width": lambda nvml, gpu: nvml.nvmlDeviceGetCurrPcieLinkWidth(gpu),
    "pcie_generation_max": lambda nvml, gpu: nvml.nvmlDeviceGetMaxPcieLinkGeneration(gpu),
    "pcie_width_max": lambda nvml, gpu: nvml.nvmlDeviceGetMaxPcieLinkWidth(gpu),
}
"""How each fact that only the driver knows is read; NVML counts milliwatts and megahertz."""


def accelerator(name: str, facts: Facts) -> Accelerator:
    """Describe the accelerator that torch calls `name`, such as `cuda:0`."""
    device = torch.device(name)
    known, uuid = _told_by_torch(device)
    reasons: dict[str, str] = {}
    if device.type == "cuda" and torch.version.hip is None:
        told, reasons = told_by_driver(uuid)
        known |= told
    otherwise = f"neither torch nor a library asked here tells it of {device.type} devices"
    return Accelerator(
        name=known.pop("name", None) or device.type,
        type=device.type,
        index=device.index or 0,
        **{
            fact: facts.note(fact, known.get(fact), reasons.get(fact, otherwise))
            for fact in ("memory_bytes", "capability", "multiprocessors", *READINGS)
        },
    )


def told_by_driver(
    uuid: str,
    nvml: Any = pynvml,  # noqa: ANN401 - it has no types
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return what NVIDIA's driver knows of a GPU, and the reasons for what it does not say.

    uuid : as torch gives it; torch's own numbers are not the driver's where a mask is set
    nvml : the library to ask
    """
    told: dict[str, Any] = {}
    reasons = {}
    try:
        nvml.nvmlInit()
        gpu = nvml.nvmlDeviceGetHandleByUUID(f"GPU-{uuid}")
    except nvml.NVMLError as error:
        return {}, dict.fromkeys(READINGS, f"NVML: {error}")
    for fact, read in READINGS.items():
        try:
            told[fact] = read(nvml, gpu)
        except nvml.NVMLError as error:
            reasons[fact] = f"NVML: {error}"
    return told, reasons


def _told_by_torch(device: torch.device) -> tuple[dict[str, Any], str]:
    """Return what torch knows of a device, as far as its backend says, and its UUID."""
    if device.type == "mps":
        return {
            "name": torch.backends.mps.get_name(),
            "memory_bytes": torch.mps.recommended_max_memory(),
            "multiprocessors": torch.backends.mps.get_core_count(),
        }, ""
    ask = getattr(torch.get_device_module(device), "get_device_properties", lambda _: None)
    properties: Any = ask(device)

    def said(name: str) -> Any:  # noqa: ANN401 - each backend has properties of its own
        return getattr(properties, name, None)

    capability = None
    if said("major") is not None:
        gfx = said("gcnArchName") if torch.version.hip else None
        capability = gfx or f"{properties.major}.{properties.minor}"
    return {
        "name": said("name"),
        "memory_bytes": said("total_memory"),
        "capability": capability,
        "multiprocessors": said("multi_processor_count") or said("max_compute_units"),
        "driver": said("driver_version"),
    }, str(said("uuid"))
