# SPDX-License-Identifier: MIT
"""Which part of the workloads a stored case belongs to, written a second time.

The table of workloads is data of the project, as is the catalog of datasheets.
"""

import csv
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
Case = Mapping[str, Any]


@cache
def table() -> Mapping[str, Any]:
    """Return the table of workloads."""
    text = (ROOT / "reports" / "table" / "workloads.json").read_text(encoding="utf-8")
    found: Mapping[str, Any] = json.loads(text)
    return found


@cache
def _figures() -> Mapping[str, list[float]]:
    """Return the values of all datasheets, by quantity."""
    found: dict[str, list[float]] = {}
    path = ROOT / "suite" / "datasheets" / "catalog.csv"
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            found.setdefault(row["quantity"], []).append(float(row["value"]))
    return found


def part(case: Case, *, on_cpu: bool) -> str | None:
    """Return the name of the first part that a case fits."""
    for one in table()["parts"]:
        if one.get("kind") in {None, "cpu" if on_cpu else "accelerator"}:
            chosen = any(_chosen(case, each) for each in one["cases"])
            if chosen and _limited(case, one, on_cpu=on_cpu):
                return str(one["name"])
    return None


def kind(case: Case) -> str:
    """Return what cases have in common that differ in numbers alone."""
    words = {k: v for k, v in case["params"].items() if isinstance(v, str) and k != "device"}
    return f"{case['fullname'].split('[')[0]} {sorted(words.items())}"


def _chosen(case: Case, one: Mapping[str, Any]) -> bool:
    name = f"{case['group']}.{case['fullname'].split('::')[1].split('[')[0]}"
    params = case["params"]
    return (
        name == one["benchmark"]
        and all(params.get(key) in values for key, values in one.get("params", {}).items())
        and all((params.get(key) or 0) >= low for key, low in one.get("least", {}).items())
    )


def _limited(case: Case, one: Mapping[str, Any], *, on_cpu: bool) -> bool:
    """Tell whether a chip needs so long, or so short, for the work of a case."""
    work, known = case["extra_info"]["work"], table()
    flops, moved = work.get("flops") or 0, work.get("bytes") or 0
    dtype = case["params"].get("dtype", "float32")
    peaks = _figures().get(f"peak_{dtype}") or _figures()["peak_float32"]
    cpus = known["assumed_cpus"]
    seconds = {}
    for speed, choose in (("fastest", max), ("slowest", min)):
        rate = cpus[speed]["flops"] if on_cpu else choose(peaks)
        bandwidth = cpus[speed]["bytes"] if on_cpu else choose(_figures()["memory_bandwidth"])
        seconds[speed] = flops / rate, moved / bandwidth
    compute, memory = seconds["fastest"]
    least = known["least_work"][one.get("least_work", "eager")]
    link = 0.0 if on_cpu else moved / max(_figures()["host_bandwidth"])
    limited: dict[str, bool] = {
        "loop": True,
        "launch": max(seconds["slowest"]) <= known["most_work"],
        "link": link >= least,
        "compute": compute >= least and compute >= memory,
        "memory": memory >= least and memory >= compute,
        "work": max(compute, memory) >= least,
    }
    return limited[str(one["regime"])]
