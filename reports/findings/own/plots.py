# SPDX-License-Identifier: MIT
"""Charts of any benchmark function: its rate or its time by size, a line for each device."""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

from reports.findings.finding import Axis, Plot, Point, Series
from reports.findings.own.functions import TIME, Function, Quantity, functions
from reports.findings.select import Cases, NotMeasuredError, device_title
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
        if function.axis:
            lines = tuple(_lines(cases, function, quantity))
            left = len(lines) - MOST_SERIES
            more = f" ({counted(left, 'more line')} among the cases)" if left > 0 else ""
            yield Plot(
                function.name,
                title + more,
                "curve",
                Axis(function.axis),
                y,
                lines[:MOST_SERIES],
            )
        elif dots := tuple(_dots(cases, function, quantity)):
            yield Plot(function.name, title, "dots", Axis("case"), y, dots)


def _lines(cases: Cases, function: Function, quantity: Quantity) -> Iterator[Series]:
    """Return a line for each variant on each device, those of a variant together."""
    for variant in function.variants:
        for device in function.devices:
            with suppress(NotMeasuredError):
                title = device_title(cases.run, device)
                label = f"{title}, {variant.label}" if variant.label else title
                yield function.curve(cases, variant, device, quantity).series(label)


def _dots(cases: Cases, function: Function, quantity: Quantity) -> Iterator[Series]:
    """Return dots for each device over the variants; none where there is a single case."""
    dots: dict[str, list[Point]] = {}
    for variant in function.variants:
        for device in function.devices:
            with suppress(NotMeasuredError):
                curve = function.curve(cases, variant, device, quantity)
                point = curve.point(curve.sizes[0], variant.label or function.short)
                dots.setdefault(device_title(cases.run, device), []).append(point)
    if sum(map(len, dots.values())) > 1:
        yield from (Series(title, tuple(points)) for title, points in dots.items())
