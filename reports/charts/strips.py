# SPDX-License-Identifier: MIT
"""The raw samples of a case as a strip: a row a launch, a dot a sample.

There is one for each case, hundreds on a page, so it is made without a library and holds some
seven bytes a sample. It carries no text: its numbers are beside it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from markupsafe import Markup

from suite.statistics import launch_medians
from suite.stored.run import Case, Estimate
from suite.units import counted, format_estimate, format_seconds

WIDTH, ROOM = 600, 4
"""Width of what is drawn, and the room on both sides for half a dot."""
ROW, TALLEST = 9.0, 360.0
"""Height of a row, and of all of them, which makes the rows of many launches lower."""
MOST = 600
"""Dots of a strip at most; of more samples every so many are drawn, by size."""


@dataclass(frozen=True)
class Strip:
    """A drawing with what must be read beside it.

    Parameters
    ----------
    range
        The shortest and the longest sample.
    medians
        Those of the launches, in order.
    thinned
        Every how manieth sample of a launch is drawn, the shortest and the longest always.
    """

    drawing: Markup
    range: tuple[str, str]
    medians: list[str]
    thinned: int


def strip(case: Case, estimate: Estimate) -> Strip:
    """Draw the samples of a case; `estimate` is the one made from them."""
    data, info = case.stats.data, case.extra_info
    medians = launch_medians(data, info.launches)
    every = max(1, math.ceil(len(data) / MOST))
    launches = [_thin(samples, every) for samples in _by_launch(data, info.launches)]
    scale = _Scale(min(data), max(data))
    row = min(ROW, TALLEST / len(launches))
    dots = "".join(
        _dots(sorted(map(scale, samples)), (number + 0.5) * row)
        for number, samples in enumerate(launches)
        if samples
    )
    strokes = "".join(
        f"M{scale(median)} {number * row:g}v{row:g}"
        for number, median in enumerate(medians)
        if median is not None
    )
    least, most = format_seconds(min(data)), format_seconds(max(data))
    label = (
        f"{counted(len(data), 'sample')} by launch, {least} to {most}; "
        f"estimate {format_estimate(estimate, 's')}"
    )
    height = row * len(launches)
    drawing = Markup(
        '<svg class="strip" role="img" aria-label="{}" viewBox="{} 0 {} {}" height="{}" '
        'preserveAspectRatio="none">{}<path class="dots" d="{}"/><path class="medians" d="{}"/>'
        "</svg>"
    ).format(
        label,
        -ROOM,
        WIDTH + 2 * ROOM,
        f"{height:g}",
        f"{height:g}",
        _band(estimate, scale, height),
        dots,
        strokes,
    )
    spelled = [format_seconds(median) if median is not None else "none" for median in medians]
    return Strip(drawing, (least, most), spelled, every)


class _Scale:
    """Places along a strip: the logarithm of the time, so that an outlier leaves the rest room."""

    def __init__(self, low: float, high: float) -> None:
        self.low, span = low, math.log(high / low) if high > low > 0 else 0.0
        self.stretch = WIDTH / span if span else 0.0

    def __call__(self, seconds: float) -> int:
        if not self.stretch:
            return WIDTH // 2
        return round(min(max(math.log(seconds / self.low) * self.stretch, 0.0), WIDTH))


def _by_launch(data: Sequence[float], launches: Sequence[int]) -> list[Sequence[float]]:
    ends = accumulate(launches, initial=0)
    return [data[begin:end] for begin, end in pairwise(ends)]


def _thin(samples: Sequence[float], every: int) -> Sequence[float]:
    """Return every so manieth sample by size, the shortest and the longest always."""
    if every == 1 or not samples:
        return samples
    ordered = sorted(samples)
    return [*ordered[:-1:every], ordered[-1]]


def _dots(places: Sequence[int], height: float) -> str:
    """Return a path of lines without length, which round caps make dots; equal places are one."""
    places = list(dict.fromkeys(places))
    steps = "".join(f"m{after - before} 0h0" for before, after in pairwise(places))
    return f"M{places[0]} {height:g}h0{steps}"


def _band(estimate: Estimate, scale: _Scale, height: float) -> Markup:
    """Return the estimate's interval as a band, or nothing where there is none."""
    if estimate.low is None or estimate.high is None:
        return Markup()
    low, high = scale(estimate.low), scale(estimate.high)
    return Markup('<path class="band" d="M{} 0h{}v{}h-{}z"/>').format(
        low, max(1, high - low), f"{height:g}", max(1, high - low)
    )
