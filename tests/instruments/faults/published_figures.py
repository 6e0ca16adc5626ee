# SPDX-License-Identifier: MIT
"""Sound figures that others published, and the same figures made impossible.

`published.csv` has 940 measurements with their sources. Each is put into a run as if it had been
measured there, on a device of its name whose driver tells what drivers tell. A spoilt figure
counts only where facts apart from the rules make it impossible: above 1.2 times what a datasheet
prints for the device (2.4 times where narrower sums may double a rate), or the newest slot of its
generation carries; where no datasheet tells, above four times the best that anybody published.
`python -m tests.instruments.faults.published_figures` prints the table of docs/calibration.md.
"""

import csv
import math
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from frobench.suite.checks import plausibility, rule, too_good
from frobench.suite.datasheets import catalog
from frobench.suite.datasheets.catalog import Figure
from frobench.suite.stored import store
from frobench.suite.stored.types import Accelerator, Case, Conclusion, Run, Work
from tests.instruments.faults.judging import keep, name_again
from tests.instruments.faults.spoiling import case, good, last, product
from tests.instruments.runs.made_up import capability_of

COLUMNS = ("device", "capability", "multiprocessors", "clock_hz")
PATH = Path(__file__).with_name("published.csv")
CLEARLY, ALL_OTHERS = 1.2, 4.0
"""What is impossible relative to a printed figure, and to the best published one."""
UNLISTED = [*catalog.rows(PATH.with_name("unlisted.csv"), COLUMNS)]
"""Capability, multiprocessors and highest clock of devices without a row in the catalog. Source:
NVIDIA, CUDA GPUs, and its datasheets."""
NO_TORCH = re.compile(r"FirePro|Radeon (HD|R\d)|RX 5[57]|Steam Deck|GTX 4|GTX 660|GT [67]|MTT|DCU")
"""Devices that no torch of today computes on, or only a vendor's own."""
SLOTS = {"3": 3, "5": 3, "6": 3, "7": 3, "8": 4, "9": 5, "10": 6, "12": 5}
"""The newest PCI Express of NVIDIA's cards, by major capability. Source: its datasheets."""
WIDER = {"tfloat32": "float32", "bfloat16": "float32", "float16": "float32", "float32": "float64"}
SIZE = 2**30
HIGHEST = 1.2
"""The highest clock of a GeForce relative to its datasheet's boost clock, as drivers tell."""
CODES = {*rule.rules(plausibility), *rule.rules(too_good)} - {"other-model"}


class Published(NamedTuple):
    """A row of the table: `value` is a rate or a speedup."""

    device: str
    benchmark: str
    dtype: str
    parameters: str
    value: float


class Attempt(NamedTuple):
    """A figure in a run.

    most : the largest figure that is possible for all that anybody knows
    """

    what: str
    run: Run
    value: float
    most: float


@cache
def published() -> list[Published]:
    """Return the sound figures."""
    rows = csv.DictReader(PATH.read_text("utf-8").splitlines())
    return [
        Published(
            re.sub(r" \(.*|(?<!Laptop) GPU$", "", row["device"]),
            row["benchmark"],
            "tfloat32" if row["dtype"] == "tf32" else row["dtype"] or "float32",
            row["parameters"],
            float(row["value"]),
        )
        for row in rows
    ]


@cache
def figures_of(name: str) -> dict[str, Figure]:
    """Return the catalog's figures of the first device that torch may call so."""
    for figures in catalog.devices().values():
        if re.search(next(iter(figures.values())).torch_name, name):
            return dict(figures)
    return {}


@cache
def device_of(name: str) -> Accelerator:
    """Return a device as its driver describes it, in the newest slot of its time."""
    first, known = good().frobench.environment.accelerators[0], figures_of(name)
    fact = {what: figure.value for what, figure in known.items()}
    capability = capability_of(next(iter(known.values())).device) if known else None
    units, clock = fact.get("multiprocessors"), fact.get("boost_clock")
    clock = clock and clock * (HIGHEST if "GeForce" in name or "RTX" in name else 1.0)
    for _, (pattern, own, count, hertz) in UNLISTED:
        if re.search(pattern, name):
            capability, units, clock = own, float(count), float(hertz)
    slot = SLOTS.get((capability or "").partition(".")[0])
    vendor = {"Apple": "mps", "Intel": "xpu"}
    return replace(
        first,
        name=name,
        type=next((kind for word, kind in vendor.items() if word in name), "cuda"),
        memory_bytes=int(0.97 * fact["memory_bytes"]) if "memory_bytes" in fact else None,
        capability=capability,
        multiprocessors=int(units) if units else None,
        max_clock_hz=clock,
        power_limit_watts=None,
        power_limit_default_watts=None,
        pcie_generation=slot,
        pcie_generation_max=slot,
        pcie_width=16 if slot else None,
        pcie_width_max=16 if slot else None,
    )


@cache
def _template(kind: str) -> bytes:
    run = good()
    chosen = {
        "matmul": [product(run)],
        "host": [case(run, "bench_to_device", size=4**13)],
        "between": [case(run, "bench_between")],
        "within": [case(run, "bench_within", device="cuda:0")],
        "speedup": [case(run, "bench_sequence"), case(run, "bench_two_at_once")],
    }[kind]
    keep(run, lambda one: any(one is other for other in chosen))
    return store.encode(run)


def of_kind(kind: str, device: Accelerator, devices: int = 2) -> tuple[Run, list[Case]]:
    """Return a run with the cases that a figure needs, on so many devices of a kind."""
    run = msgspec.json.decode(_template(kind), type=Run)
    run.frobench.seconds = 1e8  # a slow figure is no long run
    environment = run.frobench.environment
    environment.accelerators = [replace(device, index=index) for index in range(devices)]
    for one in run.benchmarks:
        one.extra_info.parts, one.extra_info.check = {}, None
        names = str(one.params["device"]).replace("cuda", device.type)
        name_again(run, one, device=names)
        for launch in run.frobench.launches:
            launch.empty_body |= dict.fromkeys(one.extra_info.devices, 1e-9)
    return run, run.benchmarks


