# SPDX-License-Identifier: MIT
"""One pytest session over benchmarks: what it was asked, its journal, and what its cases share.

Cases share workers, memory, and the state of devices and machine around them.
"""

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from itertools import chain
from pathlib import Path
from time import perf_counter

import pytest
from msgspec.structs import replace

from frobench.suite import doctor, journal
from frobench.suite.errors import CannotRunError, in_brief, known_message
from frobench.suite.journal import DEVICE_LOST, DISK_REFUSES, Journal, Measured, Record
from frobench.suite.kit import device as dev
from frobench.suite.kit.device import Device
from frobench.suite.kit.group import Group
from frobench.suite.kit.worker_process import Seat
from frobench.suite.kit.workers import Worker, early_workers
from frobench.suite.launch import collection
from frobench.suite.launch.search import Searches
from frobench.suite.lazy_torch import is_imported, torch
from frobench.suite.machine import environment
from frobench.suite.machine.sensors.sensor import seal
from frobench.suite.machine.torch_facts import bus_address
from frobench.suite.machine.vendors.vendor import Identity
from frobench.suite.measure import timed_loop
from frobench.suite.measure.settling_and_gauge import (
    WAKE_SECONDS,
    Gauge,
    empty_body,
    of_each,
    steady_clocks,
)
from frobench.suite.measure.timed_loop import Blocker, Sampler, blocker
from frobench.suite.measure.too_slow import Case, Explorer
from frobench.suite.nodes.groups import Groups
from frobench.suite.plan import LaunchSpec
from frobench.suite.profiles import PROFILES, longest_call
from frobench.suite.project.imports import foreign, foreign_code, imported
from frobench.suite.stored.types import Work

LACKING = (AttributeError, NotImplementedError, TypeError, ValueError)
"""Errors of a device that never had a call."""


