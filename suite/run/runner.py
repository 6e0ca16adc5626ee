# SPDX-License-Identifier: MIT
"""A run, from what the user asks to the stored file: plan, launch, merge, store.

Everything is journaled below `results/.runs/<run>/` as it happens, for an interrupted run to go on.

In a job of several nodes the first measures and the others serve it. All nodes of one machine, such
as containers that share its lock, measure under one lock together: the first of them holds it for
the others. Nodes of other machines hold their own.

The label of a machine tells machines of one kind apart and names none of them: it is a digest of
the machine's name, made with a key that is only in the folder of the results. Without the key
a name cannot be found by trying likely ones.
"""

import glob
import hashlib
import math
import random
import secrets
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import Self

from msgspec import UNSET, Struct
from msgspec.structs import replace

from frobench.suite import doctor, errors
from frobench.suite.errors import CannotRunError
from frobench.suite.files import create, keep
from frobench.suite.journal import Begun, Collected, Journal, Measured, Record, Surroundings
from frobench.suite.machine import environment, vendors
from frobench.suite.machine.host import own_address, read
from frobench.suite.machine.sensors.sensor import Source
from frobench.suite.nodes.agent import Agent, holding_nodes
from frobench.suite.nodes.rendezvous import Meeting, Position, describe, meet
from frobench.suite.plan import Plan
from frobench.suite.printable import printable
from frobench.suite.profiles import PEAK_SECONDS, SEARCH_PART, settings_for
from frobench.suite.project import git
from frobench.suite.project.git import facts, project_folder
from frobench.suite.run import pilot, telemetry, unfinished
from frobench.suite.run.expected import newest
from frobench.suite.run.launches import Launches
from frobench.suite.run.lock import lock_identity, machine_lock
from frobench.suite.run.merge import merge
from frobench.suite.run.planning import choices, freeze
from frobench.suite.run.progress import (
    Reporter,
    in_brief,
    reasons,
    remaining,
    require_any,
    say_refusal,
)
from frobench.suite.run.unfinished import LAUNCHES, PILOT, READINGS, RunClock
from frobench.suite.stored import store, types
from frobench.suite.stored.machine_identity import machine_id, short_name
from frobench.suite.stored.types import LABEL_DIGITS, Conclusion, Environment, Outcome, Run
from frobench.suite.units import counted

KEY = ".label-key"
"""The file of the key, in a folder of results; its name begins with a dot, so git ignores it."""
KEY_BYTES = 32


def label_of(name: str, results: Path) -> str:
    """Return the label of a machine in all runs of a folder; raises `OSError` as `key` may."""
    digest = hashlib.blake2b(name.encode(), key=key(results), digest_size=KEY_BYTES)
    return digest.hexdigest()[:LABEL_DIGITS]


def key(results: Path) -> bytes:
    """Return the key of a folder of results, made by whichever process comes first."""
    path = results / KEY
    if not path.exists():
        results.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):  # another process was faster
            create(path, secrets.token_bytes(KEY_BYTES))
    return path.read_bytes()[:KEY_BYTES]


BOOT = Path("/proc/sys/kernel/random/boot_id")
"""Linux's name for the time since it started, the same in all containers of a host."""


def take_part(here: Position, benchmarks: Path, *, wait: Callable[[str], object] | None) -> str:
    """Serve the runner as one of its nodes until the run is over; `wait` is as in `machine_lock`.

    Raises `CannotRunError` if the nodes do not fit each other, if another run measures this
    machine, or if the runner is gone.
    """
    address = _address(here)
    agent = Agent(address)
    meeting = meet(here, describe(address, agent.port, agent.key, _machine(), benchmarks))
    sys.path.insert(0, str(benchmarks))  # the processes that it starts find their tasks there
    holds_lock = meeting.holds_lock(here.number)
    answer = agent.attend(machine_lock(waiting=wait) if holds_lock else nullcontext())
    if answer is None:
        raise CannotRunError(f"node {here.number} lost node 0 before the run ended")
    return answer


