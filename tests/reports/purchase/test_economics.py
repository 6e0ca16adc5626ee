# SPDX-License-Identifier: MIT
"""What speed costs, reckoned by hand."""

import math

import pytest
from msgspec.structs import replace

from reports.purchase.comparison import Comparison, Exercise, Less, Machine, Rate
from reports.purchase.economics import (
    Amount,
    Speed,
    Use,
    memory_per_price,
    overall,
    ownership,
    per_work,
    price_per_rate,
    single,
    work_per,
    work_per_joule,
)
from tests.instruments.factory_comparison import UNKNOWN

TWICE = Speed(math.log(2), 0.05, 2.0)
LOW, HIGH = 2 * math.exp(-0.1), 2 * math.exp(0.1)
FEW = Speed(math.log(2), None, None)


def bare(amount: Amount) -> float:
    """Return a number that has no interval."""
    assert (amount.low, amount.high) == (None, None)
    return amount.value


def machine(
    logs: dict[str, float],
    covariance: list[list[float]] | None,
    *,
    best: dict[str, float | None] | None = None,
    worst: dict[str, float | None] | None = None,
) -> Machine:
    names = ("products", "copies", "host")
    return replace(
        UNKNOWN,
        logs=logs,
        covariance=covariance,
        quantile=None if covariance is None else 2.0,
        counts={name: 3 if name in logs else 0 for name in names},
        best=best or {**dict.fromkeys(names), **logs},
        worst=worst or {**dict.fromkeys(names), **logs},
    )


def compared(one: Machine) -> Comparison:
    exercises = [
        Exercise(name=name, title=name, total=4, weight=weight)
        for name, weight in (("products", 1.0), ("copies", 1.0), ("host", 0.0))
    ]
    return Comparison(approximate=False, reference="b", exercises=exercises, machines=[one])


def test_the_overall_speed_is_the_geometric_mean_with_what_exercises_share() -> None:
    covariance = [[0.04, 0.02, 9.0], [0.02, 0.01, 9.0], [9.0, 9.0, 9.0]]
    logs = {"products": math.log(8), "copies": math.log(2), "host": 5.0}
    found = overall(compared(one := machine(logs, covariance)), one)
    assert found.speed is not None
    assert found.speed.ratio.value == pytest.approx(4)
    assert found.speed.error == pytest.approx(math.sqrt((0.04 + 0.01 + 2 * 0.02) / 4))
    assert found.speed.ratio.high == pytest.approx(4 * math.exp(2 * 0.15))
    assert (found.exercises, found.of, found.cases, found.every) == (2, 2, 6, 8)


def test_a_reader_weighs_exercises() -> None:
    covariance = [[0.04, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    one = machine({"products": math.log(16), "copies": 0.0, "host": 0.0}, covariance)
    found = overall(compared(one), one, {"copies": 3.0, "host": 0.0})
    assert found.speed is not None
    assert found.speed.ratio.value == pytest.approx(2)
    assert found.speed.error == pytest.approx(0.2 / 4)
    host = overall(compared(one), one, {"products": 0.0, "copies": 0.0, "host": 1.0})
    assert host.speed is not None
    assert (host.speed.ratio.value, host.of) == (1.0, 1)


def test_a_missing_exercise_is_not_filled_in_and_bounded_apart() -> None:
    logs = {"products": math.log(4)}
    best: dict[str, float | None] = {
        "products": math.log(4),
        "copies": math.log(9),
        "host": math.log(5),
    }
    worst: dict[str, float | None] = {"products": math.log(4), "copies": 0.0, "host": None}
    one = machine(logs, None, best=best, worst=worst)
    found = overall(compared(one), one)
    assert found.speed is not None
    assert bare(found.speed.ratio) == pytest.approx(4)
    assert (found.exercises, found.of, found.cases, found.every) == (1, 2, 3, 8)
    assert found.best == pytest.approx(6)
    assert found.worst == pytest.approx(2)
    assert overall(compared(one), one, {"host": 1.0}).worst is None


def test_without_a_common_case_there_is_no_speed() -> None:
    one = machine({"host": 0.0}, None)
    found = overall(compared(one), one)
    assert (found.speed, found.cases, found.every) == (None, 0, 8)
    assert single(compared(one), one, "products") is None
    assert single(compared(one), one, "host") == Speed(0.0, None, None)


def test_amounts_for_work_turn_the_interval_round_and_work_for_amounts_does_not() -> None:
    assert per_work(1000, TWICE) == pytest.approx((500, 1000 / HIGH, 1000 / LOW))
    assert work_per(TWICE, 400) == pytest.approx((2 / 400, LOW / 400, HIGH / 400))
    assert bare(per_work(1000, FEW)) == pytest.approx(500)
    assert bare(work_per(FEW, 400)) == pytest.approx(2 / 400)


def test_a_rate_has_a_price_with_the_rates_interval() -> None:
    rate = Rate(precision="bfloat16", value=1e15, low=0.9e15, high=1.1e15)
    found = price_per_rate(30_000, rate)
    assert found == pytest.approx((3e-11, 30_000 / 1.1e15, 30_000 / 0.9e15))
    assert price_per_rate(60_000, rate, count=2) == pytest.approx(found)
    few = Rate(precision="bfloat16", value=1e15, low=None, high=None)
    assert bare(price_per_rate(30_000, few)) == pytest.approx(3e-11)


def test_measured_energy_has_an_interval_of_its_own() -> None:
    less = Less(log=math.log(1.5), variance=0.01, quantile=2.2, cases=4)
    ends = (1.5 * math.exp(-0.22), 1.5 * math.exp(0.22))
    assert work_per_joule(less) == pytest.approx((1.5, *ends))
    few = Less(log=math.log(1.5), variance=None, quantile=None, cases=4)
    assert bare(work_per_joule(few)) == pytest.approx(1.5)


def test_memory_for_a_price() -> None:
    assert memory_per_price(80 * 2**30, 20_000) == 80 * 2**30 / 20_000


def test_ownership_is_the_price_and_the_energy_of_the_years() -> None:
    use = Use(hours_a_day=10, years=3, price_a_kwh=0.3)
    # 0.7 kW for 10 h on 1,095 days are 7,665 kWh
    assert ownership(30_000, 700, use) == pytest.approx(30_000 + 7665 * 0.3)
    half = Use(hours_a_day=10, years=3, price_a_kwh=0.3, share=0.5)
    assert ownership(30_000, 700, half) == pytest.approx(30_000 + 7665 * 0.3 / 2)
    assert ownership(30_000, 700, Use(24, 5, 0.0)) == 30_000
