# SPDX-License-Identifier: MIT
"""What this process may use of the machine: cores, CPU time and memory.

Linux limits a batch job or a container by control groups, which lie within each other: the
tightest limit of all levels holds. `root` is the folder that `/proc` and `/sys` lie in, so that a
test can put others in their place.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from math import floor
from pathlib import Path
from typing import NamedTuple

import psutil

ROOT = Path("/")


class _MemoryFiles(NamedTuple):
    """Files of a control group: its limit, what it uses, and what of that can be given back."""

    limit: str
    used: str
    reclaimable: str


_MEMORY = (
    _MemoryFiles("memory.max", "memory.current", "inactive_file"),
    _MemoryFiles("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)
"""Of control groups of version 2 and of version 1."""


def read(path: Path) -> str:
    """Return what a file of the system says, without the space around it; nothing if none."""
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
        second = [read(group / "cpu.cfs_quota_us"), read(group / "cpu.cfs_period_us")]
        quota, period = read(group / "cpu.max").split() or second
        if quota.isdigit() and period.isdigit():  # else `max` or -1: without limit
            quotas.append(int(quota) / int(period))
    return min(quotas, default=None)


def cores_in_use(root: Path = ROOT) -> int:
    """Return the number of cores that this process can keep busy: at least one."""
    cores = len(affinity())
    return min(cores, max(1, floor(quota(root) or cores)))


def memory(root: Path = ROOT) -> int:
    """Return the bytes of memory that this process may use, were it alone on the machine."""
    limits = [limit for limit, _ in _memory_limits(root)]
    return min([psutil.virtual_memory().total, *limits])


def free_memory(root: Path = ROOT) -> int:
    """Return the bytes of memory that this process can still take.

    A control group counts cached files as used; those not in use are given back for the asking.
    """
    left = [limit - used for limit, used in _memory_limits(root)]
    return max(0, min([psutil.virtual_memory().available, *left]))


def _memory_limits(root: Path) -> Iterator[tuple[int, int]]:
    """Yield the limit of each control group that has one, and what counts against it, in bytes."""
    for group in _control_groups(root, "memory"):
        for files in _MEMORY:
            limit, used = read(group / files.limit), read(group / files.used)
            if limit.isdigit():  # else `max`: without limit
                cached = _entry(read(group / "memory.stat"), files.reclaimable)
                yield int(limit), max(0, int(used) - cached) if used.isdigit() else 0


def _entry(table: str, name: str) -> int:
    """Return the number behind a name in a table of lines `name number`; 0 without it."""
    numbers = dict(line.split(maxsplit=1) for line in table.splitlines() if " " in line)
    number = numbers.get(name, "")
    return int(number) if number.isdigit() else 0


def _control_groups(root: Path, controller: str) -> Iterator[Path]:
    """Yield the control groups of this process from the outermost in, of versions 1 and 2.

    Inside a container the path may be the host's, whose lower folders do not exist here:
    the limits then lie in the outermost.
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
