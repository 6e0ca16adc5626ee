# SPDX-License-Identifier: MIT
"""A launch that lost a rank of its group takes nothing from what other launches measured."""

from msgspec.structs import replace

from frobench.suite.journal import Ended, Record, Refused
from frobench.suite.plan import Plan
from frobench.suite.profiles import settings_for
from frobench.suite.run.merge import merge
from frobench.suite.stored.types import Check, Run
from tests.instruments.runs import factory_machine, made_up_records
from tests.instruments.runs.made_up_records import measured

SETTINGS = settings_for("standard", ["cpu"], launches=3)
REASON = "rank 1 on node 1 did not answer in time"
CASES = ["bench_all_reduce", "bench_broadcast"]


def plan() -> Plan:
    """Return a plan of two cases of a group."""
    cases = [made_up_records.identity(name, "cpu/2x1", group="collectives") for name in CASES]
    environment = factory_machine.environment(None, 0)
    return made_up_records.plan(SETTINGS, environment=environment, cases=cases)


def both_measured(launch: int) -> list[Record]:
    """Return the records of a launch that measured both cases."""
    return [
        measured(
            name,
            launch=launch,
            order=place,
            samples=[1e-3] * 3,
            sampled=3e-3,
            check=Check("all", 0.0, 1.0),
        )
        for place, name in enumerate(CASES, 1)
    ]


def lost(launch: int) -> list[Record]:
    """Return the records of a launch that lost a rank in its first case."""
    first, second = CASES
    return [
        Refused(launch=launch, case=first, status="failed", reason=REASON, lost=True),
        Refused(launch=launch, case=second, status="skipped", reason=f"lost: {REASON}"),
    ]


def merged(*launches: list[Record]) -> Run:
    """Return the run that launches make, one after the other."""
    records = [record for launch in launches for record in launch]
    ends = [
        Ended(launch=number, started="2026-01-01T00:00:00+00:00", begun=float(number), seconds=1.0)
        for number in range(len(launches))
    ]
    return merge(plan(), [*records, *ends], 10.0, complete=True)


def test_other_launches_keep_their_samples_and_the_loss_is_named() -> None:
    run = merged(both_measured(0), lost(1), both_measured(2))
    assert [case.extra_info.launches for case in run.benchmarks] == [[3, 0, 3]] * 2
    assert [launch.lost for launch in run.frobench.launches] == ["", REASON, ""]
    assert {one.status for one in run.frobench.outcomes} == {"passed"}
    assert "rank-lost" in {one.code for one in run.frobench.conclusions}


def test_launches_that_only_lost_are_a_part_of_the_run() -> None:
    run = merged(both_measured(0), lost(1), lost(2))
    assert [launch.lost for launch in run.frobench.launches] == ["", REASON, REASON]
    assert run.frobench.complete


def test_a_case_that_no_launch_measured_has_the_loss_as_its_reason() -> None:
    run = merged(lost(0), lost(1))
    assert run.benchmarks == []
    first, second = run.frobench.outcomes
    assert (first.status, first.reason) == ("failed", REASON)
    assert (second.status, second.reason) == ("skipped", f"lost: {REASON}")


def test_a_launch_whose_end_is_not_known_took_what_its_cases_took() -> None:
    records = [replace(record, wall_seconds=1.5, warmup=0.25) for record in both_measured(0)]
    (launch,) = merge(plan(), records, 10.0, complete=False).frobench.launches
    assert (launch.seconds, launch.body_seconds, launch.warmup_seconds) == (3.0, 0.006, 0.5)
