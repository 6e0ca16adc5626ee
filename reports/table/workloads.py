# SPDX-License-Identifier: MIT
"""Workloads: which cases a score is made of, and how much each counts.

`workloads.json` is the one table, and `docs/methodology.md` explains it. A part of it names cases
that are limited by the same thing. Of cases in a part that differ only in numbers, which are sizes
of one kind, all count the same, and so do all kinds.

A case is limited by compute, memory or the link where the fastest listed chip needs at least
`least_work` seconds for it; the overhead of launching is a small part of that. It is limited by
launching where even the slowest listed chip needs at most `most_work` seconds. Cases between the
two count for no workload.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
from msgspec import Struct

from frobench.suite.compare.matching import device_kind
from frobench.suite.datasheets import catalog
from frobench.suite.stored.machine_identity import benchmark_of, function_of
from frobench.suite.stored.types import Case, Scalar

PATH = Path(__file__).with_name("workloads.json")
Regime = Literal["work", "compute", "memory", "link", "launch", "loop"]
"""What limits a case: ``work`` is compute or memory; a ``loop`` launches small operations one by
one, whatever work it declares in all."""


class Workload(Struct, frozen=True):
    """What a machine is bought for.

    what : its cases in words
    needs : parts that name it: without any of them there is no score; maybe none
    """

    name: str
    title: str
    what: str
    needs: list[str] = []


class Selected(Struct, frozen=True, forbid_unknown_fields=True):
    """Cases of a benchmark, such as ``matmul.bench_square``.

    params : values of parameters that a case may have
    least : the least value of parameters
    """

    benchmark: str
    params: dict[str, list[Scalar]] = {}
    least: dict[str, int] = {}

    def has(self, params: Mapping[str, Scalar]) -> bool:
        """Tell whether a case of the benchmark with these parameters is among them."""
        return all(params.get(name) in values for name, values in self.params.items()) and all(
            isinstance(number := params.get(name), int | float) and number >= low
            for name, low in self.least.items()
        )


class Part(Struct, frozen=True, forbid_unknown_fields=True):
    """Cases that are limited by the same thing.

    weights : by workload; it counts for nothing under the others
    kind : of device, if not any
    least_work : which of the table's bounds holds
    """

    name: str
    title: str
    regime: Regime
    cases: list[Selected]
    weights: dict[str, float]
    kind: Literal["cpu", "accelerator"] | None = None
    least_work: Literal["eager", "replayed"] = "eager"


class Rates(Struct, frozen=True):
    """Rates of a chip: FLOP/s, and bytes/s of its memory."""

    flops: float
    bytes: float


class Table(Struct, frozen=True, forbid_unknown_fields=True):
    """The table of workloads.

    least_work : seconds on the fastest listed chip, for ``eager`` cases and for ``replayed`` ones
    most_work : seconds on the slowest listed chip
    assumed_cpus : bounds, since no datasheets of CPUs are listed; ``fastest`` and ``slowest``
    parts : a case belongs to the first that fits
    baseline : the card that others are compared with wherever it was measured
    """

    workloads: list[Workload]
    least_work: dict[str, float]
    most_work: float
    assumed_cpus: dict[str, Rates]
    parts: list[Part]
    baseline: str


@cache
def table() -> Table:
    """Return the table of workloads."""
    return msgspec.json.decode(PATH.read_bytes(), type=Table)


class _Body(NamedTuple):
    """What decides which part a case belongs to: equal for equal cases of all runs."""

    benchmark: str
    on_cpu: bool
    params: tuple[tuple[str, Scalar], ...]
    flops: float
    bytes: float


def benchmark_name(group: str, fullname: str) -> str:
    """Return the name of a case's benchmark in the table, such as ``matmul.bench_square``."""
    return f"{group}.{function_of(fullname)}"


def is_selected(benchmark: str) -> bool:
    """Tell whether some part has cases of a benchmark."""
    return benchmark in _selected()


def part_of(case: Case) -> Part | None:
    """Return the part that a case belongs to; ``None`` for most cases, which no score uses."""
    benchmark = benchmark_name(case.group, case.fullname)
    if not is_selected(benchmark):
        return None
    work, params = case.extra_info.work, tuple(case.params.items())
    return _part(_Body(benchmark, on_cpu(case), params, work.flops or 0.0, work.bytes or 0.0))


@cache
def _part(body: _Body) -> Part | None:
    params = dict(body.params)
    for part, selected in _selected()[body.benchmark]:
        of_kind = part.kind in {None, "cpu" if body.on_cpu else "accelerator"}
        if of_kind and selected.has(params) and _is_limited(part, body):
            return part
    return None


@cache
def _selected() -> dict[str, list[tuple[Part, Selected]]]:
    """Return which cases of a benchmark belong to which part, in the order of the table."""
    by_benchmark: dict[str, list[tuple[Part, Selected]]] = {}
    for part in table().parts:
        for selected in part.cases:
            by_benchmark.setdefault(selected.benchmark, []).append((part, selected))
    return by_benchmark


def kind_of(case: Case) -> str:
    """Return what is equal for cases that differ only in numbers."""
    words = sorted(
        (name, value)
        for name, value in case.params.items()
        if isinstance(value, str) and name != "device"
    )
    return f"{benchmark_of(case.fullname)} {words}"


def on_cpu(case: Case) -> bool:
    """Tell whether a case runs on the CPU alone."""
    return "accelerator" not in device_kind(case)


def _is_limited(part: Part, body: _Body) -> bool:
    """Tell whether what limits a part limits a case of it."""
    if part.regime == "loop":
        return True
    compute, memory, link = _seconds(body, "slowest" if part.regime == "launch" else "fastest")
    work, least = max(compute, memory), table().least_work[part.least_work]
    match part.regime:
        case "launch":
            return work <= table().most_work
        case "link":
            return link >= least
        case "compute":
            return compute >= max(least, memory)
        case "memory":
            return memory >= max(least, compute)
        case _:
            return work >= least


def _seconds(body: _Body, which: str) -> tuple[float, float, float]:
    """Return how long the fastest or slowest chip computes, moves memory and uses the link."""
    if body.on_cpu:
        chip = table().assumed_cpus[which]
        return body.flops / chip.flops, body.bytes / chip.bytes, 0.0
    precision = f"peak_{dict(body.params).get('dtype', 'float32')}"
    rate = _listed(precision, which) or _listed("peak_float32", which)
    bandwidth, link = _listed("memory_bandwidth", which), _listed("host_bandwidth", "fastest")
    return body.flops / rate, body.bytes / bandwidth, body.bytes / link


@cache
def _listed(quantity: str, which: str) -> float:
    """Return the figure of the fastest or slowest of all listed devices that have it, or 0."""
    listed = (figures.get(quantity) for figures in catalog.devices().values())
    values = [figure.value for figure in listed if figure is not None]
    return (max if which == "fastest" else min)(values, default=0.0)
