# SPDX-License-Identifier: MIT
"""The raw samples of a case as a strip: a row a launch, a dot a sample.

There is one for each case, hundreds on a page, so it is made without a library and holds some
seven bytes a sample. It carries no text: its numbers are beside it.
"""

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise

from markupsafe import Markup

from frobench.reports.charts.axes import Scale
from frobench.suite.statistics import case_medians
from frobench.suite.stored.types import Case, Estimate
from frobench.suite.units import counted, format_estimate, format_seconds

WIDTH, ROOM = 600, 4
"""Width of what is drawn, and the room on both sides for half a dot."""
ROW, TALLEST = 9.0, 360.0
"""Height of a row, and of all of them, which makes the rows of many launches lower."""
MOST = 600
"""Dots of a strip at most; of more samples every so many are drawn, by size."""


class Strip:
    """The samples of a case as a drawing, with what must be read beside it.

    range : the shortest and the longest sample
    medians : those of the launches, in order
    thinned : the k of which every k-th sample of a launch is drawn, by size; the shortest and the
        longest always
    """

    def __init__(self, case: Case, estimate: Estimate) -> None:
        """Draw the samples; `estimate` is the one made from them."""
        data, medians = case.stats.data, case_medians(case)
        least, most = min(data), max(data)
        self.thinned = math.ceil(len(data) / MOST)
        ends = pairwise(accumulate(case.extra_info.launches, initial=0))
        launches = [sorted(data[begin:end]) for begin, end in ends]
        # By the logarithm of the time, so that an outlier leaves the rest room.
        scale = Scale(least, most, 0, WIDTH, least > 0)
        row = min(ROW, TALLEST / len(launches))
        dots = "".join(
            _dots([round(scale(one)) for one in _thin(samples, self.thinned)], (number + 0.5) * row)
            for number, samples in enumerate(launches)
            if samples
        )
        strokes = "".join(
            f"M{round(scale(median))} {number * row:g}v{row:g}"
            for number, median in enumerate(medians)
            if median is not None
        )
        self.range = format_seconds(least), format_seconds(most)
        self.medians = ["none" if one is None else format_seconds(one) for one in medians]
        label = (
            f"{counted(len(data), 'sample')} by launch, {' to '.join(self.range)}; "
            f"estimate {format_estimate(estimate, 's')}"
        )
        height, band = f"{row * len(launches):g}", ""
        if estimate.low is not None and estimate.high is not None:
            inside = (min(max(end, least), most) for end in (estimate.low, estimate.high))
            low, high = (round(scale(end)) for end in inside)
            width = max(1, high - low)
            band = f'<path class="band" d="M{low} 0h{width}v{height}h-{width}z"/>'
        self.drawing = Markup(
            '<svg class="strip" role="img" aria-label="{}" viewBox="{} 0 {} {}" height="{}" '
            'preserveAspectRatio="none">{}<path class="dots" d="{}"/>'
            '<path class="medians" d="{}"/></svg>'
        ).format(label, -ROOM, WIDTH + 2 * ROOM, height, height, Markup(band), dots, strokes)  # noqa: S704 - numbers


def _thin(samples: Sequence[float], every: int) -> Sequence[float]:
    return [*samples[:-1:every], samples[-1]]


def _dots(places: Sequence[int], height: float) -> str:
    """Return a path of lines without length, which round caps make dots; equal places are one."""
    places = list(dict.fromkeys(places))
    steps = "".join(f"m{after - before} 0h0" for before, after in pairwise(places))
    return f"M{places[0]} {height:g}h0{steps}"