@contextmanager
def coordinating(here: Position, benchmarks: Path) -> Iterator[Meeting]:
    """Have all other nodes at hand while this one, the first, measures; raises as `take_part`."""
    meeting = meet(here, describe(_address(here), 0, "", _machine(), benchmarks))
    with holding_nodes(meeting):
        if len(meeting.nodes) > 1:  # a single node is a machine like any other, without a network
            meeting.publish()
        yield meeting


def _address(here: Position) -> str:
    try:
        return own_address(here.store, here.port)
    except OSError as error:
        raise CannotRunError(f"no network leads to {here.store} (MASTER_ADDR): {error}") from error


def _machine() -> str:
    """Return what nodes have in common whose runs take turns by one lock."""
    return f"{read(BOOT)} {lock_identity()}"


ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
AGAIN_SECONDS = 5.0
"""Seconds in which a second signal is ignored, and after which the exception is raised again, since
Python ignores one that is raised inside a destructor."""


class Interruptions:
    """Turns SIGINT, SIGTERM and SIGHUP into `KeyboardInterrupt` while the context lasts.

    A signal that the process was started to ignore, as in the background of a script, stays
    ignored.
    """

    def __init__(self) -> None:
        self._held = False
        self._last = -math.inf

    def __enter__(self) -> Self:
        obeyed = [number for number in ENDING if signal.getsignal(number) is not signal.SIG_IGN]
        obeyed += [signal.SIGALRM]
        self._before = {number: signal.signal(number, self._interrupt) for number in obeyed}
        return self

    def __exit__(self, *_: object) -> None:
        self.hold()
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def hold(self) -> None:
        """Ignore every further signal, so that what is finished can be stored."""
        self._held = True
        signal.setitimer(signal.ITIMER_REAL, 0.0)

    def _interrupt(self, _number: int, _frame: FrameType | None) -> None:
        now = monotonic()
        if not self._held and now - self._last >= AGAIN_SECONDS:
            self._last = now
            signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS)
            raise KeyboardInterrupt


class Request(Struct, frozen=True, kw_only=True):
    """What the user asked for."""

    results: Path
    benchmarks: Path
    profile: types.ProfileName = "standard"
    devices: list[str] = []  # names, or none for the CPU and every accelerator
    expression: str = ""
    budget: float | None = None
    launches: int | None = None
    deadline: float | None = None
    seed: int | None = None
    peak: bool = False  # give the searches time beyond the budget
    like: Run | None = None  # a run to repeat: its cases and settings hold, and by default devices
    resume: str | None = None  # a run to finish by its own plan, or ``last``
    wait: bool = False  # until no other run measures this machine, rather than refuse
    project: Path | None = None  # a folder of the project, if not in the benchmarks' repository
    label: str = ""  # the name of this machine among others of its kind; a seal of it is stored
    paths: list[str] = []  # see `Plan`


def settle(request: Request) -> Plan:
    """Return what a run is to measure, before its pilot and without its name.

    Raises `CannotRunError` if the project is no repository.
    """
    if request.like is not None:
        done = request.like.frobench
        devices = request.devices or done.settings.devices
        settings = replace(done.settings, devices=devices, launches=len(done.launches))
    else:
        settings = settings_for(
            request.profile,
            request.devices,
            budget=request.budget,
            launches=request.launches,
            deadline=request.deadline,
            expression=request.expression,
        )
        settings = replace(settings, budget=settings.budget + PEAK_SECONDS * request.peak)
    tree = project_folder(request.project, request.benchmarks)
    repeated = request.like.benchmarks if request.like else []
    searches = {case.fullname: case.extra_info.search for case in repeated}
    return Plan(
        run="",
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        seed=random.SystemRandom().randrange(2**31) if request.seed is None else request.seed,
        settings=settings,
        benchmarks=str(request.benchmarks),
        commit=environment.commit(),
        like=[
            Outcome(
                fullname=case.fullname,
                group=case.group,
                params=case.params,
                status="skipped",
                reason="not found: it needs its benchmark and "
                + ", ".join(case.extra_info.devices),
            )
            for case in repeated
        ],
        search_seconds=PEAK_SECONDS if request.peak else SEARCH_PART * settings.budget,
        searched={name: search for name, search in searches.items() if search is not None},
        budget_asked=request.budget is not None,
        project_folder=str(tree) if tree else None,
        project=facts(tree) if tree else None,
        paths=request.paths,
        label=label_of(request.label, request.results) if request.label else None,
    )


