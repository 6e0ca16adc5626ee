# SPDX-License-Identifier: MIT
"""The joint bootstrap over launches, written a second time from `docs/methodology.md`.

Its draws are those of Python's own generator, seeded with the number of launches, so that they can
be made again to the last one.
"""

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import accumulate, combinations_with_replacement
from operator import itemgetter, mul
from random import Random
from statistics import fmean
from typing import NamedTuple

from tests.instruments.site_checker.recomputed import LEAST, STEP, ByLaunch, pseudomedian

RESAMPLES, AIM = 1000, 0.955
STEPS = 2000
"""Of an integral, and halvings of what is searched for by it."""
HALVINGS = 50
Key = tuple[str, str]
"""An exercise and a case."""


class Side(NamedTuple):
    """A run's cases: the pseudomedian of each one's logarithms, as measured and in each resample.

    centre : in whole steps
    resampled : not rounded
    number : of launches
    """

    centre: Mapping[Key, float]
    resampled: Mapping[Key, Sequence[float]]
    number: int


class Open(NamedTuple):
    """What launches leave open of the means of groups of cases, and how wide an interval is."""

    covariance: Sequence[Sequence[float]]
    quantile: float


def side(cases: Mapping[Key, ByLaunch]) -> Side:
    """Resample the launches of a run; launches in which no case was measured are none."""
    launches = sorted({launch for one in cases.values() for launch in one})
    place = {launch: at for at, launch in enumerate(launches)}
    logs = {
        key: {place[launch]: math.log(value) for launch, value in one.items()}
        for key, one in cases.items()
    }
    return Side(
        {key: round(pseudomedian([*one.values()]) / STEP) * STEP for key, one in cases.items()},
        {key: _medians(one, len(launches)) for key, one in logs.items()},
        len(launches),
    )


@cache
def _draws(number: int) -> list[list[int]]:
    """Return how often each pair of launches is there in each resample."""
    random, found = Random(number), []  # noqa: S311 - the draws that were made
    for _ in range(RESAMPLES):
        drawn = Counter(random.choices(range(number), k=number))
        found.append(
            [
                drawn[a] * (drawn[a] + 1) // 2 if a == b else drawn[a] * drawn[b]
                for a, b in combinations_with_replacement(range(number), 2)
            ]
        )
    return found


def _medians(logs: ByLaunch, number: int) -> list[float]:
    """Return a case's pseudomedian in each resample; where none of its launches is, as it was."""
    pairs = enumerate(combinations_with_replacement(range(number), 2))
    known = sorted(((logs[a] + logs[b]) / 2, at) for at, (a, b) in pairs if a in logs and b in logs)
    means = [mean for mean, _ in known]
    whole = pseudomedian([math.exp(one) for one in logs.values()])
    last = len(means) - 1
    chosen = itemgetter(*(at for _, at in known), known[0][1])  # two at least, for a tuple
    found = []
    for weights in _draws(number):
        passed = list(accumulate(chosen(weights)[:-1]))
        half = passed[-1] / 2
        below, above = bisect_left(passed, half), min(bisect_right(passed, half), last)
        found.append((means[below] + means[above]) / 2 if half else whole)
    return found


def left_open(
    sides: Iterable[Side],
    groups: Sequence[Sequence[Key]],
    weights: Sequence[float],
    shares: Mapping[Key, float] | None = None,
) -> Open | None:
    """Return what the launches of two runs leave open; nothing below six launches.

    Parameters
    ----------
    groups
        The cases whose mean is asked for, such as those of an exercise.
    weights
        Of groups, for the mean that the quantile is made for.
    shares
        How much a case counts in its group; by default all count the same.
    """
    both = list(sides)
    if min(one.number for one in both) < LEAST or not any(groups):
        return None
    parts = [_covariance(one, groups, shares) for one in both]
    asked = [weight if group else 0.0 for weight, group in zip(weights, groups, strict=True)]
    if not any(asked):
        asked = [float(bool(group)) for group in groups]
    pairs = [(i, j) for i in range(len(groups)) for j in range(len(groups))]
    variances = [math.fsum(asked[i] * asked[j] * part[i][j] for i, j in pairs) for part in parts]
    spent = math.fsum(v**2 / (one.number - 1) for v, one in zip(variances, both, strict=True))
    freedom = sum(variances) ** 2 / spent if spent else sum(one.number for one in both) - 2
    rows = [
        [sum(each) for each in zip(*both_rows, strict=True)]
        for both_rows in zip(*parts, strict=True)
    ]
    return Open(rows, student(freedom))


def _covariance(
    one: Side, groups: Sequence[Sequence[Key]], shares: Mapping[Key, float] | None
) -> list[list[float]]:
    apart = []
    for group in groups:
        weights = [shares[key] for key in group] if shares else None
        columns = zip(*(one.resampled[key] for key in group), strict=True)
        means = [fmean(each, weights) for each in columns]
        middle = fmean(means) if means else 0.0
        apart.append([mean - middle for mean in means] or [0.0] * RESAMPLES)
    unbiased = one.number / (one.number - 1) / (RESAMPLES - 1)
    return [[math.fsum(map(mul, a, b)) * unbiased for b in apart] for a in apart]


def student(freedom: float) -> float:
    """Return between which multiples of its error Student's t lies as often as is aimed at.

    Its density over the angle whose tangent is t by the root of the degrees of freedom is a power
    of the cosine, which is integrated by Simpson's rule.
    """
    root = math.lgamma(freedom / 2) - math.lgamma((freedom + 1) / 2)
    whole = math.sqrt(math.pi) / 2 * math.exp(root)
    low, high = 0.0, math.pi / 2
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        ends = (1.0, math.cos(middle) ** (freedom - 1))
        step = middle / STEPS
        inner = math.fsum(
            (4 if at % 2 else 2) * math.cos(at * step) ** (freedom - 1) for at in range(1, STEPS)
        )
        part = (sum(ends) + inner) * step / 3
        low, high = (middle, high) if part < AIM * whole else (low, middle)
    return math.sqrt(freedom) * math.tan(low)
