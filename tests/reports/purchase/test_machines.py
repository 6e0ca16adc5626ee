# SPDX-License-Identifier: MIT
"""Stored runs of several machines, compared: what is known exactly comes out exactly."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random

import msgspec
import pytest
from msgspec.structs import replace

from frobench.reports.purchase.comparison import Comparison, Machine
from frobench.reports.purchase.machines import compare_measured
from frobench.reports.purchase.measured import Measured
from frobench.reports.purchase.prices import Price
from frobench.reports.purchase.prices import read as read_prices
from frobench.reports.table.equipment import equipment
from frobench.reports.table.estimates import STEP
from frobench.suite.stored.types import Accelerator, Case, Conclusion, Energy, Outcome, Run, Work
from tests.instruments.runs import factory
from tests.instruments.runs.exact_runs import LAUNCHES, case

BASE = factory.run(accelerators=1, launches=LAUNCHES)
MINE, ITS = "h200/one.html", "other/two.html"


def product(n: int, seconds: float | list[float], device: str = "cuda:0") -> Case:
    work = Work(flops=2.0 * n**3)
    one = case("bench_square", seconds, device, work=work, n=n, dtype="float32")
    return replace(one, group="matmul")


def copy(seconds: float | list[float]) -> Case:
    return replace(case("bench_copy", seconds, "cuda:0"), group="copies")


def measured(
    cases: Iterable[Case],
    change: Callable[[Accelerator], Accelerator] = lambda one: one,
    **around: str,
) -> Run:
    """Build a run of one accelerator from these cases; `around` changes its software."""
    part = BASE.frobench
    environment = replace(
        part.environment,
        accelerators=[change(one) for one in part.environment.accelerators],
        software=replace(part.environment.software, **around),
    )
    return replace(
        BASE,
        benchmarks=list(cases),
        frobench=replace(part, environment=environment, outcomes=[], conclusions=[]),
    )


def compare_many(
    runs: Mapping[str, Run], reference: str, prices: Sequence[Price] = ()
) -> Comparison:
    measured = {address: Measured.of(run) for address, run in runs.items()}
    return compare_measured(measured, reference, prices)


def beside(mine: Run, its: Run, prices: Iterable[Price] = ()) -> tuple[Comparison, Machine]:
    found = compare_many({MINE: mine, ITS: its}, MINE, [*prices])
    return found, found.machines[1]


def whole(speed: float) -> list[Case]:
    """Return four cases; the machine is so many times as fast in products, and as fast in all."""
    return [
        product(64, 1e-4 / speed),
        product(1024, 1e-2 / speed / speed),
        product(64, 1e-3, "cpu"),
        copy(1e-3),
    ]


def test_ratios_are_exact_by_exercise() -> None:
    found, other = beside(measured(whole(1)), measured(whole(2)))
    assert found.reference == "h200/one"
    assert [(one.name, one.total, one.weight) for one in found.exercises] == [
        ("matmul", 2, 1.0),
        ("matmul.cpu", 1, 0.0),
        ("copies", 1, 1.0),
    ]
    assert other.logs == pytest.approx(
        {"matmul": math.log(math.sqrt(8)), "matmul.cpu": 0.0, "copies": 0.0}, abs=STEP
    )
    assert other.counts == {"matmul": 2, "matmul.cpu": 1, "copies": 1}
    assert (other.run, other.href, other.beyond, other.missing) == ("other/two", ITS, {}, [])
    assert other.best == pytest.approx(other.logs)
    assert other.worst == pytest.approx(other.logs)


def test_the_reference_is_as_fast_as_itself_and_surely_so() -> None:
    mine = compare_many({MINE: measured(whole(1))}, MINE).machines[0]
    assert set(mine.logs.values()) == {0.0}
    assert mine.covariance == [[0.0] * 3] * 3
    assert (mine.quantile, mine.differs, mine.missing) == (0.0, [], [])


def test_a_machine_without_accelerator_is_weighed_by_its_cpu() -> None:
    cpu = measured([product(64, 1e-3, "cpu")])
    settings = replace(cpu.frobench.settings, devices=["cpu"])
    alone = replace(cpu, frobench=replace(cpu.frobench, settings=settings))
    found = compare_many({MINE: alone, ITS: measured(whole(1))}, MINE)
    assert [(one.name, one.weight) for one in found.exercises] == [("matmul.cpu", 1.0)]
    assert found.machines[0].device == "AMD EPYC 9654 96-Core Processor"
    own = alone.frobench.environment.cpu.memory_bytes
    assert (found.machines[0].watts, found.machines[0].memory_bytes) == (None, own)
    assert found.machines[1].beyond == {"matmul": 2, "copies": 1}


def test_what_is_missing_is_counted_named_and_bounded() -> None:
    mine = [product(n, 1e-3) for n in (64, 128, 256, 512)]
    its = [product(64, 1e-3 / 8), product(128, 1e-3 / 2), product(999, 1e-3)]
    run = measured(its)
    run.frobench.outcomes.append(
        Outcome(
            fullname=mine[2].fullname,
            group="matmul",
            params={},
            status="skipped",
            reason="does not fit",
        )
    )
    found, other = beside(measured([*mine, copy(1e-3)]), run)
    assert [(one.name, one.total) for one in found.exercises] == [("matmul", 4), ("copies", 1)]
    assert other.counts == {"matmul": 2, "copies": 0}
    assert other.beyond == {"matmul": 1}
    assert other.logs == pytest.approx({"matmul": math.log(4)}, abs=STEP)
    assert other.best == pytest.approx(
        {"matmul": math.log(8 * 2 * 8 * 8) / 4, "copies": math.log(4)}, abs=STEP
    )
    assert other.worst == pytest.approx(
        {"matmul": math.log(8 * 2 * 2 * 2) / 4, "copies": math.log(4)}, abs=STEP
    )
    assert other.missing == [
        "square[accelerator-256-float32]: skipped there: does not fit",
        "square[accelerator-512-float32], copy[accelerator]: not selected there",
    ]


def test_what_failed_or_is_another_version_has_no_ratio() -> None:
    its = whole(1)
    its[0].extra_info.version = "2"
    run = measured(its)
    name = its[1].fullname
    run.frobench.outcomes.append(
        Outcome(fullname=name, group="matmul", params={}, status="failed", reason="it hung")
    )
    _, other = beside(measured(whole(1)), run)
    assert other.counts["matmul"] == 0
    assert "matmul" not in other.logs
    assert other.missing == [
        "square[accelerator-64-float32]: another version of the benchmark: 1 -> 2",
        "square[accelerator-1024-float32]: failed: it hung",
    ]
    found, _ = beside(run, measured(whole(1)))
    assert found.exercises[0].total == 1  # what failed on the reference is no part of N


def test_an_error_of_a_whole_run_leaves_nothing() -> None:
    bad = measured(whole(1))
    bad.frobench.conclusions.append(
        Conclusion(code="repeated-samples", severity="error", message="twice", advice="")
    )
    found, other = beside(measured(whole(1)), bad)
    assert (other.logs, other.covariance, other.quantile) == ({}, None, None)
    assert other.missing[0].endswith(": repeated-samples: twice")
    assert compare_many({MINE: bad, ITS: bad}, MINE).exercises == []
    assert found.machines[0].logs


def test_a_case_of_too_few_launches_is_left_out_where_others_have_enough() -> None:
    its = whole(1)
    its[3] = copy([1e-3] * 5)
    its[3].extra_info.launches = [1] * 5 + [0] * 3
    _, other = beside(measured(whole(1)), measured(its))
    assert other.counts["copies"] == 0
    assert other.missing == ["copy[accelerator]: measured in 5 launches"]


def noisy(seed: int, speed: float) -> Run:
    """Build a run whose launches differ by 2%."""
    random = Random(seed)  # noqa: S311 - not for secrets
    fates = [random.lognormvariate(0, 0.02) for _ in range(LAUNCHES)]
    return measured(
        product(n, [n * 1e-6 / speed * fate * random.lognormvariate(0, 0.005) for fate in fates])
        for n in (64, 128, 256)
    )


def test_what_the_reference_measured_too_seldom_is_no_part_of_n() -> None:
    mine = [*whole(1)[:3], copy([1e-3] * 5)]
    mine[3].extra_info.launches = [1] * 5 + [0] * 3
    found, other = beside(measured(mine), measured(whole(1)))
    assert "copies" not in {one.name for one in found.exercises}
    assert other.counts == {"matmul": 2, "matmul.cpu": 1}
    assert other.missing == []


def test_what_only_a_machine_has_counts_unless_it_failed() -> None:
    extra = [product(96, 1e-3), product(97, 1e-3)]
    its = measured([*whole(1), *extra])
    its.frobench.outcomes.append(
        Outcome(
            fullname=extra[0].fullname, group="matmul", params={}, status="failed", reason="it hung"
        )
    )
    assert beside(measured(whole(1)), its)[1].beyond == {"matmul": 1}


def test_a_missing_exercise_is_bounded_by_what_the_same_kind_of_device_does() -> None:
    cpu = [product(64, 1e-3, "cpu"), product(128, 1e-3, "cpu")]
    its = [product(64, 1e-4, "cpu"), product(64, 1e-4)]
    _, other = beside(measured([*whole(1)[:2], *cpu[:1], copy(1e-3)]), measured(its))
    assert other.logs == pytest.approx({"matmul": 0.0, "matmul.cpu": math.log(10)}, abs=STEP)
    assert other.best["copies"] == pytest.approx(0.0)
    _, bare = beside(measured([*cpu, copy(1e-3)]), measured(its[:1]))
    assert (bare.best["copies"], bare.worst["copies"]) == (None, None)


def test_several_devices_are_added_up_or_not_known() -> None:
    [card] = BASE.frobench.environment.accelerators
    pair = [card, replace(card, index=1, power_limit_watts=500.0)]
    found = equipment(replace(BASE.frobench.environment, accelerators=pair), ["cuda:0", "cuda:1"])
    assert (found.count, found.watts, found.memory_bytes) == (2, 1200.0, 2 * 141 * 10**9)
    alone = equipment(replace(BASE.frobench.environment, accelerators=pair), ["cpu", "cuda:1"])
    assert (alone.count, alone.watts) == (1, 500.0)
    pair[1] = replace(pair[1], power_limit_watts=None, memory_bytes=None)
    told = equipment(replace(BASE.frobench.environment, accelerators=pair), ["cuda:0", "cuda:1"])
    assert (told.watts, told.watts_source, told.memory_bytes) == (1400.0, "datasheet", None)


def test_beside_another_model_the_first_counts_whose_cases_are_compared() -> None:
    [card] = BASE.frobench.environment.accelerators
    pair = [card, replace(card, index=1, name="A card inside the processor", memory_bytes=None)]
    found = equipment(replace(BASE.frobench.environment, accelerators=pair), ["cuda:0", "cuda:1"])
    assert (found.device, found.count) == ("NVIDIA H200", 1)
    assert (found.watts, found.memory_bytes) == (700.0, 141 * 10**9)


def test_a_machines_figures_do_not_depend_on_the_others() -> None:
    runs = {f"{name}.html": noisy(seed, seed) for seed, name in enumerate("abc", start=1)}
    every = compare_many(runs, "a.html")
    some = compare_many({name: runs[name] for name in ("c.html", "a.html")}, "a.html")
    assert every.exercises == some.exercises
    assert {one.run: one for one in some.machines} == {
        one.run: one for one in every.machines if one.run != "b"
    }


def test_a_speed_is_found_with_an_interval() -> None:
    _, other = beside(noisy(1, 1.0), noisy(2, 1.25))
    assert other.covariance is not None
    assert other.quantile is not None
    reach = other.quantile * math.sqrt(other.covariance[0][0])
    assert 0.01 < reach < 0.04
    assert abs(other.logs["matmul"] - math.log(1.25)) < reach


def test_price_power_and_memory_are_those_of_the_devices_that_were_measured() -> None:
    card = measured(whole(1), lambda one: replace(one, name="NVIDIA GeForce RTX 4090"))
    found, other = beside(measured(whole(1)), card, read_prices())
    assert (found.machines[0].price, found.machines[0].currency) == (None, None)
    assert (other.price, other.currency, other.price_date) == (1599.0, "USD", "2022-10-12")
    assert other.price_source
    assert other.price_kind == "MSRP at launch, USA"
    assert (other.device, other.count) == ("NVIDIA GeForce RTX 4090", 1)
    assert (other.watts, other.watts_source) == (700.0, "power limit")
    assert other.memory_bytes == 141 * 10**9


def test_watts_are_the_datasheets_where_no_limit_is_known_and_say_so() -> None:
    def silent(one: Accelerator) -> Accelerator:
        return replace(one, power_limit_watts=None, name="NVIDIA H100 80GB HBM3", memory_bytes=None)

    def unknown(one: Accelerator) -> Accelerator:
        return replace(one, power_limit_watts=None, name="A card")

    _, other = beside(measured(whole(1)), measured(whole(1), silent))
    assert (other.watts, other.watts_source, other.memory_bytes) == (700.0, "datasheet", None)
    _, other = beside(measured(whole(1)), measured(whole(1), unknown))
    assert (other.watts, other.watts_source) == (None, None)


def test_what_differs_beyond_the_device_is_said() -> None:
    def other_card(one: Accelerator) -> Accelerator:
        return replace(
            one, name="Another", driver="560.1", memory_bytes=2**30, capability="8.0", pcie_width=8
        )

    its = measured(whole(1), other_card, torch="2.12.0")
    _, other = beside(measured(whole(1)), its)
    assert other.differs == [
        "driver 580.95.05 / 560.1",
        "PCIe width 16 / 8",
        "torch 2.13.0 / 2.12.0",
    ]


def test_joules_are_compared_where_both_tell_and_apart_from_watts() -> None:
    def told(joules: float) -> Run:
        cases = whole(1)
        for one in cases[:2]:
            each = [joules * factor for factor in (1.0, 1.1, 0.9, 1.0, 1.0, 1.05, 0.95)]
            one.extra_info.energy = Energy(joules=[*each, None], seconds=[1.0] * LAUNCHES)
        return measured(cases)

    found, other = beside(told(2.0), told(0.5))
    assert other.energy is not None
    assert other.energy.log == pytest.approx(math.log(4), abs=STEP)
    assert other.energy.cases == 2
    assert other.energy.variance is not None
    assert found.machines[0].energy is not None
    assert found.machines[0].energy.log == 0.0
    _, silent = beside(told(2.0), measured(whole(1)))
    assert silent.energy is None


def test_rates_are_the_best_of_the_device_that_is_bought() -> None:
    [float32] = beside(measured(whole(1)), measured(whole(2)))[1].rates
    assert float32.precision == "float32"
    assert float32.low is not None
    assert float32.low < float32.value
    assert float32.value == pytest.approx(2 * 1024**3 / (1e-2 / 4), rel=0.05)


def test_a_comparison_is_json() -> None:
    found, _ = beside(measured(whole(1)), measured(whole(2)))
    assert msgspec.json.decode(msgspec.json.encode(found), type=Comparison) == found
