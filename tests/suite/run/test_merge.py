# SPDX-License-Identifier: MIT
"""The stored run holds what its journal says of every launch, and nothing else."""

from typing import Any

import pytest
from msgspec.structs import asdict, replace

from frobench.suite.journal import Begun, Busy, Ended, Gauged, Harness, Record, Refused, no_facts
from frobench.suite.profiles import settings_for
from frobench.suite.run import energy
from frobench.suite.run.merge import merge
from frobench.suite.run.telemetry import Line, Reading
from frobench.suite.stored.types import Check, Energy, Launch, Project, Run, Work
from tests.instruments.runs import factory_machine, made_up_records
from tests.instruments.runs.made_up_records import identity, measured

ENVIRONMENT = factory_machine.environment(None, 1)
OTHER = replace(ENVIRONMENT, software=replace(ENVIRONMENT.software, torch="0.1"))
SETTINGS = settings_for("standard", ["cuda:0"], launches=3)
SECONDS = {"plan_seconds": 1.23456, "body_seconds": 0.98765}
PLAN = made_up_records.plan(SETTINGS, environment=ENVIRONMENT, **SECONDS)
PROJECT = Project(name="mine", id=None, time=None, dirty=True)


def records() -> list[Record]:
    """Return the journal of three launches, of which the second did not reach the first case."""
    first, last = (
        measured(
            "product",
            launch=launch,
            order=order,
            samples=samples,
            iterations=iterations,
            warmup=0.5143454 + launch,
            sampled=0.25,
            work=Work(flops=8.0),
            check=Check("all", error, 1e-3),
            parts={"enqueue": 1e-6 * order},
            peak_bytes=peak,
            against=[2e-3 + launch],
            flushed_bytes=flushed,
            commonest=commonest,
            idle_devices=[idle],
            wall_seconds=2.0,
        )
        for launch, order, samples, iterations, error, peak, flushed, commonest, idle in (
            (0, 2, [1.23456789012345e-3, 3e-3], 5, 2e-4, 400, 64, 0.25, "cuda:0"),
            (2, 1, [2e-3], 7, 1e-4, 300, 32, 0.75, "cpu"),
        )
    )
    facts = replace(no_facts(), timer_step=1e-9, warmup_seconds=2.0)
    others = {"seconds": 5.6789, "others": 0.12345, "runner_cores": 0.123456}
    return [
        Harness(launch=0, environment=OTHER, facts=no_facts()),  # of a process that was lost
        Harness(launch=0, environment=ENVIRONMENT, facts=facts),
        *(Gauged(launch=0, seconds={"cpu/product": seconds}) for seconds in (1e-3, 4e-3, 2e-3)),
        Begun(launch=0, case="product", at=100.0, settled=0.125),
        first,
        replace(first, samples=[9.0]),  # a launch that was killed measured it again
        Busy(launch=0, case="product", begun=110.0, ended=112.0, calls=1000, seconds=1.5),
        Ended(launch=0, started="2026-01-01T00:00:00+00:00", begun=3.0, seconds=20.0),
        Refused(launch=1, case="product", status="skipped", reason="the device was lost"),
        measured("empty", launch=1, samples=[1e-6], check=Check("all", 0.0, 0.0)),
        Busy(launch=1, case="empty", begun=150.0, ended=152.0, calls=1000, seconds=1.5),
        Ended(launch=1, started="2026-01-01T00:01:00+00:00", begun=63.0, seconds=4.0),
        Harness(launch=2, environment=OTHER, facts=no_facts()),
        last,
        Busy(launch=3, case="product", begun=160.0, ended=162.0, calls=1000, seconds=9.0),
        Ended(launch=2, started="2026-01-01T00:02:00+00:00", begun=123.4567, **others),
    ]


def counter() -> list[Line]:
    """Return readings of 300 W, while the case was repeated, and of a rest before it."""
    return [
        Reading(at=at, run=at - 90, device="cuda:0", values={"energy_joules": 300 * at, "fan": 0.5})
        for at in (101.0, 110.0, 111.0, 112.0)
    ]


def merged(*, complete: bool = True) -> Run:
    """Return the run of the journal above."""
    product = identity("product", "cuda:0", title="Multiply.", version="v")
    cases = [product, identity("empty"), identity("unreached")]
    plan = replace(PLAN, cases=cases, energy=["product", "empty"], project=PROJECT)
    return merge(plan, records(), 150.12345, counter(), complete=complete)


def test_a_case_has_an_entry_of_each_launch_and_what_sums_them_up_is_the_worst() -> None:
    product, empty = merged().benchmarks
    assert (product.stats.data, product.stats.iterations) == ([1.23456789e-3, 3e-3, 2e-3], 7)
    assert product.options == {"disable_gc": True, "timer": "perf_counter"}
    told = asdict(product.extra_info)
    assert told.pop("telemetry")["cuda:0"].values == {"fan": (0.5, 0.5, 0.5)}
    facts: dict[str, Any] = {"version": "v", "title": "Multiply.", "headline": True}
    facts |= {
        "control": False,
        "device": "cuda:0",
        "devices": ["cuda:0"],
        "work": Work(flops=8.0),
        "search": None,
    }
    by_launch: dict[str, Any] = {"launches": [2, 0, 1], "iterations": [5, 0, 7], "order": [2, 0, 1]}
    by_launch |= {"warmup": [0.514345, 0.0, 2.514345], "against": [2e-3, 2.002]}
    parts = {"enqueue": [2e-6, None, 1e-6], "sustained": [1.5e-3, None, None]}
    spent = Energy(joules=[0.6, None, None], seconds=[0.002, None, None])
    worst: dict[str, Any] = {"check": Check("all", 2e-4, 1e-3), "flushed_bytes": 32}
    worst |= {"peak_bytes": 400, "commonest": 0.75, "idle_devices": ["cpu", "cuda:0"]}
    assert told == facts | by_launch | worst | {"parts": parts, "energy": spent}
    assert (empty.extra_info.launches, empty.extra_info.order) == ([0, 1, 0], [0, 1, 0])
    assert empty.extra_info.parts == {}  # what a processor sustains is no rate of its own


