# SPDX-License-Identifier: MIT
"""What a device can do at most by what is known of it: its rate at a case, and its power."""

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import NamedTuple

import msgspec

from frobench.suite.checks.facts import computed_once, is_accelerator
from frobench.suite.datasheets import catalog, generations
from frobench.suite.datasheets.catalog import NotInCatalogError, Sheet
from frobench.suite.stored.differences import function_of
from frobench.suite.stored.types import Accelerator, Case, Run, WorkPath

ABOVE_BOOST = 1.3
"""Rate of a product relative to the peak of the datasheet, at most: 1.16 has been seen."""
UNKNOWN_DEVICE = 4.0
"""What a device of no listed generation may do, relative to the best that is in the catalog."""
SAME_GENERATION = 2.0
"""Rate of an unlisted device relative to the best units of its generation at its clock, at most:
sums as narrow as the factors double the rate of some cards."""
LEAST_CLOCK = 0.5
"""The highest clock that was seen relative to that of the peak, below which it says nothing of a
product: a short case is mostly read between its bodies. Clocks at rest are a tenth to two fifths of
it, and a lack of power, or heat, hardly ever takes half of it for as long as a case lasts."""
CACHED, OFTEN_CACHED = 30.0, 15.0
"""Rate of a cache relative to the memory behind it, at most and usually; 5 to 12 have been seen."""
LARGEST_CACHE = 2**28
"""Bytes of an accelerator's caches, where neither it nor its generation is in the catalog."""
OUT_OF_CACHE, LABELLED = 1.25, 1.02
"""Rate of a copy out of cache relative to the memory's label, at most: overclocked, or rounded."""
FASTEST_SLOT = catalog.pcie_rate(6, 16)
"""Bytes a second of the fastest slot that there is; a virtual machine may state a slower one."""
SHARED_MEMORY, FASTEST_PEER = 6e12, 1.8e12
"""Bytes a second, at most: memory shared with the processor, and one way between two devices."""
LINK_NOISE = 1.05
"""A rate relative to a link's, at most."""
CYCLES, HIGHEST_CLOCK = 6.5e9, 1e10
"""Cycles a second of a core and of an accelerator, more than any has."""
CORE_FLOPS = {"float64": 128, "float32": 128, "tfloat32": 2048, "int8": 4096, "float8_e4m3fn": 4096}
NARROW_FLOPS = 2048
"""Operations of a core in a cycle, at least twice what any does; of two bytes those of tiles."""
CORE_BYTES = 2e12
"""Bytes a second that a core exchanges with its first cache, more than any does."""
MOST_WATTS = 1e4
"""Watts of one device, more than any draws."""
BEYOND_LIMIT = 1.5
"""Median power and clock of a device in a case relative to its limits, at most."""
PATHS: dict[str, WorkPath] = {
    "bench_to_device": "host",
    "bench_to_host": "host",
    "bench_both_ways": "both-ways",
    "bench_all_at_once": "host",
    "bench_between": "between",
    "bench_within": "within",
    "bench_within_cold": "within",
}
"""What the bytes of copies go through in older files, in which no benchmark declares it."""
UNITS = {"flops": "FLOP/s", "bytes": "B/s"}
"""Units of the rates of a case, by what its work is counted in."""


class Ceiling(NamedTuple):
    """A rate that no honest case exceeds, with room; one that hardly any does; and whose it is."""

    most: float
    likely: float
    why: str


CeilingOf = Callable[[Run, Case], Ceiling | None]


def path(case: Case) -> WorkPath | None:
    """Return what the bytes of a case go through."""
    return case.extra_info.work.path or PATHS.get(function_of(case.name))


def precision(case: Case) -> str:
    """Return the precision that a case names; without a name it is float32."""
    return str(case.params.get("dtype", "float32"))


def accelerator(run: Run, name: str) -> Accelerator | None:
    """Return what is known of a device of that name."""
    devices = run.frobench.environment.accelerators
    named = (one for one in devices if name in {one.type, one.place})
    return next(named, None)


