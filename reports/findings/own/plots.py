# SPDX-License-Identifier: MIT
"""Charts of any benchmark function: its rate or its time by size, a line for each device."""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import product

from reports.findings.finding import Axis, Plot, Point, Series
from reports.findings.own.functions import TIME, functions
from reports.findings.select import Cases, NotMeasuredError
from suite.units import counted

MOST_SERIES = 6
"""Lines that a chart can tell apart."""


def plots(cases: Cases) -> Iterator[Plot]:
    """Draw each function over its sizes, or over its variants where it has no sizes."""
    every = functions(cases)
    titles = Counter(function.title for function in every)
    for function in every:
        title = function.title
        if titles[title] > 1:  # a chart is found by its name
            title = f"{title}: {function.short}"
        quantity = (*function.rates, TIME)[0]
        y = Axis(quantity.label, quantity.unit)
        curves = []
        for variant, device in product(function.variants, function.devices):
            with suppress(NotMeasuredError):
                curve = function.curve(cases, variant, device, quantity)
                curves.append((cases.title(device), variant.label, curve))
        if function.axis:
            left = len(curves) - MOST_SERIES
            more = f" ({counted(left, 'more line')} among the cases)" if left > 0 else ""
            shown = tuple(
                curve.series(f"{device}, {label}" if label else device)
                for device, label, curve in curves[:MOST_SERIES]
            )
            yield Plot(function.name, title + more, "curve", Axis(function.axis), y, shown)
        elif len(curves) > 1:
            dots: dict[str, list[Point]] = {}
            for device, label, curve in curves:
                point = curve.point(curve.sizes[0], label or function.short)
                dots.setdefault(device, []).append(point)
            shown = tuple(Series(device, tuple(points)) for device, points in dots.items())
            yield Plot(function.name, title, "dots", Axis("case"), y, shown)
