# SPDX-License-Identifier: MIT
# ruff: noqa: D401 - the first line of a rule says what it reports, as a user reads it
"""Rules about descriptions of a machine that no machine fits."""

import math
import re
from collections import Counter
from collections.abc import Iterator

from msgspec import UNSET
from msgspec.structs import fields, replace

from suite.checks.ceilings import HIGHEST_CLOCK, accelerator, sheet
from suite.checks.facts import is_accelerator, said
from suite.checks.rule import Fault
from suite.checks.watts import BEYOND_LIMIT, MOST_WATTS, most_watts
from suite.datasheets import generations
from suite.stored.run import Accelerator, Cpu, Environment, Run, Severity, Software

SEVERITY: Severity = "error"

LEAST_MEMORY, MOST_MEMORY = 2**26, 2**47
"""Bytes of a machine's or a device's memory: with less PyTorch is not loaded, and none has more."""
LEAST_PART, OTHER_MEMORY = 1 / 20, 4.0
"""Memory of a device relative to its datasheet's, at least and at most: some show themselves in
parts under the name of the whole, and some are sold with twice as much."""
MORE_THAN_ALL = 1.1
"""Memory in use relative to the device's, at most; sizes are rounded."""
LOWEST_CLOCK = 1e8
"""Cycles a second of an accelerator, fewer than any has at most."""
LARGEST_CACHE = 2**34
"""Bytes of a machine's caches; a container may have less memory than its processors have cache."""
LEAST_WATTS = 1.0
LEAST_READ = -60.0
"""What a sensor says at least: degrees Celsius of a cold machine."""
MOST_READ = {
    "sm_clock_hz": HIGHEST_CLOCK,
    "clock_hz": HIGHEST_CLOCK,
    "memory_clock_hz": 1e11,
    "power_watts": MOST_WATTS,
    "mean_power_watts": MOST_WATTS,
    "temperature_celsius": 150.0,
    "fan": 3.0,
    "utilization": 1.05,
}


def unknown_without_reason(run: Run) -> Iterator[Fault]:
    """A fact about the machine is missing without a reason, or there although it is unknown.

    What is not known is null, and why stands beside it. The fact was taken out or put in: a limit
    that is not told is not there for the reader. Take the file again from where it was made.
    """
    told = run.frobench.environment
    reasons = told.unknown.keys()
    places: list[tuple[str, Cpu | Software | Accelerator]] = [
        ("cpu", told.cpu),
        ("software", told.software),
        *((f"accelerators.{place}", one) for place, one in enumerate(told.accelerators)),
    ]
    for where, part in places:
        for field in fields(part):
            name, value = f"{where}.{field.name}", getattr(part, field.name)
            known = value is not None and value is not UNSET
            if field.required and not known and name not in reasons:
                yield Fault(f"{name} is not known, and nothing says why")
            if known and name in reasons:
                yield Fault(f"{name} is there, and said to be unknown")


def missing_device(run: Run) -> Iterator[Fault]:
    """A case or the settings name an accelerator that the environment does not have.

    Or the environment has it twice. One of them was changed. Take the file again from where it
    was made.
    """
    told = run.frobench.environment
    for name in run.frobench.settings.devices:
        if is_accelerator(name) and accelerator(run, name) is None:
            yield Fault(f"{name} was to be measured, and is not there")
    for case in run.benchmarks:
        for name in case.extra_info.devices:
            if is_accelerator(name) and accelerator(run, name) is None:
                yield Fault(f"it ran on {name}, which is not there", case.fullname)
    for (kind, index), many in Counter((one.type, one.index) for one in told.accelerators).items():
        if many > 1:
            yield Fault(f"{kind}:{index} is there {many} times")


def other_build(run: Run) -> Iterator[Fault]:
    """The software cannot be what it says: PyTorch has not this version, or not these devices.

    A build of PyTorch for the CPU alone has no CUDA devices. One of the facts was changed. Take
    the file again from where it was made.
    """
    told = run.frobench.environment
    build = told.software.torch_build
    for kind, needs in {"cuda": ("cuda", "hip"), "xpu": ("xpu",)}.items():
        known = [build[name] for name in needs if name in build]
        if known and not any(known) and any(one.type == kind for one in told.accelerators):
            yield Fault(f"a device of {kind}, with PyTorch that was built without it")
    package = told.software.packages.get("torch")
    if package and package.partition("+")[0] != told.software.torch.partition("+")[0]:
        yield Fault(f"PyTorch is {told.software.torch}, its package {package}")
    if min(told.software.threads, told.software.interop_threads) < 1:
        yield Fault(f"PyTorch computes with {told.software.threads} threads")


def two_machines(run: Run) -> Iterator[Fault]:
    """What pytest-benchmark stored of the machine is of another one.

    One of the descriptions was changed. Take the file again from where it was made.
    """
    told = run.frobench.environment
    pairs = {
        "machine": told.cpu.architecture,
        "python_version": told.software.python,
    }
    for name, expected in pairs.items():
        found = run.machine_info.get(name)
        if found and found != expected:
            yield Fault(f"machine_info.{name} is {found}, the environment says {expected}")
    cpu = run.machine_info.get("cpu")
    brand = cpu.get("brand_raw") if isinstance(cpu, dict) else None
    model = told.cpu.model
    if isinstance(brand, str) and model and not _alike(brand, model):
        yield Fault(f"machine_info.cpu is a {brand[:80]}, the environment says {model[:80]}")


