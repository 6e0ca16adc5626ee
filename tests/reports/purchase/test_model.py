# SPDX-License-Identifier: MIT
"""Ratios and what they cost, calculated by hand; the page's script must agree."""

import math
from typing import Any

import pytest

from frobench.reports.purchase import script
from frobench.suite.stored.types import Estimate
from frobench.suite.units import format_estimate, format_value
from tests.instruments.runs.made_up_machines import BASE, data, machine


def speed_of(log: float, error: float | None) -> dict[str, float | None]:
    """Return a speed as the scripts know it, whose interval reaches 1.96 standard errors."""
    low, high = (None, None) if error is None else (log - 1.96 * error, log + 1.96 * error)
    return {"log": log, "error": error, "low": low, "high": high}


SCORE = """(data, one, other, workload, quantity) => {
    const machines = data.runs.map((_, i) => model.machine(data, i));
    const isNamed = typeof workload === "string";
    const asked = isNamed ? model.workload(data, workload) : model.weighed(data, workload);
    return model.score(machines[one], machines[other], asked, quantity);
}"""


def model(function: str, *arguments: object) -> Any:  # noqa: ANN401 - as JSON has it
    return script.call(f"model.{function}", *arguments)


def scored(
    known: dict[str, Any], workload: object = "training", quantity: str = "seconds", one: int = 1
) -> Any:  # noqa: ANN401 - as JSON has it
    """Return the score of one of two machines beside the other."""
    return script.call(SCORE, known, one, 1 - one, workload, quantity)


@pytest.mark.parametrize(("shared", "error"), [(0.0, 0.1 / math.sqrt(2)), (1.0, 0.1)])
def test_the_score_is_the_weighted_mean_with_what_parts_share(shared: float, error: float) -> None:
    known = data(BASE, machine("a", 8.0, 2.0, error=0.1))
    known["runs"][1]["seconds"]["shared"] = shared
    found = scored(known)
    assert found["speed"] == pytest.approx(speed_of(math.log(4), error))
    ends = {"low": 4 * math.exp(-1.96 * error), "high": 4 * math.exp(1.96 * error)}
    assert model("ratio", found["speed"]) == pytest.approx({"value": 4, **ends})
    assert (found["coverage"], found["why"]) == (1, "")


def test_both_runs_leave_the_ratio_open_and_it_is_the_same_from_either() -> None:
    known = data(machine("a", 1.0, 1.0, error=0.03), machine("b", 2.0, 2.0, error=0.04))
    one, other = scored(known), scored(known, one=0)
    assert one["speed"]["error"] == pytest.approx(0.05 / math.sqrt(2))
    assert other["speed"] == pytest.approx(speed_of(-one["speed"]["log"], one["speed"]["error"]))
    assert model("inverse", one["speed"]) == pytest.approx(other["speed"])


@pytest.mark.parametrize(("weight", "measured"), [(1.9, False), (2.0, True), (2.1, True)])
def test_below_two_thirds_of_the_weight_there_is_no_score(weight: float, measured: bool) -> None:  # noqa: FBT001
    found = scored(data(BASE, machine("a", 2.0)), {"matmul": weight, "copies": 1})
    assert found["coverage"] == pytest.approx(weight / (weight + 1))
    assert (found["speed"] is not None) == measured
    assert ("of its weight was measured on both machines" in found["why"]) != measured


def test_without_the_part_that_names_a_workload_there_is_no_score() -> None:
    known = data(BASE, machine("a", 2.0))
    known["workloads"][0]["needs"] = ["copies"]
    for part in known["parts"][:2]:
        part["weights"]["training"] = 9
    assert scored(known)["coverage"] == pytest.approx(0.9)
    assert scored(known)["why"] == '"copies" was not measured on both machines'
    known["workloads"][0]["needs"] = ["matmul"]
    assert scored(known)["speed"]["log"] == pytest.approx(math.log(2))


