# SPDX-License-Identifier: MIT
# ruff: noqa: D401 - the first line of a rule says what it reports, as a user reads it
"""Rules about what limits a device that works as it should."""

from collections.abc import Iterator

from suite.checks.facts import held_back
from suite.checks.rule import Fault
from suite.model import Run, Severity

SEVERITY: Severity = "info"

LIMITED = {
    "SwPowerCap": "its power limit",
    "BoardLimit": "its board's limit",
    "ppt_pwr": "its power limit",
}
"""What limits a device by design, by NVML's or amdsmi's name."""


def power_limited_case(run: Run) -> Iterator[Fault]:
    """A device ran at its power limit while a case was measured, and so below its highest clock.

    That is what it can do for longer: nothing is wrong. A larger limit would make it faster, if
    its maker allows one.
    """
    yield from held_back(run, LIMITED)
