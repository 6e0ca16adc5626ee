# SPDX-License-Identifier: MIT
"""The headline figures of a run: what others publish of a device, one for each kind of device."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from frobench.reports.findings import peaks
from frobench.reports.findings.exercises.matmul import PLAIN, SQUARE, best_rates
from frobench.reports.findings.exercises.parallel_matmul import efficiencies
from frobench.reports.findings.kinds import KINDS, LARGE
from frobench.reports.findings.select import Cases, Curve, NotMeasuredError, cases_of
from frobench.suite.stored.differences import is_cpu
from frobench.suite.stored.types import Accelerator, Estimate, Run
from frobench.suite.units import counted

COPIES = {
    "to-device": ("copy_to_device_pageable", "bandwidth from pageable memory"),
    "to-device-pinned": ("copy_to_device_pinned", "bandwidth from pinned memory"),
    "to-host": ("copy_to_host_pageable", "bandwidth to pageable memory"),
    "to-host-pinned": ("copy_to_host_pinned", "bandwidth to pinned memory"),
    "between": ("copy_between", "bandwidth between two devices"),
    "within": ("copy_within", "bandwidth within the memory"),
}
"""Kinds of copies with their quantity in the table of published figures, and what they are."""
LAUNCH, EFFICIENCY = "launch", "efficiency"


@dataclass(frozen=True)
class Figure:
    """A headline figure of a run.

    device : the name of what it was measured on, equal for equal devices
    place : what torch calls it
    name : what it is, as in "your bfloat16 rate"
    """

    device: str
    place: str
    quantity: str
    precision: str
    name: str
    value: Estimate
    unit: str
    cases: tuple[str, ...]

    @property
    def key(self) -> tuple[str, str, str]:
        """What is equal for figures that can be compared."""
        return self.device, self.quantity, self.precision


def figures(run: Run) -> list[Figure]:
    """Return the headline figures of a run."""
    products, copied = cases_of(run, "matmul"), cases_of(run, "copies")
    pairs = _pairs(cases_of(run, "parallel_matmul"))
    return [*_products(products), *_copies(copied), *_launches(products), *pairs]


def _figure(run: Run, place: str, curve: Curve, size: float, **words: str) -> Figure:
    return Figure(
        device=device_name(run, place.partition("+")[0]),
        place=place,
        value=curve.point(size).y,
        cases=curve.cases[size],
        **words,
    )


def _products(cases: Cases) -> Iterator[Figure]:
    for place in _first_of_each(cases.run, cases.devices()):
        for dtype, (rate, n) in best_rates(cases, place).items():
            words = {"quantity": "matmul", "precision": dtype, "name": f"{dtype} rate"}
            yield _figure(cases.run, place, rate, n, unit="FLOP/s", **words)


def _copies(cases: Cases) -> Iterator[Figure]:
    for kind, (quantity, name) in COPIES.items():
        for place in _first_of_each(cases.run, KINDS[kind].devices(cases)):
            with suppress(NotMeasuredError):
                rate = KINDS[kind].curve(cases, place, "byte_rate")
                if (size := rate.sizes[-1]) >= LARGE:
                    words = {"quantity": quantity, "precision": "", "name": name}
                    yield _figure(cases.run, place, rate, size, unit="B/s", **words)


def _launches(cases: Cases) -> Iterator[Figure]:
    """Yield how long launching a tiny product holds the thread."""
    for place in _first_of_each(cases.run, [one for one in cases.devices() if not is_cpu(one)]):
        with suppress(NotMeasuredError):
            tiny = cases.curve("n", "part_enqueue", function=SQUARE, device=place, dtype=PLAIN)
            size = tiny.sizes[0]
            words = {"precision": f"n={size:g}", "name": "time to launch a tiny product"}
            yield _figure(cases.run, place, tiny, size, quantity=LAUNCH, unit="s", **words)


def _pairs(cases: Cases) -> Iterator[Figure]:
    for group, curve in efficiencies(cases):
        count, size = group.count("+") + 1, curve.sizes[-1]
        name = f"efficiency of products on {count} at once"
        words = {"precision": f"{count}, n={size:g}", "name": name}
        yield _figure(cases.run, group, curve, size, quantity=EFFICIENCY, unit="1", **words)


def _first_of_each(run: Run, places: Iterable[str]) -> list[str]:
    """Return the first place of each kind of device: equal ones give equal figures."""
    first: dict[tuple[str, int], str] = {}
    for place in places:
        first.setdefault((device_name(run, place.partition("+")[0]), place.count("+")), place)
    return list(first.values())


def device_name(run: Run, place: str) -> str:
    """Name a device by what makes it comparable: its model, and a CPU's cores with it."""
    environment = run.frobench.environment
    if is_cpu(place):
        cpu = environment.cpu
        return f"{cpu.model or cpu.architecture} with {counted(cpu.usable_cores, 'core')}"
    known = accelerator(run, place)
    return known.name if known else place


def accelerator(run: Run, place: str) -> Accelerator | None:
    """Return what is recorded of the first device of a place; nothing of a CPU."""
    return peaks.accelerator(run, place.partition("+")[0])
