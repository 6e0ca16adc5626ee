# SPDX-License-Identifier: MIT
"""What is promised of intervals and verdicts, for any numbers and in simulations."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from scipy.stats import mannwhitneyu, wilcoxon

from frobench.reports.purchase import script
from frobench.suite.compare import verdicts
from frobench.suite.compare.verdicts import Comparison, compare_pairs, compare_values, verdict
from frobench.suite.statistics import estimate, launch_medians, resemblance, spread
from frobench.suite.stored.types import Estimate
from frobench.suite.units import RATIO, format_estimate, format_value
from studies.calibration.intervals import coverage
from studies.calibration.regimes import REGIMES, Regime


@pytest.mark.parametrize("launches", [6, 8, 12])
@pytest.mark.parametrize("regime", REGIMES, ids=lambda regime: regime.name)
def test_the_interval_covers_the_median_in_each_regime(regime: Regime, launches: int) -> None:
    # True coverage is 94.3% at least; in 3,000 runs 93% is three standard errors away.
    assert coverage(regime, launches, runs=3000) >= 0.93


def test_the_interval_is_wider_where_launches_resemble_the_ones_before() -> None:
    slow_then_fast = [12.0, 11.0, 12.5, 11.5, 13.0, 9.0, 8.0, 8.5, 7.5, 7.0]
    mixed = [value for start in range(5) for value in slow_then_fast[start::5]]
    assert resemblance(slow_then_fast) == pytest.approx(1 - 61 / 165)
    assert resemblance(mixed) == resemblance([1.0] * 9) == 0
    dependent, independent = estimate(slow_then_fast), estimate(mixed)
    assert dependent.value == independent.value == 10
    ends = ((one.low, one.high) for one in (dependent, independent))
    for wide, narrow in zip(*ends, strict=True):
        assert (wide or 0) - 10 == pytest.approx((1 + 0.75 * 104 / 165) * ((narrow or 0) - 10))


@pytest.mark.parametrize(
    ("launches", "low", "high"),
    [
        (6, 0.5, 37.4805),
        (7, 1.907692, 45.066667),
        (8, 3.076078, 53.619609),
        (9, 2.228972, 88.964486),
        (17, 12.419002, 234.549218),
        (20, 18.695425, 304.251792),
    ],
)
def test_intervals_are_the_same_in_every_version(launches: int, low: float, high: float) -> None:
    found = estimate([launch**2 for launch in range(1, launches + 1)])
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-6)


def test_an_end_moves_by_half_of_the_inner_pair_or_of_itself_at_most() -> None:
    for values, low, high in (
        ([0, 10, 10, 10, 11, 11, 11, 20], 0.5, 19.5),
        ([-40, -30, -20, -20, -10, -0.1], -40 - 0.063 * 20, -0.05),
        ([0, 1, 1.05, 1.1, 1.15, 1.2, 2], 0.1, 1.9),
        ([1] * 9, 1, 1),
    ):
        found = estimate(values)
        assert (found.low, found.high) == pytest.approx((low, high))


def test_spread_sees_a_second_mode_but_not_a_single_stray() -> None:
    assert spread([1.0] * 7 + [5.0]) == 0
    assert spread([1.0] * 5 + [1.5] * 3) == pytest.approx(0.5 / 1.349, rel=1e-4)
    assert spread([1.0, 2.0, 3.0, 4.0]) == pytest.approx(2 / 1.349 / 2.5, rel=1e-4)
    assert spread([-1.0, -1.0, 1.0, 1.0]) is None


@pytest.mark.parametrize(("base", "new"), [(6, 6), (7, 12), (12, 9), (20, 20)])
def test_the_p_value_is_that_of_the_exact_mann_whitney_test(base: int, new: int) -> None:
    random = np.random.default_rng(base)
    for shift in (0, 0.5, 2):
        before = random.lognormal(0, 1, base).tolist()
        after = random.lognormal(shift, 1, new).tolist()
        expected = mannwhitneyu(before, after, method="exact").pvalue
        assert compare_values(before, after).p_value == pytest.approx(expected)


@pytest.mark.parametrize("grain", [None, 0.02])
@pytest.mark.parametrize("pairs", [False, True])
def test_p_is_small_just_where_the_interval_excludes_1(grain: float | None, *, pairs: bool) -> None:
    random = np.random.default_rng(0)
    outcomes = set()
    for _ in range(300):
        sides = np.exp(random.normal(np.array([[0.0], [0.03]]), 0.03, (2, 7)))
        if grain:
            sides = np.round(sides / grain) * grain
        base, new = sides.tolist()
        ratios = (sides[1] / sides[0]).tolist()
        compared = compare_pairs(ratios) if pairs else compare_values(base, new)
        includes = (compared.ratio.low or 0) <= 1 <= (compared.ratio.high or 0)
        outcomes.add((includes, (compared.p_value or 0) <= 0.05))
    assert outcomes == {(True, False), (False, True)}


BASE = [1, 1.01, 1.02, 1.03, 1.04, 1.05]
NEW, APART = [value + 0.1 for value in BASE], verdicts.Between(0.05, 0.1)


def test_an_allowance_widens_the_interval_by_what_runs_lie_apart_beyond_their_launches() -> None:
    alone, among = compare_values(BASE, NEW), compare_values(BASE, NEW, between=APART)
    facing = math.log(alone.ratio.value / (alone.ratio.low or 1))
    allowance = math.hypot(facing, 0.1) - facing
    assert among.allowance == pytest.approx(math.expm1(allowance))
    assert among.ratio.low == pytest.approx((alone.ratio.low or 0) / (1 + among.allowance))
    assert among.ratio.high == pytest.approx((alone.ratio.high or 0) * (1 + among.allowance))
    assert (among.ratio.value, verdict(among)) == (alone.ratio.value, "unresolved")


@pytest.mark.parametrize(
    ("compared", "change"),
    [
        (compare_values(BASE, NEW), 0.052772),
        (compare_values(BASE, NEW, between=APART), 0.192926),
        (compare_values(BASE, [*NEW, 1.2], between=verdicts.Between(0.05, 0.1, 0.3)), 0.496651),
        (compare_values(BASE, NEW, demand=0.2), 0.358419),
        (compare_values(BASE, BASE), 0.056541),
        (compare_pairs([0.99, 0.995, 1.0, 1.005, 1.01, 1.0]), 0.021914),
    ],
)
def test_the_smallest_change_is_equal_in_every_version(compared: Comparison, change: float) -> None:
    assert compared.smallest_change == pytest.approx(change, abs=1e-6)


def test_a_launch_far_astray_takes_no_allowance_away() -> None:
    low, high = [1e-3, *BASE[1:]], [*NEW[:-1], 1e3]
    astray = compare_values(low, high, between=APART)
    assert (astray.ratio.high or 0) > 100
    assert astray.allowance > 0.07
    turned = compare_values(high, low, between=APART)
    assert turned.allowance == pytest.approx(astray.allowance)
    assert verdict(astray) == verdict(turned) == "unresolved"


def test_runs_that_lie_farther_apart_than_the_same_are_never_the_same() -> None:
    for apart, word in ((0.01, "same"), (0.03, "unresolved")):
        compared = compare_values([1.0] * 6, [1.0] * 6, between=verdicts.Between(known=apart))
        assert verdict(compared) == word


@pytest.mark.parametrize("launches", [6, 9, 20])
def test_the_p_value_of_pairs_is_that_of_the_exact_signed_rank_test(launches: int) -> None:
    random = np.random.default_rng(launches)
    for shift in (0, 0.5, 2):
        logs = random.normal(shift, 1, launches)
        expected = wilcoxon(logs, method="exact").pvalue
        assert compare_pairs(np.exp(logs).tolist()).p_value == pytest.approx(expected)


def test_six_launches_that_all_say_slower_are_enough() -> None:
    pairs = [1.03, 1.04, 1.05, 1.06, 1.07, 1.08]
    compared = compare_pairs(pairs)
    assert compared.p_value == 2 / 64
    assert (compared.ratio.low, compared.ratio.high) == pytest.approx((1.03, 1.08))
    assert verdict(compared) == "slower"
    assert compare_pairs(pairs, math.inf).smallest_change is None  # no rearrangement can show it


@pytest.mark.parametrize(
    ("low", "high", "p_value", "word"),
    [
        (0.981, 1.019, 0.9, "same"),
        (1.001, 1.019, 0.01, "same"),
        (0.981, 1.021, 0.9, "unresolved"),
        (1.001, 1.03, 0.01, "slower"),
        (0.90, 0.97, 0.01, "faster"),
    ],
)
def test_verdicts(low: float, high: float, p_value: float, word: str) -> None:
    compared = Comparison(Estimate((low + high) / 2, low, high, launches=8), p_value, None)
    assert verdict(compared) == word


def test_versions_beside_each_other_are_the_same_within_half_a_percent() -> None:
    for ratio, word in ((1.003, "same"), (1.009, "slower")):
        assert verdict(compare_pairs([ratio * (1 + launch / 1e4) for launch in range(8)])) == word


def test_a_difference_that_does_not_survive_in_its_family_is_unresolved() -> None:
    compared = Comparison(Estimate(1.1, 1.03, 1.2, launches=8), 0.02, None)
    assert verdict(compared, p_value=0.06) == "unresolved"


settings.register_profile("frobench", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("frobench")

TIMES = some.floats(1e-9, 1e3)
"""Seconds of calls."""
ENOUGH = some.lists(TIMES, min_size=6, max_size=20)
"""As many launches as an interval needs."""
UNITS = some.sampled_from(["s", "FLOP/s", "B/s", "W", "", RATIO])


@given(some.lists(some.lists(TIMES, max_size=4), min_size=1, max_size=8))
def test_launches_keep_places_and_empty_ones_have_no_median(launches: list[list[float]]) -> None:
    data, counts = [s for launch in launches for s in launch], [*map(len, launches)]
    for launch, median in zip(launches, launch_medians(data, counts), strict=True):
        assert median is None if not launch else min(launch) <= (median or 0) <= max(launch)
    with pytest.raises(ValueError, match="but the launches name"):
        launch_medians([*data, 1.0], counts)


@given(ENOUGH)
def test_an_interval_holds_the_median_and_no_time_below_zero(values: list[float]) -> None:
    found = estimate(values)
    assert found.launches == len(values)
    assert 0 < (found.low or 0) <= found.value <= (found.high or 0)
    assert estimate([*values, None]) == found


@given(some.lists(some.floats(-1e3, 1e3).map(lambda x: round(x, 3)), min_size=6, max_size=20))
def test_numbers_of_either_sign_have_intervals_that_mirror_each_other(values: list[float]) -> None:
    seen, other = estimate(values), estimate([-value for value in values])
    assert (other.value, other.low, other.high) == pytest.approx(
        (-seen.value, -(seen.high or 0.0), -(seen.low or 0.0)), abs=1e-9
    )


@given(TIMES, some.integers(6, 30))
def test_equal_launches_have_no_width_and_are_the_same(value: float, launches: int) -> None:
    equal = [value] * launches
    assert estimate(equal) == Estimate(value, value, value, launches)
    for compared in (compare_values(equal, equal), compare_pairs([1.0] * launches)):
        assert (compared.ratio, compared.p_value) == (Estimate(1, 1, 1, launches), 1)
        assert verdict(compared) == "same"
        assert (compared.smallest_change or 1) <= verdicts.SAME + 1e-9


@given(some.lists(TIMES, min_size=1, max_size=5), ENOUGH)
def test_too_few_launches_have_no_interval_or_verdict(few: list[float], many: list[float]) -> None:
    assert (estimate(few).low, estimate(few).launches) == (None, len(few))
    values = (compare_values(few, many), compare_values(many, few))
    for compared in (*values, compare_pairs([*few, None])):
        assert (compared.p_value, compared.smallest_change) == (None, None)
        assert (compared.ratio.low, verdict(compared)) == (None, "unresolved")
    if len(few) < 4:
        assert spread(few) is None


@given(ENOUGH, ENOUGH)
def test_exchanging_the_sides_inverts_the_ratio(base: list[float], new: list[float]) -> None:
    ratios = [after / before for before, after in zip(base, new, strict=False)]
    for forth, back in (
        (compare_values(base, new), compare_values(new, base)),
        (compare_pairs(ratios), compare_pairs([1 / ratio for ratio in ratios])),
    ):
        assert forth.ratio.value == pytest.approx(1 / back.ratio.value, rel=1e-6)
        assert forth.ratio.low == pytest.approx(1 / (back.ratio.high or math.nan), rel=1e-6)
        assert forth.p_value == pytest.approx(back.p_value)
        words = {"faster": "slower", "slower": "faster"}
        assert verdict(back) == words.get(verdict(forth), verdict(forth))


@given(ENOUGH, some.sampled_from([math.nan, math.inf, 0.0, -1.0]))
def test_what_is_no_time_is_an_error(values: list[float], bad: float) -> None:
    with pytest.raises(ValueError, match="a launch has the value"):
        compare_values(values, [*values, bad])
    if not math.isfinite(bad):
        with pytest.raises(ValueError, match="not finite"):
            estimate([*values, bad])
    with pytest.raises(ValueError, match="no value"):
        estimate([None])


@given(some.floats(1e-8, 1e14), some.floats(1e-6, 3), some.floats(0, 3), UNITS)
def test_scripts_spell_as_terminals_do(value: float, below: float, above: float, unit: str) -> None:
    seen = Estimate(value, value * (1 - below), value * (1 + above), 8)
    spell = "([value, low, high], unit) => units.parts({ value, low, high }, unit).join(' ')"
    shown = script.call(spell, [seen.value, seen.low, seen.high], unit)
    assert shown == format_estimate(seen, unit)


@given(some.floats(1e-8, 1e14) | some.integers(0, 10**9), UNITS)
def test_scripts_spell_numbers_to_the_digit_as_the_terminal_does(value: float, unit: str) -> None:
    shown = script.call("(value, unit) => units.value(value, unit)", value, unit)
    assert shown == format_value(value, unit)
