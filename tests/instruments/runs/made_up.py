# SPDX-License-Identifier: MIT
"""Made-up machines: processors, accelerators of the catalog and others, and what they can do.

A CPU has 2 to 128 cores; an accelerator of the catalog reaches 5% to 110% of its datasheet. What
a machine or its driver does not tell is unknown with a reason, as a run stores it.
"""

import math
import re
from functools import cache
from pathlib import Path
from random import Random
from typing import NamedTuple

from msgspec.structs import fields, replace

from frobench.suite.datasheets import catalog
from frobench.suite.datasheets.catalog import Figure, rows
from frobench.suite.stored.types import (
    Accelerator,
    Cpu,
    Environment,
    Software,
)

UNLISTED = (
    ("NVIDIA GeForce RTX 2080 with Max-Q Design", "cuda", 8e9),
    ("AMD Radeon 780M", "cuda", 1.6e10),
    ("Apple M3", "mps", 1.1e10),
    ("Intel(R) Arc(TM) Graphics", "xpu", 1.6e10),
    ("GRID A100-10C", "cuda", 1e10),
)
"""Accelerators that the catalog does not have, as torch calls them, and their memory."""


GENERATIONS = (
    ("7.5", 128, 1024),
    ("8.7", 256, 1024),
    ("8.9", 256, 1024),
    ("10.3", 256, 8192),
    ("12.1", 256, 1024),
)
"""Capabilities, and what a multiprocessor does in a clock in float32 and in float16, by NVIDIA's
descriptions of the architectures."""


class Speeds(NamedTuple):
    """What a device of a machine does: operations a second by precision, bytes/s, seconds."""

    flops: dict[str, float]
    memory: float
    link: float
    peer: float
    launch: float


class Machine(NamedTuple):
    """A machine, and what its CPU and each of its accelerators do."""

    environment: Environment
    cpu: Speeds
    gpu: Speeds
    chance: Random

    @property
    def accelerators(self) -> list[str]:
        """The names of its accelerators."""
        return [one.place for one in self.environment.accelerators]


def made_up(chance: Random) -> Machine:
    """Return a machine, as a generator chooses."""
    cpu, cpu_speeds = _cpu(chance)
    kind = chance.choice(["cpu", "listed", "listed", "listed", "unlisted"])
    accelerators: list[Accelerator] = []
    speeds = cpu_speeds
    if kind != "cpu":
        one, speeds = _listed(chance) if kind == "listed" else _unlisted(chance)
        many = 1 if one.type == "mps" else chance.choice([1, 1, 2, 4, 8])
        accelerators = [replace(one, index=index) for index in range(many)]
    software = _software(accelerators[0] if accelerators else None, cpu, chance)
    told = Environment(
        machine="made-up", cpu=cpu, accelerators=accelerators, software=software, unknown={}
    )
    parts: list[tuple[str, Cpu | Software | Accelerator]] = [
        ("cpu", cpu),
        *((f"accelerators.{place}", one) for place, one in enumerate(accelerators)),
    ]
    for where, part in parts:
        for field in fields(part):
            if getattr(part, field.name) is None:
                told.unknown[f"{where}.{field.name}"] = "it is not told"
    return Machine(told, cpu_speeds, speeds, chance)