def test_a_size_that_one_machine_left_out_is_missing_and_one_it_never_chose_is_not() -> None:
    known = data(BASE, machine("a", 2.0, 2.0))
    known["parts"][0]["kinds"] = [[0, 4], [5]]
    known["runs"][0]["seconds"]["logs"] += [-1000, None]
    known["runs"][1]["seconds"]["logs"] += [None, None]
    assert scored(known)["coverage"] == 1
    known["runs"][1]["left"] = {"4": 0}
    known["reasons"] = ["skipped: takes 341 ms"]
    assert scored(known)["coverage"] == 0.75
    found: Any = script.call("built.score", known, "training")
    assert found["coverage"] == 0.75
    (missing,) = found["missing"]
    assert {*missing.values()} == {"matmul", 0.5, "new", "skipped: takes 341 ms"}


def test_every_kind_of_case_counts_the_same_and_every_size_of_a_kind() -> None:
    known = data(BASE, machine("a", 1.0, 1.0))
    known["parts"][0]["kinds"] = [[0, 4], [5]]
    known["runs"][0]["seconds"]["logs"] += [0, 0]
    known["runs"][1]["seconds"]["logs"] += [-400, -400]
    log = (0.4 / 2 + 0.4) / 2
    assert scored(known, {"matmul": 1})["speed"]["log"] == pytest.approx(log)


def test_a_card_and_a_processor_are_compared_by_their_processors() -> None:
    known = data(machine("cpu", 1.0, 1.0, cpu=True), machine("card", 9.0, 9.0))
    assert scored(known)["speed"] is None
    known["runs"][1]["seconds"]["logs"][2:] = [-1000, -1000]
    assert scored(known)["speed"]["log"] == pytest.approx(1.0)


def test_energy_has_the_weights_of_the_workload() -> None:
    thrifty, weights = machine("a", 1.0, 1.0, joules=(4.0, 1.0)), {"matmul": 3, "copies": 1}
    found = scored(data(BASE._replace(joules=(1.0, 1.0)), thrifty), weights, "joules")
    assert found["speed"]["log"] == pytest.approx(0.75 * math.log(4))
    silent = scored(data(BASE, thrifty), weights, "joules")
    assert silent["why"] == "no energy of this workload was measured on both machines"


def test_machines_differ_in_what_both_say_and_what_follows_from_nothing_else() -> None:
    facts = [["driver", 0, []], ["hip", 1, []], ["library", 0, [0]], ["cache", 0, []]]
    values = [[0, "1"], [0, "2"], [1, "6"], [2, "a"], [2, "b"], [3, "c"]]
    told = {"facts": facts, "values": values}, {"facts": [0, 2, 3, 5]}, {"facts": [1, 4]}
    assert model("differs", *told) == ["driver 1 / 2", "hip 6 / none"]


NUMBERS = {
    0.4: ("0.40", "0,40", "0,400"),
    0.5: (",5",),
    2500: ("2,500.00",),
    8000.5: ("8.000,50",),
    1234567.5: ("1,234,567.5",),
    8000: (" 8 000 ", "8'000"),
    1000: ("1e3",),
    -1: ("-1",),
    None: ("8,000", "2.500", "", "1.2.3", "1,2,3", "cheap", "NaN", "1e999"),
}


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_are_read_with_a_comma_or_a_point(number: float | None) -> None:
    for text in NUMBERS[number]:
        assert script.call("setting.parsed", text) == number, text


@pytest.mark.parametrize("number", [0.5, 1000.5, 1001.5, -1000.5, 1234.5, 0.125, 2.5e6])
def test_scripts_round_halves_as_the_commands_do(number: float) -> None:
    assert script.call("units.value", number, "s") == format_value(number, "s")
    for low, high in ((number - 10, number + 10), (0.0, 2 * number), (number / 20, 3 * number)):
        ends = Estimate(number, min(low, high), max(low, high), launches=8)
        spelled = {"value": ends.value, "low": ends.low, "high": ends.high}
        assert script.call("units.parts", spelled, "") == format_estimate(ends, "").split(" ", 1)


@pytest.mark.parametrize(
    ("log", "than", "conclusive"),
    [(0.097, 1.0, False), (0.099, 1.0, True), (0.099, 1.01, False), (-0.5, 1.0, False)],
)
def test_a_machine_is_conclusively_faster_where_its_95_percent_interval_says_so(
    log: float, than: float, *, conclusive: bool
) -> None:
    """With a standard error of 0.05 the interval reaches 1.96 times as far, to 0.098."""
    assert model("isAbove", speed_of(log, 0.05), than) is conclusive
    assert model("isAbove", speed_of(log, None), than) is False
