# SPDX-License-Identifier: MIT
"""Launches to a stored run: the journal's lines put together, nothing lost and nothing added."""

from collections.abc import Iterable, Sequence
from importlib.metadata import version
from statistics import median

from msgspec import UNSET
from msgspec.structs import replace

from suite import checks
from suite.journal.records import (
    Ended,
    Gauged,
    Harness,
    Identity,
    Measured,
    Record,
    Refused,
    Settled,
)
from suite.machine import environment
from suite.run.plan import Plan, outcome
from suite.run.sensed import energy, sensor_summary
from suite.run.sensed.energy import SUSTAINED, sustained_seconds
from suite.run.sensed.telemetry import Line
from suite.stored import store
from suite.stored.differences import changed
from suite.stored.run import SCHEMA, Case, CaseInfo, Check, Environment, Frobench, Launch, Run

PICOSECOND_DIGITS = 12
"""A sample is stored to the picosecond, below every clock's step."""


def merge(
    plan: Plan,
    records: Iterable[Record],
    seconds: float,
    readings: Sequence[Line] = (),
    *,
    complete: bool,
) -> Run:
    """Return the run that a plan and its journal make, without its digest.

    seconds : wall time of the whole run so far
    readings : what sensors said meanwhile
    complete : whether nothing more is to be measured
    """
    records = list(records)
    ended = {r.launch: r for r in records if isinstance(r, Ended)}
    harness = {r.launch: r for r in records if isinstance(r, Harness)}
    measured = [r for r in records if isinstance(r, Measured)]
    lost = [r.launch for r in records if isinstance(r, Refused) and r.lost]
    launches = max([*(r.launch for r in measured), *lost], default=-1) + 1
    refused = _refused(records, plan)
    cases = [
        _case(
            case,
            _by_launch(case, measured, launches),
            sustained_seconds(records, case, launches),
        )
        for case in plan.cases
        if case.fullname not in refused
    ]
    devices = {case.fullname: case.extra_info.devices for case in cases}
    sensed = sensor_summary.of_cases(readings, records, devices)
    spent = energy.of_cases(readings, records, devices, launches)
    for case in cases:
        case.extra_info.telemetry = sensed.get(case.fullname, {})
        case.extra_info.energy = spent.get(case.fullname)
    names = {case.fullname for case in cases}
    unseen = [
        name for name in plan.energy.cases if name in names and not energy.is_measured(spent, name)
    ]
    run = Run(
        machine_info=environment.machine_info(),
        commit_info=plan.draft.commit,
        benchmarks=cases,
        datetime=plan.draft.started,
        version=version("pytest-benchmark"),
        frobench=Frobench(
            schema=SCHEMA,
            run=plan.draft.run,
            profile=plan.settings.profile,
            seed=plan.draft.seed,
            complete=complete and launches > 0 and max(ended, default=-1) + 1 == launches,
            seconds=round(seconds, 3),
            plan_seconds=round(plan.plan_seconds, 3),
            plan_body_seconds=round(plan.body_seconds, 3),
            settings=plan.settings,
            environment=plan.environment,
            exercises=plan.exercises,
            launches=[
                replace(
                    _launch(n, ended.get(n), harness.get(n), records, plan.environment),
                    gauge=_gauge(r for r in records if isinstance(r, Gauged) and r.launch == n),
                )
                for n in range(launches)
            ],
            outcomes=sorted(
                [*plan.outcomes, *(outcome(c, refused.get(c.fullname)) for c in plan.cases)],
                key=lambda entry: entry.fullname,
            ),
            conclusions=[],
            troubles=plan.troubles,
            project=plan.draft.project or UNSET,
            telemetry=sensor_summary.of_run(readings, records) or UNSET,
            nodes=plan.nodes or UNSET,
            without_energy=plan.energy.left_out | dict.fromkeys(unseen, energy.UNSEEN),
        ),
    )
    run.frobench.conclusions = checks.conclude(run)
    return run


def _refused(records: Sequence[Record], plan: Plan) -> dict[str, Refused]:
    """Return why cases have no samples: failed in some launch, skipped in all, or not reached."""
    measured = {record.case for record in records if isinstance(record, Measured)}
    reasons: dict[str, Refused] = {}
    for record in records:
        if isinstance(record, Refused) and (
            (record.status == "failed" and not record.lost) or record.case not in measured
        ):
            reasons.setdefault(record.case, record)
    for case in plan.cases:
        if case.fullname not in measured:
            unreached = Refused(
                launch=0, case=case.fullname, status="skipped", reason="the run ended before it"
            )
            reasons.setdefault(case.fullname, unreached)
    return reasons