def require_same_commit(plan: Plan) -> None:
    """Raise `CannotRunError` if the project is not as it was when the run of a plan began."""
    if plan.project_folder is None or plan.project is None:
        return
    now = facts(Path(plan.project_folder))
    if now != plan.project:
        raise CannotRunError(
            f"the run {plan.run} began with {git.describe(plan.project)}, and there is "
            f"{git.describe(now)} now: check that commit out again, or measure anew"
        )


def run(request: Request, reporter: Reporter, interruptions: Interruptions) -> tuple[Path, Run]:
    """Measure; return the stored file's path and what is in it.

    Raises `CannotRunError`, which is a `CutShortError` if the run can be resumed,
    `NothingSelectedError`, `NothingMeasuredError`, and `Interrupted` when all finished is saved.
    """
    results, waiting = request.results, reporter.say if request.wait else None
    with (
        machine_lock(waiting=waiting),
        _folder(request) as folder,
        _ended_well(folder, results, interruptions) as clock,
    ):
        plan = Plan.read(folder)
        if not plan.cases:
            plan = explored(plan, folder, clock, reporter, results)
            _announce(plan, reporter)
        path = _path(results, plan)
        if not path.exists():  # else the process was killed right after it was written
            launches = Launches(plan, folder, clock, reporter)
            clock.advance_to(telemetry.last_moment(folder / READINGS))  # of an earlier sitting
            sources = sensors(folder, plan)
            with telemetry.recording(sources, folder / READINGS, clock.seconds):
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
        return path, store.read(path)


@contextmanager
def _ended_well(folder: Path, results: Path, interruptions: Interruptions) -> Iterator[RunClock]:
    """Have the clock of a run; where the run is cut short, keep what it has, and say so."""
    clock = RunClock()
    try:
        yield clock
    except errors.NothingMeasuredError:
        unfinished.remove(folder)  # there is nothing to resume
        raise
    except (CannotRunError, errors.NothingSelectedError) as error:
        if Plan.read(folder).cases:
            raise errors.CutShortError(str(error), folder.name) from error
        unfinished.remove(folder)
        raise
    except OSError as error:
        refusal = f"{error.filename or folder}: {error.strerror or error}"
        raise errors.CutShortError(refusal, folder.name) from error
    except KeyboardInterrupt:
        interruptions.hold()
        raise _save_finished(folder, results, clock) from None


@contextmanager
def _folder(request: Request) -> Iterator[Path]:
    """Hold the folder of the run that begins, or of the one to resume."""
    unfinished.sweep(request.results)
    if request.resume is not None:
        folder = unfinished.find(request.results, request.resume)
        require_same_commit(Plan.read(folder))
    else:
        folder = unfinished.begin(request.results, settle(request))
    with unfinished.locked(folder):
        yield folder


