# SPDX-License-Identifier: MIT
"""What is planned on a machine with an accelerator: launches, blocks of cases, and windows."""

import time
from collections import Counter
from itertools import groupby
from typing import Any

import pytest
from msgspec.structs import replace

from frobench.suite.journal import Begun, Busy, Collected, Measured, Record, Surroundings
from frobench.suite.plan import CaseIdentity, Plan
from frobench.suite.profiles import WINDOW_SECONDS, settings_for
from frobench.suite.run import planning
from frobench.suite.run.merge import merge
from frobench.suite.run.planning import (
    SUSTAINED_PART,
    choose_windows,
    freeze,
    launch_seconds,
    launch_share,
)
from frobench.suite.stored.types import ProfileName, Work
from tests.instruments.runs import made_up_records
from tests.instruments.runs.factory_machine import environment
from tests.instruments.runs.made_up_records import measured

STARTUP = 10.0
"""Seconds that a process takes until its first case may begin, clocks settled."""
SETUP = 0.02
"""Seconds of a case beside its calls: what it sets up, and what its check takes."""
SHORTEST, LONGEST = 12e-6, 8e-3
"""Seconds of a call; in the standard profile some are longer."""
GPU = "cuda:0"
STANDARD, HEADLINES, QUICK = 321, 65, 80
"""Cases of the suite on one GPU, those of them that lead an answer, and those of `quick`."""
Pair = tuple[CaseIdentity, Measured]


def pair(name: str, device: str, call: float, *, headline: bool = False, **more: Any) -> Pair:  # noqa: ANN401 - any fact
    """Return a case, and what a pilot journals of it."""
    case = made_up_records.identity(
        name,
        *device.split("+"),
        function=more.pop("function", "bench"),
        params={"device": device, "dtype": more.pop("dtype", None)},
        headline=headline,
    )
    facts: dict[str, Any] = {
        "samples": [call] * 5,
        "warmup": call,
        "sampled": 5 * call,
        "work": Work(items=1),
        "parts": {"enqueue": call, "span": call},
        "wall_seconds": SETUP + 6 * call,
    }
    return case, made_up_records.measured(name, **facts | more)


def suite_on_cuda(cases: int, headlines: int, longest: float = LONGEST) -> list[Pair]:
    """Return as many cases as the suite has on one GPU, from tiny products to large ones."""
    found = []
    for number in range(cases - 2):
        call = SHORTEST * (longest / SHORTEST) ** (number / cases)
        device = "cpu" if number % 20 == 7 else GPU
        found.append(pair(f"case {number}", device, call, headline=number < headlines))
    for dtype, call in (("bfloat16", 1.5e-3), ("float32", 2.8e-3)):
        work = Work(flops=1e12, bytes=1e8)
        more = {"function": "bench_square", "dtype": dtype, "work": work}
        found.append(pair(f"square {dtype}", GPU, call, headline=True, **more))
    return found


def frozen(pairs: list[Pair], profile: ProfileName, why_no_counter: dict[str, str | None]) -> Plan:
    """Return the plan that a pilot of these cases leads to, and when it is made."""
    calls = sum(record.wall_seconds for _, record in pairs)
    settings = settings_for(profile, [])
    settle = 1.0 if profile == "quick" else 3.0
    pilot: Any = [
        Surroundings(devices=["cpu", GPU], environment=environment("one", 1)),
        Collected(cases=[case for case, _ in pairs], exercises={}),
        Begun(launch=0, case="case 0", at=time.monotonic() - calls),
        *(record for _, record in pairs),
    ]
    return freeze(made_up_records.plan(settings), pilot, STARTUP - settle + calls, why_no_counter)


def launches(plan: Plan) -> int:
    """Return how many launches the runner makes before the budget ends."""
    left = plan.settings.budget - plan.plan_seconds
    return max(plan.settings.least_launches, int(left / plan.launch_seconds))


@pytest.mark.parametrize("counts", [True, False])
def test_the_standard_profile_makes_eight_launches_in_eight_minutes(*, counts: bool) -> None:
    pairs = suite_on_cuda(STANDARD, HEADLINES, longest=0.05)
    plan = frozen(pairs, "standard", {GPU: None if counts else "lost", "cpu": "only root"})
    assert len(plan.cases) == STANDARD
    assert plan.settings.case_seconds >= 0.05
    assert plan.settings.least_launches == 8
    assert launches(plan) >= 8
    assert plan.plan_seconds + launches(plan) * plan.launch_seconds <= 480
    assert "square bfloat16" in plan.sustained


def test_the_quick_profile_ends_within_a_minute_and_a_half() -> None:
    plan = frozen(suite_on_cuda(QUICK, QUICK), "quick", {GPU: None})
    assert len(plan.cases) == QUICK
    assert plan.seconds_at_least <= 90
    assert launches(plan) == plan.settings.least_launches
    assert plan.windows(0) == []


