# SPDX-License-Identifier: MIT
"""What a run should take: every call, every case in the run, and the whole."""

from contextlib import suppress
from itertools import islice
from pathlib import Path
from statistics import median

from msgspec import Struct

from suite.compare.verdicts.smallest_change import Forecast, forecast
from suite.journal.records import Collected, Declared, Identity, Measured
from suite.profiles import launches_within, settings_on, settling_seconds
from suite.run.forecast.calls import Basis, Call, Calls
from suite.run.forecast.costs import choose_case_seconds, launch_seconds
from suite.stored import bounds, store
from suite.stored.run import Exercise, ProfileName, Run, Settings, Work
from suite.stored.store import InvalidResult
from suite.units import format_seconds

STARTUP_SECONDS, OVERHEAD_SECONDS = 2.5, 0.05
"""Of a launch before its first case, and of a case beside its calls, where no run tells."""
PILOT_CALLS = 3
"""Calls by which a pilot explores a case."""
MOST_TRIED = 3
"""Stored runs that are read until one of them is complete."""


class ExpectedCase(Identity, frozen=True, kw_only=True):
    """A case, and what is expected of it.

    work : of one call, ``None`` where it is not known before the case runs
    call_seconds : of one call, ``None`` where nothing tells
    basis : where that is from: ``measured`` in the newest stored run of this machine,
        continued from other ``sizes`` or at the ``rates`` of other cases in it, or from
        ``nominal`` rates of a CPU or an accelerator
    run_seconds : all launches of the case, ``None`` where it is left out
    left_out : why it would not be measured here
    """

    work: Work | None
    call_seconds: float | None
    basis: Basis | None
    run_seconds: float | None
    left_out: str | None


class Expected(Struct, kw_only=True):
    """What a run with these settings should be like.

    machine : the kind of machine
    before : the stored run that was asked, if there is one
    longest_sample : seconds that a call may take
    launches, launch_seconds : how many there should be, and how long each of them takes
    run_seconds : the whole run, its pilot included
    forecast : the smallest change that it will be able to show
    """

    profile: ProfileName
    machine: str
    before: str | None
    longest_sample: float
    launches: int
    launch_seconds: float
    run_seconds: float
    forecast: Forecast
    exercises: dict[str, Exercise]
    cases: list[ExpectedCase]


def newest(folder: Path) -> Run | None:
    """Return the newest complete run of a machine's folder, if one of the last few is."""
    for path in islice(sorted(folder.glob("*.json"), reverse=True), MOST_TRIED):
        with suppress(InvalidResult, OSError):
            run = store.read(path)
            if run.frobench.complete:
                return run
    return None


def expect(
    collected: Collected, declared: Declared, settings: Settings, before: Run | None
) -> Expected:
    """Return what a run of the collected cases should take.

    before : a stored run of this kind of machine, if there is one
    """
    calls, overhead = Calls(before), _overhead(before)
    startup = STARTUP_SECONDS
    devices = {name.partition("/")[0] for case in collected.cases for name in case.devices}
    settings = settings_on(settings, sorted(devices))
    startup += settling_seconds(settings)
    reasons = _skipped(before, settings) | declared.absent
    known: list[tuple[Identity, Work | None, Call | None, str | None]] = []
    for case in collected.cases:
        work = declared.works.get(case.fullname) or calls.work(case)
        call = calls.expected(case, work)
        reason = reasons.get(case.fullname) or _too_long(call, settings.longest_sample)
        known.append((case, work, call, reason))
    ran = [_as_if(case, call, overhead) for case, _, call, reason in known if reason is None]
    spent = startup + sum(record.overhead + PILOT_CALLS * min(record.samples) for record in ran)
    each = choose_case_seconds(ran, settings, startup, spent)
    launch = launch_seconds(ran, startup, each)
    launches = min(
        launches_within(settings, spent, launch),
        bounds.most_launches(len(ran), settings.most_samples),
    )
    return Expected(
        profile=settings.profile,
        machine=declared.machine,
        before=before.frobench.run if before else None,
        longest_sample=settings.longest_sample,
        launches=launches,
        launch_seconds=launch,
        run_seconds=spent + launches * launch,
        forecast=forecast(launches, [record.case for record in ran], before),
        exercises=collected.exercises,
        cases=[
            ExpectedCase(
                **{name: getattr(case, name) for name in Identity.__struct_fields__},
                work=work,
                call_seconds=call.seconds if call else None,
                basis=call.basis if call else None,
                run_seconds=None
                if reason
                else launches * launch_seconds([_as_if(case, call, overhead)], 0.0, each),
                left_out=reason,
            )
            for case, work, call, reason in known
        ],
    )


def _skipped(before: Run | None, settings: Settings) -> dict[str, str]:
    """Return what the same profile left out before, and why."""
    if before is None or before.frobench.profile != settings.profile:
        return {}
    outcomes = before.frobench.outcomes
    return {
        outcome.fullname: outcome.reason
        for outcome in outcomes
        if outcome.status == "skipped" and outcome.reason
    }


def _too_long(call: Call | None, cap: float) -> str | None:
    """Return why a call will be left out, or may be where it is but guessed."""
    if call is None or call.seconds <= cap:
        return None
    takes = "takes" if call.basis in {"measured", "sizes"} else "may take"
    seconds, most = format_seconds(call.seconds), format_seconds(cap)
    return f"{takes} about {seconds} a call, over this profile's {most}"


def _overhead(before: Run | None) -> float:
    """Return what a case takes in a launch beside its calls: setting up, checking, tidying up."""
    if before is None or not before.benchmarks:
        return OVERHEAD_SECONDS
    launches = before.frobench.launches
    beside = median(
        launch.seconds - launch.body_seconds - launch.warmup_seconds for launch in launches
    )
    return max(0.0, beside - STARTUP_SECONDS) / len(before.benchmarks)


def _as_if(case: Identity, call: Call | None, overhead: float) -> Measured:
    """Return what a pilot would have seen of a case."""
    return Measured(
        launch=0,
        case=case.fullname,
        order=0,
        samples=[call.seconds if call else 0.0],
        iterations=1,
        warmup=0.0,
        sampled=0.0,
        work=Work(),
        check=None,
        parts={},
        peak_bytes=None,
        wall_seconds=overhead,
    )
