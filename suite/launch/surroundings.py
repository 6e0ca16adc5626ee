# SPDX-License-Identifier: MIT
"""The devices and the machine of a session, and the state of both around its cases."""

from collections.abc import Callable, Sequence
from time import perf_counter

import pytest
from msgspec.structs import replace

from frobench.suite import doctor
from frobench.suite.errors import CannotRunError
from frobench.suite.journal.records import Gauged, Harness, Record, Settled, Stopped, Surroundings
from frobench.suite.journal.spec import LaunchSpec
from frobench.suite.kit.device import (
    Device,
    UnknownDeviceError,
    accelerators,
    choose,
    global_state,
    unserved,
)
from frobench.suite.machine import environment
from frobench.suite.machine.accelerators.accelerator import bus_address
from frobench.suite.machine.sensors.sensor import seal
from frobench.suite.measure import ready, sampling
from frobench.suite.profiles import PROFILES
from frobench.suite.stored.run import Settings

Write = Callable[[Record], None]
"""Appends to the journal."""
SETTLED = 0.05
"""Seconds from which on settling the clocks before a case is worth a line in the journal."""


def look_around(spec: LaunchSpec, write: Write) -> Settings:
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
        devices = [Device(name) for name in settings.devices]
        ready.steady_clocks(devices, ready.WAKE_SECONDS)
        write(
            Surroundings(
                devices=settings.devices,
                environment=environment.capture(settings.devices),
                seals=seals(settings.devices, str(spec.seed)),
                addresses=addresses(settings.devices),
                troubles=doctor.left_out({} if wanted else unserved(accelerators())),
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
                timer_step=sampling.timer_step(),
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