def test_cases_of_one_kind_of_device_come_together_and_blocks_in_random_order() -> None:
    plan = frozen(suite_on_cuda(60, 10), "standard", {})
    devices = {case.fullname: case.devices[0] for case in plan.cases}
    orders = [plan.order(launch) for launch in range(20)]
    assert all(sorted(order) == sorted(devices) for order in orders)
    first = Counter[str]()
    for order in orders:
        blocks = [device for device, _ in groupby(order, key=devices.__getitem__)]
        assert len(blocks) == 2
        first[blocks[0]] += 1
    assert len(first) == 2
    assert len({tuple(order) for order in orders}) == len(orders)
    assert plan.order(3) == plan.order(3)


def test_cases_of_several_accelerators_belong_to_the_accelerators_block() -> None:
    pairs = [
        pair("both", "cpu+cuda:0", 1e-3),
        pair("halves", "cpu/0+cpu/1", 1e-3),
        pair("two", "cuda:0+cuda:1", 1e-3),
        pair("cpu", "cpu", 1e-3),
    ]
    order = frozen(pairs, "standard", {}).order(0)
    assert {*order[:2]} in ({"both", "two"}, {"halves", "cpu"})


def test_windows_for_sustained_rates_take_a_tenth_of_the_budget_and_the_room_at_most() -> None:
    pairs = suite_on_cuda(STANDARD, HEADLINES)
    settings, found = settings_for("standard", ["cpu", GPU], budget=440), []
    records = [record for _, record in pairs]
    for startup in (5.0, 10.0, 15.0, 20.0, 45.0):
        names, *_ = choose_windows(pairs, {}, settings, startup, 30.0)
        seconds = WINDOW_SECONDS * len(names)
        assert seconds <= SUSTAINED_PART * launch_share(settings, 0.0)
        least = launch_seconds(records, startup + seconds, 0.02)
        assert not names or least <= launch_share(settings, 30.0)
        found.append(names)
    assert found[0] == ["square bfloat16", "square float32"]
    assert found[-1] == []


def test_only_the_largest_headline_product_of_each_precision_has_a_window() -> None:
    work, large = Work(flops=1e9, bytes=1e6), Work(flops=1e12, bytes=1e6)
    more: dict[str, Any] = {"headline": True, "dtype": "float32", "function": "bench_square"}
    pairs = [
        pair("small", GPU, 1e-4, work=work, **more),
        pair("large", GPU, 1e-2, work=large, **more),
        pair("on the CPU", "cpu", 1e-1, work=large, **more),
        pair("on two", "cuda:0+cuda:1", 1e-2, work=large, **more),
        pair("paused", GPU, 1e-3, work=large, in_a_row=False, **more | {"dtype": "int8"}),
        pair("a training", GPU, 1e-2, headline=True, work=Work(flops=1e12, items=64)),
        pair("no headline", GPU, 1e-3, work=large, dtype="bfloat16"),
    ]
    settings = settings_for("rigorous", ["cpu", GPU])
    names, energy, _ = choose_windows(pairs, {GPU: None}, settings, 30.0, 30.0)
    assert names == ["large"]
    assert energy[0] == "large"


def test_the_sustained_time_of_a_call_is_that_of_the_window_of_each_launch() -> None:
    pairs = [pair("a", GPU, 1e-3), pair("b", "cpu", 1e-3)]
    records: list[Record] = [
        replace(record, launch=launch) for _, record in pairs for launch in range(3)
    ]
    records += [
        Busy(launch=launch, case=case.fullname, begun=1.0, ended=4.0, calls=1000, seconds=seconds)
        for case, _ in pairs
        for launch, seconds in ((0, 2.0), (2, 2.1), (3, 9.0))
    ]
    planned = made_up_records.plan(
        settings_for("standard", ["cpu", GPU]),
        environment=environment("one", 1),
        cases=[case for case, _ in pairs],
    )
    found, cpu = merge(planned, records, 10.0, complete=False).benchmarks
    assert found.extra_info.parts["sustained"] == [0.002, None, 0.0021]
    assert "sustained" not in cpu.extra_info.parts


SETTINGS = settings_for("standard", ["cuda:0"])


def identity(name: str, *devices: str, headline: bool = True) -> CaseIdentity:
    return made_up_records.identity(name, *(devices or ["cuda:0"]), headline=headline)


def working(flops: float | None = None, size: float | None = None) -> Measured:
    return measured("", samples=[1e-3], sampled=1e-3, work=Work(flops=flops, bytes=size))


def test_only_headline_cases_whose_devices_count_are_chosen_and_others_have_a_reason() -> None:
    ran = [
        (identity("more", headline=False), working(flops=9.0)),
        (identity("other", "cuda:1"), working(flops=8.0)),
        (identity("half", "cpu/0", "cpu/1"), working(flops=1.0)),
        (identity("copy", "cuda:0", "cpu"), working(size=7.0)),
        (identity("strange", "xpu:0"), working(size=7.0)),
    ]
    _, found, left_out = planning.choose_windows(
        ran, {"cpu": "only root", "cuda:0": None, "cuda:1": "lost"}, SETTINGS
    )
    assert found == ["copy"]
    assert left_out == {
        "other": "cuda:1 counts no energy: lost",
        "half": "cpu counts no energy: only root",
        "strange": "xpu:0 counts no energy: nothing reads it",
    }
    assert planning.choose_windows(ran, {"cpu": None}, SETTINGS)[1] == ["half"]
