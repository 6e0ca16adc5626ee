# SPDX-License-Identifier: MIT
"""The host processor as this process may use it: model, cores, limits, caches, memory."""

import platform
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import cpuinfo
import psutil

from frobench.suite.machine import limits
from frobench.suite.machine.limits import ROOT, read
from frobench.suite.machine.system import known
from frobench.suite.stored.identity import described, vector_sets
from frobench.suite.stored.run import Cpu

UNNAMED = "the system does not describe its processor"


def processor(unknown: dict[str, str], root: Path = ROOT) -> Cpu:
    """Describe the processor; `unknown` takes the reasons for what is not known."""
    system = root / "sys/devices/system"
    folders = [system / f"cpu/cpu{core}" for core in limits.affinity()]
    governors = {read(folder / "cpufreq/scaling_governor") for folder in folders} - {""}
    nodes = {node.name for folder in folders for node in folder.glob("node[0-9]*")}
    core_nodes = sorted(int(name.removeprefix("node")) for name in nodes)
    huge_pages = read(root / "sys/kernel/mm/transparent_hugepage/enabled")  # always [madvise] never
    frequency = limits.psutil_frequency()
    highest = float(frequency.max) * 1e6 or None if frequency else None
    physical, logical = psutil.cpu_count(logical=False), psutil.cpu_count()
    uncounted = "the system does not count its cores"
    no_nodes = "the system does not describe its memory nodes"
    no_control = "the kernel offers no frequency control"
    no_caches = "the system does not describe its caches"
    no_pages = "the kernel knows none of them"
    facts: dict[str, tuple[Any, str]] = {
        **{name: (value, UNNAMED) for name, value in _named(root).items()},
        "physical_cores": (physical, uncounted),
        "logical_cores": (logical, uncounted),
        "quota_cores": (limits.quota(root), "no limit is set"),
        "governor": (", ".join(sorted(governors)) or None, no_control),
        "max_frequency_hz": (highest, "the system does not say how fast cores may run"),
        "last_level_cache_bytes": (last_level_cache(root), no_caches),
        "numa_nodes": (len(list((system / "node").glob("node[0-9]*"))) or None, no_nodes),
        "boost": (_boost(system / "cpu"), "the kernel does not say whether cores may boost"),
        "frequency_driver": (read(system / "cpu/cpu0/cpufreq/scaling_driver") or None, no_control),
        "usable_numa_nodes": (len(core_nodes) or None, no_nodes),
        "core_nodes": (core_nodes or None, no_nodes),
        "threads_per_core": (logical // physical if logical and physical else None, uncounted),
        "huge_pages": (huge_pages.partition("[")[2].partition("]")[0] or None, no_pages),
    }
    return Cpu(
        architecture=platform.machine(),
        usable_cores=limits.cores_in_use(root),
        memory_bytes=limits.memory(root),
        **known(facts, "cpu.", unknown),
    )


def _named(root: Path) -> dict[str, Any]:
    """Return a processor's model and what tells it from others of that name."""
    text = read(root / "proc/cpuinfo")

    def field(name: str) -> str:
        line = re.search(rf"(?m)^{name}\s*: (.+)$", text)
        return " ".join(line[1].split()) if line else ""

    if model := field("model name"):  # asking cpuinfo takes a sixth of a second
        facts = {
            "family": _number(field("cpu family")),
            "model_number": _number(field("model")),
            "stepping": _number(field("stepping")),
            "instruction_sets": vector_sets(field("flags").split()),
        }
    else:
        info = cpuinfo.get_cpu_info()
        model, facts = info.get("brand_raw") or platform.processor(), described(info)
    return {"model": " ".join(model.split()) or None, **facts}


def _number(text: str) -> int | None:
    try:
        return int(text, base=0)
    except ValueError:
        return None


def _boost(cpus: Path) -> bool | None:
    """Tell whether cores may run above their base clock; Intel's driver says it the other way."""
    if off := read(cpus / "intel_pstate/no_turbo"):
        return off == "0"
    on = read(cpus / "cpufreq/boost")
    return on == "1" if on else None


def last_level_cache(root: Path = ROOT) -> int | None:
    """Return the bytes of all caches of the last level that usable cores have."""
    levels: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for core in limits.affinity():
        for index in (root / f"sys/devices/system/cpu/cpu{core}/cache").glob("index*"):
            level, size = read(index / "level"), read(index / "size")
            if level and size.endswith("K"):
                levels[level][read(index / "shared_cpu_list")] = int(size[:-1]) * 1024
    return sum(levels[max(levels)].values()) or None if levels else None
