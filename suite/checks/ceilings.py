# SPDX-License-Identifier: MIT
"""The highest rate that a case can have: of its device, or else of any device and link there is."""

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, partial
from typing import NamedTuple

from frobench.suite.checks.case_facts import highest_rate
from frobench.suite.datasheets import catalog
from frobench.suite.datasheets.catalog import NotInCatalogError, Sheet
from frobench.suite.stored.machine_identity import function_of, is_cpu
from frobench.suite.stored.types import Accelerator, Case, Cpu, Run, Severity, WorkPath
from frobench.suite.units import format_value

ABOVE_BOOST, SEEN_BOOST = 1.3, 1.2
"""Rate of a product relative to the peak at the datasheet's clock, above which it is impossible,
and above which it is doubted where the highest clock is unknown: 1.16 is published."""
UNKNOWN_DEVICE = 4.0
"""What a device of a generation that is not listed may do, relative to the best in the catalog."""
LEAST_CLOCK = 0.5
"""The highest clock that was seen relative to that of the peak, below which it says nothing of a
product: a short case is mostly read between its bodies. Clocks at rest are a tenth to two fifths of
it, and a lack of power, or heat, hardly ever takes half of it for as long as a case lasts."""
CACHED, OFTEN_CACHED = 30.0, 15.0
"""Rate of a cache relative to the memory behind it, at most and usually; 5 to 12 have been seen."""
LARGEST_CACHE = 2**28
"""Bytes of an accelerator's caches, where the catalog does not know it."""
OUT_OF_CACHE, LABELLED = 1.25, 1.02
"""Rate of a copy out of cache relative to the memory's label, at most: overclocked, or rounded."""
NEWEST_SLOT, SHARED_MEMORY = 6, 1e12
"""The newest PCI Express, and bytes a second of memory that a processor shares with its device."""
LINK_NOISE = 1.05
"""A rate relative to a link's, at most."""
CYCLES = 6.5e9
"""Cycles a second of a core, more than any has."""
CORE_FLOPS = (
    {"": 32, "avx512f": 64, "sve": 64, "sme": 512},
    {"": 64, "avx512f": 128, "sve": 128, "bf16": 128, "sme": 1024, "amx_bf16": 2048},
    {"": 128, "avx512f": 256, "sve": 256, "i8mm": 256, "sme": 2048, "amx_int8": 4096},
)
"""Operations of a core in a cycle, at most, by its instruction sets: on wide numbers, on those of
two bytes and on those of one. A core that names no set may have all of them."""
CORE_BYTES = 2e12
"""Bytes a second that a core exchanges with its first cache, more than any does."""
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


def above(
    ceiling_of: CeilingOf, work: str, run: Run, case: Case, severity: Severity
) -> Iterator[str]:
    """Say that a case's highest rate is impossible, for an error, or unlikely, for a warning.

    work : what of its work counts, ``flops`` or ``bytes``
    """
    rate = highest_rate(case, work)
    ceiling = ceiling_of(run, case) if rate else None
    shown = partial(format_value, unit=UNITS[work])
    if ceiling and rate > ceiling.most and severity == "error":
        yield f"{shown(rate)}, where {shown(ceiling.most)} is more than {ceiling.why}"
    if ceiling and ceiling.likely < rate <= ceiling.most and severity == "warning":
        yield f"{shown(rate)}, where {shown(ceiling.likely)} is what {ceiling.why}"


def path(case: Case) -> WorkPath | None:
    """Return what the bytes of a case go through."""
    return case.extra_info.work.path or PATHS.get(function_of(case.name))


def precision(case: Case) -> str:
    """Return the precision that a case names; without a name it is float32."""
    return str(case.params.get("dtype", "float32"))


def accelerator(run: Run, name: str) -> Accelerator | None:
    """Return what is known of a device of that name."""
    devices = run.frobench.environment.accelerators
    return next((one for one in devices if name in {one.type, one.place}), None)


def find_sheet(device: Accelerator | None) -> Sheet | None:
    """Return a device's datasheet, if it has one."""
    with suppress(NotInCatalogError):
        return catalog.sheet(device) if device else None
    return None


def peak_ceiling(run: Run, case: Case) -> Ceiling | None:
    """Return how many operations a second a case can do at most; `None` without a device."""
    devices = case.extra_info.devices
    ceilings = [_peak(run, name, precision(case)) for name in devices]
    # The parts of a CPU share its cores.
    return _together(ceilings[:1] if all(map(is_cpu, devices)) else ceilings)


def memory_ceiling(run: Run, case: Case) -> Ceiling | None:
    """Return how many bytes a second a case can read and write at most; `None` as above."""
    copied = (case.extra_info.work.bytes or 0.0) if path(case) == "within" else 0.0
    devices = set(case.extra_info.devices)
    return _together([_memory(run, name, copied) for name in devices])


def link_ceiling(run: Run, case: Case) -> Ceiling | None:
    """Return how fast a case can copy between host and device, or two devices; else `None`."""
    through = path(case)
    devices = [known for name in case.extra_info.devices if (known := accelerator(run, name))]
    if through == "between":
        return _peer(devices)
    if through not in {"host", "both-ways"} or not devices:
        return None
    links = LINK_NOISE * len(devices) * (2 if through == "both-ways" else 1)
    most = likely = _to_host(run, devices[0])
    why = "any link to the host of such a device carries"
    with suppress(NotInCatalogError):
        link = catalog.host_link(devices[0])
        if link.rate <= most:
            why = f"its link carries ({link.figure}, in one direction)"
        most, likely = max(most, link.rate), min(most, link.rate)
    return Ceiling(links * most, links * likely, why)


