# SPDX-License-Identifier: MIT
"""Permutations of whole launches: p-values of many cases that share their launches.

Launches change places with all their cases: between two runs, or between the two versions that a
launch measured beside each other. So the distribution of the largest statistic over the cases
holds their correlation, and comparing each case with it leaves one false alarm in at most 5% of
families (Westfall and Young, "Resampling-Based Multiple Testing", 1993, algorithm 2.8).

The statistic is Student's t of values whose outliers were pulled in. How far depends on all
launches together and not on their order, so the test stays exact.
"""

import math
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

MOST = 10_000
"""Rearrangements that are looked at: all of them, or a sample of so many with a fixed seed."""
PULLED_IN = 1.5
"""Standard deviations from the middle beyond which a value counts as no farther. It costs nothing
on normal launches; with heavy tails the power of a rank test is reached."""
LARGEST = 1e6
"""The largest statistic: more is rounding."""

_CLOSE_PAIRS, _CLOSE_TO_NORMAL = 0.25, 2.2219
"""The quantile of the distances between all values that measures their scale, as the smaller half
of two groups apart leaves it, and its factor for normal values (Rousseeuw and Croux, 1993)."""


def table(cases: Sequence[Sequence[float | None]]) -> Values:
    """Return the values of cases as an array, launches by cases; NaN where one is missing."""
    return np.array(cases, dtype=float).T


class Rearranged(NamedTuple):
    """Statistics of cases for the launches as they are, in the first row, and rearranged.

    statistics : |t|, rearrangements by cases
    errors : the standard error of each case's difference, if there is none in truth
    """

    statistics: Values
    errors: Values


def between_runs(base: Values, new: Values) -> Rearranged:
    """Split the launches of two runs in all ways. The values are logs, launches by cases."""
    _, values, present = pulled_in(np.concatenate([base, new]))
    launches = present.sum(axis=0)
    means = present * values.sum(axis=0) / launches
    squares = ((values - means) ** 2).sum(axis=0)
    values -= means
    splits = _splits(len(base), len(new))
    here = _sums(splits, present)
    with np.errstate(divide="ignore", invalid="ignore"):
        explained = _sums(splits, values) ** 2
        explained *= launches / (here * (launches - here))
        explained /= (values**2).sum(axis=0)  # `squares` lie in another order
    errors = np.sqrt(squares * launches / (launches - 2) / here[0] / (launches - here[0]))
    return Rearranged(_student(explained, launches - 2), errors)


def within_launches(logs: Values) -> Rearranged:
    """Exchange two versions in all ways.

    logs : of the ratio of the versions, launches by cases
    """
    ends = _ends(1.4826 * _median(np.abs(logs)))
    present = ~np.isnan(logs)
    values = np.where(present, np.clip(logs, -ends, ends), 0.0)  # pulled in towards zero
    launches, squares = present.sum(axis=0), (values**2).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        explained = _sums(_signs(len(logs)), values) ** 2 / launches / squares
    errors = np.sqrt(squares / launches / (launches - 1))
    return Rearranged(_student(explained, launches - 1), errors)


def step_down(statistics: Values) -> list[float]:
    """Return the p-value of each case in the family, from the statistics of all rearrangements."""
    order = np.argsort(-statistics[0], kind="stable")
    ranked = statistics[:, order]
    largest = np.maximum.accumulate(ranked[:, ::-1], axis=1)[:, ::-1]
    chances = (largest >= ranked[0] * (1 - 1e-9)).mean(axis=0)
    adjusted = np.empty_like(chances)
    adjusted[order] = np.maximum.accumulate(chances)
    return [float(p) for p in adjusted]


def critical(statistics: Values, alpha: float) -> float:
    """Return the |t| that a case must reach in the family; infinite where none is large enough.

    statistics : of launches between which there is no difference
    """
    rarest = math.floor(alpha * len(statistics))
    largest = np.sort(statistics.max(axis=1))
    return float(largest[-rarest]) if rarest else math.inf


