# SPDX-License-Identifier: MIT
"""What the cases of one pytest session share: settings, journal, workers, what was learnt."""

import gc
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any, Literal, NamedTuple

import msgspec
import pytest
from msgspec.structs import replace

from suite import doctor
from suite.errors import CannotRunError, TooLongError, WrongResultError
from suite.journal.journal import Journal
from suite.journal.records import (
    Begun,
    Busy,
    Gauged,
    Harness,
    Imported,
    Measured,
    Record,
    Refused,
    Settled,
    Stopped,
    Surroundings,
    Tried,
)
from suite.journal.spec import DEVICE_LOST, DISK_REFUSES, LaunchSpec
from suite.kit import device as dev
from suite.kit.cases import Parameters
from suite.kit.check_result import briefly, worst
from suite.kit.workers import Seat, Worker
from suite.launch.collection import parameters
from suite.launch.search import Searches
from suite.launch.single_call import called_once
from suite.launch.work_of_cases import work as declared_work
from suite.machine import environment
from suite.machine.accounts import Accounts, accounts
from suite.machine.sensors.sensor import seal
from suite.measure import clocks, ready
from suite.measure import sampler as timing
from suite.measure.energy_window import repeat
from suite.measure.exploring import Explorer
from suite.measure.gauge import Gauge
from suite.measure.inputs import Inputs
from suite.measure.queued import Blocker, blocker
from suite.measure.sampling import Measurement
from suite.personal import private
from suite.profiles import PROFILES, settings_for
from suite.project.imports import foreign_code, imported
from suite.stored.names import name_of
from suite.stored.run import Check, Settings, Work

SETTLED = 0.05
"""Seconds from which on settling the clocks before a case is worth a line in the journal."""
LONGEST_REASON, LONGEST_MESSAGE = 300, 3_000
"""Characters of a stored reason, and of an error's message that are looked at: ten times as many,
so that nothing is cut in half before it is hidden."""
_PATH = re.compile(r"(?<![\w.])(?:[A-Za-z]:\\|~?/)[^\s'\",;:)]+")


class Refusal(NamedTuple):
    """Why a case has no samples; see `Refused`."""

    status: Literal["failed", "skipped"]
    reason: str
    check: Check | None = None
    details: str = ""