class Session:
    """One pytest session over benchmarks: a launch of a run, or a user's own.

    deselected : what an expression leaves out
    position : how many cases the launch has measured
    is_changed : whether a case has changed the process for those behind it
    """

    def __init__(self, spec: LaunchSpec) -> None:
        self.spec = spec
        self.journal = Journal(Path(self.spec.journal)) if self.spec.journal else None
        self.searches = Searches(self.spec, self.write)
        self.explorer = Explorer(spec.settings)
        self.deselected: list[pytest.Item] = []
        self.position = len(spec.plan.cases) - len(spec.order)
        self.is_changed = False
        self._is_settled = spec.mode == "measure"  # by the plan
        self._gauge: Gauge | None = None
        self._rested = False
        self._examined = False
        self._workers: dict[tuple[Seat, ...], list[Worker]] = {}
        self._blockers: dict[str, Blocker | None] = {}
        self._untidy = False

    def write(self, record: Record) -> None:
        """Append to the journal, if there is one; end the launch if the disk refuses."""
        if self.journal is None:
            return
        if os.getppid() != self.spec.runner:  # another runner may be at work on the journal
            pytest.exit("the runner is gone", returncode=DEVICE_LOST)
        try:
            self.journal.write(record)
        except OSError as error:
            pytest.exit(f"the journal cannot be written: {error}", returncode=DISK_REFUSES)

    def settle(self) -> None:
        """Find the devices, once; a pilot records what they are like.

        Where neither a benchmark nor the user names a device, and nothing has imported torch when
        all benchmarks are collected, that is the CPU, and torch stays away.
        """
        if self._is_settled:
            return
        self._is_settled = True
        wanted, names = self.spec.settings.devices, ["cpu"]
        if is_imported() or wanted not in ([], names):
            names = self._chosen(wanted)
        self.spec.plan.settings = replace(self.spec.settings, devices=names)
        if self.spec.mode == "pilot":
            lacking = {} if wanted or not is_imported() else dev.unserved(dev.accelerators())
            told = {n: known_message(w) or "torch cannot compute there" for n, w in lacking.items()}
            steady_clocks(self._accelerators, WAKE_SECONDS)
            self.write(
                journal.Surroundings(
                    devices=names,
                    environment=environment.capture(names),
                    identities={
                        one.name: Identity(
                            one.uuid and seal(one.uuid, str(self.spec.seed)), bus_address(one.name)
                        )
                        for one in self._accelerators
                    },
                    troubles=doctor.left_out(told),
                    refusals={n: why for n, why in lacking.items() if why != told[n]},
                )
            )

    def _chosen(self, wanted: Sequence[str]) -> list[str]:
        """Return the devices that are wanted; end a run that cannot have them."""
        try:
            names = dev.choose(wanted)
            if self.journal is not None:
                _refuse(wanted, names)
        except (dev.UnknownDeviceError, CannotRunError) as error:
            if self.journal is None:
                raise
            self.write(journal.Stopped(message=str(error)))
            pytest.exit(str(error))
        return names

    @cached_property
    def groups(self) -> Groups:
        """The groups of processes."""
        spec = self.spec
        return Groups(spec.seed, spec.settings, lambda name: self._seated(collection.seats(name)))

    @cached_property
    def _accelerators(self) -> list[Device]:
        return [Device(name) for name in self.spec.settings.devices if name != "cpu"]

    def remember(self, items: Sequence[pytest.Function]) -> None:
        """Take up a pilot that a hung or crashed case ended."""
        if self.journal is None or self.spec.mode != "pilot":
            return
        cases = {item.nodeid: _case(item) for item in items}
        for record in self.journal:
            if isinstance(record, Measured) and record.case in cases:
                self.explorer.remember(cases[record.case], record.work, record.quickest)
            elif isinstance(record, journal.Refused) and record.fatal and record.case in cases:
                self.explorer.leave_out(cases[record.case], record.reason)
            elif isinstance(record, journal.Tried):
                self.searches.tries[record.case].append(record.attempt)

    def skip_if_left_out(self, item: pytest.Function) -> None:
        """Skip a case that a smaller one of its family showed to be too large."""
        reason = self.explorer.refusal(_case(item), self._longest_call(item))
        if reason is not None:
            pytest.skip(reason)

    def explore(self, item: pytest.Function, sampler: Sampler, work: Work) -> Measured:
        """Call a body a few times; skip the case if a call takes too long."""
        return self.explorer.explore(_case(item), sampler, work, self._longest_call(item))

    def _longest_call(self, item: pytest.Function) -> float:
        """Return the seconds that a call may take, in a pilot the most that the plan admits.

        The plan then decides by what earlier runs of the machine measured.
        """
        settings = self.spec.settings
        if self.spec.mode != "pilot":
            return longest_call(settings, headline=False)
        return longest_call(settings, headline=collection.leads(item, settings), before=True)

    def get_ready(self, cases: int) -> None:
        """Wait for early workers; bring the devices of a launch to where its cases can begin."""
        self._workers |= early_workers()
        if self.spec.mode != "measure" or self.journal is None:
            return
        begun, settings = perf_counter(), self.spec.settings
        devices = [Device(name) for name in settings.devices]
        steady_clocks(self._accelerators, PROFILES[settings.profile].settle)
        self._gauge = Gauge(devices, cases)
        self.write(
            journal.Harness(
                launch=self.spec.launch,
                environment=environment.capture(settings.devices),
                facts=replace(
                    journal.no_facts(),
                    empty_body=of_each(devices, empty_body),
                    ready_reading=of_each(self._accelerators, Device.ready_reading),
                    waits=of_each(self._accelerators, lambda device: str(device.wait)),
                    timer_step=timed_loop.timer_step(),
                    state=dev.global_state(),
                    warmup_seconds=perf_counter() - begun,
                ),
            )
        )

    def before_case(self, devices: Sequence[str]) -> float:
        """Settle the clocks of accelerators that rested during cases of the CPU; read the gauge.

        Return the seconds of settling.
        """
        if self._gauge is None:
            return 0.0
        used, begun = any(one.name in devices for one in self._accelerators), perf_counter()
        if used and self._rested:
            steady_clocks(self._accelerators, PROFILES[self.spec.settings.profile].settle)
        self._rested, seconds = not used, perf_counter() - begun
        self._gauge.read_before_case()
        return seconds

    def finish(self) -> None:
        """Record what the gauge has read, and where code came from, once every case is over."""
        launch, plan = self.spec.launch, self.spec.plan
        benchmarks, project = Path(plan.benchmarks), plan.project_folder
        if self._gauge is not None:
            self.write(journal.Gauged(launch=launch, seconds=self._gauge.finish()))
        if plan.paths:
            known = foreign(Path(project), benchmarks) if project else None
            inside = imported(plan.paths)
            self.write(journal.Imported(launch=launch, inside=inside, foreign=known))
        elif self.spec.mode == "pilot" and project is not None:
            message = foreign_code(Path(project), benchmarks)
            if message is not None:
                self.write(journal.Stopped(message=message))

    def group(self, device: str) -> Group:
        """Return a group by its name; a pilot records what its nodes are like."""
        group = self.groups.find(device)
        if self.spec.mode == "pilot" and not self._examined:
            self._examined = True
            if nodes := self.groups.examine():
                self.write(journal.NodesSeen(nodes=nodes))
        return group

    def workers(self, seats: Sequence[Seat]) -> list[Worker]:
        """Return a worker for each seat, with room on its device."""
        self.groups.part()
        return self._seated(seats)

    def _seated(self, seats: Sequence[Seat]) -> list[Worker]:
        dev.release_memory()
        key = tuple(seats)
        if key not in self._workers:
            self._workers[key] = [Worker(seat, self.spec.seed) for seat in seats]
        return self._workers[key]

    def drop_workers(self, lost: str = "") -> None:
        """End all workers; the next case that needs some gets fresh ones."""
        self.groups.drop(lost)
        for worker in chain.from_iterable(self._workers.values()):
            worker.close()
        self._workers.clear()

    def blocker(self, devices: Sequence[Device]) -> Blocker | None:
        """Return what blocks the device of a case that uses one alone, where samples are taken."""
        if len(devices) != 1 or self.spec.mode not in {"measure", "alone"}:
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
        for device in self._accelerators:
            try:
                with suppress(*LACKING, torch.OutOfMemoryError):
                    device.synchronize()
            except Exception as error:  # noqa: BLE001 - whatever a backend raises when it is lost
                pytest.exit(f"a device no longer works: {in_brief(error)}", returncode=DEVICE_LOST)

    def tidy_up(self) -> None:
        """Let go of what cases without samples have held, before the next one begins."""
        if self._untidy:  # pytest keeps the last error, which keeps all tensors of its case
            for name in ("last_type", "last_value", "last_traceback", "last_exc"):
                vars(sys).pop(name, None)
            gc.collect()
            dev.release_memory()
        self._untidy = False


def _case(item: pytest.Function) -> Case:
    name = f"{item.module.__name__}.{item.function.__name__}"
    return name, collection.parameters(item)


def _refuse(wanted: Sequence[str], devices: Sequence[str]) -> None:
    """Raise `CannotRunError` if torch cannot use an accelerator."""
    if wanted != ["cpu"] and (troubles := doctor.unusable_accelerators()):
        lines = (f"{trouble.message}\n  advice: {trouble.advice}" for trouble in troubles)
        raise CannotRunError("\n".join(lines))
    if lacking := dev.unserved(devices):
        faults = "\n".join(f"{name} cannot be used: {why}" for name, why in lacking.items())
        raise CannotRunError(
            f"{faults}\n  advice: {doctor.REFUSED}; or measure without it: --devices cpu"
        )
