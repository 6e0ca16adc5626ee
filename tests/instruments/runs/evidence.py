# SPDX-License-Identifier: MIT
"""What a case with several lanes stores, made up so that it proves what it claims."""


def side_by_side(
    seconds: float, concurrency: float, *, entries: int = 2, balance: float = 1.0
) -> dict[str, float]:
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
        "entries": float(entries),
        "shareable": shareable,
        "balance": balance,
        "concurrency": concurrency,
    }
