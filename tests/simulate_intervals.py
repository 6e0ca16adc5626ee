# SPDX-License-Identifier: MIT
"""How often the interval of `estimate` covers the median, and how wide it is.

``python -m tests.simulate_intervals`` prints the table of `docs/methodology.md`: for each
regime and number of launches the coverage in 20,000 simulated runs, and the mean width on
normal data relative to the t-interval's. The seed is fixed.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from suite.statistics import estimate

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


def _normal(random: np.random.Generator, *shape: int) -> Values:
    return 1 + NOISE * random.standard_normal(shape)


def _independent(random: np.random.Generator, runs: int, launches: int) -> Values:
    return np.median(_normal(random, runs, launches, SAMPLES), axis=2)


def _autocorrelated(random: np.random.Generator, runs: int, launches: int) -> Values:
    """First-order autoregressive samples, with a correlation of 0.9 from each to the next."""
    shocks = random.standard_normal((SAMPLES, runs, launches))
    noise = [shocks[0]]
    for shock in shocks[1:]:
        noise.append(0.9 * noise[-1] + math.sqrt(1 - 0.9**2) * shock)
    medians: Values = np.median(noise, axis=0)
    return 1 + NOISE * medians


def _process_effect(random: np.random.Generator, runs: int, launches: int) -> Values:
    effects = NOISE * random.standard_normal((runs, launches, 1))
    return np.median(effects + _normal(random, runs, launches, SAMPLES), axis=2)


def _drifting(random: np.random.Generator, runs: int, launches: int) -> Values:
    """Draw a machine that slows by three standard deviations from first to last launch."""
    return _normal(random, runs, launches) + 3 * NOISE * np.linspace(-0.5, 0.5, launches)


def _heavy_tailed(random: np.random.Generator, runs: int, launches: int) -> Values:
    """Draw from a Cauchy distribution, cut off where times would not be positive."""
    return np.maximum(1 + NOISE * random.standard_cauchy((runs, launches)), NOISE)


def _skewed(random: np.random.Generator, runs: int, launches: int) -> Values:
    return random.lognormal(0, 1, (runs, launches))


def _bimodal(fast: float) -> Regime:
    """Build a regime whose launches are fast with this probability, and otherwise slow."""

    def draw(random: np.random.Generator, runs: int, launches: int) -> Values:
        slow = random.random((runs, launches)) >= fast
        return _normal(random, runs, launches) + MODES_APART * slow

    # All but nothing of the slow mode lies below the median, so it is a quantile of the fast.
    inside = NormalDist(1, NOISE).inv_cdf(0.5 / fast) if fast > 0.5 else 1 + MODES_APART / 2
    return Regime(f"bimodal {fast:.0%} : {1 - fast:.0%}", draw, inside)


REGIMES = [
    Regime("independent", _independent),
    Regime("autocorrelated in a launch", _autocorrelated),
    Regime("effect of the process", _process_effect),
    Regime("drifting", _drifting),
    Regime("heavy tails (Cauchy)", _heavy_tailed),
    Regime("skewed (lognormal)", _skewed),
    *(_bimodal(fast) for fast in (0.5, 0.52, 0.6, 0.7, 0.9)),
]


def coverage(regime: Regime, launches: int, runs: int, seed: int = 0) -> float:
    """Return the share of simulated runs whose interval holds the true median."""
    rows = regime.draw(np.random.default_rng([seed, launches]), runs, launches)
    return sum(_covers(row, regime.median) for row in rows.tolist()) / runs


def _covers(values: list[float], median: float) -> bool:
    seen = estimate(values)
    return seen.low is not None and seen.high is not None and seen.low <= median <= seen.high


def relative_width(launches: int, runs: int, seed: int = 0) -> float:
    """Return the mean width on normal data, divided by the t-interval's mean width."""
    rows = _normal(np.random.default_rng([seed, launches]), runs, launches)
    quantile = float(student.ppf(0.975, launches - 1))
    expected = 2 * quantile * rows.std(axis=1, ddof=1).mean() / math.sqrt(launches)
    intervals = [estimate(row) for row in rows.tolist()]
    return float(np.mean([(seen.high or 0) - (seen.low or 0) for seen in intervals]) / expected)


def table(runs: int = 20_000) -> str:
    """Return the table in Markdown."""
    counts = [6, 7, 8, 9, 10, 11, 12, 15, 20]
    rows = [["launches", *map(str, counts)], ["---", *("---:" for _ in counts)]]
    for regime in REGIMES:
        cells = [f"{100 * coverage(regime, count, runs):.1f}" for count in counts]
        rows.append([regime.name, *cells])
    widths = [f"{relative_width(count, runs):.2f}" for count in counts]
    rows.append(["width / t-interval's", *widths])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


if __name__ == "__main__":
    print(table())  # noqa: T201 - what the module is run for
