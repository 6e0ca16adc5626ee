# SPDX-License-Identifier: MIT
"""A run: plan, launch, merge, store.

Everything is journaled below `results/.runs/<run>/` as it happens, for an interrupted run to go on.
"""

import glob
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from errno import ENOENT
from functools import partial
from pathlib import Path

from msgspec import UNSET
from msgspec.structs import replace

from frobench.suite import doctor
from frobench.suite.compare.verdicts.smallest_change import forecast, in_words
from frobench.suite.errors import (
    CannotRunError,
    CutShortError,
    Interrupted,
    NothingMeasuredError,
    NothingSelectedError,
)
from frobench.suite.files import keep
from frobench.suite.journal.records import Begun, Journal, Record, Surroundings
from frobench.suite.machine import environment
from frobench.suite.machine.sensors.sensor import Source
from frobench.suite.run import pilot, unfinished
from frobench.suite.run.forecast.admission import choices
from frobench.suite.run.forecast.expected import newest
from frobench.suite.run.interruptions import Interruptions
from frobench.suite.run.label import label_of
from frobench.suite.run.launches import Launches
from frobench.suite.run.lock import machine_lock
from frobench.suite.run.merge import merge
from frobench.suite.run.plan import Draft, Plan, freeze
from frobench.suite.run.progress import Reporter, reasons, remaining, require_any, say_failure
from frobench.suite.run.request import Request, make_draft, require_same_commit
from frobench.suite.run.sensed import telemetry
from frobench.suite.run.unfinished import READINGS, RunClock, snapshot
from frobench.suite.stored import store
from frobench.suite.stored.identity import machine_id
from frobench.suite.stored.names import short_name
from frobench.suite.stored.run import Conclusion, Run
from frobench.suite.units import counted

PILOT = "pilot.jsonl"
"""The journal of the pilot, in a run's folder."""


def run(request: Request, reporter: Reporter, interruptions: Interruptions) -> tuple[Path, Run]:
    """Measure; return the stored file's path and what is in it.

    Raises `CannotRunError`, which is a `CutShortError` if the run can be resumed,
    `NothingSelectedError`, `NothingMeasuredError`, and `Interrupted` when all finished is saved.
    """
    waiting = reporter.say if request.wait else None
    with machine_lock(waiting=waiting), _folder(request) as folder:
        clock = RunClock(folder)
        try:
            return _measure(folder, request.results, clock, reporter, interruptions)
        except NothingMeasuredError:
            unfinished.remove(folder)  # there is nothing to resume
            raise
        except (CannotRunError, NothingSelectedError) as error:
            if Plan.read(folder) is not None:
                raise CutShortError(str(error), folder.name) from error
            unfinished.remove(folder)
            raise
        except OSError as error:
            if not folder.exists():
                message = f"{folder} was removed while its run went on, with all it measured"
                raise CannotRunError(message) from error
            refusal = f"{error.filename or folder}: {error.strerror or error}"
            raise CutShortError(refusal, folder.name) from error
        except KeyboardInterrupt:
            interruptions.hold()
            raise _save_finished(folder, request.results, clock) from None


@contextmanager
def _folder(request: Request) -> Iterator[Path]:
    """Hold the folder of the run that begins, or of the one to resume."""
    unfinished.sweep(request.results)
    if request.resume is not None:
        folder = unfinished.find(request.results, request.resume)
        require_same_commit(Draft.read(folder))
    else:
        commit = environment.commit()
        label = label_of(request.label, request.results) if request.label else None
        draft = partial(make_draft, request, commit, label=label)
        folder = unfinished.begin(request.results, commit.id or "unknown", draft, label)
    with unfinished.held(folder):
        yield folder


def _measure(
    folder: Path, results: Path, clock: RunClock, reporter: Reporter, interruptions: Interruptions
) -> tuple[Path, Run]:
    """Plan the run of a folder unless it is planned, make its launches, and store it."""
    plan = Plan.read(folder)
    if plan is None:
        plan = make_plan(folder, clock, reporter, results)
        _tell(plan, reporter)
        reporter.say(_foreseen(plan, results))
    path = _path(results, plan)
    if not path.exists():  # else the process was killed right after it was written
        launches = Launches(plan, folder, clock, reporter)
        sources = sensors(folder, plan.draft)
        with telemetry.Recorder(sources, folder / READINGS, clock.seconds):
            launches.run()
        interruptions.hold()
        readings = telemetry.readings(folder / READINGS)
        stored = merge(plan, launches.records, clock.seconds(), readings, complete=True)
        require_any(stored.frobench.outcomes)
        store.write(stored, results)
    interruptions.hold()
    for pattern in f"{glob.escape(_partial(path).name)}*", f".{glob.escape(path.name)}.*":
        for left in list(path.parent.glob(pattern)):  # by earlier sittings
            left.unlink(missing_ok=True)
    unfinished.remove(folder)
    stored = store.read(path)
    reporter.say(f"{stored.frobench.part_in_bodies:.0%} of the run went into bodies and warm-up")
    return path, stored