def pulled_in(values: Values) -> tuple[Values, Values, Values]:
    """Pull the outliers of each case in. Values are launches by cases, NaN where one is missing.

    Returns
    -------
    The medians, the values around them, and 1 where a value is there; 0 where one is missing.
    """
    present = ~np.isnan(values)
    middle = _median(values)
    first, second = np.triu_indices(len(values), 1)
    distances = np.abs(values[first] - values[second])
    ends = _ends(_CLOSE_TO_NORMAL * _quantile(distances, _CLOSE_PAIRS))
    pulled = np.where(present, np.clip(values - middle, -ends, ends), 0.0)
    if present.all():
        present = present[:, :1]  # one column stands for all, which is faster
    return middle, pulled, present.astype(float)


def _median(values: Values) -> Values:
    """Return the median of each column without its NaN; `np.nanmedian` sorts masks beside it."""
    known = np.count_nonzero(~np.isnan(values), axis=0)
    below, above = _ordered(values, np.maximum(known - 1, 0) // 2, known // 2)
    return (below + above) / 2


def _quantile(values: Values, part: float) -> Values:
    """Return what `np.nanquantile` does, which takes the columns one by one."""
    last = np.maximum(np.count_nonzero(~np.isnan(values), axis=0) - 1, 0)
    position = last * part
    first = np.floor(position).astype(int)
    below, above = _ordered(values, first, np.minimum(first + 1, last))
    weight, apart = position - first, above - below
    near = weight < 0.5  # noqa: PLR2004 - the nearer of two values
    found: Values = np.where(near, below + apart * weight, above - apart * (1 - weight))
    return found


def _ordered(values: Values, *places: NDArray[np.intp]) -> Iterator[Values]:
    """Yield what is at a place of each column's own, in ascending order with NaN behind."""
    ascending = np.sort(values, axis=0)
    for place in places:
        yield ascending[place, np.arange(values.shape[1])]


def _ends(scale: Values) -> Values:
    """Return how far from the middle a value counts; without end where most are equal."""
    return np.where(scale > 0, PULLED_IN * scale, math.inf)


def _student(explained: Values, degrees: Values) -> Values:
    """Return |t| from the part of the squares that a difference explains."""
    explained[~np.isfinite(explained)] = 0.0
    part: Values = np.minimum(explained, 1 - 1 / LARGEST**2)
    statistics: Values = np.sqrt(np.maximum(degrees, 0) * part / (1 - part))
    return statistics


def _sums(rows: Values, values: Values) -> Values:
    """Return the matrix product; that of BLAS keeps several threads busy for less work."""
    sums: Values = np.einsum("ij,jk->ik", rows, values)
    return sums


@cache
def _splits(base: int, new: int) -> Values:
    """Return which launches are in the new run, a row for each split; the first is as it was.

    Exchanging runs changes no |t|: for runs of equal length, half of the splits are enough.
    """
    launches, mirrored = base + new, base == new
    if math.comb(launches, new) // (1 + mirrored) > MOST:
        random = np.random.default_rng([base, new])
        rows = np.tile(np.repeat([0.0, 1.0], [base, new]), (MOST, 1))
        rows[1:] = random.permuted(rows[1:], axis=1)
        return rows
    chosen = [
        positions
        for positions in combinations(range(launches), new)
        if not mirrored or positions[0]
    ]
    rows = np.zeros((len(chosen), launches))
    np.put_along_axis(rows, np.array(chosen), 1.0, axis=1)
    return rows[::-1].copy()  # the last combination is the split that was measured


@cache
def _signs(launches: int) -> Values:
    """Return a sign for each launch, a row for each exchange; the first exchanges nothing.

    Exchanging every launch changes no |t|, so the first launch keeps its sign.
    """
    if 2 ** (launches - 1) > MOST:
        random = np.random.default_rng(launches)
        signs = random.choice([-1.0, 1.0], (MOST, launches))
        signs[0] = 1.0
        return signs
    bits = np.arange(2 ** (launches - 1))[:, None] >> np.arange(launches) & 1
    return np.where(bits, -1.0, 1.0)[:, ::-1].copy()