def label(device: Accelerator) -> str:
    """Return how messages call a device: NVIDIA H100 (cuda:0)."""
    return f"{device.name} ({device.place})"


def find_sheet(device: Accelerator | None) -> Sheet | None:
    """Return a device's datasheet, if it has one."""
    return _sheet(msgspec.json.encode(device)) if device else None


@cache
def _sheet(encoded: bytes) -> Sheet | None:
    try:
        return catalog.sheet(msgspec.json.decode(encoded, type=Accelerator))
    except NotInCatalogError:
        return None


def most_watts(device: Accelerator) -> float:
    """Return the watts that a device draws at most for long, however its limit was set.

    A laptop moves the limit of its GPU with the load, and some have the name of a desktop's card.
    """
    if not device.power_limit_watts or generations.is_laptop(device.name):
        return MOST_WATTS
    known = find_sheet(device)
    printed = known.figures.get("power_limit") if known else None
    limits = device.power_limit_watts, device.power_limit_default_watts, printed and printed.value
    return BEYOND_LIMIT * max(limit for limit in limits if limit is not None)


def peak_ceiling(run: Run, case: Case) -> Ceiling | None:
    """Return how many operations a second a case can do at most; `None` without a device."""
    devices = case.extra_info.devices
    ceilings = [computed_once(_peak, run, name, precision(case)) for name in devices]
    # The parts of a CPU share its cores.
    return _together(ceilings if any(map(is_accelerator, devices)) else ceilings[:1])


def memory_ceiling(run: Run, case: Case) -> Ceiling | None:
    """Return how many bytes a second a case can read and write at most; `None` as above."""
    copied = (case.extra_info.work.bytes or 0.0) if path(case) == "within" else None
    devices = set(case.extra_info.devices)
    return _together([computed_once(_memory, run, name, copied) for name in devices])


def link_ceiling(run: Run, case: Case) -> Ceiling | None:
    """Return how fast a case can copy between host and device, or two devices; else `None`."""
    through = path(case)
    if through == "between":
        return _peer(run, case)
    if through not in {"host", "both-ways"}:
        return None
    devices = [known for name in case.extra_info.devices if (known := accelerator(run, name))]
    if not devices:
        return None
    links = LINK_NOISE * len(devices) * (2 if through == "both-ways" else 1)
    # A device in no slot, such as a processor's own display, may share the host's memory.
    in_slot = devices[0].pcie_width is not None
    most = likely = max(FASTEST_SLOT, _best("host_bandwidth")) if in_slot else SHARED_MEMORY
    why = "any link to the host carries"
    with suppress(NotInCatalogError):
        link = catalog.host_link(devices[0])
        likely, why = min(most, link.rate), f"its link carries: {link.figure} in one direction"
    return Ceiling(links * most, links * likely, why)


def _peer(run: Run, case: Case) -> Ceiling:
    known = [find_sheet(accelerator(run, name)) for name in case.extra_info.devices]
    links = [printed.figures.get("peer_bandwidth") for printed in known if printed]
    rates = [link.value for link in links if link]
    most = LINK_NOISE * min(rates, default=FASTEST_PEER)
    return Ceiling(most, most, "their link carries" if rates else "any link of two devices carries")


def _peak(run: Run, name: str, dtype: str) -> Ceiling:
    if not is_accelerator(name):
        cores = _cores(run)
        most = cores * CYCLES * CORE_FLOPS.get(dtype, NARROW_FLOPS)
        return Ceiling(most, most, f"{cores} cores do in {dtype}")
    device, software = accelerator(run, name), run.frobench.environment.software
    if any(variable.startswith("CUBLAS_EMULATE") for variable in software.variables):
        return _of_any(dtype, _best("peak_"))
    if device is None:
        return _of_any(dtype)
    observed = highest_clock(run, name)
    known = find_sheet(device)
    if known is None or f"peak_{dtype}" not in known.figures:
        return _of_units(device, dtype, observed)
    printed, at_most, as_seen = (
        catalog.peak(known, dtype, at and _believed(at)).rate
        for at in (None, device.max_clock_hz, observed)
    )
    highest = max(printed, at_most, as_seen)
    likely = highest if device.max_clock_hz else max(highest, generations.SEEN_BOOST * printed)
    if observed and as_seen >= LEAST_CLOCK * printed:
        likely = as_seen
    # Sums as narrow as the factors double the rate of some cards. PyTorch asks for them in float8,
    # and in float16 if it is told to.
    may = 2 if dtype in {"float16", "float8_e4m3fn"} else 1
    asked = dtype != "float16" or software.flags.get("cuda_matmul_fp16_accumulation")
    why = f"{known.devices[0]} can do in {dtype}"
    return Ceiling(ABOVE_BOOST * may * highest, likely * (may if asked else 1), why)