def make_plan(
    folder: Path, clock: RunClock, reporter: Reporter, results: Path | None = None
) -> Plan:
    """See what disturbs the machine, explore what can be measured here, and freeze it.

    results : the folder of stored runs whose cases are measured again
    """
    draft = Draft.read(folder)
    if draft is None:
        raise FileNotFoundError(ENOENT, os.strerror(ENOENT), str(folder / Draft.FILE))
    troubles = doctor.glance(folder, draft.settings.devices)
    _say(troubles, reporter)
    journal = Journal(folder / PILOT)
    journal.begin_again()  # a pilot that was interrupted

    def tell(record: Record) -> None:
        say_failure(record, reporter)
        if isinstance(record, Begun):
            left = draft.settings.budget - clock.seconds()
            reporter.at(0.0, left, f"trying {short_name(record.case)}")

    pilot.explore(draft, journal, tell)
    why_no_counter = telemetry.why_no_counter(sensors(folder, draft))
    before = _choices_before(draft, journal, results)
    plan = freeze(draft, journal, clock.seconds(), why_no_counter, before)
    _say(plan.troubles, reporter)
    if not plan.cases:
        require_any(plan.outcomes)
    plan = replace(plan, troubles=[*troubles, *plan.troubles])
    plan.write(folder)
    clock.keep()
    return plan


def _choices_before(draft: Draft, pilot: Journal, results: Path | None) -> dict[str, bool]:
    """Return the cases that the last run of this machine and profile measured and left out."""
    here = next(record.environment for record in pilot if isinstance(record, Surroundings))
    machine = machine_id(here.cpu, here.accelerators, draft.label or UNSET)
    wanted = draft.settings.profile, draft.settings.longest_sample

    def is_like(run: Run) -> bool:
        settings = run.frobench.settings
        return (settings.profile, settings.longest_sample) == wanted

    last = newest(results / here.machine, machine, is_like) if results else None
    return choices(last.frobench.outcomes) if last else {}


def _say(troubles: Iterable[Conclusion], reporter: Reporter) -> None:
    for trouble in troubles:
        if trouble.severity != "info":
            reporter.say(f"{trouble.code}: {trouble.message}; mend it: {trouble.advice}")


def _foreseen(plan: Plan, results: Path) -> str:
    """Say which change the run will be able to show, by the newest stored run of this machine."""
    here = plan.environment
    machine = machine_id(here.cpu, here.accelerators, here.label)
    earlier = newest(results / here.machine, machine)
    return in_words(forecast(_planned(plan), [case.fullname for case in plan.cases], earlier))


def _planned(plan: Plan) -> int:
    return plan.launches(plan.plan_seconds, plan.launch_seconds)


def _tell(plan: Plan, reporter: Reporter) -> None:
    """Say what is planned, and whether the fewest launches that say anything take too long."""
    left_out = [outcome for outcome in plan.outcomes if outcome.status == "skipped"]
    without = f"; {len(left_out)} left out:" if left_out else ""
    reporter.say(
        f"{counted(len(plan.cases), 'case')} in {counted(_planned(plan), 'launch')} of about "
        f"{remaining(plan.launch_seconds)}{without}"
    )
    for reason in reasons(left_out):
        reporter.say(reason)
    reporter.say(plan.energy.summary())
    if plan.seconds_at_least > plan.settings.budget and plan.settings.launches is None:
        alone = ", and takes less time where no other program keeps the processor busy"
        hope = alone if plan.disturbed else ""
        reporter.say(
            f"{plan.settings.least_launches} launches and this pilot take about "
            f"{remaining(plan.seconds_at_least)}, more than the budget of "
            f"{remaining(plan.settings.budget)}; -k selects fewer cases{hope}"
        )


def sensors(folder: Path, draft: Draft) -> list[Source]:
    """Return the sensors of the devices that the pilot saw."""
    for record in Journal(folder / PILOT):
        if isinstance(record, Surroundings):
            return telemetry.sources(record.seals, str(draft.seed), record.addresses)
    return telemetry.sources({}, "", {})


def _save_finished(folder: Path, results: Path, clock: RunClock) -> Interrupted:
    """Store what an interrupted run has, if it has any sample yet; return what then ends it."""
    try:
        clock.keep()
        stored, plan = snapshot(folder, clock.seconds()), Plan.read(folder)
        if stored is None or plan is None:
            return Interrupted(folder.name, None)
        path = _partial(_path(results, plan))
        path.parent.mkdir(parents=True, exist_ok=True)
        keep(path, store.encode(stored))
    except (OSError, CannotRunError) as error:
        return Interrupted(folder.name, None, trouble=str(error))
    return Interrupted(folder.name, path)


def _path(results: Path, plan: Plan) -> Path:
    return results / plan.environment.machine / f"{plan.draft.run}.json"


def _partial(path: Path) -> Path:
    return path.with_name(f"{path.stem}{store.PARTIAL}")