class LaunchSession:
    """One pytest session over benchmarks: a launch of a run, or a user's own."""

    def __init__(self, config: pytest.Config) -> None:
        path = config.getoption("--frobench-launch")
        self.spec = _spec_alone(config) if path is None else _read_spec(path)
        self.journal = Journal(Path(self.spec.journal)) if self.spec.journal else None
        self.settings = self._look_around()
        self._explorer = Explorer(self.settings)
        self._climb = self._explorer.climb
        self._place = self.spec.done
        self.searches = Searches(self.spec, self.write)
        self._workers: dict[tuple[Seat, ...], list[Worker]] = {}
        self._blockers: dict[str, Blocker | None] = {}
        self._untidy = self._changed = False
        self._before: Accounts | None = None
        self._gauge: Gauge | None = None
        self._clocks: ready.SteadyClocks | None = None

    def write(self, record: Record) -> None:
        """Append to the journal, if there is one; end the launch if the disk refuses.

        Without the runner nothing is written: another one may be at work on the journal.
        """
        if self.journal is None:
            return
        if os.getppid() != self.spec.runner:  # on Linux the system has ended this process before
            pytest.exit("the runner is gone", returncode=DEVICE_LOST)
        try:
            self.journal.write(record)
        except OSError as error:
            pytest.exit(f"the journal cannot be written: {error}", returncode=DISK_REFUSES)

    def _look_around(self) -> Settings:
        """Return the settings with the devices that are there; a pilot writes down all it sees."""
        settings = self.spec.settings
        if self.journal is None or self.spec.mode == "measure":
            return settings
        wanted = settings.devices
        try:
            settings = replace(settings, devices=dev.choose(wanted))
            if wanted != ["cpu"]:
                _refuse_to_ignore_accelerators()
            _refuse_to_fail_everywhere(settings.devices)
        except (dev.UnknownDeviceError, CannotRunError) as error:
            self.write(Stopped(message=str(error)))
            pytest.exit(str(error))
        if self.spec.mode == "pilot":
            with suppress(RuntimeError):  # a device that is lost fails its cases
                wake = [dev.Device(name) for name in settings.devices]
                ready.steady_clocks(wake, ready.WAKE_SECONDS)
            self.write(
                Surroundings(
                    devices=settings.devices,
                    environment=environment.capture(settings.devices),
                    seals=_seals(settings.devices, str(self.spec.seed)),
                    addresses=_addresses(settings.devices),
                    troubles=doctor.left_out([] if wanted else dev.unserved(dev.accelerators())),
                )
            )
        return settings

    def workers(self, seats: Sequence[Seat]) -> list[Worker]:
        """Return a worker for each seat, started at the first asking, with room on its device."""
        dev.release_memory()
        key = tuple(seats)
        if key not in self._workers:
            self._workers[key] = [Worker(seat, self.spec.seed) for seat in seats]
        return self._workers[key]

    def blocker(self, devices: Sequence[dev.Device]) -> Blocker | None:
        """Return what blocks the one device that a case uses, made at the first asking."""
        if len(devices) != 1 or self.spec.mode not in {"measure", "alone"}:
            return None
        (device,) = devices
        if device.name not in self._blockers:
            self._blockers[device.name] = blocker(device, perf_counter)
        return self._blockers[device.name]

    def drop_workers(self) -> None:
        """End all workers; the next case that needs some gets fresh ones."""
        for workers in self._workers.values():
            for worker in workers:
                worker.close()
        self._workers.clear()

    def get_ready(self, cases: int) -> None:
        """Bring accelerators to a steady clock; time an empty body and the gauge on each device.

        cases : how many this process will measure
        """
        if self.spec.mode != "measure" or self.journal is None:
            return
        begun = perf_counter()
        devices = [dev.Device(name) for name in self.settings.devices]
        accelerators = [device for device in devices if device.is_accelerator]
        settle = PROFILES[self.settings.profile].settle
        self._clocks = ready.SteadyClocks(accelerators, settle)
        self._clocks.settle()
        self._gauge = Gauge(devices, cases)
        waits = ready.of_each(accelerators, lambda device: device.wait)
        self.write(
            Harness(
                launch=self.spec.launch,
                empty_body=ready.of_each(devices, ready.empty_body),
                ready_reading=ready.of_each(accelerators, dev.Device.ready_reading),
                waits={name: wait for name, wait in waits.items() if wait},
                timer_step=clocks.timer_step(),
                state=dev.global_state(),
                environment=environment.capture(self.settings.devices),
                warmup=perf_counter() - begun,
            )
        )

    def before_case(self, item: pytest.Item) -> None:
        """Settle the clocks of accelerators that rested, and read the gauge if it is due."""
        if self._clocks is not None and isinstance(item, pytest.Function):
            took = self._clocks.before(str(parameters(item)["device"]).split("+"))
            if took > SETTLED:
                self.write(Settled(launch=self.spec.launch, seconds=took))
        if self._gauge is not None:
            self._gauge.read_before_case()

    def finish(self) -> None:
        """Write down what the gauge has read, and where code came from, once every case is over."""
        if self._gauge is not None:
            seconds = self._gauge.finish()
            self.write(Gauged(launch=self.spec.launch, seconds=seconds))
        if self.spec.paths:
            origins = imported(self.spec.paths, self.spec.kept_out)
            self.write(Imported(launch=self.spec.launch, **origins._asdict()))
        elif self.spec.project is not None:
            message = foreign_code(Path(self.spec.project), Path(self.spec.benchmarks))
            if message is not None:
                self.write(Stopped(message=message))

    def remember(self, items: Sequence[pytest.Function]) -> None:
        """Take up a pilot that a hung or crashed case ended, where it was."""
        if self.journal is None or self.spec.mode != "pilot":
            return
        by_name = {item.nodeid: item for item in items}
        for record in self.journal:
            if isinstance(record, Measured) and record.case in by_name:
                family = _family(by_name[record.case])
                self._climb.climbed(*family, record.work, record.quickest)
            elif isinstance(record, Refused) and record.fatal and record.case in by_name:
                self._climb.leave_out(*_family(by_name[record.case]), None, record.reason)
            elif isinstance(record, Tried):
                self.searches.remember(record)

    def begin(self, case: str, at: float) -> None:
        """Write down that a case is in flight; a pilot keeps accounts of it."""
        if self.spec.mode == "pilot":
            self._before = accounts()
        self.write(Begun(launch=self.spec.launch, case=case, at=at))

    def leave_process(self) -> None:
        """End the launch's process once the case is over that changed it; a fresh one goes on."""
        self._changed = True

    def tidy_up(self) -> None:
        """Let go of what cases that failed or were left out have held, before the next one begins.

        pytest keeps the last error for a debugger, and an error keeps all tensors of its case.
        """
        if self._untidy:
            for name in ("last_type", "last_value", "last_traceback", "last_exc"):
                vars(sys).pop(name, None)
            gc.collect()
            dev.release_memory()
        self._untidy = False

    def skip_if_left_out(self, item: pytest.Function) -> None:
        """Skip a case that a smaller one of its family showed to be too large."""
        find_work = partial(declared_work, item)
        reason = self._climb.refusal(*_family(item), find_work)
        if reason is not None:
            pytest.skip(reason)

    def measure(
        self,
        item: pytest.Function,
        sampler: timing.Sampler,
        work: Work,
        check: Callable[[Any], Check],
        apart: Mapping[str, float],
    ) -> Measured:
        """Time a body and check its result; raise what makes the case fail or be left out."""
        inputs = Inputs(sampler.body, sampler.against)
        if self.spec.mode == "once":
            seen = called_once(sampler, name_of(item.nodeid), self.settings, self.spec.trace)
        elif self.spec.mode != "measure":
            seen = self._climb_to(item, sampler, work)
        if self.spec.mode in {"measure", "alone"}:
            seen = timing.measure(sampler, self.settings)
        peaks = {device.name: _peak(device, sampler) for device in sampler.devices}
        begun = monotonic()
        with briefly(brief=self.spec.mode == "measure" and self.spec.launch > 0):
            checked = worst(check(result) for result in seen.results)
        check_seconds = monotonic() - begun
        if not checked.passed:
            raise WrongResultError(checked)
        self._place += 1
        return Measured(
            launch=self.spec.launch,
            case=item.nodeid,
            order=self._place,
            samples=seen.host,
            iterations=seen.iterations,
            warmup=seen.warmup,
            sampled=seen.sampled,
            prepared=seen.prepared,
            work=work,
            check=checked,
            checked=check_seconds,
            parts=seen.part_medians() | dict(apart),
            peak_bytes=sum(peak or 0 for peak in peaks.values()) or None,
            against=seen.against or None,
            flushed_bytes=sampler.cold.flushed_bytes() if sampler.cold else None,
            commonest=None if self.spec.mode == "pilot" else inputs.commonest(),
            idle_devices=[
                name for name, peak in peaks.items() if peak == 0 and name not in inputs.devices()
            ],
            search=self.searches.found.get(item.nodeid),
            in_a_row=not (sampler.before or sampler.cold),
            undisturbed=min(seen.undisturbed, default=None),
        )

    def repeat(
        self, item: pytest.Function, sampler: timing.Sampler, check: Callable[[Any], Check]
    ) -> None:
        """Repeat a body that was measured for seconds (see `suite.measure.energy_window`)."""
        window, result = repeat(sampler)
        checked = check(result)
        if not checked.passed:
            raise WrongResultError(checked)
        self.write(Busy(launch=self.spec.launch, case=item.nodeid, **window._asdict()))

    def conclude(
        self,
        case: str,
        measured: Measured | None,
        refused: Refusal | None,
        wall_seconds: float,
    ) -> None:
        """Write down what became of a case, once it is over."""
        record: Measured | Refused | None = measured
        if refused is not None:
            record = Refused(launch=self.spec.launch, case=case, **refused._asdict())
        elif measured is not None:
            measured.wall_seconds = wall_seconds - self.searches.took.get(case, 0.0)
            if self._before is not None and (now := accounts()) is not None:
                measured.accounts = now.since(self._before)
        if record is not None:
            self.write(record)
        self.searches.conclude(case)
        if refused is not None:
            self._untidy = True
            if refused.status == "failed":
                self.drop_workers()
            self._exit_if_poisoned()  # also where what seemed to be missing was the device
        if self._changed and self.journal is not None:
            pytest.exit("a case changed the process for those behind it", returncode=DEVICE_LOST)

    def _climb_to(self, item: pytest.Function, sampler: timing.Sampler, work: Work) -> Measurement:
        """Call the body if its family's climb allows it; skip the case if it takes too long.

        The first call pays for much that later ones do not, and any call may be disturbed,
        so the quickest of a few counts.
        """
        try:
            return self._explorer.explore(*_family(item), sampler, work)
        except TooLongError as error:
            pytest.skip(str(error))

    def _exit_if_poisoned(self) -> None:
        """End the launch if a device error outlives its case; a fresh process does the rest.

        A device that has no memory left, or lacks a call, is not lost.
        """
        try:
            ready.of_each([dev.Device(name) for name in self.settings.devices], _answers)
        except Exception as error:  # noqa: BLE001 - whatever a backend raises when it is lost
            pytest.exit(f"a device no longer works: {reason_of(error)}", returncode=DEVICE_LOST)


