# SPDX-License-Identifier: MIT
"""What plots are made of: lines, dots, stacks, and bounds from what was measured."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pandas as pd

from frobench.reports.findings.finding import Axis, Plot, Point, Series
from frobench.reports.findings.select import Cases, Curve, measured
from frobench.reports.findings.values import estimate_of
from frobench.suite import units
from frobench.suite.stored.machine_identity import is_cpu, ranks_of
from frobench.suite.stored.types import Estimate

Bars = Mapping[str, Mapping[str, tuple[Curve, float]]]
"""The parts of each bar, and the whole, by their labels: a curve and the size that is shown."""


def point(x: float | str, by_launch: pd.Series, *cases: str) -> Point:
    """Return a number over the launches that have it as a point of a plot."""
    return Point(x, estimate_of(by_launch), cases)


def certain(x: float | str, y: float, *cases: str) -> Point:
    """Return a number that is computed, not measured, as a point of a plot."""
    return Point(x, Estimate(y, y, y, launches=0), cases)


def lines(curve: Callable[..., Curve], asked: Iterable[tuple[Any, ...]]) -> tuple[Series, ...]:
    """Return a line for each curve that was measured.

    asked : the label of each line, then the arguments of the function that returns its curve
    """
    return tuple(measured(lambda line: curve(*line[1:]).series(line[0]), asked).values())


def ways_on_devices(cases: Cases, ways: Mapping[str, str]) -> Iterator[tuple[Any, ...]]:
    """Yield the label of a line and what it is of for each device, accelerators first, and way.

    ways : what functions of the benchmarks do, in words
    """
    for device in cases.devices():
        for function, how in ways.items():
            yield f"{cases.title(device)}, {how}", cases, function, device


def few_first(group: str) -> tuple[bool, int]:
    """Return what sorts groups of devices: those of accelerators first, and of few before many."""
    return is_cpu(group), ranks_of(group)


def dots(points: Iterable[tuple[str, Point]]) -> tuple[Series, ...]:
    """Return the series of a plot from the label and the place of each of their points."""
    series: dict[str, list[Point]] = {}
    for label, point in points:
        series.setdefault(label, []).append(point)
    return tuple(Series(label, tuple(those)) for label, those in series.items())


def stack(  # noqa: PLR0913, PLR0917 - a plot, and what its bars are made of
    name: str, title: str, axes: tuple[Axis, Axis], bars: Bars, order: Iterable[str], whole: str
) -> Plot:
    """Draw the parts of bars in an order, and the whole beside them, as far as they are there."""
    points = (
        (label, curve.point(size, bar))
        for bar, parts in bars.items()
        for label, (curve, size) in parts.items()
    )
    known = {series.label: series for series in dots(points)}
    shown = tuple(known[label] for label in order if label in known)
    return Plot(name, title, "stack", *axes, shown, whole=known.get(whole))


def exact(label: str, values: Mapping[float, float]) -> Series:
    """Return numbers that are computed, not measured, by size."""
    return Series(label, tuple(certain(x, y) for x, y in values.items()))


def bound(name: str, rate: float | None, unit: str, lines: Iterable[Series]) -> tuple[Series, ...]:
    """Return a rate as a level line over the sizes of others; none where it is not known."""
    sizes = [float(point.x) for line in lines for point in line.points]
    if rate is None or not sizes:
        return ()
    label = f"{name}: {units.format_value(rate, unit)}"
    return (exact(label, dict.fromkeys((min(sizes), max(sizes)), rate)),)
