# SPDX-License-Identifier: MIT
"""One pytest session over benchmarks: what it was asked, its journal, and what its cases share.

Cases share workers, memory, the state of the process, and the state of devices and machine around
them.
"""

import gc
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from time import monotonic, perf_counter

import pytest
import torch
from msgspec.structs import replace

from frobench.suite import doctor, journal
from frobench.suite.errors import CannotRunError, in_brief, known_message
from frobench.suite.journal import (
    DEVICE_LOST,
    DISK_REFUSES,
    OPTION,
    Gauged,
    Harness,
    LaunchSpec,
    Record,
    Settled,
    Stopped,
    Surroundings,
    read_spec,
)
from frobench.suite.kit import device as dev
from frobench.suite.kit.device import (
    Device,
    UnknownDeviceError,
    accelerators,
    choose,
    global_state,
    unserved,
)
from frobench.suite.kit.garbage import Survivors
from frobench.suite.kit.group import Group
from frobench.suite.kit.worker_process import Seat
from frobench.suite.kit.workers import Worker, early_workers
from frobench.suite.launch.case import CaseTimer
from frobench.suite.launch.collection import parameters, seats
from frobench.suite.launch.search import Searches
from frobench.suite.machine import environment
from frobench.suite.machine.accounts import Accounts, accounts
from frobench.suite.machine.sensors.sensor import seal
from frobench.suite.machine.torch_facts import bus_address
from frobench.suite.measure import ready, sampler
from frobench.suite.measure.around import Blocker, blocker
from frobench.suite.nodes.groups import Groups
from frobench.suite.profiles import PROFILES, settings_for
from frobench.suite.project.imports import foreign, foreign_code, imported
from frobench.suite.stored.types import Settings
from frobench.suite.units import counted

Write = Callable[[Record], None]
"""Appends to the journal."""
SETTLED = 0.05
"""Seconds from which on settling the clocks before a case is worth a line in the journal."""


def settings_here(spec: LaunchSpec, write: Write) -> Settings:
    """Return the settings with the devices that are there; a pilot records what they are like."""
    settings = spec.settings
    if not spec.journal or spec.mode == "measure":  # they are from the options, or from the plan
        return settings
    wanted = settings.devices
    try:
        settings = replace(settings, devices=choose(wanted))
        _refuse(wanted, settings.devices)
    except (UnknownDeviceError, CannotRunError) as error:
        write(Stopped(message=str(error)))
        pytest.exit(str(error))
    if spec.mode == "pilot":
        lacking = {} if wanted else unserved(accelerators())
        refusals = {
            name: known_message(why) or "torch cannot compute there"
            for name, why in lacking.items()
        }
        devices = [Device(name) for name in settings.devices]
        ready.steady_clocks(devices, ready.WAKE_SECONDS)
        write(
            Surroundings(
                devices=settings.devices,
                environment=environment.capture(settings.devices),
                seals=seals(settings.devices, str(spec.seed)),
                addresses=addresses(settings.devices),
                troubles=doctor.left_out(refusals),
            )
        )
    return settings


def seals(devices: Sequence[str], salt: str) -> dict[str, str | None]:
    """Return by what the runner finds the sensors of each accelerator; ``None`` without a UUID."""
    gpus = [Device(name) for name in devices if name != "cpu"]
    return {gpu.name: gpu.uuid and seal(gpu.uuid, salt) for gpu in gpus}


def addresses(devices: Sequence[str]) -> dict[str, str]:
    """Return the bus addresses of the devices that have one."""
    return {name: address for name in devices if (address := bus_address(name))}