def _of_any(dtype: str, best: float | None = None) -> Ceiling:
    best = best or _best(f"peak_{dtype}") or _best("peak_")
    return Ceiling(UNKNOWN_DEVICE * best, best, f"any device in the catalog can do in {dtype}")


def _of_units(device: Accelerator, dtype: str, observed: float | None) -> Ceiling:
    """Judge a device without a peak in the catalog by its units, clock and generation."""
    any_device = _of_any(dtype)
    clocks = [_believed(at) for at in (device.max_clock_hz, observed) if at]
    bound = generations.peak(device, dtype, max(clocks, default=None))
    if bound is None:
        return any_device
    most = SAME_GENERATION * bound.rate if bound.known else any_device.most
    whose = "its generation" if bound.known else "any listed device of its vendor"
    why = f"{device.multiprocessors} of the best units of {whose} can do in {dtype}"
    return Ceiling(min(most, any_device.most), min(bound.rate, any_device.likely), why)


def _believed(clock: float) -> float:
    """Return the nearest possible clock."""
    return min(max(clock, 0.0), HIGHEST_CLOCK)


def highest_clock(run: Run, name: str) -> float | None:
    """Return the highest clock of a device in a run, in hertz."""
    sensed = [case.extra_info.telemetry.get(name) for case in run.benchmarks]
    clocks = [readings.values.get("sm_clock_hz") for readings in sensed if readings]
    return max((greatest for _, _, greatest in filter(None, clocks)), default=None)


def _memory(run: Run, name: str, copied: float | None) -> Ceiling:
    """Judge a device's memory by the bytes of a copy, or by its caches where nothing is copied."""
    if not is_accelerator(name):
        cores = _cores(run)
        return Ceiling(cores * CORE_BYTES, cores * CORE_BYTES, f"the caches of {cores} cores do")
    device = accelerator(run, name)
    known = find_sheet(device)
    rate, most, whose = _best("memory_bandwidth"), UNKNOWN_DEVICE, "any device in the catalog"
    if known is not None and "memory_bandwidth" in known.figures:
        rate, most, whose = catalog.memory_bandwidth(known).rate, 1.0, known.devices[0]
    own = catalog.last_level_cache(known.figures) if known else None
    cached = own or (device and generations.last_level_cache(device)) or LARGEST_CACHE
    if copied is not None and copied > 1.5 * cached:
        past = rate * copied / (copied - cached)
        why = f"the memory of {whose} does, caches included"
        return Ceiling(most * OUT_OF_CACHE * past, LABELLED * past, why)
    return Ceiling(most * CACHED * rate, OFTEN_CACHED * rate, f"the caches of {whose} do")


def _together(many: list[Ceiling]) -> Ceiling | None:
    if not many:
        return None
    why = many[0].why if len(many) == 1 else f"{len(many)} devices do: each of them {many[0].why}"
    return Ceiling(sum(one.most for one in many), sum(one.likely for one in many), why)


@cache
def _best(quantity: str) -> float:
    """Return the catalog's largest figure of quantities that begin so; 0 if there is none."""
    figures = (figure for figure in catalog.read() if figure.quantity.startswith(quantity))
    return max((figure.value for figure in figures), default=0.0)


def _cores(run: Run) -> int:
    cpu = run.frobench.environment.cpu
    return max(cpu.logical_cores or 0, cpu.usable_cores, 1)
