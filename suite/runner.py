# SPDX-License-Identifier: MIT
"""A run: plan, launch, merge, store.

Everything that happens is journaled below `results/.runs/<run>/` as it happens, so that an
interrupted run can be taken up where it was.
"""

import random
import shutil
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from suite import doctor, environment, store, telemetry
from suite.errors import (
    CannotRunError,
    Interrupted,
    NothingMeasuredError,
    NothingSelectedError,
)
from suite.model import Case, Conclusion, Outcome, ProfileName, Run, Settings
from suite.names import short_name
from suite.profiles import PEAK_SECONDS, SEARCH_PART, launches_within, settings_for
from suite.running import pilot
from suite.running.clock import RunClock
from suite.running.journal import Begun, Journal, Record, Surroundings
from suite.running.keep import keep
from suite.running.launches import Launches
from suite.running.lock import machine_lock
from suite.running.merge import merge
from suite.running.nothing import reasons, require_any, say_failure
from suite.running.plan import Draft, Plan, freeze
from suite.running.progress import Reporter, remaining
from suite.running.watch import READINGS, snapshot
from suite.sensors.sensor import Source
from suite.units import counted

PILOT = "pilot.jsonl"
"""The journal of the pilot, in a run's folder."""

DISTURBED = ", and takes less time where no other program keeps the processor busy"


class Request(Struct, frozen=True, kw_only=True):
    """What the user asked for.

    devices : names, or none for the CPU and every accelerator
    peak : give the searches time beyond the budget
    like : a run to repeat: its cases and settings hold, and its devices if none are named
    resume : a run to finish, or ``last``; its own plan then holds, not this request
    wait : wait until no other run measures this machine, rather than refuse
    """

    results: Path
    benchmarks: Path
    profile: ProfileName = "standard"
    devices: list[str] = []
    expression: str = ""
    budget: float | None = None
    launches: int | None = None
    deadline: float | None = None
    seed: int | None = None
    peak: bool = False
    like: Run | None = None
    resume: str | None = None
    wait: bool = False


def run(request: Request, reporter: Reporter) -> tuple[Path, Run]:
    """Measure; return the stored file's path and what is in it.

    Raises `CannotRunError`, `NothingSelectedError` and `NothingMeasuredError`; `Interrupted` once
    everything finished is saved; `OSError` where the disk refuses.
    """
    with machine_lock(waiting=reporter.say if request.wait else None):
        folder = _folder(request)
        clock = RunClock(folder)
        try:
            plan = Plan.read(folder) or _plan(_draft(request, folder), folder, clock, reporter)
            launches = Launches(plan, folder, clock, reporter)
            sources = _sources(folder, plan.draft)
            with telemetry.Sampler(sources, folder / READINGS, clock.seconds):
                launches.run()
            return _store(plan, launches, request.results, folder, clock)
        except NothingMeasuredError:
            shutil.rmtree(folder)
            raise
        except (CannotRunError, NothingSelectedError):
            if Plan.read(folder) is None:  # nothing was measured, so nothing can be resumed
                shutil.rmtree(folder)
            raise
        except OSError as error:
            raise CannotRunError(
                f"{error.strerror}; everything finished stays in {folder}, "
                f"`frobench run --resume {folder.name}` goes on"
            ) from error
        except KeyboardInterrupt:
            if Draft.read(folder) is None:
                shutil.rmtree(folder)
                raise Interrupted(None, None) from None
            raise Interrupted(folder.name, _save_finished(folder, request.results, clock)) from None


def _store(
    plan: Plan, launches: Launches, results: Path, folder: Path, clock: RunClock
) -> tuple[Path, Run]:
    """Write the stored file, and take away what it came from."""
    readings = list(telemetry.readings(folder / READINGS))
    stored = merge(plan, launches.records, environment.machine_info(), clock.seconds(), readings)
    require_any(stored.frobench.outcomes)
    path = _path(stored, results)
    if not path.exists():  # else it was written, and the process was killed right then
        store.write(stored, results)
    _partial(path).unlink(missing_ok=True)
    shutil.rmtree(folder)
    return path, stored


def _folder(request: Request) -> Path:
    """Return the folder of the run that begins, or of the one to resume."""
    runs = request.results / ".runs"
    if request.resume is None:
        commit = environment.commit().id or "unknown"
        folder = runs / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{commit[:7]}"
        folder.mkdir(parents=True)
        return folder
    names = sorted(path.name for path in runs.glob("*") if path.is_dir())
    name = names[-1] if request.resume == "last" and names else request.resume
    if name not in names:
        known = f"there are {', '.join(names)}" if names else "there is none"
        raise CannotRunError(f"no interrupted run {name!r} in {request.results}; {known}")
    return runs / name


