# SPDX-License-Identifier: MIT
"""How much power a device draws at most."""

from suite.checks.ceilings import sheet
from suite.datasheets.generations import is_laptop
from suite.stored.run import Accelerator

MOST_WATTS = 1e4
"""Watts of one device, more than any draws."""
BEYOND_LIMIT = 1.5
"""Power and clock of a device relative to its limits, at most, for as long as half of a case."""


def most_watts(device: Accelerator) -> float:
    """Return the watts that a device draws at most for long, however its limit was set.

    A laptop moves the limit of its GPU with the load, and some have the name of a desktop's card.
    """
    if device.power_limit_watts is None or is_laptop(device.name):
        return MOST_WATTS
    known = sheet(device)
    printed = known.figures.get("power_limit") if known else None
    limits = device.power_limit_watts, device.power_limit_default_watts, printed and printed.value
    return BEYOND_LIMIT * max(limit for limit in limits if limit is not None)
