# SPDX-License-Identifier: MIT
"""How much time lanes saved by running at the same time, from intervals and from a control.

Lanes that have B seconds of work in all, L of them on the longest lane, take at least L seconds
and strictly in turn B. So B - L seconds can be shared. *Concurrency* is the part of these that was
shared: 0 in turn, 1 where all other lanes hide behind the longest. Of two lanes it is the time in
which both ran, relative to the shorter one's.

Intervals on one clock hold launch gaps and the waits of one stream for another, so what they share
is an upper bound. The control, the same body with its entries strictly in turn, must take longer by
what was shared; what its own intervals seem to share is an error of the clocks. The smaller counts.
"""

from collections.abc import Iterable, Mapping, Sequence

Interval = tuple[float, float]
"""When an entry began and ended, in seconds of one clock."""

EVIDENCE = {"at_once", "in_turn", "shared", "shared_in_turn", "shareable"}
"""Parts of a sample that concurrency is computed from; see `suite.stored.types.CaseInfo`."""


def union(intervals: Iterable[Interval]) -> float:
    """Return the seconds in which at least one interval lasts."""
    total, reached = 0.0, float("-inf")
    for begin, end in sorted(intervals):
        total += max(0.0, end - max(begin, reached))
        reached = max(reached, end)
    return total


def shared(lanes: Sequence[Sequence[Interval]]) -> float:
    """Return the seconds that lanes spent beside each other: those of each, less those of all."""
    each, together = sum(map(union, lanes)), union(entry for lane in lanes for entry in lane)
    return max(0.0, each - together)


def shareable(busy: Sequence[float]) -> float:
    """Return the seconds that lanes can share, from the seconds that each is busy."""
    return sum(busy) - max(busy)


def concurrency(parts: Mapping[str, float]) -> float | None:
    """Return the part of the shareable time that was shared, if the parts of a sample prove any."""
    if not parts.keys() >= EVIDENCE or parts["shareable"] <= 0:
        return None
    by_intervals = parts["shared"] - parts["shared_in_turn"]
    saved = min(by_intervals, parts["in_turn"] - parts["at_once"])
    return min(1.0, max(0.0, saved) / parts["shareable"])