def _draft(request: Request, folder: Path) -> Draft:
    """Settle what the user asked for; a run that is resumed was asked for before."""
    if (before := Draft.read(folder)) is not None:
        return before
    seed = random.SystemRandom().randrange(2**31) if request.seed is None else request.seed
    settings = _settings(request)
    repeated = request.like.benchmarks if request.like else []
    draft = Draft(
        run=folder.name,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        seed=seed,
        commit=environment.commit(),
        benchmarks=str(request.benchmarks),
        settings=settings,
        budget_asked=request.budget is not None,
        like=[_not_found(case) for case in repeated],
        search_seconds=PEAK_SECONDS if request.peak else SEARCH_PART * settings.budget,
        searched={
            case.fullname: found
            for case in repeated
            if (found := case.extra_info.search) is not None
        },
    )
    draft.write(folder)
    return draft


def _settings(request: Request) -> Settings:
    """Return the profile's settings with what was asked for, or those of the run to repeat."""
    if request.like is not None:
        done = request.like.frobench
        devices = request.devices or done.settings.devices
        return replace(done.settings, devices=devices, launches=len(done.launches))
    settings = settings_for(
        request.profile,
        request.devices,
        budget=request.budget,
        launches=request.launches,
        deadline=request.deadline,
        expression=request.expression,
    )
    return replace(settings, budget=settings.budget + PEAK_SECONDS * request.peak)


def _not_found(case: Case) -> Outcome:
    """Return what becomes of a case to repeat if it is not found here."""
    needs = ", ".join(case.extra_info.devices)
    return Outcome(
        fullname=case.fullname,
        group=case.group,
        params=case.params,
        status="skipped",
        reason=f"not found: it needs its benchmark and {needs}",
    )


def _plan(draft: Draft, folder: Path, clock: RunClock, reporter: Reporter) -> Plan:
    """See what disturbs the machine, explore what can be measured here, and freeze it."""
    troubles = doctor.glance(folder, draft.settings.devices)
    _say(troubles, reporter)
    journal = Journal(folder / PILOT)
    journal.begin_again()  # a pilot that was interrupted

    def tell(record: Record) -> None:
        say_failure(record, reporter)
        if isinstance(record, Begun):
            left = draft.settings.budget - clock.seconds()
            reporter.at(0.0, left, f"trying {short_name(record.case)}")

    pilot.explore(draft, folder, journal, tell)
    counters = telemetry.counters(_sources(folder, draft))
    plan = freeze(draft, journal, clock.seconds(), counters)
    _say(plan.troubles, reporter)
    if not plan.cases:
        require_any(plan.outcomes)
    plan = replace(plan, troubles=[*troubles, *plan.troubles])
    plan.write(folder)
    clock.keep()
    _tell(plan, reporter)
    return plan


def _say(troubles: Iterable[Conclusion], reporter: Reporter) -> None:
    for trouble in troubles:
        if trouble.severity != "info":
            reporter.say(f"{trouble.code}: {trouble.message}; mend it: {trouble.advice}")


def _tell(plan: Plan, reporter: Reporter) -> None:
    """Say what is planned, and if the fewest launches that say anything take too long."""
    planned = launches_within(plan.settings, plan.plan_seconds, plan.launch_seconds)
    left_out = [outcome for outcome in plan.outcomes if outcome.status == "skipped"]
    without = f"; {len(left_out)} left out:" if left_out else ""
    reporter.say(
        f"{counted(len(plan.cases), 'case')} in {counted(planned, 'launch')} of about "
        f"{remaining(plan.launch_seconds)}{without}"
    )
    for reason in reasons(left_out):
        reporter.say(reason)
    reporter.say(plan.energy.said())
    if plan.seconds_at_least > plan.settings.budget and plan.settings.launches is None:
        reporter.say(
            f"{plan.settings.least_launches} launches and this pilot take about "
            f"{remaining(plan.seconds_at_least)}, more than the budget of "
            f"{remaining(plan.settings.budget)}; -k selects fewer cases"
            f"{DISTURBED if plan.disturbed else ''}"
        )


def _sources(folder: Path, draft: Draft) -> list[Source]:
    """Return whom to ask about the devices that the pilot saw."""
    for said in Journal(folder / PILOT):
        if isinstance(said, Surroundings):
            return telemetry.sources(said.seals, str(draft.seed), said.addresses)
    return telemetry.sources({}, "", {})


def _save_finished(folder: Path, results: Path, clock: RunClock) -> Path | None:
    """Store what an interrupted run has; nothing if it has no samples yet."""
    clock.keep()
    stored = snapshot(folder, clock.seconds())
    if stored is None:
        return None
    path = _partial(_path(stored, results))
    path.parent.mkdir(parents=True, exist_ok=True)
    keep(path, store.encode(stored))
    return path


def _path(stored: Run, results: Path) -> Path:
    return results / stored.frobench.environment.machine / f"{stored.frobench.run}.json"


def _partial(path: Path) -> Path:
    return path.with_name(f"{path.stem}.partial.json")