class Readiness:
    """Keeps the devices of a launch ready for its cases, and records in which state they are."""

    def __init__(self, spec: LaunchSpec, cases: int, write: Write) -> None:
        self._launch = spec.launch
        self._write = write
        begun, settings = perf_counter(), spec.settings
        devices = [Device(name) for name in settings.devices]
        self._accelerators = [device for device in devices if device.is_accelerator]
        self._seconds = PROFILES[settings.profile].settle
        ready.steady_clocks(self._accelerators, self._seconds)
        self._rested = False
        self._gauge = ready.Gauge(devices, cases)
        write(
            Harness(
                launch=spec.launch,
                empty_body=ready.of_each(devices, ready.empty_body),
                ready_reading=ready.of_each(self._accelerators, Device.ready_reading),
                waits=ready.of_each(self._accelerators, lambda device: str(device.wait)),
                timer_step=sampler.timer_step(),
                state=global_state(),
                environment=environment.capture(settings.devices),
                warmup=perf_counter() - begun,
            )
        )

    def before_case(self, devices: Sequence[str]) -> None:
        """Settle the clocks of accelerators that rested during cases of the CPU; read the gauge."""
        used = any(device.name in devices for device in self._accelerators)
        begun = perf_counter()
        if used and self._rested:
            ready.steady_clocks(self._accelerators, self._seconds)
        self._rested = not used
        if (seconds := perf_counter() - begun) > SETTLED:
            self._write(Settled(launch=self._launch, seconds=seconds))
        self._gauge.read_before_case()

    def finish(self) -> None:
        """Record what the gauge has read, once every case is over."""
        self._write(Gauged(launch=self._launch, seconds=self._gauge.finish()))


def _refuse(wanted: Sequence[str], devices: Sequence[str]) -> None:
    """Raise `CannotRunError` if torch cannot use an accelerator."""
    if wanted != ["cpu"] and (troubles := doctor.unusable_accelerators()):
        lines = (f"{trouble.message}\n  mend it: {trouble.advice}" for trouble in troubles)
        raise CannotRunError("\n".join(lines))
    if lacking := unserved(devices):
        faults = "\n".join(f"{name} cannot be used: {why}" for name, why in lacking.items())
        raise CannotRunError(
            f"{faults}\n  mend it: {doctor.REFUSED}; or measure without it: --devices cpu"
        )


CLOCKS = ("monotonic", "perf_counter", "sleep")
LIMITS = ("AS", "CPU", "DATA", "FSIZE", "NOFILE", "NPROC")
"""Limits of the system without which the harness cannot write, start or finish what comes next."""
TIMERS = [getattr(signal, f"ITIMER_{name}", None) for name in ("REAL", "VIRTUAL", "PROF")]
BUSY_WINDOW, BUSY = 0.02, 0.1
"""Seconds for which threads that a case left are watched, and the part of it that each may work."""


class Resources:
    """What the first case that needs it makes, and all later ones use."""

    def __init__(self, spec: LaunchSpec) -> None:
        self._spec, settings = spec, spec.settings
        self._workers: dict[tuple[Seat, ...], list[Worker]] = {}
        self._blockers: dict[str, Blocker | None] = {}
        self._untidy = False
        self._survivors = Survivors()
        self.groups = Groups(
            spec.seed, settings.devices, settings.deadline, lambda group: self._seated(seats(group))
        )

    def workers(self, seats: Sequence[Seat]) -> list[Worker]:
        """Return a worker for each seat, with room on its device."""
        self.groups.part()
        return self._seated(seats)

    def _seated(self, seats: Sequence[Seat]) -> list[Worker]:
        dev.release_memory()
        key = tuple(seats)
        if key not in self._workers:
            self._workers[key] = [Worker(seat, self._spec.seed) for seat in seats]
        return self._workers[key]

    def seat_early_workers(self) -> None:
        """Wait for the workers that have started with the launch, and keep them for its cases."""
        self._workers |= early_workers()

    def drop_workers(self, lost: str = "") -> None:
        """End all workers; the next case that needs some gets fresh ones."""
        self.groups.drop(lost)
        for worker in chain.from_iterable(self._workers.values()):
            worker.close()
        self._workers.clear()

    def blocker(self, devices: Sequence[dev.Device]) -> Blocker | None:
        """Return what blocks the device of a case that uses one alone, where samples are taken."""
        if len(devices) != 1 or self._spec.mode not in {"measure", "alone"}:
            return None
        (device,) = devices
        if device.name not in self._blockers:
            self._blockers[device.name] = blocker(device)
        return self._blockers[device.name]

    def recover(self, *, failed: bool, lost: str = "") -> None:
        """Drop what a case without samples may have spoilt; end the launch if a device is lost.

        lost : the rank that a group has lost, and how
        """
        self._untidy = True
        if failed:
            self.drop_workers(lost)
        try:
            for name in self._spec.settings.devices:
                _answers(dev.Device(name))
        except Exception as error:  # noqa: BLE001 - whatever a backend raises when it is lost
            pytest.exit(f"a device no longer works: {in_brief(error)}", returncode=DEVICE_LOST)

    def tidy_up(self) -> None:
        """Let go of what cases without samples have held, before the next one begins."""
        if self._untidy:  # pytest keeps the last error, which keeps all tensors of its case
            for name in ("last_type", "last_value", "last_traceback", "last_exc"):
                vars(sys).pop(name, None)
            gc.collect()
            self._survivors.spare()
            dev.release_memory()
        self._untidy = False


