# SPDX-License-Identifier: MIT
"""Which nodes are unlike their peers, with the false alarms of a whole page controlled.

A node is compared with the median of all nodes, answer by answer, on the log scale. Two things
make equal nodes differ. Launches scatter; their standard deviation is pooled over the nodes, so
that it is known well although each node has few. And no two machines are quite equal; how far
equal nodes differ is seen in the nodes themselves, drawn to what is usual in all answers where
there are few nodes, and assumed to be at least `EQUAL_NODES`. Both are estimated from medians,
which a few odd nodes do not move.

Where nodes fall into two groups with a gap between, such as halves with another driver, their
median is in the gap, and neither group is known to be normal. Such groups are told apart first,
and each node is compared with the median of its own.

The intervals hold for all nodes and answers of a page together (Bonferroni): of pages whose nodes
are equal, at most 5% name any node. `studies/calibration/fleet.py` simulates it.
"""

from math import ceil

import numpy as np
from numpy.typing import NDArray

from frobench.suite.compare.verdicts import POWER
from frobench.suite.statistics import ALARMS, LEAST_LAUNCHES

Values = NDArray[np.float64]

EQUAL_NODES = 0.005
"""Standard deviation of equal nodes, relative, that is assumed at least. A few nodes cannot show
their own."""
LEAST_NODES = 3
"""Nodes of a kind from which one can be called unlike the others."""
MEDIAN_EFFICIENCY = 0.63
"""Degrees of freedom that the median of variances keeps of those that their mean has (simulated,
for launches from 6 to 20: 0.62 to 0.64)."""
DEVIATION_EFFICIENCY = 0.37
"""The same of the median absolute deviation beside the standard deviation, for normal values."""
NORMAL_DEVIATION = 1.4826
"""Standard deviation of a normal distribution in units of its median absolute deviation."""
FEW_NODES = 0.8
"""By how many nodes too many the median absolute deviation of a few is divided (Croux and
Rousseeuw, "Time-efficient algorithms for two highly robust estimators of scale", 1992)."""
MEDIAN_VARIANCE = np.pi / 2
"""Variance of a median beside that of a mean of as many normal values."""
USUAL_WEIGHT = 20.0
"""Degrees of freedom that the nodes' usual difference in all answers counts for in each."""
LEAST_GROUP = 0.2
"""Part of the nodes in a group, at least; of fewer each is named by itself."""
APART, APART_FEW = 4.0, 60.0
"""How far the medians of two groups lie apart, in standard deviations of the nodes in a group: the
first, and the second by the number of nodes, which tell few nodes less well. Of 50 nodes of one
group with evenly spread times, which split most easily, 0.2% seem to be two groups."""
WILD = 0.001
"""Probability with which a node whose launches scatter like the others' is called wild; a wild
node's own scatter counts, not the pooled one."""


class Unlike:
    """Nodes beside their peers, by answer; arrays are nodes x answers unless they say otherwise.

    deviation : logarithm of the node's time by the peers', of its own group where there are two;
        NaN where it cannot be told
    reach : half-width of the interval that holds for the whole page, as a logarithm
    scatter : standard deviation of launches, relative, by answer
    between : standard deviation of equal nodes, relative, by answer
    smallest : slow-down, relative, that would have been found in 90%, by answer
    slower : whether a node is in the slower one of two groups
    split : logarithm of the slower group's time by the other's, by answer; NaN where there is one
    """

    def __init__(self, launches: Values, kinds: int = 1) -> None:
        """Compare each node with the median of all.

        launches : logarithms of times, nodes x answers x launches; NaN where a launch has none. A
            node with fewer than six launches of an answer is left out of it
        kinds : of nodes that the page compares, which share the false alarms that it may raise
        """
        from scipy.special import ndtri, stdtrit  # noqa: PLC0415 - slow, and not for every page

        nodes, answers, _ = launches.shape
        self.deviation, self.reach = (np.full((nodes, answers), np.nan) for _ in range(2))
        self.scatter, self.between = (np.full(answers, np.nan) for _ in range(2))
        self.smallest, self.split = (np.full(answers, np.nan) for _ in range(2))
        self.slower = np.zeros((nodes, answers), bool)
        enough = np.sum(~np.isnan(launches), axis=2) >= LEAST_LAUNCHES
        measured = {index: np.flatnonzero(nodes) for index, nodes in enumerate(enough.T)}
        known = {
            index: _Answer(there, launches[there, index])
            for index, there in measured.items()
            if len(there) >= LEAST_NODES
        }
        beyond = [answer.beyond for answer in known.values()] or [0.0]
        usual = max(EQUAL_NODES**2, float(np.median(beyond)))
        comparisons = sum(len(answer.there) for answer in known.values())
        for index, answer in known.items():
            between = answer.between(usual)
            variance, degrees = answer.errors(between)
            # So many standard errors that all comparisons hold together.
            quantile = stdtrit(degrees, 1 - ALARMS / (2 * comparisons * kinds))
            reach = np.asarray(quantile * np.sqrt(variance), float)
            at = answer.there, index
            self.deviation[at], self.reach[at], self.slower[at] = answer.means, reach, answer.slower
            self.split[index], self.scatter[index] = answer.split, answer.scatter
            self.between[index] = np.sqrt(between)
            # What most nodes would have been named for in `POWER` of such pages.
            change = reach + float(ndtri(POWER)) * np.sqrt(variance)
            self.smallest[index] = np.expm1(np.median(change))

    @property
    def named(self) -> NDArray[np.bool_]:
        """Whether a node is unlike its peers in an answer."""
        beyond: NDArray[np.bool_] = np.abs(self.deviation) > self.reach  # NaN is not
        return beyond


