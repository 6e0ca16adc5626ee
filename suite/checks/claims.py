# SPDX-License-Identifier: MIT
"""Rules about what a run claims of itself and of its machine."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from msgspec import UNSET, Struct
from msgspec.structs import fields, replace

from frobench.suite.checks import sources
from frobench.suite.checks.ceilings import (
    BEYOND_LIMIT,
    HIGHEST_CLOCK,
    MOST_WATTS,
    accelerator,
    find_sheet,
    label,
    most_watts,
    path,
    precision,
)
from frobench.suite.checks.facts import (
    accelerators,
    beginnings,
    is_accelerator,
    moment,
    run_began,
    spell,
)
from frobench.suite.checks.rule import Fault
from frobench.suite.datasheets import generations
from frobench.suite.profiles import PROFILES
from frobench.suite.stored.differences import benchmark_of, machine_name
from frobench.suite.stored.types import Accelerator, Case, Run, Severity

SEVERITY: Severity = "error"

_REVISION = re.compile(r"[0-9a-f]{7,64}")

WIDEST_BOUND = {"float64": 0.01, "float32": 0.01, "tfloat32": 1.0, "float16": 1.0, "int8": 1.0}
WIDEST_NARROW, WIDEST_OTHER = 4.0, 100.0
"""Bounds of products by their precision, of others, and of what is no product, at most."""
NARROWER = {"tfloat32", "bfloat16", "float16", "float8_e4m3fn"}
FIRST = datetime(2026, 1, 1, tzinfo=UTC)
"""No run is older: Frobench was begun in this year."""
DAY = timedelta(days=1)
"""How wrong a machine's clock may honestly be, and how far time zones lie apart."""


def impossible_count(run: Run) -> Iterator[Fault]:
    """Work, calls or places of a case are not what can be counted.

    Work is more than nothing, and a launch that has samples of a case has calls of it, at a place
    of its own among its cases. Take the file again from where it was made.
    """
    positions: Counter[tuple[int, int]] = Counter()
    for case in run.benchmarks:
        info = case.extra_info
        amounts = (info.work.flops, info.work.bytes, info.work.items)
        if any(amount is not None and not amount > 0 for amount in amounts):
            yield Fault("it declares work of nothing, or less", case.fullname)
        counts = zip(info.launches, info.iterations, info.order, strict=False)
        if any(count < 0 or (count > 0 and min(one) < 1) for count, *one in counts):
            yield Fault("a launch has samples without calls, or without a place", case.fullname)
        positions.update((n, place) for n, place in enumerate(info.order, start=1) if place > 0)
    for (launch, position), cases in positions.items():
        if cases > 1:
            yield Fault(f"{cases} cases have place {position} of launch {launch}")
            break


def other_work(run: Run) -> Iterator[Fault]:
    """A benchmark declares other work for the same parameters, or other bytes than it is named for.

    Work depends on neither device nor precision. A number was changed or is in the wrong unit.
    """
    first: dict[tuple[object, ...], Case] = {}
    for case in run.benchmarks:
        info = case.extra_info
        named = {k: v for k, v in case.params.items() if k not in {"device", "dtype"}}
        key = (benchmark_of(case.fullname), len(info.devices), str(named))
        other = first.setdefault(key, case).extra_info.work
        if info.search is None and not _close(info.work.flops, other.flops):
            what = f"{info.work.flops or 0:g} operations, where another device has"
            yield Fault(f"{what} {other.flops or 0:g}", case.fullname)
        for unit, amount in _declared(case).items():
            stored = getattr(info.work, unit)
            if not _close(stored, amount):
                what = f"{stored or 0:g} {unit}"
                yield Fault(f"{what}, where its benchmark declares {amount:g}", case.fullname)
        size, moved = case.params.get("size"), info.work.bytes
        copies = moved / size if moved and isinstance(size, int) and size > 0 else 1.0
        # A copy moves its bytes once or twice for every device, never a part of them.
        named_for_it = info.work.path is None and path(case) is not None
        if named_for_it and not (1 <= copies <= 2 * len(info.devices) and copies == int(copies)):
            yield Fault(f"{moved:g} bytes, where {size} are copied", case.fullname)