def test_a_launch_is_what_its_process_and_the_runner_say_of_it() -> None:
    first, second, third = merged().frobench.launches
    assert (first.started, first.begun, first.seconds) == ("2026-01-01T00:00:00+00:00", 3.0, 20.0)
    assert (first.body_seconds, first.warmup_seconds, first.timer_step) == (0.5, 3.154, 1e-9)
    assert (first.gauge, first.changed) == ({"cpu/product": 2e-3}, {})
    told: dict[str, Any] = {"started": "2026-01-01T00:01:00+00:00", "begun": 63.0, "seconds": 4.0}
    nothing: dict[str, Any] = {"warmup_seconds": 0.0, "empty_body": {}, "timer_step": 0.0}
    assert second == Launch(**told, **nothing, body_seconds=1.0)
    assert (third.begun, third.seconds, third.warmup_seconds) == (123.457, 5.679, 2.514)
    assert (third.others, third.runner_cores) == (0.123, 0.1235)
    assert third.changed == {"software.torch": "0.1"}


def test_what_a_run_did_not_get_to_says_why_and_a_run_that_goes_on_is_not_complete() -> None:
    run = merged().frobench
    assert (run.without_energy, run.project) == ({"empty": energy.UNSEEN}, PROJECT)
    assert (run.seconds, run.plan_seconds, run.plan_body_seconds) == (150.123, 1.235, 0.988)
    assert [(one.fullname, one.status, one.reason) for one in run.outcomes] == [
        ("empty", "passed", None),
        ("product", "passed", None),
        ("unreached", "skipped", "the run ended before it"),
    ]
    assert [merged(complete=stated).frobench.complete for stated in (True, False)] == [True, False]
    begun = [record for record in records() if getattr(record, "launch", 0) == 0]
    for known, launches in ((begun, 1), ([], 0)):
        part = merge(PLAN, known, 9.0, complete=True).frobench
        assert (part.complete, len(part.launches)) == (launches > 0, launches)


GOOD, NEAR, WRONG = Check("all", 5e-6, 1e-4), Check("all", 1e-6, 2e-6), Check("all", 1e-3, 1e-4)
"""Errors of 5%, of half and of ten times what is allowed."""


@pytest.mark.parametrize(
    ("fact", "by_launch", "kept"),
    [
        ("check", [GOOD, NEAR], NEAR),
        ("check", [NEAR, GOOD], NEAR),
        ("check", [None, NEAR], NEAR),
        ("check", [WRONG, GOOD], WRONG),
        ("flushed_bytes", [48, 64], 48),
        ("peak_bytes", [100, 300], 300),
        ("peak_bytes", [None, 7], 7),
        ("peak_bytes", [None, None], None),
    ],
)
def test_the_worst_of_all_launches_is_stored(fact: str, by_launch: list[Any], kept: object) -> None:
    seen = [measured("it", launch=number, **{fact: it}) for number, it in enumerate(by_launch)]
    (case,) = merge(replace(PLAN, cases=[identity("it")]), seen, 9.0, complete=True).benchmarks
    assert getattr(case.extra_info, fact) == kept


REASON = "rank 1 on node 1 did not answer in time"
GROUP = ["bench_all_reduce", "bench_broadcast"]


def of_a_group(launches: int, *lost: int) -> Run:
    """Return a run of two cases of whose launches some lost a rank in the first of them."""
    first, second = GROUP
    seen: list[Record] = []
    for launch in range(launches):
        if launch in lost:
            why = f"lost: {REASON}"
            seen += [
                Refused(launch=launch, case=first, status="failed", reason=REASON, lost=True),
                Refused(launch=launch, case=second, status="skipped", reason=why),
            ]
        else:
            seen += [measured(name, launch=launch, wall_seconds=1.23456) for name in GROUP]
    cases = [identity(name, "cpu/2x1", group="collectives") for name in GROUP]
    return merge(replace(PLAN, cases=cases), seen, 10.0, complete=True)


def test_other_launches_keep_their_samples_and_a_loss_is_named() -> None:
    run = of_a_group(3, 1)
    assert [case.extra_info.launches for case in run.benchmarks] == [[1, 0, 1]] * 2
    told = [(one.lost, one.seconds, one.body_seconds) for one in run.frobench.launches]
    assert told == [("", 2.469, 2.0), (REASON, 0.0, 0.0), ("", 2.469, 2.0)]
    assert {one.status for one in run.frobench.outcomes} == {"passed"}
    assert "rank-lost" in {one.code for one in run.frobench.conclusions}


def test_a_case_that_no_launch_measured_has_the_loss_as_its_reason() -> None:
    run = of_a_group(2, 0, 1)
    assert (run.benchmarks, [launch.lost for launch in run.frobench.launches]) == ([], [REASON] * 2)
    told = [("failed", REASON), ("skipped", f"lost: {REASON}")]
    assert [(one.status, one.reason) for one in run.frobench.outcomes] == told