def _to_host(run: Run, device: Accelerator) -> float:
    """Return what the fastest link of a device's time carries, in one direction."""
    known, generation = find_sheet(device), catalog.generation(device)
    if own := known and known.figures.get("host_bandwidth"):
        return own.value
    if not (generation.slot if generation else device.pcie_width):
        memory = known.figures.get("memory_bandwidth") if known else None
        return max(SHARED_MEMORY, memory.value if memory else 0.0)
    rate = catalog.pcie_rate(int(generation.slot) if generation else NEWEST_SLOT, 16)
    # Some processors of Arm and IBM have links of their own to a device.
    is_x86 = run.frobench.environment.cpu.architecture.lower() in {"x86_64", "amd64"}
    return rate if is_x86 else max(rate, _best("host_bandwidth"))


def _peer(devices: list[Accelerator]) -> Ceiling:
    most = LINK_NOISE * _best("peer_bandwidth")
    for known, generation in ((find_sheet(one), catalog.generation(one)) for one in devices):
        if own := known and known.figures.get("peer_bandwidth"):
            most = min(most, LINK_NOISE * own.value)
        elif generation and generation.peer:
            most = min(most, LINK_NOISE * generation.peer)
    return Ceiling(most, most, "any link of such devices carries")


def _peak(run: Run, name: str, dtype: str) -> Ceiling:
    if is_cpu(name):
        return _of_cores(run, dtype)
    device, software = accelerator(run, name), run.frobench.environment.software
    if any(variable.startswith("CUBLAS_EMULATE") for variable in software.variables):
        return _of_any(None, "", None)
    observed = highest_clock(run, name)
    known = find_sheet(device)
    if device is None or known is None or f"peak_{dtype}" not in known.figures:
        return _of_any(device, dtype, observed)
    printed, at_most, as_seen = (
        catalog.peak(known, dtype, at).rate for at in (None, device.max_clock_hz, observed)
    )
    highest = max(printed, at_most, as_seen)
    likely = highest if device.max_clock_hz else max(highest, SEEN_BOOST * printed)
    if observed and as_seen >= LEAST_CLOCK * printed:
        likely = as_seen
    # Sums as narrow as the factors double the rate of some cards. PyTorch asks for them in float8,
    # and in float16 if it is told to.
    may = 2 if dtype in {"float16", "float8_e4m3fn"} else 1
    asked = dtype != "float16" or software.flags.get("cuda_matmul_fp16_accumulation")
    why = f"{known.devices[0]} can do in {dtype}"
    return Ceiling(ABOVE_BOOST * may * highest, likely * (may if asked else 1), why)


def _of_cores(run: Run, dtype: str) -> Ceiling:
    cpu = run.frobench.environment.cpu
    is_apple = (cpu.model or "").startswith("Apple")  # has a matrix unit that no flag names
    sets = "" if is_apple else cpu.instruction_sets
    wide, two_bytes, one_byte = (
        max(row[name] for name in row if not sets or name in sets) for row in CORE_FLOPS
    )
    most = _cores(cpu) * CYCLES * catalog.by_width(wide, two_bytes, one_byte, dtype)
    return Ceiling(most, most, f"{_cores(cpu)} cores do in {dtype}")


def _of_any(device: Accelerator | None, dtype: str, observed: float | None) -> Ceiling:
    """Judge a device without a figure by its generation's units, or by the best in the catalog."""
    best, why = _best(f"peak_{dtype}") or 2 * _best("peak_"), "any device in the catalog can do"
    generation = catalog.generation(device)
    if device is None or generation is None:
        return Ceiling(UNKNOWN_DEVICE * best, best, why)
    clock = max(device.max_clock_hz or 0.0, observed or 0.0) or SEEN_BOOST * _best("boost_clock")
    units = (device.multiprocessors or 0) * clock * generation.operations(dtype)
    if 0 < units < best:
        best, why = units, f"{device.multiprocessors} units of its generation can do"
    return Ceiling(ABOVE_BOOST * best, best, why)


def highest_clock(run: Run, name: str) -> float | None:
    """Return the highest clock of a device in a run, in hertz."""
    sensed = [case.extra_info.telemetry.get(name) for case in run.benchmarks]
    clocks = [readings.values.get("sm_clock_hz") for readings in sensed if readings]
    return max((greatest for _, _, greatest in filter(None, clocks)), default=None)


def _memory(run: Run, name: str, copied: float) -> Ceiling:
    """Judge a device's memory, and its caches as far as what is copied fits them."""
    if is_cpu(name):
        cores = _cores(run.frobench.environment.cpu)
        return Ceiling(cores * CORE_BYTES, cores * CORE_BYTES, f"the caches of {cores} cores do")
    device = accelerator(run, name)
    known = find_sheet(device)
    rate, most, whose = _best("memory_bandwidth"), UNKNOWN_DEVICE, "any device in the catalog"
    if generation := catalog.generation(device):
        rate, most, whose = generation.memory, 1.0, "any device of its generation"
    if known is not None and "memory_bandwidth" in known.figures:
        rate, most, whose = catalog.memory_bandwidth(known).rate, 1.0, known.devices[0]
    cached = (catalog.last_level_cache(known.figures) if known else None) or LARGEST_CACHE
    past = rate * copied / (copied - cached) if copied > cached else math.inf
    if past < OFTEN_CACHED * rate:
        why = f"the memory of {whose} does, caches included"
        return Ceiling(most * OUT_OF_CACHE * past, LABELLED * past, why)
    return Ceiling(CACHED * rate, OFTEN_CACHED * rate, f"the caches of {whose} do")


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


def _cores(cpu: Cpu) -> int:
    return max(cpu.logical_cores or 0, cpu.usable_cores, 1)