def _answers(device: dev.Device) -> None:
    """Raise if a device does not answer any more, unless it is full or never had the call."""
    lacking = AttributeError, NotImplementedError, TypeError, ValueError
    with suppress(*lacking, torch.OutOfMemoryError):
        device.synchronize()


class ProcessState:
    """The settings, clocks, limits, signals and threads of this process when this is made."""

    def __init__(self) -> None:
        self._threads = set(threading.enumerate())
        self._settings = _settings()
        self._limits = _limits()
        self._still = [it for it in TIMERS if it is not None and signal.getitimer(it)[0] == 0]
        self._handlers = {it: signal.getsignal(it) for it in signal.valid_signals()}

    def silence(self) -> None:
        """Stop the timers that were started, and restore the handlers of signals.

        An alarm that a case left would end the process of a later one.
        """
        for timer in self._still:
            signal.setitimer(timer, 0)
        for number, handler in self._handlers.items():
            if handler is not None and signal.getsignal(number) != handler:
                signal.signal(number, handler)

    def changes(self) -> list[str]:
        """Name what is different now, where a limit may have been raised."""
        settings, limits = _settings(), _limits()
        return [
            *(name for name, value in self._settings.items() if settings[name] != value),
            *(name for name, value in self._limits.items() if limits[name] < value),
            *_busy(set(threading.enumerate()) - self._threads),
        ]


def _settings() -> dict[str, object]:
    return {**dev.global_state(), **{f"time.{name}": getattr(time, name) for name in CLOCKS}}


def _limits() -> dict[str, float]:
    if sys.platform == "win32":
        return {}
    import resource  # noqa: PLC0415 - not everywhere

    limits = {}
    for name in (f"RLIMIT_{name}" for name in LIMITS):
        if hasattr(resource, name):
            limit, _ = resource.getrlimit(getattr(resource, name))
            limits[name] = math.inf if limit == resource.RLIM_INFINITY else limit
    return limits


def _busy(threads: set[threading.Thread]) -> list[str]:
    if not threads or not hasattr(time, "pthread_getcpuclockid"):
        return []
    before = _cpu_seconds(threads)
    time.sleep(BUSY_WINDOW)
    after = _cpu_seconds(threads)
    worked = [after[ident] - before[ident] for ident in before.keys() & after.keys()]
    busy = sum(seconds > BUSY * BUSY_WINDOW for seconds in worked)
    return [counted(busy, "thread") + " still at work"] if busy else []


def _cpu_seconds(threads: set[threading.Thread]) -> dict[int, float]:
    living = [thread.ident for thread in threads if thread.is_alive() and thread.ident]
    return {ident: time.clock_gettime(time.pthread_getcpuclockid(ident)) for ident in living}


