# SPDX-License-Identifier: MIT
"""Rooflines: what a product gets, below what the machine was seen to give at most.

A product that does few operations for each byte it must move is limited by the memory, another
one by the arithmetic. Both ceilings are the run's own: the attainable peak of each precision,
and the bandwidth of copies within the memory. Where one of them was not measured,
there is no roofline. Source: Williams, Waterman and Patterson, "Roofline", CACM 52 (4), 2009.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import pandas as pd

from reports.findings.exercises.attainable_peak import best_products
from reports.findings.exercises.copies import bandwidth_of
from reports.findings.exercises.matmul import PLAIN, PRECISIONS
from reports.findings.finding import Axis, Plot, Point, Series
from reports.findings.remembered import cases_of
from reports.findings.select import Cases, NotMeasuredError, the_device
from reports.findings.values import estimate_of, text
from suite.stored.names import function_of
from suite.stored.run import Estimate, Run
from suite.units import format_point

FUNCTIONS = ("bench_square", "bench_square_narrow", "bench_oblong", "bench_batched")
"""Products whose factors lie on the device, launched as PyTorch does."""
INTENSITY = Axis("FLOP for each byte that must be moved", "FLOP/B")
RATE = Axis("Rate", "FLOP/s")


@dataclass(frozen=True)
class Dot:
    """A product below its ceiling.

    intensity : FLOP for each byte that must be moved at least
    part : its rate as a part of the ceiling at its intensity, both of the same launches
    """

    case: str
    precision: str
    intensity: float
    rate: Estimate
    part: Estimate


@dataclass(frozen=True)
class Roofline:
    """The products of a device below its ceilings, with what there is to say of them."""

    device: str
    plot: Plot
    sentences: tuple[str, ...]
    dots: list[Dot]


@dataclass(frozen=True)
class _Ceilings:
    """By launch: a device's bandwidth and its peaks by precision, with the cases behind them."""

    bandwidth: pd.Series
    copies: tuple[str, ...]
    peaks: dict[str, pd.Series]
    products: dict[str, str]

    def at(self, intensity: float, precision: str) -> pd.Series:
        slope = self.bandwidth * intensity
        return pd.concat([slope, self.peaks[precision]], axis=1).dropna().min(axis=1)

    def ridge(self, precision: str) -> pd.Series:
        return (self.peaks[precision] / self.bandwidth).dropna()


def rooflines(run: Run) -> list[Roofline]:
    """Return a roofline for each device whose ceilings were both measured, the CPU last."""
    products = cases_of(run, "matmul")
    drawn = []
    for device in products.devices()[::-1]:
        with suppress(NotMeasuredError):
            ceilings = _ceilings(run, device)
            if dots := list(_dots(products, device, ceilings)):
                drawn.append(_roofline(run, device, ceilings, dots))
    return drawn


def _ceilings(run: Run, device: str) -> _Ceilings:
    """Return what was measured of a device's ceilings, each precision with the bandwidth."""
    bandwidth, copied = bandwidth_of(cases_of(run, "copies"), "within", device)
    best = {
        product.precision: product
        for product in best_products(cases_of(run, "attainable_peak"), device)
        if not (product.rate / bandwidth).dropna().empty
    }
    peaks = {name: best[name].rate for name in PRECISIONS if name in best}
    names = {name: product.case.fullname for name, product in best.items()}
    return _Ceilings(bandwidth, copied, peaks, names)


def _dots(cases: Cases, device: str, ceilings: _Ceilings) -> Iterator[Dot]:
    for case in cases.passed():
        work, precision = case.extra_info.work, str(case.params.get("dtype", PLAIN))
        wanted = function_of(case.fullname) in FUNCTIONS and case.params.get("device") == device
        if wanted and work.flops and work.bytes and precision in ceilings.peaks:
            intensity = work.flops / work.bytes
            rate = cases.one("flop_rate", case=case.fullname)
            part = (rate / ceilings.at(intensity, precision)).dropna()
            if not part.empty:
                yield Dot(case.fullname, precision, intensity, estimate_of(rate), estimate_of(part))


def _roofline(run: Run, device: str, ceilings: _Ceilings, dots: list[Dot]) -> Roofline:
    shown = {
        name: below
        for name in ceilings.peaks
        if (below := [dot for dot in dots if dot.precision == name])
    }
    ridges = [estimate_of(ceilings.ridge(name)).value for name in shown]
    widest = [dot.intensity for dot in dots] + ridges
    ends, where = (min(widest) / 2, max(widest) * 2), the_device(run, device)
    best = max(shown[dots[0].precision], key=lambda dot: dot.part.value)
    plot = Plot(
        f"roofline-{device}",
        f"Products below the ceilings of {where}",
        "points",
        INTENSITY,
        RATE,
        tuple(_series(*below) for below in shown.items()),
        lines=tuple(_roof(name, ceilings, ends) for name in shown),
        result=f"Products reach {format_point(best.part, '1')} of the {best.precision} ceiling",
    )
    return Roofline(device, plot, tuple(_sentences(where, ceilings, list(shown), dots)), dots)


def _series(precision: str, dots: list[Dot]) -> Series:
    ascending = sorted(dots, key=lambda dot: dot.intensity)
    points = tuple(Point(dot.intensity, dot.rate, (dot.case,)) for dot in ascending)
    return Series(precision, points)


def _roof(precision: str, ceilings: _Ceilings, ends: tuple[float, float]) -> Series:
    """Return the ceiling as a line: along the bandwidth to the ridge point, then the peak."""
    low, high = ends
    ridge = estimate_of(ceilings.ridge(precision)).value
    peak = estimate_of(ceilings.peaks[precision])
    behind = (*ceilings.copies, ceilings.products[precision])
    course = ((low, estimate_of(ceilings.at(low, precision))), (ridge, peak), (high, peak))
    points = tuple(Point(x, y, behind) for x, y in course)
    return Series(f"{precision}: {format_point(peak, RATE.unit)}", points)


def _sentences(where: str, ceilings: _Ceilings, shown: list[str], dots: list[Dot]) -> Iterator[str]:
    """Name the ceilings and the ridge points, and say why a dot may lie above."""
    yield (
        f"The memory of {where} was seen to read and write {text(ceilings.bandwidth, 'B/s')} "
        "together, which limits a product with few operations for each byte; the arithmetic limits "
        "one with many."
    )
    for name in shown:
        yield (
            f"In {name} the most seen is {text(ceilings.peaks[name], RATE.unit)}, so that the "
            f"ridge point between the two lies at {text(ceilings.ridge(name), INTENSITY.unit)}."
        )
    if any(dot.part.value > 1 and (dot.part.low or 0) > 1 for dot in dots):
        yield (
            "Dots above their ceiling find their factors in caches, which are faster than the "
            "memory."
        )
