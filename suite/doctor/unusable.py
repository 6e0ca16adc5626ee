# SPDX-License-Identifier: MIT
"""What keeps torch from an accelerator that is there, and the command that mends it."""

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pynvml

from frobench.suite.checks.rule import Fault, conclusion
from frobench.suite.doctor.torch_offer import START_LOCALLY, Offer, ask_torch
from frobench.suite.machine.accelerators.hardware import VENDORS, System, Vendor, look
from frobench.suite.machine.backends import AUTOLOAD, MEND_FAILURE, failure, installed, switched_off
from frobench.suite.machine.limits import ROOT
from frobench.suite.machine.sensors import nvml
from frobench.suite.stored.run import Conclusion

OLDEST_DRIVER = {11: 450, 12: 525, 13: 580}
"""Oldest driver branch that runs programs built with each major version of CUDA.

https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html
"""

REFUSED = f"end what else uses it, or install a build of PyTorch that has it: {START_LOCALLY}"
"""What mends an accelerator that torch sees and that cannot compute."""


class Patient(NamedTuple):
    """The accelerators of one maker that torch does not offer, or a machine without any."""

    vendor: Vendor
    number: int
    system: System
    offer: Offer
    root: Path
    environ: Mapping[str, str]


Rule = Callable[[Patient], Iterator[Fault]]


def unusable_accelerators(
    root: Path = ROOT, environ: Mapping[str, str] = os.environ, offer: Offer | None = None
) -> list[Conclusion]:
    """Say what keeps torch from accelerators that the system shows; nothing if torch offers one.

    offer : `None` asks torch, but only where an accelerator or a package with a backend is there
    """
    system = look(root)
    if offer is None and not (system.gpus or installed()):
        return []
    offer = offer or ask_torch()
    if offer.devices:
        return []
    machine = Patient(Vendor("this machine", guide=""), 0, system, offer, root, environ)
    faults = _faults(OF_BACKENDS, machine)
    if offer.version is None and (faults or not system.gpus):  # nothing else keeps torch from all
        faults = faults or _faults([torch_missing], machine)
        return [conclusion(rule, "error", fault) for rule, fault in faults]
    for name, vendor in VENDORS.items():
        gpus = Counter(gpu.name for gpu in system.gpus if gpu.vendor == name)
        shown = ", ".join(f"{n}x {gpu}" if n > 1 else gpu for gpu, n in gpus.items())
        patient = machine._replace(vendor=vendor, number=gpus.total())
        own = _faults(RULES, patient) or _faults([unused_accelerator], patient) if gpus else []
        for rule, fault in own:
            message = f"{shown} cannot be used: {fault.message}"
            advice = f"{fault.advice}; or measure without it: --devices cpu"
            faults.append((rule, Fault(message, advice=advice)))
    return [conclusion(rule, "error", fault) for rule, fault in faults]


def _faults(rules: Iterable[Rule], patient: Patient) -> list[tuple[Rule, Fault]]:
    return [(rule, fault) for rule in rules for fault in rule(patient)]


def backend_fails(patient: Patient) -> Iterator[Fault]:
    """An accelerator's backend is installed and fails to load, so PyTorch cannot be imported.

    Install the release of its package for this release of PyTorch. To measure the CPU without it,
    set `TORCH_DEVICE_BACKEND_AUTOLOAD=0` and use `--devices cpu`.
    """
    offer = patient.offer
    if offer.version is None and (failed := failure(offer.builds["error"] or "")):
        yield Fault(failed, advice=MEND_FAILURE)


def backend_switched_off(patient: Patient) -> Iterator[Fault]:
    """An accelerator's backend is installed, and a variable keeps PyTorch from loading it.

    Unset `TORCH_DEVICE_BACKEND_AUTOLOAD`, or leave the accelerator out with `--devices cpu`.
    """
    if patient.offer.version is not None and switched_off(patient.environ):
        for name, package, version in installed():
            yield Fault(
                f"the backend {name} of {package} {version} is not loaded: "
                f"{AUTOLOAD}={patient.environ[AUTOLOAD]!r} switches it off",
                advice=f"unset {AUTOLOAD}; or measure without it: --devices cpu",
            )


def torch_missing(patient: Patient) -> Iterator[Fault]:
    """PyTorch cannot be imported.

    Install it, in the build for the machine.
    """
    if patient.offer.version is None:
        reason = patient.offer.builds["error"]
        yield Fault(f"torch cannot be imported ({reason})", advice=install(patient.vendor.build))


def torch_build(patient: Patient) -> Iterator[Fault]:
    """PyTorch was built for other accelerators, or for none.

    Install the build for this one.
    """
    version, builds, wanted = patient.offer.version, patient.offer.builds, patient.vendor.build
    if version is not None and builds[wanted] is None:
        own = " and ".join(name for name, built in builds.items() if built) or "the CPU alone"
        yield Fault(f"torch {version} is built for {own}, not for {wanted}", advice=install(wanted))


