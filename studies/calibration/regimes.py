# SPDX-License-Identifier: MIT
"""Ways in which launch medians come about, to be simulated."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int, int], Values]

SAMPLES = 15
"""Samples of a launch, where a regime draws them one by one."""
NOISE = 0.01
"""Relative standard deviation of a sample or of a launch."""
MODES_APART = 0.2
"""Distance between the modes of a bimodal case: twenty times the noise inside a mode."""


@dataclass(frozen=True)
class Regime:
    """A way in which launch medians come about, and the true median over launches.

    draw : (generator, runs, launches) -> launch medians, one row a run
    """

    name: str
    draw: Draw
    median: float = 1.0


def normal(random: np.random.Generator, *shape: int) -> Values:
    """Draw normal values around 1."""
    return 1 + NOISE * random.standard_normal(shape)


def _independent(random: np.random.Generator, runs: int, launches: int) -> Values:
    return np.median(normal(random, runs, launches, SAMPLES), axis=2)


def _autocorrelated(random: np.random.Generator, runs: int, launches: int) -> Values:
    samples = _chain(random.standard_normal((SAMPLES, runs, launches)), 0.9)
    return 1 + NOISE * np.median(samples, axis=0)


def correlated(
    random: np.random.Generator, runs: int, launches: int, *, correlation: float
) -> Values:
    return 1 + NOISE * _chain(random.standard_normal((launches, runs)), correlation).T


def _chain(shocks: Values, correlation: float) -> Values:
    """Make first-order autoregressive values, standard normal, along the first axis."""
    values = [shocks[0]]
    for shock in shocks[1:]:
        values.append(correlation * values[-1] + math.sqrt(1 - correlation**2) * shock)
    return np.array(values)


def _process_effect(random: np.random.Generator, runs: int, launches: int) -> Values:
    effects = NOISE * random.standard_normal((runs, launches, 1))
    return np.median(effects + normal(random, runs, launches, SAMPLES), axis=2)


def drifting(random: np.random.Generator, runs: int, launches: int) -> Values:
    """Draw a machine that slows by three standard deviations from first to last launch."""
    return normal(random, runs, launches) + 3 * NOISE * np.linspace(-0.5, 0.5, launches)


def _heavy_tailed(random: np.random.Generator, runs: int, launches: int) -> Values:
    """Draw from a Cauchy distribution, cut off where times would not be positive."""
    return np.maximum(1 + NOISE * random.standard_cauchy((runs, launches)), NOISE)


def _skewed(random: np.random.Generator, runs: int, launches: int) -> Values:
    return random.lognormal(0, 1, (runs, launches))


def _in_two_modes(random: np.random.Generator, runs: int, launches: int, *, fast: float) -> Values:
    slow = random.random((runs, launches)) >= fast
    return normal(random, runs, launches) + MODES_APART * slow


def _bimodal(fast: float) -> Regime:
    """Build a regime whose launches are fast with this probability, and otherwise slow."""
    # All but nothing of the slow mode lies below the median, so it is a quantile of the fast.
    inside = NormalDist(1, NOISE).inv_cdf(0.5 / fast) if fast > 0.5 else 1 + MODES_APART / 2
    return Regime(f"bimodal {fast:.0%} : {1 - fast:.0%}", partial(_in_two_modes, fast=fast), inside)


REGIMES = [
    Regime("independent", _independent),
    Regime("autocorrelated in a launch", _autocorrelated),
    Regime("effect of the process", _process_effect),
    Regime("drifting", drifting),
    Regime("heavy tails (Cauchy)", _heavy_tailed),
    Regime("skewed (lognormal)", _skewed),
    *(_bimodal(fast) for fast in (0.5, 0.52, 0.6, 0.7, 0.9)),
]
"""What launches may be like, as long as they know nothing of each other but a common trend."""

ALIKE = [
    Regime(f"correlation of {correlation}", partial(correlated, correlation=correlation))
    for correlation in (0.2, 0.5)
]
"""Launches that resemble the one before, for which nothing is promised."""
