# SPDX-License-Identifier: MIT
"""Which device a run describes, and which machine: two devices may share a name.

A virtual machine often names its processor by the vendor alone ("Intel(R) Xeon(R) Processor"), so
names of devices, and folders named after them, do not tell devices apart.
"""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import UNSET, UnsetType
from msgspec.json import encode

from frobench.suite.stored.machine import Accelerator, Cpu, Environment

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
    return accelerator_id(accelerators[0]) if accelerators else processor_id(environment.cpu)


def processor_id(cpu: Cpu) -> str:
    """Return the same of a processor, whatever else its machine has."""
    return _digest(_processor(cpu))


def accelerator_id(device: Accelerator) -> str:
    """Return the same of an accelerator, whatever else its machine has."""
    return _digest(_accelerator(device))


def machine_id(
    cpu: Cpu, accelerators: Iterable[Accelerator], label: str | UnsetType = UNSET
) -> str:
    """Return what the runs of one machine have in common: its devices, power limits and label."""
    limited = [(*_accelerator(device), device.power_limit_watts) for device in accelerators]
    return _digest((_processor(cpu), limited, _known(label)))


def distinctions(environment: Environment) -> list[str]:
    """Return in words what tells a device from others of its name."""
    if environment.accelerators:
        memory = environment.accelerators[0].memory_bytes
        return [] if memory is None else [f"{memory_as_sold(memory)} GiB"]
    cpu = environment.cpu
    numbers = {"family": cpu.family, "model": cpu.model_number, "stepping": cpu.stepping}
    known = [f"{name} {value}" for name, value in numbers.items() if _known(value) is not None]
    cache, sets = cpu.last_level_cache_bytes, _known(cpu.instruction_sets)
    return [
        *([" ".join(known)] if known else []),
        *([f"{cache / 2**20:g} MiB cache"] if cache else []),
        f"{memory_as_sold(cpu.memory_bytes)} GiB memory",
        *([str(sets)] if sets else []),
    ]


def memory_as_sold(memory_bytes: float) -> int:
    """Return GiB of memory as sold: the system and the driver keep some percent for themselves.

    Sizes are sold in steps of an eighth to a sixteenth of their power of two, so the next step
    above the usable bytes is the size: 24 for 23.5, 64 for 62.6, 80 for 79.6.
    """
    gib = memory_bytes / GIB
    step = max(1, 2 ** (int(gib).bit_length() - 4))
    return int(-(-gib // step) * step)


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


def _digest(facts: object) -> str:
    return hashlib.sha256(encode(facts)).hexdigest()[:16]
