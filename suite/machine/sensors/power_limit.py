# SPDX-License-Identifier: MIT
"""Whether its power limit can be what holds a device back."""

LIMITED = {
    "SwPowerCap": "its power limit",
    "BoardLimit": "its board's limit",
    "ppt_pwr": "its power limit",
}
"""What limits a device by design, by NVML's or amdsmi's name."""
NEAR_LIMIT = 0.9
"""Power relative to the limit, from which a device may be at it: meters average over a second."""
AT_WORK = 0.5
"""Part of the time in which a device is busy, from which its driver is believed."""


def may_limit(watts: float | None, limit: float | None, utilization: float | None) -> bool:
    """Tell whether a driver that names the power limit is to be believed.

    Some name it on a card that rests as well, whose clock is low for want of work. A device draws
    nearly its limit, or is at work; of one that tells neither, its driver knows best.

    watts, limit : what the device draws, and may draw
    utilization : the part of the time in which it is busy
    """
    signs = [] if watts is None or not limit else [watts >= NEAR_LIMIT * limit]
    signs += [] if utilization is None else [utilization >= AT_WORK]
    return any(signs) or not signs
