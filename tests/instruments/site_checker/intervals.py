# SPDX-License-Identifier: MIT
"""Estimates from launches, written a second time from `docs/methodology.md`."""

import math
from collections.abc import Sequence
from itertools import combinations_with_replacement, pairwise
from statistics import fmean, median

LEAST_LAUNCHES = 6
AIM = {7: 0.977, 8: 0.977, 17: 0.953, 20: 0.955}
OTHER_AIM = 0.957


def interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Return the 95% interval of the median over launches, from values in their order."""
    ordered, count, middle = sorted(values), len(values), median(values)
    if count < LEAST_LAUNCHES:
        return None
    ends, outward = (ordered[0], ordered[-1]), 0.063
    if count > LEAST_LAUNCHES:
        ends = _interpolated(ordered)
        outward = 0.0 if count <= 8 else 0.75 * max(0.0, 1 - _von_neumann(values) / 2)
    low, high = (
        end + math.copysign(min(outward * abs(end - middle), abs(end) / 2), end - middle)
        for end in ends
    )
    return low, high


def _interpolated(ordered: Sequence[float]) -> tuple[float, float]:
    n, p = len(ordered), AIM.get(len(ordered), OTHER_AIM)
    cover = [1 - 2 * sum(math.comb(n, heads) for heads in range(r)) / 2**n for r in range(n // 2)]
    r = max(rank for rank, part in enumerate(cover) if part >= p)
    part = (cover[r] - p) / (cover[r] - cover[r + 1])
    fraction = (n - r) * part / (r + (n - 2 * r) * part)
    most = (ordered[n - r - 1] - ordered[r]) / 2
    return (
        ordered[r - 1] + min(fraction * (ordered[r] - ordered[r - 1]), most),
        ordered[n - r] - min(fraction * (ordered[n - r] - ordered[n - r - 1]), most),
    )


def _von_neumann(values: Sequence[float]) -> float:
    """Return the ratio of the launches' ranks, 2 where launches are independent."""
    ranks = [fmean(at for at, one in enumerate(sorted(values)) if one == value) for value in values]
    apart = sum((rank - fmean(ranks)) ** 2 for rank in ranks)
    steps = sum((after - before) ** 2 for before, after in pairwise(ranks))
    return steps / apart if apart else 2.0


def pseudomedian(logs: Sequence[float]) -> float:
    """Return the median of the means of all pairs of logarithms, each with itself."""
    return median(sum(pair) / 2 for pair in combinations_with_replacement(logs, 2))