def _answers(device: dev.Device) -> None:
    """Raise if a device does not answer any more; what it has never had is not missed."""
    with suppress(AttributeError, NotImplementedError, TypeError, ValueError):
        device.synchronize()


def _peak(device: dev.Device, sampler: timing.Sampler) -> int | None:
    """Return the most memory that a case had, without what empties the caches.

    What an earlier case that failed still held when this one began, and gave back since, would
    make it less than nothing.
    """
    peak = device.peak_bytes()
    return max(0, peak - sampler.cold.bytes_on(device)) if peak and sampler.cold else peak


def reason_of(error: BaseException) -> str:
    """Return the first line of an error, without what names anybody, as the reason of a refusal."""
    line = _message(error).strip().partition("\n")[0][:LONGEST_MESSAGE]
    line = _PATH.sub(private.HIDDEN, line)
    line = private.hide(line, private.own_names())[:LONGEST_REASON]
    if isinstance(error, pytest.skip.Exception | pytest.fail.Exception | WrongResultError):
        return line
    return f"{type(error).__name__}: {line}" if line else type(error).__name__


def _message(error: BaseException) -> str:
    """Return what an error says; nothing where its own text raises another one."""
    with suppress(Exception):
        return str(getattr(error, "msg", None) or error)
    return ""


