# SPDX-License-Identifier: MIT
"""What a case with several lanes stores, made up so that it proves what it claims."""

from typing import Any


def side_by_side(seconds: float, concurrency: float) -> dict[str, float]:
    """Return the parts of a launch in which two lanes share so much of what they can.

    seconds : of the body as it is
    """
    shareable = seconds / 2
    saved = concurrency * shareable
    return {
        "at_once": seconds,
        "in_turn": seconds + saved,
        "shared": saved,
        "shared_in_turn": 0.0,
        "entries": 2.0,
        "shareable": shareable,
        "balance": 1.0,
        "concurrency": concurrency,
    }


def of_launches(seconds: list[float], concurrency: float) -> dict[str, list[Any]]:
    """Return these parts of several launches; a launch without a time has NaN."""
    launches = [side_by_side(one, concurrency) for one in seconds]
    names = launches[0]
    return {name: [one[name] + 0 * one["at_once"] for one in launches] for name in names}