class LaunchSession:
    """One pytest session over benchmarks: a launch of a run, or a user's own.

    is_changed : whether a case has changed the process for those behind it
    """

    def __init__(self, config: pytest.Config) -> None:
        path = config.getoption(OPTION)
        self.spec = _spec_alone(config) if path is None else read_spec(path)
        self.journal = journal.Journal(Path(self.spec.journal)) if self.spec.journal else None
        self.spec.plan.settings = settings_here(self.spec, self.write)
        self.searches = Searches(self.spec, self.write)
        self.resources = Resources(self.spec)
        self.cases = CaseTimer(self.spec)
        self.is_changed = False
        self._readiness: Readiness | None = None
        self._begun = 0.0
        self._before: Accounts | None = None
        self._examined = False

    def write(self, record: journal.Record) -> None:
        """Append to the journal, if there is one; end the launch if the disk refuses."""
        if self.journal is None:
            return
        if os.getppid() != self.spec.runner:  # another runner may be at work on the journal
            pytest.exit("the runner is gone", returncode=DEVICE_LOST)
        try:
            self.journal.write(record)
        except OSError as error:
            pytest.exit(f"the journal cannot be written: {error}", returncode=DISK_REFUSES)

    def group(self, device: str) -> Group:
        """Return a group by its name; a pilot records what its nodes are like."""
        group = self.resources.groups.find(device)
        if self.spec.mode == "pilot" and not self._examined:
            self._examined = True
            if nodes := self.resources.groups.examine():
                self.write(journal.NodesSeen(nodes=nodes))
        return group

    def remember(self, items: Sequence[pytest.Function]) -> None:
        """Take up a pilot that a hung or crashed case ended."""
        if self.journal is None or self.spec.mode != "pilot":
            return
        by_name = {item.nodeid: item for item in items}
        for record in self.journal:
            if isinstance(record, journal.Measured | journal.Refused) and record.case in by_name:
                self.cases.remember(by_name[record.case], record)
            elif isinstance(record, journal.Tried):
                self.searches.remember(record)

    def get_ready(self, cases: int) -> None:
        """Wait for early workers; bring the devices of a launch to where its cases can begin."""
        self.resources.seat_early_workers()
        if self.spec.mode == "measure" and self.journal is not None:
            self._readiness = Readiness(self.spec, cases, self.write)

    def begin(self, item: pytest.Item) -> None:
        """Make a case's devices ready again, and record that the case is in flight."""
        if self._readiness is not None and isinstance(item, pytest.Function):
            self._readiness.before_case(str(parameters(item)["device"]).split("+"))
        self._begun = monotonic()
        if self.spec.mode == "pilot":
            self._before = accounts()
        self.write(journal.Begun(launch=self.spec.launch, case=item.nodeid, at=self._begun))

    def conclude(
        self, case: str, measured: journal.Measured | None, refused: journal.Refused | None
    ) -> None:
        """Record what became of a case, once it is over."""
        if measured is not None and refused is None:
            took = monotonic() - self._begun
            measured.wall_seconds = took - self.searches.took.get(case, 0.0)
            measured.search = self.searches.found.get(case)
            if self._before is not None and (now := accounts()) is not None:
                measured.accounts = now.since(self._before)
        if (record := refused or measured) is not None:
            self.write(record)
        self.searches.waiting.discard(case)
        if refused is not None:  # also where what seemed to be missing was the device
            lost = refused.reason if refused.lost else ""
            self.resources.recover(failed=refused.status == "failed", lost=lost)
        if self.is_changed and self.journal is not None:
            pytest.exit("a case changed the process for those behind it", returncode=DEVICE_LOST)

    def finish(self) -> None:
        """Record what the gauge has read, and where code came from, once every case is over."""
        if self._readiness is not None:
            self._readiness.finish()
        plan = self.spec.plan
        benchmarks, project = Path(plan.benchmarks), plan.project_folder
        if plan.paths:
            inside, outside = imported(plan.paths, plan.kept_out)
            known = project and foreign(Path(project), benchmarks)
            self.write(
                journal.Imported(
                    launch=self.spec.launch, inside=inside, outside=outside, foreign=known or None
                )
            )
        elif self.spec.mode == "pilot" and project is not None:
            message = foreign_code(Path(project), benchmarks)
            if message is not None:
                self.write(journal.Stopped(message=message))


def _spec_alone(config: pytest.Config) -> LaunchSpec:
    wanted = [name for name in config.getoption("--frobench-devices").split(",") if name]
    settings = settings_for(config.getoption("--frobench-profile"), choose(wanted))
    plan = journal.Plan(run="", started="", seed=0, settings=settings, benchmarks="")
    return LaunchSpec(plan=plan, mode="alone", journal="")
