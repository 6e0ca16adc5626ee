# SPDX-License-Identifier: MIT
"""Stored runs as the scripts know them: what counts, what is left out, and what devices cost."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from msgspec.structs import replace

from frobench.reports.compare import workload as workloads
from frobench.reports.purchase import machines, script
from frobench.reports.purchase.prices import Price
from frobench.reports.purchase.prices import read as read_prices
from frobench.reports.table.equipment import AROUND, Equipment, surroundings
from frobench.reports.table.launches import STEP
from frobench.suite.stored.types import Case, Check, Conclusion, Energy, Outcome, Run, Search, Work
from tests.instruments.faults.judging import put
from tests.instruments.runs import factory
from tests.instruments.runs.exact_runs import LAUNCHES, case, with_cases
from tests.instruments.runs.factory_machine import environment
from tests.reports.purchase.test_purchase import summary

VARYING = [5e-3, 5.1e-3, 4.9e-3, 5.05e-3, 4.95e-3, 5.15e-3, 4.85e-3]
"""Seconds of seven launches."""
SEARCH = Search(shape=[1, 2, 3], shapes=9, seconds=1.0, runner_up=0.9)


def product(n: int, seconds: float | list[float], device: str = "cuda:0") -> Case:
    work = Work(flops=2.0 * n**3)
    one = case("bench_square", seconds, device, work=work, n=n, dtype="float32")
    return replace(one, group="matmul")


def copy(seconds: float | list[float], size: int = 2**30) -> Case:
    one = case("bench_within", seconds, "cuda:0", work=Work(bytes=2.0 * size), size=size)
    return replace(one, group="copies")


def measured(cases: Iterable[Case], **card: Any) -> Run:  # noqa: ANN401 - what an accelerator has
    """Build a run of one accelerator from these cases; `card` changes it."""
    run = with_cases(factory.run(accelerators=1, launches=LAUNCHES), cases)
    run.frobench.outcomes, run.frobench.conclusions = [], []
    for name, value in card.items():
        setattr(run.frobench.environment.accelerators[0], name, value)
    return run


def known(*runs: Run, prices: Iterable[Price] = ()) -> dict[str, Any]:
    """Return what the scripts need of runs."""
    return machines.data([summary(run, f"{at}.html") for at, run in enumerate(runs)], [*prices])


def told(data: dict[str, Any], place: int = 1) -> Any:  # noqa: ANN401 - as JSON has it
    return script.call("model.machine", data, place)


def beside(mine: Run, its: Run) -> dict[str, dict[str, Any]]:
    """Return the parts under training, by their names: how fast the second is in each."""
    found = workloads.score(workloads.sides(mine, its), "training")
    return {part["name"]: part for part in found["parts"]} | {"": found}


def whole(speed: float) -> list[Case]:
    """Return cases; the machine is so many times as fast in products, and as fast in copies."""
    return [
        product(8192, 1e-2 / speed),
        product(16384, 1e-1 / speed / speed),
        product(8192, 1.0, "cpu"),
        copy(1e-3),
    ]


def speeds(found: dict[str, dict[str, Any]]) -> dict[str, float]:
    return {name: one["speed"]["value"] for name, one in found.items() if name and one["speed"]}


def absent(run: Run, case: Case, status: Any, reason: str) -> None:  # noqa: ANN401 - a word
    run.frobench.outcomes.append(
        Outcome(fullname=case.fullname, group=case.group, params={}, status=status, reason=reason)
    )


def test_what_is_missing_is_counted_and_named() -> None:
    mine = [product(n, 1e-3) for n in (4096, 8192, 16384)]
    run = measured([product(4096, 1e-3 / 8), product(8192, 1e-3 / 2), product(12288, 1e-3)])
    absent(run, mine[2], "skipped", "does not fit")
    found = beside(measured([*mine, copy(1e-3)]), run)
    assert speeds(found) == pytest.approx({"products_float32": 4.0}, rel=STEP)
    assert found["products_float32"]["coverage"] == pytest.approx(2 / 3)
    missing = {one["part"]: (one["side"], one["reason"]) for one in found[""]["missing"]}
    assert missing["products_float32"] == ("both", "skipped: does not fit")
    assert missing["memory"] == ("new", "not selected")
    assert missing["training_step"] == ("both", "not selected")


def in_error(run: Run, code: str, message: str, case: str | None = None) -> None:
    error = Conclusion(code=code, severity="error", message=message, advice="", case=case)
    run.frobench.conclusions.append(error)


def few(case: Case, _: Run) -> None:
    case.extra_info.launches[5:] = [0] * (LAUNCHES - 5)
    case.stats.data[5:] = []


@pytest.mark.parametrize(
    "change",
    [
        lambda case, _: put(case, "extra_info.version", "another"),
        lambda case, _: put(case, "extra_info.search", SEARCH),
        lambda case, _: put(case, "extra_info.check", Check("outputs", 0.0, 0.3, "float16")),
        lambda case, run: absent(run, case, "failed", "it hung"),
        lambda case, run: in_error(run, "clock", "It stood still.", case.fullname),
        few,
    ],
    ids=["version", "shape", "precision", "failed", "in error", "few"],
)
def test_what_does_not_count_has_no_ratio(change: Callable[[Case, Run], None]) -> None:
    its = measured(whole(1))
    change(its.benchmarks[3], its)
    assert "memory" not in speeds(beside(measured(whole(1)), its))
    assert "memory" not in speeds(beside(its, measured(whole(1))))


def test_an_error_of_a_whole_run_leaves_nothing() -> None:
    bad = measured(whole(1))
    in_error(bad, "repeated-samples", "twice")
    found = beside(measured(whole(1)), bad)
    assert speeds(found) == {}
    assert found[""]["reasons"]["speed"] == "a run is invalid: repeated-samples: twice"
    assert told(known(measured(whole(1)), bad))["invalid"] == "repeated-samples: twice"


def test_cases_of_the_first_of_equal_devices_count_under_any_name() -> None:
    mine = [product(8192, 1e-2), product(8192, 5e-2, "cuda:1")]
    found = beside(measured(mine), measured([product(8192, 2e-2, "xpu:0")]))
    assert speeds(found) == pytest.approx({"products_float32": 0.5}, rel=STEP)


def test_several_devices_are_added_up_or_not_known() -> None:
    told = environment(None, 2)
    second = told.accelerators[1]

    def of_both(*places: str) -> tuple[object, ...]:
        one = Equipment(told, [*places])
        return one.count, one.watts, one.watts_source, one.memory_bytes, one.sold_bytes

    second.power_limit_watts = 500.0
    assert of_both("cuda:0", "cuda:1") == (2, 1200.0, "power limit", 282e9, 288e9)
    assert of_both("cpu", "cuda:1")[:2] == (1, 500.0)
    assert of_both("cpu") == (1, None, None, 16 * 2**30, 16e9)
    around = [f"accelerators.0.{name}" for name in AROUND]
    assert sorted(one for one in surroundings(told) if one.startswith("accel")) == around
    second.power_limit_watts, second.memory_bytes = None, None
    assert of_both("cuda:0", "cuda:1") == (2, 1400.0, "datasheet", None, None)
    put(told, "accelerators.*.name", "A card")
    assert of_both("cuda:0", "cuda:1")[:3] == (2, None, None)


def test_joules_are_compared_where_both_counted_and_apart_from_watts() -> None:
    def counted(joules: float) -> Run:
        cases = whole(1)
        for one in cases[:2]:
            each = [joules * factor for factor in (1.0, 1.1, 0.9, 1.0, 1.0, 1.05, 0.95)]
            one.extra_info.energy = Energy(joules=[*each, None], seconds=[1.0] * LAUNCHES)
        return measured(cases)

    found = beside(counted(2.0), counted(0.5))
    energy = found["products_float32"]["energy"]
    assert energy["value"] == pytest.approx(4.0, rel=STEP)
    assert energy["low"] < 4 < energy["high"]
    assert found["memory"]["energy"] is None
    assert beside(counted(2.0), measured(whole(1)))["products_float32"]["energy"] is None


def test_the_scripts_are_told_each_value_once_and_in_few_digits() -> None:
    one, other = measured(whole(1)), measured([product(8192, VARYING), copy(VARYING[::-1])])
    absent(other, whole(1)[1], "skipped", "takes 3 s")
    put(other, "frobench.environment.accelerators.*.name", "AMD Radeon RX 7900 XTX")
    put(other, "frobench.environment.accelerators.*.driver", "6.3.1")
    other.frobench.environment.software.torch_build["hip"] = "6.3"
    data = known(one, other, prices=read_prices())
    first, second = data["runs"]
    kinds = [("compute", "float32", "FLOP/s"), ("memory", "", "B/s")]
    assert data["axis_kinds"] == [*kinds, ("decode", "copies in its memory", "B/s")]
    memory = 429.5, 418.2, 441.4
    assert second["axes"] == [(0, 219900, 214100, 226000), (1, *memory), (2, *memory)]
    assert first["axes"][0] == (0, 110000, 89460, 131800)
    assert (first["measured"], first["seconds"]["logs"]) == ("2026-01-01", [0, 0, 693, 0])
    assert second["seconds"]["logs"] == [1610, None, 0, None]
    assert [{*run["seconds"]["errors"]} for run in (first, second)] == [{8271, None}, {1008, None}]
    assert [run["seconds"]["shared"] for run in (first, second)] == [1.0, 0.6]
    assert (second["left"], data["reasons"]) == ({1: 0}, ["skipped: takes 3 s"])
    assert (data["groups"], data["base"]) == ([(0, [], 1), (1, [], 1)], 1)
    drivers = {name: backend for name, _, backend in data["devices"]["values"]}
    assert drivers == {"NVIDIA H200": "CUDA", "AMD Radeon RX 7900 XTX": "ROCm"}
    assert data["hardware"]["values"][0][:4] == (1, 700.0, "power limit", 144 * 10**9)
    price = 999.0, "USD", "2022-12-13", "MSRP at launch, USA"
    assert [one and one[:-1] for one in data["prices"]["values"]] == [None, price]
    assert (data["facts"], data["has"]) == ([("driver", 0, []), ("hip", 1, [])], [[0, 2], [1, 3]])
