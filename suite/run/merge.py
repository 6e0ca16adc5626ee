# SPDX-License-Identifier: MIT
"""Launches to a stored run: the journal's lines put together, nothing lost and nothing added."""

from collections.abc import Iterable, Sequence
from importlib.metadata import version
from statistics import median

from msgspec import UNSET
from msgspec.structs import replace

from frobench.suite import checks, journal
from frobench.suite.journal import Measured, Record, Refused
from frobench.suite.machine import environment
from frobench.suite.machine.sensors.cpu import CPU
from frobench.suite.plan import CaseIdentity, Plan
from frobench.suite.run import energy, telemetry
from frobench.suite.run.planning import outcome, skipped
from frobench.suite.run.telemetry import Line
from frobench.suite.stored import store, types
from frobench.suite.stored.differences import changed

PICOSECOND_DIGITS = 12
"""A sample is stored to the picosecond, below every clock's step."""


def merge(
    plan: Plan,
    records: Iterable[Record],
    seconds: float,
    readings: Iterable[Line] = (),
    *,
    complete: bool,
) -> types.Run:
    """Return the run that a plan and its journal make, without its digest.

    seconds : wall time of the whole run so far
    complete : whether nothing more is to be measured
    """
    records, lines = list(records), list(readings)
    ended = [record.launch for record in records if isinstance(record, journal.Ended)]
    made = [
        r.launch for r in records if isinstance(r, Measured) or (isinstance(r, Refused) and r.lost)
    ]
    launches = max(made, default=-1) + 1
    measured: dict[tuple[str, int], Measured] = {}
    windows: dict[tuple[str, int], float] = {}
    for record in records:
        if isinstance(record, Measured):  # the first counts, should a launch have two
            measured.setdefault((record.case, record.launch), record)
        elif isinstance(record, journal.Busy):
            windows[record.case, record.launch] = record.seconds / record.calls
    refused = _refused(records, plan)
    cases = [
        _case(
            case,
            [measured.get((case.fullname, number)) for number in range(launches)],
            [windows.get((case.fullname, number)) for number in range(launches)],
        )
        for case in plan.cases
        if case.fullname not in refused
    ]
    devices = {case.fullname: case.extra_info.devices for case in cases}
    sensed = telemetry.sensors_of_cases(lines, records, devices)
    spent = energy.energy_of_cases(lines, records, devices, launches)
    for case in cases:
        case.extra_info.telemetry = sensed.get(case.fullname, {})
        case.extra_info.energy = spent.get(case.fullname)
    unknown = {name: energy.UNSEEN for name in plan.energy if name in devices and name not in spent}
    run = types.Run(
        machine_info=environment.machine_info(),
        commit_info=plan.commit,
        benchmarks=cases,
        datetime=plan.started,
        version=version("pytest-benchmark"),
        frobench=types.Frobench(
            schema=types.SCHEMA,
            minor=types.MINOR,
            run=plan.run,
            profile=plan.settings.profile,
            seed=plan.seed,
            complete=complete and launches > 0 and max(ended, default=-1) + 1 == launches,
            seconds=round(seconds, 3),
            plan_seconds=round(plan.plan_seconds, 3),
            plan_body_seconds=round(plan.body_seconds, 3),
            settings=plan.settings,
            environment=plan.environment,
            exercises=plan.exercises,
            launches=[_launch(number, records, plan.environment) for number in range(launches)],
            outcomes=sorted(
                [*plan.outcomes, *(outcome(c, refused.get(c.fullname)) for c in plan.cases)],
                key=lambda entry: entry.fullname,
            ),
            conclusions=[],
            troubles=plan.troubles,
            project=plan.project or UNSET,
            telemetry=telemetry.of_run(lines, records, energy.idle_watts(lines, records)) or UNSET,
            nodes=plan.nodes or UNSET,
            without_energy=plan.without_energy | unknown,
        ),
    )
    run.frobench.conclusions = checks.conclude(run)
    return run