def _by_launch(
    case: Identity, measured: Iterable[Measured], launches: int
) -> list[Measured | None]:
    """Return a case's record of each launch; the first, should a launch have two."""
    by_number: dict[int, Measured] = {}
    for record in measured:
        if record.case == case.fullname:
            by_number.setdefault(record.launch, record)
    return [by_number.get(launch) for launch in range(launches)]


def _case(
    case: Identity, by_launch: Sequence[Measured | None], sustained: Sequence[float | None]
) -> Case:
    """Put together what the launches learnt of a case.

    sustained : seconds of a call that was repeated for seconds, launch by launch
    """
    ran = [record for record in by_launch if record is not None]
    samples = [round(s, PICOSECOND_DIGITS) for record in ran for s in record.samples]
    iterations = [record.iterations if record else 0 for record in by_launch]
    parts = {
        name: [record.parts.get(name) if record else None for record in by_launch]
        for name in sorted({name for record in ran for name in record.parts})
    }
    if any(sustained):
        parts[SUSTAINED] = [seconds and round(seconds, PICOSECOND_DIGITS) for seconds in sustained]
    return Case(
        group=case.group,
        name=case.name,
        fullname=case.fullname,
        params=case.params,
        param=case.param,
        options={"disable_gc": True, "timer": "perf_counter"},
        stats=store.case_stats(samples, max(iterations)),
        extra_info=CaseInfo(
            version=case.version,
            title=case.title,
            headline=case.headline,
            device=str(case.params["device"]),
            devices=case.devices,
            launches=[len(record.samples) if record else 0 for record in by_launch],
            iterations=iterations,
            warmup=[round(record.warmup, 6) if record else 0.0 for record in by_launch],
            work=ran[0].work,
            check=_worst(record.check for record in ran),
            parts=parts,
            peak_bytes=max(record.peak_bytes or 0 for record in ran) or None,
            order=[record.order if record else 0 for record in by_launch],
            against=_against(ran),
            flushed_bytes=min(
                (r.flushed_bytes for r in ran if r.flushed_bytes is not None), default=None
            ),
            commonest=max((r.commonest for r in ran if r.commonest is not None), default=None),
            idle_devices=sorted({name for record in ran for name in record.idle_devices}),
            control=ran[0].control,
            search=ran[0].search,
        ),
    )


def _against(ran: Sequence[Measured]) -> list[float] | None:
    return [round(s, PICOSECOND_DIGITS) for record in ran for s in record.against or []] or None


def _worst(checked: Iterable[Check | None]) -> Check | None:
    """Return the check that came nearest to its bound."""
    return max(
        (check for check in checked if check is not None),
        key=lambda check: check.error / check.bound if check.bound else check.error,
        default=None,
    )


def _gauge(readings: Iterable[Gauged]) -> dict[str, float]:
    """Return the median of each body of the gauge over the processes of a launch."""
    by_body: dict[str, list[float]] = {}
    for reading in readings:
        for name, seconds in reading.seconds.items():
            by_body.setdefault(name, []).append(seconds)
    return {name: round(median(taken), PICOSECOND_DIGITS) for name, taken in by_body.items()}


def _launch(
    number: int,
    ended: Ended | None,
    harness: Harness | None,
    records: Sequence[Record],
    planned: Environment,
) -> Launch:
    mine = [r for r in records if isinstance(r, Measured) and r.launch == number]
    refused = [r for r in records if isinstance(r, Refused)]
    settled = sum(r.seconds for r in records if isinstance(r, Settled) and r.launch == number)
    seconds = ended.seconds if ended else sum(record.wall_seconds for record in mine)
    warmup = sum(record.warmup for record in mine) + settled + (harness.warmup if harness else 0)
    return Launch(
        started=ended.started if ended else "",
        seconds=round(seconds, 3),
        begun=round(ended.begun, 3) if ended else UNSET,
        body_seconds=round(sum(record.sampled for record in mine), 3),
        warmup_seconds=round(warmup, 3),
        check_seconds=round(sum(record.checked for record in mine), 3),
        empty_body=harness.empty_body if harness else {},
        ready_reading=harness.ready_reading if harness else {},
        waits=harness.waits if harness else {},
        timer_step=harness.timer_step if harness else 0.0,
        state=harness.state if harness else {},
        changed=changed(planned, harness.environment) if harness and harness.environment else {},
        lost=next((r.reason for r in refused if r.launch == number and r.lost), ""),
        others=UNSET if ended is None or ended.others is None else round(ended.others, 3),
    )
