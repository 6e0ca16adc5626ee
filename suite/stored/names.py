# SPDX-License-Identifier: MIT
"""What the names of devices and of cases (their file's path and pytest's name for them) say."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from frobench.suite.stored.machine import Accelerator, Cpu


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
