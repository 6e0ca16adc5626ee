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
from frobench.suite.stored.types import Accelerator, Cpu, Environment, Software
from tests.instruments.runs.factory_machine import environment
from tests.instruments.runs.factory_plans import Pair, Rates

UNLISTED = (
    ("NVIDIA GeForce RTX 2080 with Max-Q Design", "cuda", 8e9),
    ("AMD Radeon 780M", "cuda", 1.6e10),
    ("Apple M3", "mps", 1.1e10),
    ("Intel(R) Arc(TM) Graphics", "xpu", 1.6e10),
    ("GRID A100-10C", "cuda", 1e10),
)
"""Accelerators that the catalog does not have, as torch calls them, and their memory."""
UNKNOWN = replace(
    environment(None, 1).accelerators[0],
    **{field.name: None for field in fields(Accelerator)[3:] if field.required},
)
"""An accelerator of which nothing is known."""

GENERATIONS = (
    ("7.5", 128, 1024),
    ("8.7", 256, 1024),
    ("8.9", 256, 1024),
    ("10.3", 256, 8192),
    ("12.1", 256, 1024),
)
"""Capabilities, and what a multiprocessor does in a clock in float32 and in float16, by NVIDIA's
descriptions of the architectures."""


class Machine(NamedTuple):
    """A machine, and what its CPU and each of its accelerators do."""

    environment: Environment
    rates: Pair
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
    return Machine(told, Pair(cpu_speeds, speeds), chance)


def _cpu(chance: Random) -> tuple[Cpu, Rates]:
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
    memory, launch = chance.uniform(5e9, 4e11), chance.uniform(5e-7, 5e-6)
    return cpu, Rates(flops, memory, 4e9, launch, launch / 4, 4e9)


def _listed(chance: Random) -> tuple[Accelerator, Rates]:
    figures = chance.choice([*catalog.devices().values()])
    first, fact = next(iter(figures.values())), {name: one.value for name, one in figures.items()}
    reached = chance.uniform(0.05, 1.1)
    nvidia = chance.random() < 0.7 and first.vendor == "NVIDIA"
    memory, units = fact.get("memory_bytes"), fact.get("multiprocessors")
    one = replace(
        UNKNOWN,
        name=_name(first),
        type={"Intel": "xpu", "Apple": "mps"}.get(first.vendor, "cuda"),
        memory_bytes=int(memory * chance.uniform(0.9, 1.0)) if memory else None,
        multiprocessors=int(units) if units else None,
    )
    if nvidia:
        power, clock = fact.get("power_limit"), fact.get("boost_clock")
        one = replace(
            one,
            capability=capability_of(first.device),
            driver="580.95.05",
            power_limit_watts=power and power * chance.choice([1.0, 1.0, 0.5]),
            power_limit_default_watts=power,
            max_clock_hz=clock and clock * chance.uniform(1.0, 1.25),
            ecc=chance.choice([True, False]),
            persistence=True,
            mig=False,
            pcie_generation=1,
            pcie_width=chance.choice([8, 16]),
            pcie_generation_max=3,
            pcie_width_max=16,
        )
    flops = {
        name: fact[f"peak_{name}"] * reached
        for name in catalog.PRECISIONS
        if f"peak_{name}" in fact
    }
    lanes = catalog.pcie_rate(one.pcie_generation_max or 3, one.pcie_width or 16)
    launch = chance.uniform(7e-6, 2e-4)
    return one, Rates(
        flops or {"float32": 1e12},
        fact.get("memory_bandwidth", 1e11) * chance.uniform(0.2, 0.95),
        fact.get("host_bandwidth", lanes) * chance.uniform(0.3, 0.95),
        launch,
        2 * launch,
        fact.get("peer_bandwidth", lanes) * chance.uniform(0.3, 0.95),
    )


def _unlisted(chance: Random) -> tuple[Accelerator, Rates]:
    if chance.random() < 0.5:
        return _of_units(chance)
    name, kind, memory = chance.choice(UNLISTED)
    fast = chance.uniform(5e11, 5e13)
    flops = {"float32": fast, "float16": 4 * fast, "bfloat16": 4 * fast}
    memory_rate, link, launch = chance.uniform(3e10, 1e12), chance.uniform(3e9, 2.5e10), 1e-4
    one = replace(UNKNOWN, name=name, type=kind, memory_bytes=int(memory))
    return one, Rates(flops, memory_rate, link, launch, launch, 1e10)


def _of_units(chance: Random) -> tuple[Accelerator, Rates]:
    """Return a device of which no more than its units, their clock and its generation is known."""
    capability, of_core, of_tensor = chance.choice(GENERATIONS)
    units, clock = chance.randint(4, 200), chance.uniform(1e9, 3e9)
    most = clock * chance.uniform(1.0, 1.2) if chance.random() < 0.5 else None
    one = replace(
        UNKNOWN,
        name="NVIDIA Graphics Device",
        capability=capability,
        multiprocessors=units,
        max_clock_hz=most,
    )
    reached = chance.uniform(0.05, 0.95) * units * (clock if most else min(clock, 2e9))
    flops = {"float32": of_core * reached, "float16": of_tensor * reached}
    generation = catalog.generations()[capability]
    slot = catalog.pcie_rate(int(generation.slot), 16) if generation.slot else 5e10
    memory, link = chance.uniform(3e10, generation.memory), chance.uniform(3e9, slot)
    launch = chance.uniform(7e-6, 1e-3)
    return one, Rates(flops, memory, link, launch, launch, 1e10)


def _software(one: Accelerator | None, cpu: Cpu, chance: Random) -> Software:
    build: dict[str, str | None] = {"cuda": None, "hip": None, "xpu": None}
    if one and one.type == "cuda":
        build["hip" if "AMD" in one.name else "cuda"] = "13.0"
    if one and one.type == "xpu":
        build["xpu"] = "20260000"
    version = chance.choice(["2.13.0", "2.12.1", "2.14.0a0"])
    return replace(
        environment(None, 0).software,
        os=chance.choice(["Debian GNU/Linux 12", "Windows 11", "macOS 15.1"]),
        container=chance.choice([True, False]),
        torch=version + chance.choice(["", "+cpu", "+cu130"]),
        torch_build=build,
        threads=cpu.usable_cores,
        interop_threads=cpu.usable_cores,
        flags={"float32_matmul_precision": "highest"},
        variables={},
        packages={"torch": version},
    )


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
