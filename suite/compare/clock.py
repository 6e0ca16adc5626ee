# SPDX-License-Identifier: MIT
"""The speed of the cores, by the body of the gauge that does nothing but compute on one.

A processor does not run at the same speed all day: heat, power limits and other guests of the same
host change its clock, and the times of most cases with it.
"""

from collections.abc import Mapping, Sequence

BODY = "cpu/python"
"""The body of the gauge that shows how fast the cores run."""


def relative(gauges: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    """Return the other bodies' times as multiples of that one's, launch by launch.

    Nothing where a launch lacks it.
    """
    ticks = gauges.get(BODY, ())
    return {
        name: [seconds / tick for seconds, tick in zip(times, ticks, strict=True)]
        for name, times in gauges.items()
        if name != BODY and len(times) == len(ticks)
    }
