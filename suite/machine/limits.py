# SPDX-License-Identifier: MIT
"""What this process may use of the machine: cores, CPU time and memory.

Linux limits a batch job or a container by nested control groups, of which the tightest limit holds.
In all of `machine`, `root` is the folder of `/proc` and `/sys`, in whose place tests put others.
"""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from math import floor
from pathlib import Path
from typing import Any

import psutil

ROOT = Path("/")
_MEMORY_FILES = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)
"""Of version 2 and 1 of control groups: the files of limit and use, and the entry of `memory.stat`
for what can be given back."""


def read(path: Path) -> str:
    """Return the stripped text of a file of the system; empty if there is none."""
    with suppress(OSError):
        return path.read_text(encoding="utf-8", errors="replace").strip()  # names may be junk
    return ""


def affinity() -> list[int]:
    """Return the numbers of the cores that this process may run on, ascending."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))  # macOS binds no process to cores


def quota(root: Path = ROOT) -> float | None:
    """Return the tightest limit of CPU time of all control groups of this process, in cores."""
    quotas = []
    for group in _control_groups(root, "cpu"):
        version_1 = read(group / "cpu.cfs_quota_us"), read(group / "cpu.cfs_period_us")
        quota, period = read(group / "cpu.max").split() or version_1
        if quota.isdigit() and period.isdigit():  # else `max` or -1: without limit
            quotas.append(int(quota) / int(period))
    return min(quotas, default=None)


def cores_in_use(root: Path = ROOT) -> int:
    """Return the number of cores that this process can keep busy: at least one."""
    cores = len(affinity())
    return min(cores, max(1, floor(quota(root) or cores)))


def psutil_frequency() -> Any:  # noqa: ANN401 - psutil's types deny that it may be None
    """Return the processor's frequencies in MHz as psutil does, or `None`."""
    with suppress(AttributeError, NotImplementedError, OSError, RuntimeError):
        return psutil.cpu_freq()
    return None


def memory(root: Path = ROOT) -> int:
    """Return the bytes of memory that this process could use alone on the machine."""
    return min([psutil.virtual_memory().total, *(limit for limit, _ in _memory_limits(root))])


def free_memory(root: Path = ROOT) -> int:
    """Return the bytes of memory that this process can still take."""
    left = [limit - used for limit, used in _memory_limits(root)]
    return max(0, min([psutil.virtual_memory().available, *left]))


def _memory_limits(root: Path) -> Iterator[tuple[int, int]]:
    """Yield the limit of each control group that has one, and what counts against it, in bytes.

    A control group counts cached files as used; those not in use are given back for the asking.
    """
    for group in _control_groups(root, "memory"):
        for limit_file, used_file, entry in _MEMORY_FILES:
            limit, used = read(group / limit_file), read(group / used_file)
            if limit.isdigit():  # else `max`: without limit
                cached = re.search(rf"(?m)^{entry}\s+(\d+)$", read(group / "memory.stat"))
                taken = int(used) if used.isdigit() else 0
                yield int(limit), max(0, taken - (int(cached[1]) if cached else 0))


def _control_groups(root: Path, controller: str) -> Iterator[Path]:
    """Yield the control groups of this process from the outermost in, of versions 1 and 2.

    In a container the path may be the host's, of which only the outermost folder exists.
    """
    for line in read(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        folder = root / "sys/fs/cgroup" / controllers
        yield folder
        for part in path.strip("/").split("/"):
            folder /= part
            yield folder
