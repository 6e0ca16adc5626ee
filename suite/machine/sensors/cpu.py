# SPDX-License-Identifier: MIT
"""The processor's sensors, as Linux tells them, and elsewhere psutil."""

import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from frobench.suite.machine.host import ROOT, affinity, psutil_frequency, read
from frobench.suite.machine.sensors.sensor import ENERGY, HELD_BACK, POWER, Ask, Sensor
from frobench.suite.machine.sensors.throttle_causes import THROTTLED

CPU = "cpu"
OF_CPU = (ENERGY, POWER, "clock_hz", "load", HELD_BACK)
"""What is asked of it."""


def sensor(root: Path = ROOT) -> Sensor:
    """Return the processor's sensor."""
    energy = _energy(root)
    asks: dict[str, Ask | str] = {
        ENERGY: energy,
        "clock_hz": _clock(root),
        "load": lambda: os.getloadavg()[0],
        HELD_BACK: _held_back(root),
        POWER: energy if isinstance(energy, str) else Rate(energy),
    }
    return Sensor(CPU, asks)


class Rate:
    """Turns a counter of joules into the watts since it was last asked."""

    def __init__(self, counter: Callable[[], float]) -> None:
        self._counter = counter
        self._before = (time.monotonic(), counter())

    def __call__(self) -> float:
        """Return the mean power since the last call."""
        now = (time.monotonic(), self._counter())
        (begun, first), self._before = self._before, now
        return float((now[1] - first) / (now[0] - begun))


class Joules:
    """The joules that all packages have used since construction."""

    def __init__(self, packages: list[Path]) -> None:
        self._packages = packages
        self._range = [int((zone / "max_energy_range_uj").read_text()) for zone in packages]
        self._before = self._now()
        self._joules = 0.0

    def __call__(self) -> float:
        """Return the joules so far."""
        now = self._now()
        for before, after, most in zip(self._before, now, self._range, strict=True):
            used = after - before if after >= before else after - before + most  # it began anew
            self._joules += used / 1e6
        self._before = now
        return self._joules

    def _now(self) -> list[int]:
        return [int((zone / "energy_uj").read_text()) for zone in self._packages]


def _clock(root: Path) -> Callable[[], float] | str:
    """Return what reads the clock of the fastest core: the others may have nothing to do."""
    folder = root / "sys/devices/system/cpu"
    paths = [folder / f"cpu{core}/cpufreq/scaling_cur_freq" for core in affinity()]
    if paths := [path for path in paths if path.exists()]:
        return lambda: max(int(path.read_text()) * 1e3 for path in paths)
    path = root / "proc/cpuinfo"
    if _megahertz(path):
        return lambda: max(_megahertz(path)) * 1e6
    if root == ROOT and (frequency := psutil_frequency()) and frequency.current:
        return lambda: float(psutil.cpu_freq().current) * 1e6
    return "the system does not tell the cores' clocks"


def _megahertz(path: Path) -> list[float]:
    return [float(number) for number in re.findall(r"(?m)^cpu MHz\s*:\s*([\d.]+)", read(path))]


def _energy(root: Path) -> Joules | str:
    """Return the counter of all packages; AMD's processors have theirs in the same place."""
    zones = (root / "sys/class/powercap").glob("intel-rapl:*")
    try:
        packages = [zone for zone in zones if (zone / "name").read_text().startswith("package")]
        return Joules(packages) if packages else "the kernel offers no energy counter (powercap)"
    except PermissionError:
        return "the kernel lets only root read the packages' energy"
    except (OSError, ValueError) as error:
        return f"the packages' energy cannot be read: {type(error).__name__}"


def _held_back(root: Path) -> Callable[[], list[str]] | str:
    """Return what tells whether a package was too hot since it was last asked."""
    folder = root / "sys/devices/system/cpu"
    paths = sorted(folder.glob("cpu[0-9]*/thermal_throttle/package_throttle_count"))
    if not paths:
        return "the kernel does not count how often the processor was too hot"

    def count() -> int:
        return sum(int(path.read_text()) for path in paths)

    try:
        before = count()
    except (OSError, ValueError) as error:
        return f"the kernel's counts of heat cannot be read: {type(error).__name__}"

    def ask() -> list[str]:
        nonlocal before
        earlier, before = before, count()
        return [THROTTLED] if before > earlier else []

    return ask