def multiplied(device: Accelerator, dtype: str, rate: float) -> Run:
    """Return a run in which a large product has so many operations a second."""
    run, (one,) = of_kind("matmul", device)
    name_again(run, one, dtype=dtype)
    last(run, (one.extra_info.work.flops or 0.0) / rate, one)
    return run


def copied(device: Accelerator, path: str, rate: float) -> Run:
    """Return a run in which so many bytes a second go along a path."""
    run, (one,) = of_kind("host" if path == "both-ways" else path, device)
    moved = SIZE * (2 if path in {"within", "both-ways"} else 1)
    name_again(run, one, size=SIZE)
    one.extra_info.work = Work(bytes=float(moved), path=path)  # type: ignore[arg-type] # one of them
    last(run, moved / rate, one)
    return run


def scaled(device: Accelerator, devices: int, speedup: float) -> Run:
    """Return a run in which several devices are so many times as fast as one."""
    run, (one, many) = of_kind("speedup", device, devices)
    name_again(run, many, device="+".join(f"{device.type}:{n}" for n in range(devices)))
    one.extra_info.work = Work(flops=1e9)
    many.extra_info.work = Work(flops=devices * 1e9)
    last(run, 0.01, one)
    last(run, devices * 0.01 / speedup, many)
    return run


@cache
def best_of_all(device: str, benchmark: str, dtype: str) -> float:
    alike = (row.value for row in published() if row[:3] == (device, benchmark, dtype))
    return max(alike, default=math.inf)


def attempt(row: Published, what: str = "sound") -> Attempt:
    """Return a figure of the table, or a spoilt one, in a run."""
    value, device, known = row.value, device_of(row.device), figures_of(row.device)
    others = ALL_OTHERS * best_of_all(*row[:3])

    def printed(quantity: str) -> float:
        return CLEARLY * known[quantity].value if quantity in known else others

    if row.benchmark == "matmul":
        half = row.dtype in {"float16", "float8_e4m3fn"} and "GeForce" in row.device
        most = printed(f"peak_{row.dtype}") * (2 if half else 1)
        return Attempt(what, multiplied(device, row.dtype, value), value, most)
    if row.benchmark == "device_memory_bandwidth":
        return Attempt(what, copied(device, "within", value), value, printed("memory_bandwidth"))
    if row.benchmark == "copy_p2p":
        return Attempt(what, copied(device, "between", value), value, printed("peer_bandwidth"))
    if row.benchmark == "multi_gpu_speedup":
        [count] = re.findall(r"gpus=(\d+)", row.parameters)
        return Attempt(what, scaled(device, int(count), value), value, 1.3 * int(count))
    directions = 2 if row.benchmark == "copy_h2d_bidir" else 1
    most, slot = printed("host_bandwidth"), device.pcie_generation
    if slot and "host_bandwidth" not in known:
        most = CLEARLY * directions * catalog.pcie_rate(slot, 16)
    path = "both-ways" if directions == 2 else "host"
    return Attempt(what, copied(device, path, value), value, most)


def sound() -> Iterator[Attempt]:
    """Yield the figures as they were published, and an eighth of each, which a slow device has."""
    for row in published():
        yield attempt(row)
        yield attempt(row._replace(value=row.value / 8), "an eighth")


def spoilt() -> Iterator[Attempt]:
    """Yield figures that are spoilt, the impossible ones among them."""
    twice = {
        "matmul": ("two cards as one", "sparse as dense"),
        "device_memory_bandwidth": ("two cards as one",),
        "multi_gpu_speedup": ("work of two devices in half the time of one",),
    }
    for row in published():
        if NO_TORCH.search(row.device) or row.device in {"NVIDIA", "8-GPU NVLink server"}:
            continue
        yield attempt(row._replace(value=8 * row.value), "times 8")
        yield attempt(row._replace(value=1000 * row.value), "times 1,000")
        for what in twice.get(row.benchmark, ("another generation of the link",)):
            if what != "sparse as dense" or row.dtype in WIDER.keys() - {"float32"} | {"int8"}:
                yield attempt(row._replace(value=2 * row.value), what)
        if row.benchmark == "matmul" and row.dtype in WIDER:
            yield attempt(row._replace(dtype=WIDER[row.dtype]), "another precision")


def codes(one: Attempt, severity: str = "") -> set[str]:
    """Return the rules about impossible results that name a figure."""
    return {each.code for each in _named(one) if each.severity.startswith(severity)}


def _named(one: Attempt) -> list[Conclusion]:
    found = rule.conclusions(one.run, plausibility, too_good)
    return [each for each in found if each.code in CODES]


def table() -> str:
    """Return for each way to spoil a figure how many are impossible, named, and refused."""
    counts: dict[str, list[int]] = {}
    for one in (each for each in spoilt() if each.value > each.most):
        count = counts.setdefault(one.what, [0, 0, 0])
        severities = {each.severity for each in _named(one)}
        for place, counted in enumerate((True, severities, "error" in severities)):
            count[place] += bool(counted)
    counts["all"] = [sum(column) for column in zip(*counts.values(), strict=True)]
    lines = ["| figure | impossible | named | refused |", "| --- | ---: | ---: | ---: |"]
    for what, (impossible, named, refused) in counts.items():
        shares = f"{named / impossible:.1%} | {refused / impossible:.1%}"
        lines.append(f"| {what} | {impossible:,} | {shares} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())  # noqa: T201 - it is what it is for