def impossible_check(case: Case) -> Iterator[str]:
    """An error or its bound is no number that a check gives.

    Neither is below zero, and a bound above all rounding lets every result pass. Take the file
    again from where it was made.
    """
    if (check := case.extra_info.check) is None:
        return
    narrow = WIDEST_BOUND.get(precision(case), WIDEST_NARROW)
    widest = WIDEST_OTHER if check.precision is None else narrow
    if not (0 <= check.error < math.inf and 0 <= check.bound <= widest):
        yield f"error {check.error:.3g}, bound {check.bound:.3g}"


def other_precision(case: Case) -> Iterator[str]:
    """A case that names float32 passed, although its result has the error of a narrower type.

    Its speed is that of the narrower type: TF32 passes for float32. Measure again, with
    `torch.set_float32_matmul_precision("highest")`, or name what was measured.
    """
    check = case.extra_info.check
    if check and precision(case) == "float32" and check.precision in NARROWER:
        yield f"computed in {check.precision} where float32 was asked"


def other_settings(run: Run) -> Iterator[Fault]:
    """The run says twice what it was told to do, and not the same.

    One of them was changed. Take the file again from where it was made.
    """
    settings, whole = run.frobench.settings, run.frobench
    stated, longest = settings.longest_sample, PROFILES[settings.profile].longest_sample
    if stated != longest:
        yield Fault(f"a call may take {stated:g} s, in a {settings.profile} run {longest:g} s")
    if settings.profile != whole.profile:
        yield Fault(f"a {whole.profile} run with the settings of a {settings.profile} one")
    if whole.complete and settings.launches and len(whole.launches) < settings.launches:
        claim = f"{settings.launches} launches were asked for"
        yield Fault(f"{claim}, there are {len(whole.launches)}, and it counts as complete")


def impossible_date(run: Run) -> Iterator[Fault]:
    """A run's date is none, older than Frobench, in the future, or not that of its name.

    Set the clock of the machine that measured, or of the one that reads. Else the date was changed:
    take the file again from where it was made.
    """
    dated, named, now = moment(run.datetime), run_began(run), datetime.now(UTC)
    if dated is None:
        yield Fault(f"{run.datetime[:40]!r} is no date")
        return
    if not FIRST - DAY <= dated <= now + DAY:
        yield Fault(f"it is dated {dated.date()}, today is {now.date()}")
        return
    took = timedelta(seconds=min(max(run.frobench.seconds, 0.0), DAY.total_seconds()))
    if named and not -DAY <= dated - named <= DAY + took:
        yield Fault(f"it is dated {dated.date()}, and named for {named.date()}")
    launches = beginnings(run)
    if launches and launches[0].started < dated - DAY - took:
        yield Fault(f"it is dated {dated.date()}, and began {launches[0].started.date()}")


def impossible_commit(run: Run) -> Iterator[Fault]:
    """The revision that a run names is none that git gives.

    It was changed. Take the file again from where it was made.
    """
    project = run.frobench.project
    for revision in (run.commit_info.id, project.id if project else None):
        if revision is not None and not (_REVISION.fullmatch(revision) and len({*revision}) > 1):
            yield Fault(f"{revision[:40]!r} is no revision")


def other_machine(run: Run) -> Iterator[Fault]:
    """The name of a run's kind of machine is not the one that its processor and devices give.

    One of them was changed. Take the file again from where it was made.
    """
    environment = run.frobench.environment
    stored, name = environment.machine, machine_name(environment.cpu, environment.accelerators)
    if stored != name:
        yield Fault(f"it is stored for {stored[:80]!r}, and its facts are those of {name!r}")


def _declared(case: Case) -> dict[str, float]:
    """Return the work that the benchmark declares, if it is the one that was measured."""
    info, (module, _, name) = case.extra_info, benchmark_of(case.fullname).partition("::")
    source = sources.source(module)
    if source is None or sources.version(source, name) != info.version:
        return {}
    return sources.declared(source, name, case.params, len(info.devices))


def _close(first: float | None, other: float | None) -> bool:
    if first is None or other is None:
        return first is other
    return math.isclose(first, other)


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
