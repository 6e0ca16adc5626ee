# SPDX-License-Identifier: MIT
"""Rooflines: what a product gets, below what the machine was seen to give at most.

A product that does few operations for each byte it must move is limited by the memory, another
one by the arithmetic. Both ceilings are the run's own: the attainable peak of each precision in
bursts, and the bandwidth of copies within the memory, each of the launch with the largest. Where
one of them was not measured, there is no roofline. Source: Williams, Waterman and Patterson,
"Roofline", CACM 52 (4), 2009.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import pandas as pd

from frobench.reports.findings.exercises import products
from frobench.reports.findings.exercises.copies import bandwidth_of
from frobench.reports.findings.finding import Axis, Plot, Point, Series
from frobench.reports.findings.select import Cases, NotMeasuredError, cases_of, the_device
from frobench.reports.findings.values import estimate_of, most
from frobench.suite.stored.machine_identity import function_of
from frobench.suite.stored.types import Estimate, Run
from frobench.suite.units import format_point

FUNCTIONS = ("bench_square", "bench_square_narrow", "bench_oblong", "bench_batched")
"""Products whose factors lie on the device, launched as PyTorch does."""
INTENSITY = Axis("FLOP for each byte that must be moved", "FLOP/B")
RATE = Axis("Rate", "FLOP/s")


@dataclass(frozen=True)
class Dot:
    """A product below its ceiling.

    intensity : FLOP for each byte that must be moved at least
    part : its rate as a part of the ceiling at its intensity
    """

    case: str
    precision: str
    intensity: float
    rate: Estimate
    part: Estimate


@dataclass(frozen=True)
class _Ceilings:
    """A device's bandwidth by launch with the cases behind it, and its products by precision."""

    bandwidth: pd.Series
    copies: tuple[str, ...]
    products: dict[str, products.Product]

    def at(self, intensity: float, precision: str) -> Estimate:
        slope, peak = most(self.bandwidth * intensity), most(self.products[precision].rate)
        return min(slope, peak, key=lambda ceiling: ceiling.value)

    def ridge(self, precision: str) -> float:
        return float(self.products[precision].rate.max() / self.bandwidth.max())


class Roofline:
    """The products of a device below its ceilings.

    bandwidth : the slope
    """

    def __init__(self, run: Run, device: str, ceilings: _Ceilings, dots: list[Dot]) -> None:
        self.device, self.dots, self.bandwidth = device, dots, most(ceilings.bandwidth)
        ascending = sorted(dots, key=lambda dot: dot.intensity)
        shown = {
            name: below
            for name in ceilings.products
            if (below := [dot for dot in ascending if dot.precision == name])
        }
        widest = [*(dot.intensity for dot in dots), *map(ceilings.ridge, shown)]
        ends = min(widest) / 2, max(widest) * 2
        title = f"Products below the ceilings of {the_device(run, device)}"
        points = {
            name: tuple(Point(dot.intensity, dot.rate, (dot.case,)) for dot in below)
            for name, below in shown.items()
        }
        self.plot = Plot(
            f"roofline-{device}",
            title,
            "points",
            INTENSITY,
            RATE,
            tuple(Series(name, below) for name, below in points.items()),
            lines=tuple(_roof(name, ceilings, ends) for name in shown),
            result=_reached(products.attained(run, device)[0].precision, ceilings, shown) or title,
        )


def rooflines(run: Run) -> list[Roofline]:
    """Return a roofline for each device whose ceilings were both measured, the CPU last."""
    squares, searched = cases_of(run, "matmul"), cases_of(run, "attainable_peak")
    drawn = []
    for device in squares.devices():
        with suppress(NotMeasuredError):
            bandwidth, copied = bandwidth_of(cases_of(run, "copies"), "within", device)
            best = {one.precision: one for one in products.best_products(searched, device)}
            known = {name: best[name] for name in products.PRECISIONS if name in best}
            ceilings = _Ceilings(bandwidth, copied, known)
            if dots := list(_dots(squares, device, ceilings)):
                drawn.append(Roofline(run, device, ceilings, dots))
    return drawn


def _dots(cases: Cases, device: str, ceilings: _Ceilings) -> Iterator[Dot]:
    for case in cases.where():
        work, precision = case.extra_info.work, str(case.params.get("dtype", products.PLAIN))
        wanted = function_of(case.fullname) in FUNCTIONS and case.params.get("device") == device
        if wanted and work.flops and work.bytes and precision in ceilings.products:
            intensity = work.flops / work.bytes
            rate = cases.one("flop_rate", case=case.fullname)
            part = estimate_of(rate / ceilings.at(intensity, precision).value)
            yield Dot(case.fullname, precision, intensity, estimate_of(rate), part)


def _reached(leading: str, ceilings: _Ceilings, shown: dict[str, list[Dot]]) -> str:
    """Say what products reach of the leading precision's ceiling; nothing if that is wide."""
    if leading not in shown or estimate_of(ceilings.products[leading].rate).is_wide:
        return ""
    best = max((dot.part for dot in shown[leading]), key=lambda part: part.value)
    return f"Products reach {format_point(best, '1')} of the {leading} ceiling"


def _roof(precision: str, ceilings: _Ceilings, ends: tuple[float, float]) -> Series:
    """Return the ceiling as a line: along the bandwidth to the ridge point, then the peak."""
    low, high = ends
    product = ceilings.products[precision]
    peak, behind = most(product.rate), (*ceilings.copies, product.case.fullname)
    course = ((low, ceilings.at(low, precision)), (ceilings.ridge(precision), peak), (high, peak))
    points = tuple(Point(x, y, behind) for x, y in course)
    return Series(f"{precision}: {format_point(peak, RATE.unit)}", points)