def driver_missing(patient: Patient) -> Iterator[Fault]:
    """The accelerator is on the bus, and no driver serves it.

    Install its maker's driver.
    """
    if patient.system.on_the_bus and not _has_driver(patient):
        yield Fault("its driver is not loaded", advice=f"install it: {patient.vendor.guide}")


def driver_too_old(patient: Patient) -> Iterator[Fault]:
    """The driver is older than what PyTorch was built for.

    Install a newer driver, or a build of PyTorch for an older one.
    """
    built, driver = patient.offer.builds.get("CUDA"), patient.system.nvidia_driver
    if patient.vendor.build != "CUDA" or not built or not driver:
        return
    oldest = OLDEST_DRIVER.get(int(built.partition(".")[0]), 0)
    if int(driver.partition(".")[0]) < oldest:
        yield Fault(
            f"driver {driver} is too old for the CUDA {built} of torch, which needs {oldest}",
            advice=f"install driver {oldest} or newer: {patient.vendor.guide}, "
            f"or a build for an older CUDA: {install('CUDA')}",
        )


def devices_not_passed_on(patient: Patient) -> Iterator[Fault]:
    """The container sees the bus, and was not given the devices.

    Start it with the option that passes them on. Outside of a container, load the driver's modules.
    """
    if not (patient.system.on_the_bus and _has_driver(patient)):
        return
    control = patient.vendor.control
    missing = [f"/{file}" for file in control if not (patient.root / file).exists()]
    if not _nodes(patient):
        missing = [f"/{patient.vendor.nodes}"]
    if missing:
        yield Fault(
            f"its device files {' and '.join(missing)} are missing here",
            advice=f"start the container with {patient.vendor.container}; elsewhere load the "
            f"driver's modules: {patient.vendor.guide}",
        )


def no_permission(patient: Patient) -> Iterator[Fault]:
    """The user may not open the accelerator's device files.

    Join the group that may, and log in again.
    """
    opened = [os.access(node, os.R_OK | os.W_OK) for node in _nodes(patient)]
    if opened and not any(opened):
        yield Fault("this user may not open its device files", advice=patient.vendor.permit)


def mask_hides_all(patient: Patient) -> Iterator[Fault]:
    """A variable hides every accelerator.

    An entry that names no device ends the list there, and so does an empty one. Devices are
    numbered from 0 among those that a container was given. Unset the variable.
    """
    is_nvidia = patient.vendor.build == "CUDA"
    files = [file.name for file in _nodes(patient)] if is_nvidia else []
    number = len(files) or patient.number
    for name in patient.vendor.masks:
        if (mask := patient.environ.get(name)) is None:
            continue
        first = mask.split(",")[0].split(".")[0].strip()
        if first.startswith("GPU-"):
            uuids = nvml.of_each(pynvml.nvmlDeviceGetUUID) if is_nvidia else []
            if uuids and not any((uuid or first).startswith(first) for uuid in uuids):
                message = f"the first UUID in {name} is that of no GPU here"
                yield Fault(message, advice=f"unset {name}; `nvidia-smi -L` shows the UUIDs")
        elif not first.startswith("MIG-") and not (first.isdecimal() and int(first) < number):
            given = f"; passed on are {', '.join(files)}, which it numbers from 0"
            message = f"{name}={mask!r} hides every one{given * (number < patient.number)}"
            yield Fault(message, advice=f"unset {name}")


def unused_accelerator(patient: Patient) -> Iterator[Fault]:
    """PyTorch cannot use an accelerator that is there.

    The message has PyTorch's own reason. Where it gives none, use the accelerator: PyTorch then
    says why. Where another accelerator can be used, `frobench run` warns and leaves this one out.
    """
    device = patient.vendor.build.lower().replace("rocm", "cuda")
    yield Fault(
        f"torch {patient.offer.version} says: {patient.offer.refusal or 'nothing'}",
        advice=f"let torch say it: python -c \"import torch; torch.ones(1, device='{device}')\", "
        f"and see {patient.vendor.guide}",
    )


OF_BACKENDS: tuple[Rule, ...] = (backend_fails, backend_switched_off)
RULES: tuple[Rule, ...] = (
    torch_missing,
    torch_build,
    driver_missing,
    driver_too_old,
    devices_not_passed_on,
    no_permission,
    mask_hides_all,
)


def install(build: str) -> str:
    """Return the command for the Python at work, without the path to anybody's folder."""
    python, here = Path(sys.executable), Path.cwd()
    shown = python.relative_to(here) if python.is_relative_to(here) else "python"
    return (
        f"{shown} -m pip install --force-reinstall torch --index-url ADDRESS, with the address "
        f"that {START_LOCALLY} gives for {build}"
    )


def _has_driver(patient: Patient) -> bool:
    return any((patient.root / file).exists() for file in patient.vendor.driver)


def _nodes(patient: Patient) -> list[Path]:
    return list(patient.root.glob(patient.vendor.nodes)) if patient.system.on_the_bus else []