def explored(
    plan: Plan, folder: Path, clock: RunClock, reporter: Reporter, results: Path | None = None
) -> Plan:
    """See what disturbs the machine, explore what can be measured here, and freeze the plan.

    results : the folder of stored runs whose cases are measured again
    """
    troubles = doctor.glance(folder, plan.settings.devices)
    _name_troubles(troubles, reporter)
    journal = Journal(folder / PILOT)
    journal.begin_again()  # a pilot that was interrupted

    def show(record: Record) -> None:
        say_refusal(record, reporter)
        if isinstance(record, Collected):
            cases = counted(len(record.cases), "case")
            reporter.say(f"{cases} to try first, which shows how long each of them takes")
        if isinstance(record, Begun):
            spent = clock.seconds()
            left = max(0.0, plan.settings.budget - spent)
            reporter.at(spent, left, f"trying {short_name(record.case)}")

    pilot.explore(plan, journal, show)
    why_no_counter = telemetry.why_no_counter(sensors(folder, plan))
    here = next(record for record in journal if isinstance(record, Surroundings))
    before = _choices_before(plan, here.environment, results)
    frozen = freeze(plan, journal, clock.seconds(), why_no_counter, before)
    _name_troubles(frozen.troubles, reporter)
    for name, reason in here.refusals.items():  # PyTorch's words, which are not stored
        reporter.say(printable(f"  {name}: {reason}"))
    if not frozen.cases:
        require_any(frozen.outcomes)
    frozen.troubles = [*troubles, *frozen.troubles]
    frozen.write(folder)
    return frozen


def _choices_before(plan: Plan, here: Environment, results: Path | None) -> dict[str, bool]:
    """Return the cases that the last run of this machine and profile measured and left out."""
    machine = machine_id(here.cpu, here.accelerators, plan.label or UNSET)
    wanted = plan.settings.profile, plan.settings.longest_sample

    def is_like(run: Run) -> bool:
        settings = run.frobench.settings
        return (settings.profile, settings.longest_sample) == wanted

    last = newest(results / here.machine, machine, is_like) if results else None
    return choices(last.frobench.outcomes) if last else {}


def _name_troubles(troubles: Iterable[Conclusion], reporter: Reporter) -> None:
    for trouble in troubles:
        if trouble.severity != "info":
            reporter.say(f"{trouble.code}: {trouble.message}; advice: {trouble.advice}")


def _announce(plan: Plan, reporter: Reporter) -> None:
    """Say what is planned, and whether the fewest launches that say anything take too long."""
    left_out = [outcome for outcome in plan.outcomes if outcome.status == "skipped"]
    launches = plan.launches(plan.plan_seconds, plan.launch_seconds)
    reporter.say(
        f"{counted(len(plan.cases), 'case')} in {counted(launches, 'launch')} of about "
        f"{remaining(plan.launch_seconds)} each"
    )
    if left_out:
        more = ":" if reporter.verbose else " (--verbose names them)"
        reporter.say(f"{in_brief(left_out)}{more}")
    for reason in reasons(left_out) if reporter.verbose else ():
        reporter.say(reason)
    if plan.seconds_at_least > plan.settings.budget and plan.settings.launches is None:
        alone = ", and takes less time where no other program keeps the processor busy"
        hope = alone if plan.disturbed else ""
        reporter.say(
            f"{plan.settings.least_launches} launches and this pilot take about "
            f"{remaining(plan.seconds_at_least)}, more than the budget of "
            f"{remaining(plan.settings.budget)}; -k selects fewer cases{hope}"
        )


def sensors(folder: Path, plan: Plan) -> list[Source]:
    """Return the sensors of the devices that the pilot saw."""
    here = next(record for record in Journal(folder / PILOT) if isinstance(record, Surroundings))
    return vendors.sources(here.identities, str(plan.seed))


def _save_finished(folder: Path, results: Path, clock: RunClock) -> errors.Interrupted:
    """Store what an interrupted run has, if it has any sample yet; return what then ends it."""
    with suppress(OSError, CannotRunError):  # the journal has everything finished all the same
        plan, records = Plan.read(folder), list(Journal(folder / LAUNCHES))
        if any(isinstance(record, Measured) for record in records):
            readings = telemetry.readings(folder / READINGS)
            stored = merge(plan, records, clock.seconds(), readings, complete=False)
            path = _partial(_path(results, plan))
            path.parent.mkdir(parents=True, exist_ok=True)
            keep(path, store.encode(stored))
            return errors.Interrupted(folder.name, path)
    return errors.Interrupted(folder.name, None)


def _path(results: Path, plan: Plan) -> Path:
    return results / plan.environment.machine / f"{plan.run}.json"


def _partial(path: Path) -> Path:
    return path.with_name(f"{path.stem}{store.PARTIAL}")
