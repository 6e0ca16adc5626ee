# SPDX-License-Identifier: MIT
"""What torch says: of accelerators, how they are linked, and of its own build."""

import os
import platform
import re
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

from frobench.suite.lazy_torch import is_imported, torch
from frobench.suite.machine import host
from frobench.suite.machine.accelerator_facts import complete
from frobench.suite.machine.host import ROOT, unknown_facts
from frobench.suite.machine.sensors.sensor import seal
from frobench.suite.machine.vendors import vendor_of
from frobench.suite.machine.vendors.vendor import Identity
from frobench.suite.stored.types import Accelerator, Scalar, Software

FACTS = [name for name in Accelerator.__struct_fields__ if name not in {"name", "type", "index"}]


def accelerator(name: str, part: str, unknown: dict[str, str], root: Path = ROOT) -> Accelerator:
    """Describe the accelerator that torch calls `name`, such as `cuda:0`.

    part : what precedes a fact's name in `unknown`, which takes the reasons for what is not known
    """
    device = torch.device(name)
    properties, address = _properties(device), bus_address(name)
    is_nvidia = device.type == "cuda" and torch.version.hip is None
    vendor = vendor_of(device.type, has_uuid=is_nvidia)
    facts = _torch_facts(device, properties)
    reasons: dict[str, str] = {}
    if asked := [fact for fact in FACTS if fact in vendor.readers and fact not in facts]:
        sealed = seal(str(properties.uuid), "") if vendor.has_uuid else None
        (sensor,) = vendor.source({name: Identity(sealed, address)}, "", asked).sensors()
        facts |= sensor.read()
        reasons = sensor.unknown
    card = root / f"sys/bus/pci/devices/{address}.0" if address else None
    facts = complete(card, facts)
    for fact in [fact for fact in facts if fact.endswith(("_watts", "_hz")) and facts[fact] == 0]:
        del facts[fact]
        reasons[fact] = "its driver says 0"
    otherwise = f"neither torch nor a library asked here tells it of {device.type} devices"
    stored = {fact: facts.get(fact) for fact in FACTS}
    unknown |= unknown_facts(stored, reasons, part, otherwise)
    called = facts.get("name") or device.type
    return Accelerator(name=called, type=device.type, index=device.index or 0, **stored)


def bus_address(name: str) -> str | None:
    """Return where a card is on the PCI bus, such as `0000:c1:00`, if torch tells."""
    properties = _properties(torch.device(name))
    parts = [getattr(properties, f"pci_{part}_id", None) for part in ("domain", "bus", "device")]
    numbers = [part for part in parts if isinstance(part, int)]
    return "{:04x}:{:02x}:{:02x}".format(*numbers) if numbers == parts else None


def _properties(device: "torch.device") -> Any:
    with suppress(AttributeError, NotImplementedError, RuntimeError):  # a backend may lack it
        return torch.get_device_module(device).get_device_properties(device)
    return None


def _torch_facts(device: "torch.device", properties: Any) -> dict[str, Any]:
    """Return what torch tells, and nothing that it does not."""
    if device.type == "mps":
        return {
            "name": torch.backends.mps.get_name(),
            "memory_bytes": torch.mps.recommended_max_memory(),
            "multiprocessors": torch.backends.mps.get_core_count(),
        }

    def stated(*names: str) -> Any:
        return next(filter(None, (getattr(properties, name, None) for name in names)), None)

    version = f"{properties.major}.{properties.minor}" if stated("major") else None
    facts = {
        "name": stated("name"),
        "memory_bytes": stated("total_memory"),
        "capability": (torch.version.hip and stated("gcnArchName")) or version,
        "multiprocessors": stated("multi_processor_count", "max_compute_units"),
        "driver": stated("driver_version"),
    }
    return {fact: value for fact, value in facts.items() if value is not None}


def software(unknown: dict[str, str]) -> Software:
    """Describe the software of this process; `unknown` takes the reasons for what is not known."""
    is_here, container = is_imported(), host.in_container()
    build = _torch_build() if is_here else {}
    unknown |= unknown_facts({"software.container": container}, {})
    if not is_here:
        names = ("torch", "threads", "interop_threads")
        unknown |= {f"software.{name}": "not imported" for name in names}
    unknown |= unknown_facts(build, {}, "software.torch_build.", "this build of torch has none")
    return Software(
        os=host.operating_system(),
        kernel=host.kernel(),
        container=container,
        python=platform.python_version(),
        torch=str(torch.__version__) if is_here else None,
        torch_build=build,
        threads=torch.get_num_threads() if is_here else None,
        interop_threads=torch.get_num_interop_threads() if is_here else None,
        flags=_flags() if is_here else {},
        variables=host.stored_variables(os.environ),
        packages=_packages(),
    )


def _packages() -> dict[str, str]:
    """Return versions of what moves numbers and of backends; of equal names Python's first."""
    described = [distribution.metadata for distribution in metadata.distributions()]
    found = {package["Name"]: package["Version"] for package in reversed(described)}
    plain = {_plain(name): version for name, version in found.items() if name}
    brought = {_plain(backend.package): backend.version for backend in host.installed()}
    return dict(sorted((host.public_packages(plain) | brought).items()))


def _plain(name: str) -> str:
    """Return a package's name as pip normalises it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _torch_build() -> dict[str, str | None]:
    host: Any = torch.backends  # its types lack half of what it has
    cudnn = host.cudnn.version()
    libraries = {"mkl": host.mkl, "mkldnn": host.mkldnn, "openmp": host.openmp}
    return {
        "cuda": torch.version.cuda,
        "hip": torch.version.hip,
        "xpu": torch.version.xpu,
        "cudnn": None if cudnn is None else str(cudnn),
        "git": torch.version.git_version,
        "cpu_capability": host.cpu.get_cpu_capability(),
        **{name: "yes" if library.is_available() else None for name, library in libraries.items()},
    }


def _flags() -> dict[str, Scalar]:
    """Return torch's own settings as the process begins; a case may set others for itself."""
    host: Any = torch.backends
    cuda, cudnn = host.cuda.matmul, host.cudnn
    return {
        "default_dtype": str(torch.get_default_dtype()),
        "deterministic_algorithms": torch.are_deterministic_algorithms_enabled(),
        "float32_matmul_precision": torch.get_float32_matmul_precision(),
        "cuda_matmul_fp32_precision": cuda.fp32_precision,
        "cuda_matmul_fp16_reduced": cuda.allow_fp16_reduced_precision_reduction,
        "cuda_matmul_bf16_reduced": cuda.allow_bf16_reduced_precision_reduction,
        "cuda_matmul_fp16_accumulation": cuda.allow_fp16_accumulation,
        "cudnn_benchmark": cudnn.benchmark,
        "cudnn_deterministic": cudnn.deterministic,
        "cudnn_conv_fp32_precision": cudnn.conv.fp32_precision,
        "mkldnn_matmul_fp32_precision": host.mkldnn.matmul.fp32_precision,
    }
