# SPDX-License-Identifier: MIT
"""The host processor as this process may use it: model, cores, limits, caches, memory.

What psutil and cpuinfo do not tell is read from Linux's `/sys` and `/proc`; `root` is the
folder that both lie in, so that a test can put others in their place.
"""

import platform
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import cpuinfo
import psutil

from suite.machine import limits
from suite.machine.limits import ROOT, read
from suite.machine.unknown import Facts
from suite.stored.run import Cpu


def processor(unknown: dict[str, str], root: Path = ROOT) -> Cpu:
    """Describe the processor; the reasons for what is not known go into `unknown`.

    `usable_cores` and `memory_bytes` respect affinity and control groups, and
    `last_level_cache_bytes` counts every cache of the last level that a usable core has.
    """
    cores = limits.affinity()
    nodes = _nodes_of(root, cores)
    physical, logical = psutil.cpu_count(logical=False), psutil.cpu_count()
    uncounted = "the system does not count its cores"
    no_nodes = "the system does not describe its memory nodes"
    no_control = "the kernel offers no frequency control"
    facts: dict[str, tuple[Any, str]] = {
        "model": (_model(root), "the system does not name its processor"),
        "physical_cores": (physical, uncounted),
        "logical_cores": (logical, uncounted),
        "quota_cores": (limits.quota(root), "no limit is set"),
        "governor": (_governor(root, cores), no_control),
        "max_frequency_hz": (_max_frequency(), "the system does not say how fast cores may run"),
        "last_level_cache_bytes": (
            last_level_cache(root),
            "the system does not describe its caches",
        ),
        "numa_nodes": (_numa_nodes(root), no_nodes),
        "boost": (_boost(root), "the kernel does not say whether cores may boost"),
        "frequency_driver": (
            read(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_driver") or None,
            no_control,
        ),
        "usable_numa_nodes": (len(nodes) or None, no_nodes),
        "core_nodes": (nodes or None, no_nodes),
        "threads_per_core": (logical // physical if logical and physical else None, uncounted),
        "huge_pages": (_huge_pages(root), "the kernel knows none of them"),
    }
    note = Facts("cpu", unknown).note
    return Cpu(
        architecture=platform.machine(),
        usable_cores=limits.cores_in_use(root),
        memory_bytes=limits.memory(root),
        **{name: note(name, value, reason) for name, (value, reason) in facts.items()},
    )


def _model(root: Path) -> str | None:
    """Return the name that the processor gives itself; to ask cpuinfo takes a sixth of a second."""
    line = re.search(r"(?m)^model name\s*: (.+)$", read(root / "proc/cpuinfo"))
    model = line[1] if line else cpuinfo.get_cpu_info().get("brand_raw") or platform.processor()
    return " ".join(model.split()) or None


def _governor(root: Path, cores: list[int]) -> str | None:
    folder = root / "sys/devices/system/cpu"
    governors = {read(folder / f"cpu{core}/cpufreq/scaling_governor") for core in cores}
    return ", ".join(sorted(governors - {""})) or None


def _boost(root: Path) -> bool | None:
    """Tell whether cores may run above their base clock; Intel's driver says it the other way."""
    folder = root / "sys/devices/system/cpu"
    if off := read(folder / "intel_pstate/no_turbo"):
        return off == "0"
    on = read(folder / "cpufreq/boost")
    return on == "1" if on else None


def _huge_pages(root: Path) -> str | None:
    """Return the kernel's choice, the one in brackets: `always [madvise] never`."""
    choices = read(root / "sys/kernel/mm/transparent_hugepage/enabled")
    return choices.partition("[")[2].partition("]")[0] or None


def _max_frequency() -> float | None:
    with suppress(NotImplementedError, OSError, RuntimeError):  # psutil's ways to say no
        frequency: Any = psutil.cpu_freq()  # in MHz; its types deny that it may be None
        return float(frequency.max) * 1e6 or None if frequency else None
    return None


def last_level_cache(root: Path = ROOT) -> int | None:
    """Return the bytes of all caches of the last level that usable cores have."""
    caches = {}
    for core in limits.affinity():
        folder = root / f"sys/devices/system/cpu/cpu{core}/cache"
        for index in folder.glob("index*"):
            level, size = read(index / "level"), read(index / "size")
            if level and size.endswith("K"):
                caches[level, read(index / "shared_cpu_list")] = int(size[:-1]) * 1024
    last = max((level for level, _ in caches), default=None)
    return sum(size for (level, _), size in caches.items() if level == last) or None


def _numa_nodes(root: Path) -> int | None:
    return len(list((root / "sys/devices/system/node").glob("node[0-9]*"))) or None


def _nodes_of(root: Path, cores: list[int]) -> list[int]:
    """Return the numbers of the memory nodes that cores belong to."""
    folder = root / "sys/devices/system/cpu"
    names = {node.name for core in cores for node in folder.glob(f"cpu{core}/node[0-9]*")}
    return sorted(int(name.removeprefix("node")) for name in names)