def impossible_processor(run: Run) -> Iterator[Fault]:
    """The processor has more cores in use than there are, none at all, or no memory.

    A number was changed, or is in another unit than it is stored in: memory is in bytes.
    """
    cpu = run.frobench.environment.cpu
    if cpu.usable_cores < 1 or (cpu.logical_cores or cpu.usable_cores) < cpu.usable_cores:
        yield Fault(f"{cpu.usable_cores} cores can be used, {cpu.logical_cores} are there")
    if cpu.quota_cores is not None and cpu.quota_cores <= 0:
        yield Fault(f"a limit of {cpu.quota_cores:g} cores")
    if not LEAST_MEMORY <= cpu.memory_bytes <= MOST_MEMORY:
        yield Fault(f"the machine has {said(cpu.memory_bytes, 'B')} of memory")
    cache = cpu.last_level_cache_bytes
    if cache is not None and not 0 < cache < LARGEST_CACHE:
        yield Fault(f"a cache of {said(cache, 'B')}")


def impossible_device(run: Run) -> Iterator[Fault]:
    """A fact about an accelerator is out of all bounds, or not that of a device of its name.

    A number was changed, or is in another unit than it is stored in: bytes, hertz and watts. Or
    the device has another name.
    """
    for one in run.frobench.environment.accelerators:
        where = f"{one.name} ({one.type}:{one.index})"
        for what in _strange(one):
            yield Fault(f"{where}: {what}")


def more_memory_than_there_is(run: Run) -> Iterator[Fault]:
    """A case had more memory in use than its devices have.

    One of the numbers was changed, or is in another unit than it is stored in.
    """
    told: Environment = run.frobench.environment
    for case in run.benchmarks:
        peak = case.extra_info.peak_bytes
        devices = [accelerator(run, name) for name in case.extra_info.devices]
        sizes = [one.memory_bytes for one in devices if one and one.type != "mps"]
        known = [size for size in sizes if size is not None]
        # Windows lends a device memory of the host, and macOS has only one memory.
        if peak is None or len(known) < len(devices) or "Windows" in told.software.os:
            continue
        if peak < 0 or (known and peak > MORE_THAN_ALL * sum(known)):
            used, there = said(peak, "B"), said(sum(known), "B")
            yield Fault(f"{used} were in use, of {there}", case.fullname)


def impossible_reading(run: Run) -> Iterator[Fault]:
    """A sensor's readings are out of all bounds, or not what the device may do.

    Nothing is negative, and no device draws half as much again as its power limit for long, or
    runs above its highest clock. The limit, or what was read, was changed, or is in another unit
    than it is stored in.
    """
    for case in run.benchmarks:
        for name, sensed in case.extra_info.telemetry.items():
            device = accelerator(run, name)
            most = dict(MOST_READ)
            if device:
                most["power_watts"] = most["mean_power_watts"] = most_watts(device)
            if device and device.max_clock_hz:
                most["sm_clock_hz"] = BEYOND_LIMIT * device.max_clock_hz
            for what, (least, middle, greatest) in sensed.values.items():
                ordered = LEAST_READ <= least <= middle <= greatest
                if not ordered or middle > most.get(what, math.inf):
                    read = f"{least:g}, {middle:g}, {greatest:g}"
                    yield Fault(f"{what} of {name} was {read}", case.fullname)


def _alike(brand: str, model: str) -> bool:
    """Tell whether two names of a processor are the same, but for words that one leaves out."""
    words, others = ({*re.findall(r"\w+", name.lower())} for name in (brand, model))
    return words <= others or others <= words


def _strange(one: Accelerator) -> Iterator[str]:
    memory, clock = one.memory_bytes, one.max_clock_hz
    if memory is not None and not LEAST_MEMORY <= memory <= MOST_MEMORY:
        yield f"memory of {said(memory, 'B')}"
    if clock is not None and not LOWEST_CLOCK <= clock <= HIGHEST_CLOCK:
        yield f"a clock of {clock:g} Hz"
    for limit in (one.power_limit_watts, one.power_limit_default_watts):
        if limit is not None and not LEAST_WATTS <= limit <= MOST_WATTS:
            yield f"a power limit of {limit:g} W"
    if min(one.pcie_width or 1, one.pcie_generation or 1, one.multiprocessors or 1) < 1:
        yield "a link, or units, of less than one"
    named = sheet(replace(one, memory_bytes=None, multiprocessors=None))
    if named is None or one.type != "cuda":
        return
    label = named.figures["memory_bytes"].value if "memory_bytes" in named.figures else None
    if label and memory and not LEAST_PART <= memory / label <= OTHER_MEMORY:
        yield f"memory of {said(memory, 'B')}, not {said(label, 'B')}"
    expected = generations.capability(named.devices[0])
    if expected and one.capability and generations.plain(one.capability) != expected:
        yield f"capability {one.capability}, not {expected}"
