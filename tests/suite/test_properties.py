# SPDX-License-Identifier: MIT
"""What holds of any numbers: of intervals, verdicts, spellings and stored files."""

import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from msgspec.structs import replace

from frobench.reports.purchase import script
from frobench.suite.compare.verdicts import SAME, compare_pairs, compare_values, verdict
from frobench.suite.statistics import estimate, launch_medians, spread
from frobench.suite.stored import store
from frobench.suite.stored.types import Estimate
from frobench.suite.units import RATIO, format_estimate, format_value
from tests.instruments.runs import factory

settings.register_profile("frobench", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("frobench")

TIMES = some.floats(1e-9, 1e3)
"""Seconds of calls."""
ENOUGH = some.lists(TIMES, min_size=6, max_size=20)
"""As many launches as an interval needs."""
FEW = some.lists(TIMES, min_size=1, max_size=5)
UNITS = some.sampled_from(["s", "FLOP/s", "B/s", "W", "", RATIO])


@given(some.lists(some.lists(TIMES, max_size=4), min_size=1, max_size=8))
def test_launches_keep_their_places_and_those_without_samples_have_no_median(
    launches: list[list[float]],
) -> None:
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


@given(ENOUGH, some.floats(1e-3, 1e3))
def test_another_unit_of_time_changes_no_interval(values: list[float], factor: float) -> None:
    seen, other = estimate(values), estimate([value * factor for value in values])
    assert (other.value, other.low, other.high) == pytest.approx(
        (seen.value * factor, (seen.low or 0) * factor, (seen.high or 0) * factor)
    )


@given(some.lists(TIMES, min_size=1, max_size=8))
def test_eight_launches_at_most_have_no_order(values: list[float]) -> None:
    assert estimate(values) == estimate(sorted(values))


@given(TIMES, some.integers(6, 30))
def test_equal_launches_have_an_interval_without_width_and_are_the_same(
    value: float, launches: int
) -> None:
    equal = [value] * launches
    assert estimate(equal) == Estimate(value, value, value, launches)
    for compared in (compare_values(equal, equal), compare_pairs([1.0] * launches)):
        assert (compared.ratio, compared.p_value) == (Estimate(1, 1, 1, launches), 1)
        assert (verdict(compared), (compared.smallest_change or 1) <= SAME + 1e-9) == ("same", True)


@given(FEW, ENOUGH)
def test_fewer_than_six_launches_have_no_interval_and_resolve_nothing(
    few: list[float], many: list[float]
) -> None:
    assert (estimate(few).low, estimate(few).launches) == (None, len(few))
    for compared in (
        compare_values(few, many),
        compare_values(many, few),
        compare_pairs([*few, None]),
    ):
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


@given(some.floats(1e-8, 1e14), some.floats(1e-6, 1), some.floats(0, 1), UNITS)
def test_scripts_spell_estimates_to_the_digit_as_the_terminal_does(
    value: float, below: float, above: float, unit: str
) -> None:
    seen = Estimate(value, value * (1 - below), value * (1 + above), 8)
    spell = "([value, low, high], unit) => units.parts({ value, low, high }, unit).join(' ')"
    shown = script.call(spell, [seen.value, seen.low, seen.high], unit)
    assert shown == format_estimate(seen, unit)


@given(some.floats(1e-8, 1e14) | some.integers(0, 10**9), UNITS)
def test_scripts_spell_numbers_to_the_digit_as_the_terminal_does(value: float, unit: str) -> None:
    assert script.call("(value, unit) => units.value(value, unit)", value, unit) == format_value(
        value, unit
    )


@given(some.text(max_size=40), some.text(max_size=40), TIMES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
def test_what_is_stored_is_read_back_equal(
    tmp_path: Path, title: str, reason: str, seconds: float
) -> None:
    run = factory.run()
    title, reason = (text.encode("utf-8", "ignore").decode() for text in (title, reason))
    run.benchmarks[0].extra_info = replace(run.benchmarks[0].extra_info, title=title)
    run.benchmarks[0].stats.data[0] = seconds
    run.frobench.outcomes[-1].reason = reason
    run.frobench.digest = store.digest(run)
    path = tmp_path / "run.json"
    path.write_bytes(store.encode(run))
    assert store.read(path) == run