def _cpu(chance: Random) -> tuple[Cpu, Speeds]:
    logical = chance.choice([2, 4, 8, 12, 16, 24, 32, 64, 128])
    quota = chance.choice([None, None, None, 0.5, logical / 2])
    usable = max(
        1, math.floor(min(chance.choice([logical, logical, logical / 2]), quota or logical))
    )
    known = chance.random() < 0.9
    cpu = Cpu(
        model=chance.choice(["AMD EPYC 9654", "Intel Core i7", "Apple M3", None]),
        architecture=chance.choice(["x86_64", "aarch64", "arm64", "AMD64"]),
        physical_cores=chance.choice([logical, logical // 2, None]),
        logical_cores=logical if known else None,
        usable_cores=usable,
        quota_cores=quota,
        governor=chance.choice(["performance", "powersave", None]),
        max_frequency_hz=chance.choice([3.7e9, 5.7e9, None]),
        last_level_cache_bytes=chance.choice([4 * 2**20, 32 * 2**20, 384 * 2**20, None]),
        numa_nodes=chance.choice([1, 2, None]),
        memory_bytes=chance.choice([4, 8, 16, 64, 512, 2048]) * 2**30,
    )
    each = chance.uniform(1e9, 2e11)
    # A tile of a core does far more in two bytes, and a CPU without any far less.
    flops = {
        "float64": each * usable / 2,
        "float32": each * usable,
        "bfloat16": each * usable * chance.choice([0.05, 1.0, 8.0]),
        "float16": each * usable * chance.choice([0.01, 1.0, 8.0]),
    }
    return cpu, Speeds(flops, chance.uniform(5e9, 4e11), 1e10, 1e10, chance.uniform(5e-7, 5e-6))


def _listed(chance: Random) -> tuple[Accelerator, Speeds]:
    figures = chance.choice(_devices())
    first = next(iter(figures.values()))
    reached = chance.uniform(0.05, 1.1)
    memory, units = figures.get("memory_bytes"), figures.get("multiprocessors")
    clock, power = figures.get("boost_clock"), figures.get("power_limit")
    told = chance.random() < 0.7
    nvidia = told and first.vendor == "NVIDIA"
    usual = power.value if power and nvidia else None
    one = Accelerator(
        name=_name(first),
        type={"Intel": "xpu", "Apple": "mps"}.get(first.vendor, "cuda"),
        index=0,
        memory_bytes=int(memory.value * chance.uniform(0.9, 1.0)) if memory else None,
        capability=capability_of(first.device) if nvidia else None,
        driver="580.95.05" if nvidia else None,
        multiprocessors=int(units.value) if units else None,
        power_limit_watts=usual and usual * chance.choice([1.0, 1.0, 0.5]),
        power_limit_default_watts=usual,
        max_clock_hz=clock.value * chance.uniform(1.0, 1.25) if clock and nvidia else None,
        ecc=chance.choice([True, False]) if nvidia else None,
        persistence=True if nvidia else None,
        mig=False if nvidia else None,
        pcie_generation=1 if nvidia else None,
        pcie_width=chance.choice([8, 16]) if nvidia else None,
        pcie_generation_max=chance.choice([3, 4, 5]) if nvidia else None,
        pcie_width_max=16 if nvidia else None,
    )
    flops = {
        name: figures[f"peak_{name}"].value * reached
        for name in catalog.PRECISIONS
        if f"peak_{name}" in figures
    }
    bandwidth = figures.get("memory_bandwidth")
    lanes = catalog.pcie_rate(one.pcie_generation_max or 3, one.pcie_width or 16)
    host = figures.get("host_bandwidth")
    peer = figures.get("peer_bandwidth")
    return one, Speeds(
        flops or {"float32": 1e12},
        (bandwidth.value if bandwidth else 1e11) * chance.uniform(0.2, 0.95),
        (host.value if host else lanes) * chance.uniform(0.3, 0.95),
        (peer.value if peer else lanes) * chance.uniform(0.3, 0.95),
        chance.uniform(3e-6, 2e-4),
    )


def _unlisted(chance: Random) -> tuple[Accelerator, Speeds]:
    if chance.random() < 0.5:
        return _of_units(chance)
    name, kind, memory = chance.choice(UNLISTED)
    known = dict.fromkeys((field.name for field in fields(Accelerator) if field.required), None)
    one = Accelerator(
        **(known | {"name": name, "type": kind, "index": 0, "memory_bytes": int(memory)})  # type: ignore[arg-type] # all are there
    )
    fast = chance.uniform(5e11, 5e13)
    flops = {"float32": fast, "float16": 4 * fast, "bfloat16": 4 * fast}
    return one, Speeds(
        flops,
        chance.uniform(3e10, 1e12),
        chance.uniform(3e9, 5e10),
        1e10,
        chance.uniform(5e-6, 1e-3),
    )


def _of_units(chance: Random) -> tuple[Accelerator, Speeds]:
    """Return a device of which no more than its units, their clock and its generation is known."""
    capability, of_core, of_tensor = chance.choice(GENERATIONS)
    units, clock = chance.randint(4, 200), chance.uniform(1e9, 3e9)
    known = dict.fromkeys((field.name for field in fields(Accelerator) if field.required), None)
    facts = {
        "name": "NVIDIA Graphics Device",
        "type": "cuda",
        "index": 0,
        "capability": capability,
        "multiprocessors": units,
        "max_clock_hz": clock * chance.uniform(1.0, 1.2) if chance.random() < 0.5 else None,
    }
    one = Accelerator(**(known | facts))  # type: ignore[arg-type] # all are there
    if one.max_clock_hz is None:
        clock = min(clock, 2e9)
    reached = chance.uniform(0.05, 0.95) * units * clock
    flops = {"float32": of_core * reached, "float16": of_tensor * reached}
    generation = catalog.generations()[capability]
    slot = catalog.pcie_rate(int(generation.slot), 16) if generation.slot else 5e10
    memory, link = chance.uniform(3e10, generation.memory), chance.uniform(3e9, slot)
    return one, Speeds(flops, memory, link, 1e10, chance.uniform(5e-6, 1e-3))


def _software(one: Accelerator | None, cpu: Cpu, chance: Random) -> Software:
    kind = one.type if one else "cpu"
    build: dict[str, str | None] = {"cuda": None, "hip": None, "xpu": None}
    if kind == "cuda":
        build["hip" if one and "AMD" in one.name else "cuda"] = "13.0"
    if kind == "xpu":
        build["xpu"] = "20260000"
    version = chance.choice(["2.13.0", "2.12.1", "2.14.0a0"])
    return Software(
        os=chance.choice(["Debian GNU/Linux 12", "Windows 11", "macOS 15.1"]),
        kernel="6.8.0",
        container=chance.choice([True, False]),
        python="3.11.7",
        torch=version + chance.choice(["", "+cpu", "+cu130"]),
        torch_build=build,
        threads=cpu.usable_cores,
        interop_threads=cpu.usable_cores,
        flags={"float32_matmul_precision": "highest"},
        variables={},
        packages={"torch": version},
    )


@cache
def _devices() -> list[dict[str, Figure]]:
    devices: dict[str, dict[str, Figure]] = {}
    for figure in catalog.read():
        devices.setdefault(figure.device, {}).setdefault(figure.quantity, figure)
    return list(devices.values())


@cache
def capability_of(device: str) -> str | None:
    """Return the capability of a device by its name in the catalog.

    Sources: NVIDIA, CUDA GPUs; AMD, ROCm docs, GPU hardware specifications.
    """
    table = rows(Path(__file__).with_name("capabilities.csv"), ("devices", "capability"))
    return next((known for _, (pattern, known) in table if re.search(pattern, device)), None)


def _name(figure: Figure) -> str:
    """Return what torch may call a device: the shortest that fits the catalog's pattern."""
    pattern = figure.torch_name
    literal = pattern.replace(r"\(", "<").replace(r"\)", ">")  # as in Intel(R)
    without = re.sub(r"\([^()]*\)\?", "", literal)
    plain = re.sub(r"\(([^()|]*)[^()]*\)", r"\1", without).strip("^$").replace(".*", "")
    plain = re.sub(r"\\(.)", r"\1", plain).replace("<", "(").replace(">", ")")
    return plain if re.search(pattern, plain) else ""