def _refused(records: Sequence[Record], plan: Plan) -> dict[str, Refused]:
    """Return why cases have no samples: failed in some launch, skipped in all, or not reached."""
    measured = {record.case for record in records if isinstance(record, Measured)}
    reasons: dict[str, Refused] = {}
    for record in records:
        if isinstance(record, Refused):
            failed = record.status == "failed" and not record.lost
            if failed or record.case not in measured:
                reasons.setdefault(record.case, record)
    for name in {case.fullname for case in plan.cases} - measured - reasons.keys():
        reasons[name] = skipped(name, "the run ended before it")
    return reasons


def _case(
    case: CaseIdentity, by_launch: Sequence[Measured | None], windows: Sequence[float | None]
) -> types.Case:
    """Put together the records of a case, launch by launch; `windows` are seconds of a call."""
    ran = [record for record in by_launch if record is not None]
    iterations = [record.iterations if record else 0 for record in by_launch]
    parts = {
        name: [record.parts.get(name) if record else None for record in by_launch]
        for name in sorted({name for record in ran for name in record.parts})
    }
    if any(windows) and not any(name.startswith(CPU) for name in case.devices):
        parts[energy.SUSTAINED] = [s and round(s, PICOSECOND_DIGITS) for s in windows]
    flushed = [record.flushed_bytes for record in ran if record.flushed_bytes is not None]
    return types.Case(
        group=case.group,
        name=case.name,
        fullname=case.fullname,
        params=case.params,
        param=case.param,
        options={"disable_gc": True, "timer": "perf_counter"},
        stats=store.case_stats(_rounded(s for r in ran for s in r.samples), max(iterations)),
        extra_info=types.CaseInfo(
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
            against=_rounded(s for record in ran for s in record.against or []) or None,
            flushed_bytes=min(flushed, default=None),
            commonest=max((r.commonest for r in ran if r.commonest is not None), default=None),
            idle_devices=sorted({name for record in ran for name in record.idle_devices}),
            control=ran[0].control,
            search=ran[0].search,
        ),
    )


def _rounded(samples: Iterable[float]) -> list[float]:
    return [round(seconds, PICOSECOND_DIGITS) for seconds in samples]


def _worst(checked: Iterable[types.Check | None]) -> types.Check | None:
    known = (check for check in checked if check is not None)
    return max(known, key=lambda c: c.error / c.bound if c.bound else c.error, default=None)


def _launch(number: int, records: Iterable[Record], planned: types.Environment) -> types.Launch:
    mine = [record for record in records if getattr(record, "launch", None) == number]
    measured = [record for record in mine if isinstance(record, Measured)]
    harness = next((r for r in reversed(mine) if isinstance(r, journal.Harness)), None)
    facts = harness.facts if harness else journal.no_facts()
    gauges = [record.seconds for record in mine if isinstance(record, journal.Gauged)]
    warmup = facts.warmup_seconds + sum(record.warmup for record in measured)
    warmup += sum(record.settled for record in mine if isinstance(record, journal.Begun))
    launch = replace(
        facts,
        seconds=round(sum(record.wall_seconds for record in measured), 3),
        body_seconds=round(sum(record.sampled for record in measured), 3),
        warmup_seconds=round(warmup, 3),
        changed=changed(planned, harness.environment) if harness else {},
        lost=next((r.reason for r in mine if isinstance(r, Refused) and r.lost), ""),
        gauge={
            name: round(median(g[name] for g in gauges if name in g), PICOSECOND_DIGITS)
            for name in dict.fromkeys(name for gauge in gauges for name in gauge)
        },
    )
    for ended in (record for record in mine if isinstance(record, journal.Ended)):
        launch.started, launch.begun = ended.started, round(ended.begun, 3)
        launch.seconds = round(ended.seconds, 3)
        launch.others = UNSET if ended.others is None else round(ended.others, 3)
        launch.runner_cores = UNSET if ended.runner_cores is None else round(ended.runner_cores, 4)
    return launch
