# SPDX-License-Identifier: MIT
"""Launches to estimates.

The launch is the unit of replication throughout: what enters is one value for each launch.
``None`` stands for a launch that did not measure the case and is left out.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate
from statistics import NormalDist

from suite.ranks import median_interval
from suite.stored.run import Case, Estimate

CONFIDENCE = 0.95
"""Confidence of every interval."""
ALARMS = 1 - CONFIDENCE
"""False alarms that are allowed: of a comparison alone, and of all that share them together."""
LEAST_LAUNCHES = 6
"""With fewer launches even the range of the values covers the median in less than 95%."""
_QUARTILE_LAUNCHES = 4
Medians = Mapping[str, list[float | None]]
"""Launch medians in seconds, by full name, of the cases for which they are known."""


def case_medians(case: Case, known: Medians | None = None) -> list[float | None]:
    """Return the launch medians of a case, in seconds for each call; see `launch_medians`."""
    medians = known.get(case.fullname) if known else None
    return medians or launch_medians(case.stats.data, case.extra_info.launches)


def launch_medians(data: Sequence[float], launches: Sequence[int]) -> list[float | None]:
    """Return the median of each launch from samples that stand launch after launch.

    data : samples, in any unit
    launches : number of samples of each launch; the median of a launch with none is ``None``

    Raises `ValueError` if the numbers of samples do not add up to the length of the data.
    """
    if sum(launches) != len(data):
        raise ValueError(f"{len(data)} samples, but the launches name {sum(launches)}")
    ends = accumulate(launches)
    return [
        middle(sorted(data[end - count : end])) if count else None
        for end, count in zip(ends, launches, strict=True)
    ]


def middle(ordered: Sequence[float]) -> float:
    """Return the median of sorted values; `statistics.median` takes twice as long for a few."""
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def estimate(values: Sequence[float | None]) -> Estimate:
    """Return the median over launches with an interval that covers it in 95%.

    The ends are interpolated between neighbouring order statistics (Hettmansperger and
    Sheather, "Confidence intervals based on interpolated order statistics", Statistics &
    Probability Letters 4, 1986), which assumes only that launches are independent. Two
    things are added. The interval is wider, so that it covers 92% where each launch is correlated
    by 0.3 with the one before: up to eight launches by being made for about 97%, and with more of
    them by as much as each is seen to resemble the one before. And an end moves inward by at most
    half the width of the inner pair: the neighbours can lie in two modes, and a fixed part of the
    gap between them would leave the median outside (coverage fell to 87%). Six launches give a
    little more than their range, which alone covers 96.9%. `docs/calibration.md` has the simulated
    coverage and width; the rule `drift` names launches that depend too much on their order.

    values : one finite number for each launch, in the order of the launches, of any sign and unit

    Raises `ValueError` if there is no value, or one is not finite.
    """
    present = finite(values)
    count = len(present)
    low, high = median_interval(present) if count >= LEAST_LAUNCHES else (None, None)
    return Estimate(middle(sorted(present)), low, high, count, CONFIDENCE)


def spread(values: Sequence[float | None]) -> float | None:
    """Return how far launches differ, relative to their median.

    It is the interquartile range (Hazen's quartiles) divided by 1.349 and by the median: the
    relative standard deviation where launches are normal, blind to a single launch that went
    astray, but not to a quarter of them; ``None`` below four launches or with a median of 0.
    """
    ordered = sorted(finite(values))
    centre = middle(ordered)
    if len(ordered) < _QUARTILE_LAUNCHES or centre == 0:
        return None
    normal_range = 2 * NormalDist().inv_cdf(0.75)
    return (_quantile(ordered, 0.75) - _quantile(ordered, 0.25)) / normal_range / abs(centre)


def finite(values: Sequence[float | None]) -> list[float]:
    """Return the values that are there.

    Raises `ValueError` if there is none, or one is not finite.
    """
    present = [value for value in values if value is not None]
    if not present:
        raise ValueError("there is no value of any launch")
    for value in present:
        if not math.isfinite(value):
            raise ValueError(f"a launch has the value {value}, which is not finite")
    return present


def _quantile(ordered: list[float], fraction: float) -> float:
    position = fraction * len(ordered) - 0.5
    index = math.floor(position)
    return ordered[index] + (position - index) * (ordered[index + 1] - ordered[index])