class _Answer:
    """The nodes that measured an answer: nodes x launches, without those that have too few.

    there : their numbers
    means : logarithm of each node's time by the median of its group
    slower : whether each is in the slower one of two groups
    split : as in `Unlike`
    by_launches, degrees : variance of each mean by the scatter of launches, and how well it is
        known, in degrees of freedom
    scatter : pooled standard deviation of launches
    beyond : variance of the means beyond that of the launches
    """

    def __init__(self, there: NDArray[np.intp], values: Values) -> None:
        count = np.sum(~np.isnan(values), axis=1)
        means, own, free = np.nanmean(values, axis=1), np.nanvar(values, axis=1, ddof=1), count - 1
        pooled = float(np.median(own / _chi_square(0.5, free)))
        wild = own > pooled * _chi_square(1 - WILD, free)
        self.there, self.scatter = there, float(np.sqrt(pooled))
        self.by_launches = np.where(wild, own, pooled) / count
        self.degrees = np.where(wild, free, MEDIAN_EFFICIENCY * float(np.sum(free)))
        noise = float(np.median(self.by_launches))
        self.means, self.slower, self.split = _by_group(means, noise)
        few = len(means) / (len(means) - FEW_NODES)
        apart = few * NORMAL_DEVIATION * float(np.median(np.abs(self.means)))
        self.beyond = apart**2 - noise

    def between(self, usual: float) -> float:
        """Return the variance of equal nodes, drawn to what is usual in all answers."""
        own = DEVIATION_EFFICIENCY * (len(self.means) - 1)
        drawn = (USUAL_WEIGHT * usual + own * max(self.beyond, 0.0)) / (USUAL_WEIGHT + own)
        return max(EQUAL_NODES**2, drawn)

    def errors(self, between: float) -> tuple[Values, Values]:
        """Return the variance of each node's deviation, and its degrees of freedom by Welch."""
        variance = self.by_launches + between
        of_nodes = USUAL_WEIGHT + DEVIATION_EFFICIENCY * (len(self.means) - 1)
        uncertain = self.by_launches**2 / self.degrees + between**2 / of_nodes
        of_median = MEDIAN_VARIANCE * float(np.median(variance)) / len(self.means)
        return variance + of_median, variance**2 / uncertain


def _by_group(means: Values, noise: float) -> tuple[Values, NDArray[np.bool_], float]:
    """Return the means by the median of their group, the slower group, and how far both lie apart.

    Two groups are the nodes on both sides of the widest gap, if each has a fifth of all and their
    medians lie much further apart than nodes of a group do.

    noise : variance of the means by the scatter of launches
    """
    count, ordered = len(means), np.sort(means)
    none = np.zeros(count, bool)
    least = max(2, ceil(LEAST_GROUP * count))
    gaps = np.diff(ordered)[least - 1 : count - least]
    if gaps.any():
        cut = least + int(np.argmax(gaps))
        slower = means >= ordered[cut]
        # Of two middle nodes the one nearer to the gap, so that one odd node makes no group of two.
        medians = float(ordered[cut // 2]), float(ordered[cut + (count - cut - 1) // 2])
        within = means - np.where(slower, medians[1], medians[0])
        few = count / (count - 2 * FEW_NODES)
        own = few * NORMAL_DEVIATION * float(np.median(np.abs(within)))
        spread = max(own, float(np.sqrt(noise + EQUAL_NODES**2)))
        if medians[1] - medians[0] > (APART + APART_FEW / count) * spread:
            return within, slower, medians[1] - medians[0]
    return means - np.median(means), none, np.nan


def _chi_square(share: float, degrees: NDArray[np.intp]) -> Values:
    """Return a quantile of a sample variance by the true one."""
    from scipy.special import chdtri  # noqa: PLC0415 - as in `Unlike`

    return np.asarray(chdtri(degrees, 1 - share) / degrees, float)
