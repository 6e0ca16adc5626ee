# SPDX-License-Identifier: MIT
"""Rules about devices that were held back while they were measured."""

from collections.abc import Iterator

from frobench.suite.checks.facts import held_back
from frobench.suite.stored.run import Case, Severity

SEVERITY: Severity = "warning"

SLOWED = {
    "HwSlowdown": "its hardware",
    "SwThermalSlowdown": "heat",
    "HwThermalSlowdown": "heat",
    "HwPowerBrakeSlowdown": "its power supply",
    "PackageThrottle": "heat",
    "prochot_thrm": "heat",
    "socket_thrm": "heat",
    "vr_thrm": "hot voltage regulators",
    "hbm_thrm": "hot memory",
    "gfx_clk_below_host_limit_thm": "heat",
}
"""What slows a device down because something is wrong, by NVML's, the kernel's or amdsmi's name."""

FIXED = {
    "ApplicationsClocksSetting": "clocks that somebody set",
    "SyncBoost": "the slowest device of its group",
    "DisplayClockSetting": "its display's clock",
}
"""What holds a device to a clock that was chosen for it, by NVML's name."""


def throttled_case(case: Case) -> Iterator[str]:
    """A device was slowed down, by heat or by a lack of power, while a case was measured.

    The number is that of a machine in trouble. Cool it better, let dust out, check its power
    supply and cables, and measure again.
    """
    yield from held_back(case, SLOWED)


def fixed_clock_case(case: Case) -> Iterator[str]:
    """A device was held to a clock that was chosen for it, while a case was measured.

    The number is that of the setting: do not compare it with that of a device that is left to
    itself. Clocks that somebody set are undone by `sudo nvidia-smi -rac`, and locked ones by
    `sudo nvidia-smi -rgc -rmc`; some older cards come with such a setting. For `SyncBoost`, take
    the device out of the group that nvidia-smi or DCGM put it into; for `DisplayClockSetting`,
    measure on a device without a display. Then measure again.
    """
    yield from held_back(case, FIXED)
