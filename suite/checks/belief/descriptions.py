# SPDX-License-Identifier: MIT
"""Rules about descriptions, sensor readings and energies that fit no machine."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import UNSET, Struct
from msgspec.structs import fields, replace

from frobench.suite.checks.ceilings import (
    BEYOND_LIMIT,
    HIGHEST_CLOCK,
    MOST_WATTS,
    accelerator,
    find_sheet,
    label,
    most_watts,
)
from frobench.suite.checks.facts import accelerators, is_accelerator, spell
from frobench.suite.checks.rule import Fault
from frobench.suite.datasheets import generations
from frobench.suite.stored.run import Accelerator, Case, Run, Severity

SEVERITY: Severity = "error"

LEAST_MEMORY, MOST_MEMORY = 2**26, 2**47
"""Bytes of a machine's or a device's memory: with less PyTorch is not loaded, and none has more."""
LEAST_PART, OTHER_MEMORY = 1 / 20, 4.0
"""Memory of a device relative to its datasheet's, at least and at most: a part of a device has the
name of the whole, and some are sold with twice as much."""
MORE_THAN_ALL = 1.1
"""Memory in use relative to the device's, at most; sizes are rounded."""
LOWEST_CLOCK = 1e8
"""Cycles a second of an accelerator, fewer than any has at most."""
LARGEST_CACHE = 2**34
"""Bytes of a machine's caches; a container may have less memory than its processors have cache."""
MOST_LOAD, SHORT_LOAD = 1.2, 0.5
"""Cores that other programs keep busy, relative to the usable ones, at most, and cores beside that:
the system accounts for them in ticks."""
LEAST_WATTS, LEAST_READ = 1.0, -60.0
"""A power limit, at least, and what a sensor says at least: degrees Celsius of a cold machine."""
LEAST_OF_REST = 0.1
"""Power at work relative to that at rest, at least: other work of a processor may have ended."""
OTHER_TIME = 30.0
"""Seconds of a call while energy was measured relative to its samples, at most, or the inverse:
other programs may have begun, but none slows a call down a thousandfold."""
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

    An unknown fact is null, and the file says why. The fact was taken out or put in, so that a
    reader misses a limit, for example. Take the file again from where it was made.
    """
    environment = run.frobench.environment
    parts: dict[str, Struct] = {"cpu": environment.cpu, "software": environment.software}
    parts |= {f"accelerators.{n}": device for n, device in enumerate(environment.accelerators)}
    for where, part in parts.items():
        for field in fields(part):
            name, value = f"{where}.{field.name}", getattr(part, field.name)
            known = value is not None and value is not UNSET
            if field.required and not known and name not in environment.unknown:
                yield Fault(f"{name} is not known, and nothing says why")
            if known and name in environment.unknown:
                yield Fault(f"{name} is there, and said to be unknown")


def missing_device(run: Run) -> Iterator[Fault]:
    """A case or the settings name an accelerator that the environment does not have.

    Or the environment has it twice. One was changed. Take the file again from where it was made.
    """
    names: list[tuple[str, str | None]] = [(n, None) for n in run.frobench.settings.devices]
    names += [(n, case.fullname) for case in run.benchmarks for n in case.extra_info.devices]
    for name, case in names:
        if is_accelerator(name) and accelerator(run, name) is None:
            claim = f"it ran on {name}, which" if case else f"{name} was to be measured, and"
            yield Fault(f"{claim} is not there", case)
    devices = run.frobench.environment.accelerators
    for (kind, index), many in Counter((one.type, one.index) for one in devices).items():
        if many > 1:
            yield Fault(f"{kind}:{index} is there {many} times")


def other_build(run: Run) -> Iterator[Fault]:
    """The software cannot be what it says: PyTorch has not this version, or not these devices.

    A build of PyTorch for the CPU alone has no CUDA devices. One of the facts was changed. Take
    the file again from where it was made.
    """
    software = run.frobench.environment.software
    types = {device.type for device in run.frobench.environment.accelerators}
    for kind, needs in {"cuda": ("cuda", "hip"), "xpu": ("xpu",)}.items():
        known = [software.torch_build[name] for name in needs if name in software.torch_build]
        if known and not any(known) and kind in types:
            yield Fault(f"a device of {kind}, with PyTorch that was built without it")
    package = software.packages.get("torch")
    if package and package.partition("+")[0] != software.torch.partition("+")[0]:
        yield Fault(f"PyTorch is {software.torch}, its package {package}")
    if min(software.threads, software.interop_threads) < 1:
        yield Fault(f"PyTorch computes with {software.threads} threads")


def two_machines(run: Run) -> Iterator[Fault]:
    """What pytest-benchmark stored of the machine is of another one.

    One of the descriptions was changed. Take the file again from where it was made.
    """
    environment = run.frobench.environment
    pairs = {"machine": environment.cpu.architecture, "python_version": environment.software.python}
    for name, expected in pairs.items():
        stated = run.machine_info.get(name)
        if stated and stated != expected:
            yield Fault(f"machine_info.{name} is {stated}, the environment says {expected}")
    cpu = run.machine_info.get("cpu")
    brand = cpu.get("brand_raw") if isinstance(cpu, dict) else None
    model = environment.cpu.model
    if isinstance(brand, str) and model and not _alike(brand, model):
        yield Fault(f"machine_info.cpu is a {brand[:80]}, the environment says {model[:80]}")


def impossible_processor(run: Run) -> Iterator[Fault]:
    """The processor has more cores in use or busy than there are, none at all, or no memory.

    A number was changed or is in the wrong unit: memory is in bytes.
    """
    cpu = run.frobench.environment.cpu
    if cpu.usable_cores < 1 or (cpu.logical_cores or cpu.usable_cores) < cpu.usable_cores:
        yield Fault(f"{cpu.usable_cores} cores can be used, {cpu.logical_cores} are there")
    if cpu.quota_cores is not None and cpu.quota_cores <= 0:
        yield Fault(f"a limit of {cpu.quota_cores:g} cores")
    if not LEAST_MEMORY <= cpu.memory_bytes <= MOST_MEMORY:
        yield Fault(f"the machine has {spell(cpu.memory_bytes, 'B')} of memory")
    cache = cpu.last_level_cache_bytes
    if cache is not None and not 0 < cache < LARGEST_CACHE:
        yield Fault(f"a cache of {spell(cache, 'B')}")
    most = MOST_LOAD * cpu.usable_cores + SHORT_LOAD
    for number, launch in enumerate(run.frobench.launches, start=1):
        for what, cores in ("other programs", launch.others), ("the runner", launch.runner_cores):
            if cores is not UNSET and not 0 <= cores <= most:
                busy = f"{cores:g} of {cpu.usable_cores} cores busy"
                yield Fault(f"{what} kept {busy} in launch {number}")


def impossible_device(run: Run) -> Iterator[Fault]:
    """A fact about an accelerator is out of all bounds, or not that of a device of its name.

    A number was changed or is not in bytes, hertz or watts, or the device has another name.
    """
    for device in run.frobench.environment.accelerators:
        for what in _strange(device):
            yield Fault(f"{label(device)}: {what}")


def more_memory_than_there_is(run: Run, case: Case) -> Iterator[str]:
    """A case had more memory in use than its devices have.

    One of the numbers was changed or is in the wrong unit.
    """
    peak, names = case.extra_info.peak_bytes, case.extra_info.devices
    known = [accelerator(run, name) for name in names]
    # Windows lends a device memory of the host, and macOS has only one memory.
    sizes = [d.memory_bytes for d in known if d and d.memory_bytes is not None and d.type != "mps"]
    lends = "Windows" in run.frobench.environment.software.os
    if peak is None or len(sizes) < len(names) or lends:
        return
    if peak < 0 or (sizes and peak > MORE_THAN_ALL * sum(sizes)):
        yield f"{spell(peak, 'B')} were in use, of {spell(sum(sizes), 'B')}"


def impossible_reading(run: Run, case: Case) -> Iterator[str]:
    """A sensor's readings are out of all bounds, or not what the device may do.

    Nothing is negative, and no device draws half as much again as its power limit for long, or
    runs above its highest clock. The limit or the reading was changed or is in the wrong unit.
    """
    for name, sensed in case.extra_info.telemetry.items():
        most = dict(MOST_READ)
        if device := accelerator(run, name):
            most["power_watts"] = most["mean_power_watts"] = most_watts(device)
            if device.max_clock_hz:
                most["sm_clock_hz"] = BEYOND_LIMIT * device.max_clock_hz
        for what, (least, middle, greatest) in sensed.values.items():
            ordered = LEAST_READ <= least <= middle <= greatest
            if not ordered or middle > most.get(what, math.inf):
                yield f"{what} of {name} was {least:g}, {middle:g}, {greatest:g}"


def impossible_energy(run: Run) -> Iterator[Fault]:
    """A call costs more than its devices can draw in its time, or far less than they do at rest.

    Joules or seconds were changed or are in the wrong unit: some libraries count in mJ or µJ.
    """
    rest = {} if (telemetry := run.frobench.telemetry) is UNSET else telemetry.idle_watts
    for device, watts in rest.items():
        if watts > _most_watts(run, [device]):
            yield Fault(f"{device} draws {spell(watts, 'W')} at rest")
    for case in run.benchmarks:
        if (spent := case.extra_info.energy) is None:
            continue
        devices = accelerators(case) or ["cpu"]
        least = LEAST_OF_REST * sum(rest.get(name, 0.0) for name in devices)
        usual = case.stats.median
        for joules, seconds in zip(spent.joules, spent.seconds, strict=False):
            if joules is None or seconds is None:
                continue
            if not 1 / OTHER_TIME <= seconds / usual <= OTHER_TIME:
                took = f"a call took {spell(seconds, 's')} beside its joules"
                yield Fault(f"{took}, and takes {spell(usual, 's')}", case.fullname)
                break
            # Of a counter that stands still see `energy_unknown`.
            watts = joules / seconds
            if joules < 0 or (joules and not least <= watts <= _most_watts(run, devices)):
                yield Fault(f"calls of it draw {spell(watts, 'W')}", case.fullname)
                break


def _alike(brand: str, model: str) -> bool:
    """Tell whether two names of a processor differ only by words that one leaves out."""
    words, others = ({*re.findall(r"\w+", name.lower())} for name in (brand, model))
    return words <= others or others <= words


def _strange(device: Accelerator) -> Iterator[str]:
    memory, clock = device.memory_bytes, device.max_clock_hz
    if memory is not None and not LEAST_MEMORY <= memory <= MOST_MEMORY:
        yield f"memory of {spell(memory, 'B')}"
    if clock and not LOWEST_CLOCK <= clock <= HIGHEST_CLOCK:
        yield f"a clock of {clock:g} Hz"
    for limit in (device.power_limit_watts, device.power_limit_default_watts):
        if limit and not LEAST_WATTS <= limit <= MOST_WATTS:
            yield f"a power limit of {limit:g} W"
    if min(device.pcie_width or 1, device.pcie_generation or 1, device.multiprocessors or 1) < 1:
        yield "a link, or units, of less than one"
    named = find_sheet(replace(device, memory_bytes=None, multiprocessors=None))
    if named is None or device.type != "cuda":
        return
    printed = named.figures.get("memory_bytes")
    if printed and memory and not LEAST_PART <= memory / printed.value <= OTHER_MEMORY:
        yield f"memory of {spell(memory, 'B')}, not {spell(printed.value, 'B')}"
    expected = generations.capability(named.devices[0])
    if expected and device.capability and generations.plain(device.capability) != expected:
        yield f"capability {device.capability}, not {expected}"


def _most_watts(run: Run, devices: Sequence[str]) -> float:
    """Return the watts that devices draw together at most."""
    known = [accelerator(run, name) for name in devices]
    return sum(most_watts(device) if device else MOST_WATTS for device in known)
