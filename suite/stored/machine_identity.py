# SPDX-License-Identifier: MIT
"""Which device and which machine a run describes, and the names of cases.

Two devices may share a name: a virtual machine often names its processor by the vendor alone
("Intel(R) Xeon(R) Processor"). So names of devices, and folders named after them, do not tell
devices apart. Names of cases are their file's path and pytest's name for them.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec import UNSET, UnsetType
from msgspec.json import encode

from frobench.suite.stored.types import Accelerator, Cpu, Environment


def short_name(fullname: str) -> str:
    """Return a case's name without its file; a parameter may hold ``::`` too."""
    benchmark, bracket, parameters = fullname.partition("[")  # pytest takes no folder with one
    return benchmark.rpartition("::")[2] + bracket + parameters


def name_of(fullname: str) -> str:
    """Return a case's name without its file and the word ``bench``."""
    return short_name(fullname).removeprefix("bench_")


def benchmark_of(fullname: str) -> str:
    """Return a case's full name without its parameters: its benchmark's file and function."""
    return fullname.partition("[")[0]


@lru_cache(maxsize=2**14)
def function_of(name: str) -> str:
    """Return the benchmark function in a case's name or full name."""
    return benchmark_of(name).rpartition("::")[2]


def nodes_of(device: str) -> tuple[int, int] | None:
    """Return nodes and ranks on each by a group's name, such as ``cuda/4x8``; else ``None``."""
    nodes, times, each = device.partition("/")[2].partition("x")
    return (int(nodes), int(each)) if times and nodes.isdecimal() and each.isdecimal() else None


def ranks_of(group: str) -> int:
    """Return how many devices or ranks a group has, by its name."""
    nodes, each = nodes_of(group) or (1, group.count("+") + 1)
    return nodes * each


@lru_cache(maxsize=2**12)  # a run has few devices, and each case asks
def is_cpu(device: str) -> bool:
    """Tell whether a device, or each of several joined by ``+``, is the CPU or a part of it."""
    return all(name.partition("/")[0] == "cpu" for name in device.split("+"))


def machine_name(cpu: Cpu, accelerators: Sequence[Accelerator]) -> str:
    """Name the kind of machine, fit for a folder: `nvidia-h200`, `2x-nvidia-h200`.

    Without an accelerator it is the processor and the cores that may be used.
    """
    counts = Counter(device.name for device in accelerators)
    parts = [name if count == 1 else f"{count}x {name}" for name, count in counts.items()]
    named = " ".join(parts) or f"{cpu.model or cpu.architecture} {cpu.usable_cores} cores"
    noise = r"\((r|tm)\)|@ *[\d.]+ *ghz|\b(\d+-core|cpu|processor)\b"
    words = re.findall(r"[a-z0-9]+", re.sub(noise, " ", named.lower()))
    return "-".join(words)[:80].rstrip("-")


VECTOR_SETS = frozenset(
    (
        *("amx_bf16", "amx_fp16", "amx_int8", "amx_tile", "avx", "avx2", "avx512_bf16"),
        *("avx512_fp16", "avx512_vnni", "avx512f", "avx_vnni", "f16c", "fma", "sse4_2"),
        *("asimd", "asimddp", "asimdhp", "bf16", "i8mm", "sme", "sve", "sve2"),
    )
)
"""Instruction sets, by the kernel's names, that change how fast a processor computes."""

GIB = 2**30


def device_id(environment: Environment) -> str:
    """Return what all runs of one kind of device have in common, and runs of others have not.

    The device is the first accelerator, or the processor of a machine without one.
    """
    accelerators = environment.accelerators
    return digest(_accelerator(accelerators[0]) if accelerators else _processor(environment.cpu))


def machine_id(
    cpu: Cpu, accelerators: Iterable[Accelerator], label: str | UnsetType = UNSET
) -> str:
    """Return what the runs of one machine have in common: its devices, power limits and label."""
    limited = [(*_accelerator(device), device.power_limit_watts) for device in accelerators]
    return digest((_processor(cpu), limited, _known(label)))


def distinctions(environment: Environment) -> list[str]:
    """Return in words what tells a device from others of its name."""
    if environment.accelerators:
        memory = environment.accelerators[0].memory_bytes
        return [] if memory is None else [f"{memory_as_sold(memory)} GB"]
    cpu = environment.cpu
    numbers = {"family": cpu.family, "model": cpu.model_number, "stepping": cpu.stepping}
    known = [f"{name} {value}" for name, value in numbers.items() if _known(value) is not None]
    cache, sets = cpu.last_level_cache_bytes, _known(cpu.instruction_sets)
    return [
        *([" ".join(known)] if known else []),
        *([f"{cache / 2**20:g} MiB cache"] if cache else []),
        f"{memory_as_sold(cpu.memory_bytes)} GB memory",
        *([str(sets)] if sets else []),
    ]


SOLD_BETWEEN, SOLD_PART = (141, 180), 0.98
"""Sizes of memory in GiB that are sold though no step has them, and how much of one is usable."""


def memory_as_sold(memory_bytes: float) -> int:
    """Return GiB of memory as sold: the system and the driver keep some percent for themselves.

    Sizes are sold in steps of an eighth to a sixteenth of their power of two, so the next step
    above the usable bytes is the size: 24 for 23.5, 64 for 62.6, 80 for 79.6. Two lie between.
    """
    gib = memory_bytes / GIB
    step = max(1, 2 ** (int(gib).bit_length() - 4))
    between = (size for size in SOLD_BETWEEN if size * SOLD_PART <= gib <= size)
    return next(between, int(-(-gib // step) * step))


def described(info: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of `Cpu` that py-cpuinfo's description of a processor has.

    Files that were stored before these facts had fields of their own have this description alone.
    """
    numbers = {"family": "family", "model_number": "model", "stepping": "stepping"}
    found = {name: info.get(key) for name, key in numbers.items()}
    sets = info.get("flags")
    return {
        **{name: value if isinstance(value, int) else None for name, value in found.items()},
        "instruction_sets": vector_sets(sets) if isinstance(sets, list) else None,
    }


def vector_sets(flags: Iterable[object]) -> str | None:
    """Return those of a processor's flags that change how fast it computes, in order."""
    return " ".join(sorted(VECTOR_SETS.intersection(map(str, flags)))) or None


def _processor(cpu: Cpu) -> tuple[object, ...]:
    return (
        cpu.model or cpu.architecture,
        *map(_known, (cpu.family, cpu.model_number, cpu.stepping, cpu.instruction_sets)),
        cpu.usable_cores,
        cpu.last_level_cache_bytes,
        memory_as_sold(cpu.memory_bytes),
    )


def _accelerator(device: Accelerator) -> tuple[object, ...]:
    memory = device.memory_bytes
    return device.name, None if memory is None else memory_as_sold(memory)


def _known(value: object) -> object:
    return None if value is UNSET else value


def digest(facts: object) -> str:
    """Return what equal facts have in common, and others have not."""
    return hashlib.sha256(encode(facts, order="sorted")).hexdigest()[:16]
