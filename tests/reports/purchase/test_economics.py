# SPDX-License-Identifier: MIT
"""What speed costs, calculated by hand; the page's script must agree."""

import math
from typing import Any

import pytest
from msgspec.structs import replace

from frobench.reports.purchase import script
from frobench.reports.purchase.comparison import Comparison, Exercise, Machine, Rate
from frobench.suite.stored.types import Estimate
from frobench.suite.units import format_estimate, format_value
from tests.instruments.runs.factory_comparison import UNKNOWN, compared

TWICE = {"log": math.log(2), "error": 0.05, "quantile": 2.0}
LOW, HIGH = 2 * math.exp(-0.1), 2 * math.exp(0.1)
FEW = {"log": math.log(2), "error": None, "quantile": None}


def economics(function: str, *arguments: object) -> Any:  # noqa: ANN401 - as JSON has it
    return script.call(f"economics.{function}", *arguments)


def amount(found: dict[str, float | None]) -> tuple[float | None, ...]:
    return found["value"], found["low"], found["high"]


def bare(found: dict[str, float | None]) -> float | None:
    """Return a number that has no interval."""
    assert amount(found)[1:] == (None, None)
    return found["value"]


def machine(logs: dict[str, float], covariance: list[list[float]] | None) -> Machine:
    names = ("products", "copies", "host")
    return replace(
        UNKNOWN,
        logs=logs,
        covariance=covariance,
        quantile=None if covariance is None else 2.0,
        counts={name: 3 if name in logs else 0 for name in names},
    )


def beside(one: Machine) -> Comparison:
    exercises = [
        Exercise(name=name, title=name, total=4, weight=weight)
        for name, weight in (("products", 1.0), ("copies", 1.0), ("host", 0.0))
    ]
    return compared("b", exercises, [one])


def score(one: Machine, weights: dict[str, float] | None = None) -> Any:  # noqa: ANN401
    held = beside(one)
    asked = weights or economics("weightsOf", held, "training")
    return economics("score", held, held.machines[0], asked)


def counts(found: dict[str, int]) -> tuple[int, ...]:
    return found["parts"], found["of"], found["cases"], found["every"]


def test_the_score_is_the_weighted_geometric_mean_with_what_parts_share() -> None:
    covariance = [[0.04, 0.02, 9.0], [0.02, 0.01, 9.0], [9.0, 9.0, 9.0]]
    logs = {"products": math.log(8), "copies": math.log(2), "host": 5.0}
    found = score(machine(logs, covariance))
    error = math.sqrt((0.04 + 0.01 + 2 * 0.02) / 4)
    assert found["speed"]["error"] == pytest.approx(error)
    ends = 4 * math.exp(-2 * 0.15), 4 * math.exp(2 * 0.15)
    assert amount(economics("ratio", found["speed"])) == pytest.approx((4, *ends))
    assert counts(found) == (2, 2, 6, 8)


def test_a_reader_weighs_parts() -> None:
    covariance = [[0.04, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    one = machine({"products": math.log(16), "copies": 0.0, "host": 0.0}, covariance)
    speed = score(one, {"products": 1.0, "copies": 3.0})["speed"]
    assert speed["log"] == pytest.approx(math.log(2))
    assert speed["error"] == pytest.approx(0.2 / 4)
    alone = score(one, {"copies": 1.0})
    assert (alone["speed"]["log"], alone["of"]) == (0.0, 1)


def test_a_missing_part_is_not_filled_in() -> None:
    found = score(machine({"products": math.log(4)}, None))
    assert bare(economics("ratio", found["speed"])) == pytest.approx(4)
    assert counts(found) == (1, 2, 3, 8)


def test_without_a_common_case_there_is_no_speed() -> None:
    one = machine({"host": 0.0}, None)
    found = score(one)
    assert (found["speed"], found["cases"], found["every"]) == (None, 0, 8)
    assert economics("single", beside(one), one, "products") is None
    exact = {"log": 0.0, "error": None, "quantile": None}
    assert economics("single", beside(one), one, "host") == exact


def test_amounts_for_work_turn_the_interval_round_and_work_for_amounts_does_not() -> None:
    assert amount(economics("perWork", 1000, TWICE)) == pytest.approx(
        (500, 1000 / HIGH, 1000 / LOW)
    )
    assert amount(economics("workPer", TWICE, 400)) == pytest.approx(
        (2 / 400, LOW / 400, HIGH / 400)
    )
    assert bare(economics("perWork", 1000, FEW)) == pytest.approx(500)
    assert bare(economics("workPer", FEW, 400)) == pytest.approx(2 / 400)


def test_a_rate_has_a_price_with_the_rates_interval() -> None:
    rate = Rate(precision="bfloat16", value=1e15, low=0.9e15, high=1.1e15)
    found = amount(economics("pricePerRate", 30_000, rate, 1))
    assert found == pytest.approx((3e-11, 30_000 / 1.1e15, 30_000 / 0.9e15))
    assert amount(economics("pricePerRate", 60_000, rate, 2)) == pytest.approx(found)
    few = Rate(precision="bfloat16", value=1e15, low=None, high=None)
    assert bare(economics("pricePerRate", 30_000, few, 1)) == pytest.approx(3e-11)


def test_ownership_is_the_price_and_the_energy_of_the_years() -> None:
    use = {"hours": 10, "years": 3, "kwh": 0.3, "share": 1}
    # 0.7 kW for 10 h on 1,095 days are 7,665 kWh
    assert economics("ownership", 30_000, 700, use) == pytest.approx(30_000 + 7665 * 0.3)
    half = use | {"share": 0.5}
    assert economics("ownership", 30_000, 700, half) == pytest.approx(30_000 + 7665 * 0.3 / 2)
    free = {"hours": 24, "years": 5, "kwh": 0.0, "share": 1}
    assert economics("ownership", 30_000, 700, free) == 30_000


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0.40", 0.4),
        ("0,40", 0.4),
        (",5", 0.5),
        ("0,400", 0.4),
        ("8,000", 8000),
        ("8.000,50", 8000.5),
        ("1,234,567.5", 1234567.5),
        (" 8 000 ", 8000),
        ("8'000", 8000),
        ("1e3", 1000),
        ("-1", -1),
        ("", None),
        ("1.2.3", None),
        ("1,2,3", None),
        ("cheap", None),
    ],
)
def test_numbers_are_read_with_a_comma_or_a_point(text: str, number: float | None) -> None:
    assert script.call("setting.parsed", text) == number


@pytest.mark.parametrize(
    ("text", "code"), [("usd", "USD"), (" EUR ", "EUR"), ("\N{EURO SIGN}", ""), ("dollar", "")]
)
def test_a_currency_has_a_code_of_three_letters(text: str, code: str) -> None:
    assert script.call("setting.code", text) == code


@pytest.mark.parametrize("number", [0.5, 1000.5, 1001.5, -1000.5, 1234.5, 0.125, 2.5e6])
def test_scripts_round_halves_as_the_commands_do(number: float) -> None:
    assert script.call("units.value", number, "s") == format_value(number, "s")
    ends = Estimate(number, number - 10, number + 10, launches=8)
    spelled = {"value": ends.value, "low": ends.low, "high": ends.high}
    assert script.call("units.parts", spelled, "") == format_estimate(ends, "").split(" ", 1)
