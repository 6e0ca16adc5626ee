# SPDX-License-Identifier: MIT
"""What the cases of a session share: workers, blockers, memory, and the state of the process."""

import gc
import math
import signal
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain

import pytest
import torch

from frobench.suite.journal.spec import DEVICE_LOST, LaunchSpec
from frobench.suite.kit import device as dev
from frobench.suite.kit.garbage import Survivors
from frobench.suite.kit.worker_process import Seat
from frobench.suite.kit.workers import Worker, early_workers
from frobench.suite.launch.case_timer import reason_of
from frobench.suite.launch.collection import seats
from frobench.suite.measure.observing import Blocker, blocker
from frobench.suite.nodes.groups import Groups
from frobench.suite.units import counted

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
            pytest.exit(f"a device no longer works: {reason_of(error)}", returncode=DEVICE_LOST)

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
