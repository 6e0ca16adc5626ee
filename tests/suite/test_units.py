# SPDX-License-Identifier: MIT
"""How numbers are shown to people."""

import math
from itertools import pairwise

import pytest

from frobench.suite import units
from frobench.suite.stored.types import Estimate
from frobench.suite.units import RATIO, format_ends, format_estimate, format_value

TIMES = "\N{MULTIPLICATION SIGN}"


@pytest.mark.parametrize(
    ("value", "low", "high", "unit", "text"),
    [
        (285.3e-6, 281.2e-6, 290.1e-6, "s", "285 µs [281, 290]"),
        (4.1e-9, 3.9e-9, 4.6e-9, "s", "4.1 ns [3.9, 4.6]"),
        (51.2e12, 50.9e12, 51.6e12, "FLOP/s", "51.2 TFLOP/s [50.9, 51.6]"),
        (3 * 2**30, 2.9 * 2**30, 3.3 * 2**30, "B", "3.0 GiB [2.9, 3.3]"),
        (12.34, 12.1, 12.5, TIMES, f"12.3{TIMES} [12.1, 12.5]"),
        (0.973, 0.961, 0.984, "1", "97.3% [96.1, 98.4]"),
        (740.4, 740.2, 740.9, "n", "740 [740, 741]"),
        (2.51, 2.31, 2.71, "tokens", "2.5 tokens [2.3, 2.7]"),
        (5e-6, 1e-6, 40e-6, "s", "5.0 µs [1.0, 40.0]"),
        (5e-6, -12e-6, 31e-6, "s", "5 µs [-12, 31]"),
        (-2e-8, -0.9e-6, 1.24e-6, "s", "0.0 µs [-0.9, 1.2]"),
        (1e-7, -6e-7, 6e-7, "s", "100 ns [-600, 600]"),
        (1234.6, 1126.0, 1333.0, "s", "1,230 s [1,130, 1,330]"),
        (0.0, 0.0, 0.0, "s", "0 s [0, 0]"),
        (0.600344, 0.600344, 0.600344, "s", "600.3 ms [600.3, 600.3]"),
        (999.97e-6, 999.8e-6, 1000.2e-6, "s", "1,000.0 µs [999.8, 1,000.2]"),
    ],
)
def test_a_number_comes_with_its_interval_in_one_prefix(
    value: float, low: float, high: float, unit: str, text: str
) -> None:
    assert format_estimate(Estimate(value, low, high, launches=8), unit) == text


def test_a_number_is_rounded_to_the_digits_that_its_interval_supports() -> None:
    assert units.rounded(Estimate(44.2e9, 36e9, 55e9, launches=7)) == 44e9
    assert units.rounded(Estimate(51.24e12, 50.9e12, 51.6e12, launches=7)) == 51.2e12
    assert units.rounded(Estimate(51.24e12, 50.9e12, math.inf, launches=7)) == 51.24e12
    assert units.rounded(Estimate(44.2e9, None, None, launches=2)) == 44.2e9


def test_without_an_interval_the_text_says_why() -> None:
    three, one = Estimate(285.3e-6, None, None, launches=3), Estimate(0.5, None, None, launches=1)
    assert format_estimate(three, "s") == "285 µs (no interval: 3 launches)"
    assert format_estimate(one, "1") == "50% (no interval: 1 launch)"
    assert units.format_point(three, "s") == "285 µs"


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.2, "s", "200 ms"),
        (3e-10, "s", "0.3 ns"),
        (0, "s", "0 s"),
        (1048577, "n", "1,048,577"),
        (0.09874, "1", "9.87%"),
        (-0.5, "s", "-500 ms"),
        (4, "", "4"),
    ],
)
def test_exact_values_need_no_trailing_zeros(value: float, unit: str, text: str) -> None:
    assert format_value(value, unit) == text


@pytest.mark.parametrize(
    ("unit", "names"),
    [
        ("s", {1e-9: "ns", 1e-6: "µs", 1e-3: "ms", 1.0: "s"}),
        ("W", {1e-9: "nW", 1e-6: "µW", 1e-3: "mW", 1.0: "W", 1e3: "kW", 1e6: "MW", 1e9: "GW"}),
        ("FLOP/s", {1e9: "GFLOP/s", 1e12: "TFLOP/s", 1e15: "PFLOP/s"}),
        ("B", {1.0: "B", 2**10: "KiB", 2**20: "MiB", 2**30: "GiB", 2**40: "TiB"}),
        ("n", {1.0: ""}),
    ],
)
def test_axes_divide_by_the_largest_prefix_that_fits(unit: str, names: dict[float, str]) -> None:
    for factor, name in names.items():
        assert units.prefixed(factor, unit) == (factor, name)
        assert units.prefixed(-math.nextafter(2 * factor, 0), unit) == (factor, name)
    for smaller, larger in pairwise(names):
        assert units.prefixed(math.nextafter(larger, 0), unit)[0] == smaller


def test_no_number_is_printed_for_what_is_not_one() -> None:
    assert format_value(math.inf, "s") == "beyond all numbers"
    with pytest.raises(ValueError, match="NaN"):
        format_value(math.nan, "s")


def test_one_thing_is_not_several_and_both_ends_have_a_unit_where_it_differs() -> None:
    things = units.counted(1, "launch"), units.counted(6, "launch"), units.counted(1200, "case")
    assert things == ("1 launch", "6 launches", "1,200 cases")
    assert units.capital("two runs") == "Two runs"
    ends = ((3.1, 3.3), (9e-7, 2e-6), (3.101, 3.102))
    shown = [units.format_range(low, high, "s") for low, high in ends]
    assert shown == ["3.1 to 3.3 s", "900 ns to 2 µs", "3.1 s"]


@pytest.mark.parametrize(
    ("value", "low", "high", "unit", "text"),
    [
        (268e-6, 258e-6, 996e-6, "s", "260 to 1,000 µs"),
        (0.99, 0.8214, 1.0234, RATIO, f"0.82 to 1.02{RATIO}"),
        (0.05, 0.009, 0.056, "1", "0.9 to 5.6%"),
    ],
)
def test_ends_of_an_interval_have_the_digits_of_its_estimate(
    value: float, low: float, high: float, unit: str, text: str
) -> None:
    assert format_ends(Estimate(value, low, high, 8), unit) == text