def _refuse_to_ignore_accelerators() -> None:
    """Raise if an accelerator is there that torch cannot use: it is not left out in silence."""
    troubles = doctor.unusable_accelerators()
    if troubles:
        told = (f"{trouble.message}\n  mend it: {trouble.advice}" for trouble in troubles)
        raise CannotRunError("\n".join(told))


def _refuse_to_fail_everywhere(devices: Sequence[str]) -> None:
    """Raise if torch has no code for a device: every case would fail there."""
    if lacking := dev.unserved(devices):
        raise CannotRunError(
            f"{' and '.join(lacking)} cannot be used: PyTorch was not built for this generation\n"
            f"  mend it: install a build that has it: {doctor.START_LOCALLY}; "
            "or measure without it: --devices cpu"
        )


def _family(item: pytest.Function) -> tuple[str, Parameters]:
    return f"{item.module.__name__}.{item.function.__name__}", parameters(item)


def _seals(devices: Sequence[str], salt: str) -> dict[str, str | None]:
    accelerators = [dev.Device(name) for name in devices if name != "cpu"]
    return {one.name: one.uuid and seal(one.uuid, salt) for one in accelerators}


def _addresses(devices: Sequence[str]) -> dict[str, str]:
    return {name: address for name in devices if (address := dev.Device(name).pci_address)}


def _read_spec(path: str) -> LaunchSpec:
    return msgspec.json.decode(Path(path).read_bytes(), type=LaunchSpec)


def _spec_alone(config: pytest.Config) -> LaunchSpec:
    wanted = [name for name in config.getoption("--frobench-devices").split(",") if name]
    settings = settings_for(config.getoption("--frobench-profile"), dev.choose(wanted))
    return LaunchSpec(mode="alone", launch=0, journal="", benchmarks="", seed=0, settings=settings)
