# SPDX-License-Identifier: MIT
"""A machine against a reference: exact ratios, and intervals that know what launches share."""

import math
from collections.abc import Sequence
from itertools import combinations_with_replacement
from random import Random
from statistics import median

import numpy as np
import pytest

from frobench.reports.purchase.ratios import RESAMPLES, Launches, Ratios, Rows, against
from frobench.reports.table.estimates import STEP
from frobench.reports.table.launches import Numbers
from studies.calibration import ratios as study
from studies.calibration.regimes import REGIMES

SAME = [[(0, 0), (1, 1)], [(2, 2)]]
"""Two exercises, of two cases and of one."""


def pseudomedian(logs: list[float]) -> float:
    return median((a + b) / 2 for a, b in combinations_with_replacement(logs, 2))


def drawn(seed: int, cases: int, launches: int, shared: float, own: float) -> Numbers:
    """Draw times whose logarithms spread by what cases of a launch share and by their own."""
    random = np.random.default_rng(seed)
    fates = shared * random.standard_normal(launches)
    found: Numbers = np.exp(fates + own * random.standard_normal((cases, launches)))
    return found


def held(sides: Sequence[Launches], exercises: Sequence[Rows] = SAME) -> Ratios:
    """Hold the second beside the first, exercises with equal weights."""
    reference, machine = sides
    return against(reference, machine, exercises, [1.0] * len(exercises))


def test_ratios_are_exact_where_launches_agree() -> None:
    reference, machine = np.full((3, 6), 1e-3), np.array([[2.5e-4], [1e-3], [2e-3]]) * np.ones(8)
    found = held((Launches.of(reference), Launches.of(machine)))
    assert np.exp(found.logs) == pytest.approx([2.0, 0.5], rel=STEP)  # the mean of 4 and 1
    assert found.covariance == pytest.approx(np.zeros((2, 2)))


def test_a_launch_gone_astray_moves_little() -> None:
    times = np.full((1, 8), 1e-3) * [1, 1.01, 0.99, 1, 1.01, 1, 0.99, 1]
    astray = times.copy()
    astray[0, 3] *= 100
    assert Launches.of(astray).centre == pytest.approx(Launches.of(times).centre, abs=0.01)


def test_each_resample_takes_whole_launches_as_they_were_drawn() -> None:
    times = drawn(1, 3, 7, 0.1, 0.1)
    times[1, 4] = np.nan
    found = Launches.of(times)
    random = Random(7)  # noqa: S311 - not for secrets
    for place in range(20):
        draw = random.choices(range(7), k=7)
        for case in range(3):
            logs = [math.log(times[case, one]) for one in draw if not np.isnan(times[case, one])]
            assert found.resampled[case, place] == pytest.approx(pseudomedian(logs))
    assert found.resampled.shape == (3, RESAMPLES)


def test_what_cases_share_does_not_average_out_and_what_is_their_own_does() -> None:
    one = [[(0, 0)], [(case, case) for case in range(40)]]
    errors = {}
    for shared, own in ((0.02, 0.0), (0.0, 0.02)):
        sides = [Launches.of(drawn(seed, 40, 12, shared, own)) for seed in (1, 2)]
        covariance = held(sides, one).covariance
        assert covariance is not None
        errors[own] = math.sqrt(covariance[1, 1] / covariance[0, 0])
    assert errors[0.0] == pytest.approx(1.0)
    assert errors[0.02] < 0.4


def test_exercises_of_the_same_launches_move_together() -> None:
    sides = [Launches.of(drawn(seed, 3, 8, 0.05, 0.001)) for seed in (1, 2)]
    covariance = held(sides).covariance
    assert covariance is not None
    assert covariance[0, 1] == pytest.approx(covariance[0, 0], rel=0.1)


def test_the_quantile_knows_how_few_launches_there_are() -> None:
    def quantile(*launches: int) -> float:
        sides = [Launches.of(drawn(n, 3, n, 0.02, 0.001)) for n in launches]
        found = held(sides).quantile
        assert found is not None
        return found

    assert 2.29 < quantile(6, 6) < 2.65  # Student's of 10 and of 5 degrees of freedom
    assert 2.09 < quantile(16, 16) < 2.19
    still = Launches.of(np.full((3, 12), 1.0))
    noisy = Launches.of(drawn(1, 3, 6, 0.02, 0.001))
    assert held((still, noisy)).quantile == pytest.approx(2.6578, abs=1e-4)


def test_below_six_launches_there_is_a_ratio_and_no_interval() -> None:
    few, enough = (Launches.of(drawn(n, 3, n, 0.0, 0.0)) for n in (5, 8))
    for sides in ((few, enough), (enough, few)):
        found = held(sides)
        assert found.logs == pytest.approx([0.0, 0.0])
        assert (found.covariance, found.quantile) == (None, None)


def test_an_exercise_without_common_cases_has_no_ratio_and_moves_no_other() -> None:
    sides = [Launches.of(drawn(seed, 3, 8, 0.02, 0.01)) for seed in (1, 2)]
    whole = held(sides, SAME[:1])
    part = held(sides, [SAME[0], []])
    assert np.isnan(part.logs[1])
    assert part.logs[0] == whole.logs[0]
    assert part.quantile == whole.quantile
    assert part.covariance is not None
    assert whole.covariance is not None
    assert part.covariance[0, 0] == whole.covariance[0, 0]
    assert part.covariance[1].tolist() == [0.0, 0.0]


def test_the_same_launches_give_the_same_bits() -> None:
    sides = [drawn(seed, 3, 8, 0.02, 0.01) for seed in (1, 2)]
    first, second = (held([Launches.of(side) for side in sides]) for _ in range(2))
    assert first.covariance is not None
    assert second.covariance is not None
    assert first.covariance.tolist() == second.covariance.tolist()


def test_intervals_cover_and_are_not_needlessly_wide() -> None:
    shares, width = study.simulate((("", REGIMES[0], 1.0), (6, 8)), runs=60)
    assert shares.keys() == set(study.LOOKS)
    assert min(shares.values()) >= 0.88  # of 60; the full study is in docs/calibration.md
    assert 1.0 < width < 1.3
