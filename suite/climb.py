# SPDX-License-Identifier: MIT
"""Climbing a family of sizes: what would take too long is left out before it is called.

A call once begun cannot be interrupted, and a half-precision product that takes 2 s at
1024 takes a minute at 2048. So the cases of one family, alike in all but their sizes, are
called from the smallest upwards, and the next is called only if the times of the smaller
ones, continued by the declared work, allow it.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field

from suite.grids import Parameters, sizes
from suite.model import Work
from suite.units import format_seconds


@dataclass
class _Family:
    climbed: list[tuple[dict[str, int], Work, float]] = field(default_factory=list)
    left_out: list[tuple[dict[str, int], str]] = field(default_factory=list)


@dataclass
class Climb:
    """Remembers how long each size took, and refuses what would take longer than `cap` seconds."""

    cap: float
    _families: dict[Hashable, _Family] = field(default_factory=dict)

    def refusal(self, function: str, parameters: Parameters) -> str | None:
        """Return why a case is left out although nothing of it is set up yet, or `None`."""
        mine = sizes(parameters)
        for others, reason in self._family(function, parameters).left_out:
            if all(mine[name] >= size for name, size in others.items()):
                return reason
        return None

    def prediction(self, function: str, parameters: Parameters, work: Work) -> tuple[float, int]:
        """Return the seconds that a call should take, and how many smaller sizes say so.

        Without any, nothing is expected of it: the seconds are 0. One smaller size is scaled
        by the work, two are continued in a straight line: the second tells what part of the
        first was launching.
        """
        mine = sizes(parameters)
        smaller = [
            (_amount(before, work), seconds)
            for others, before, seconds in self._family(function, parameters).climbed
            if all(mine[name] >= size for name, size in others.items())
        ]
        if not smaller:
            return 0.0, 0
        smaller.sort()
        amount, seconds = smaller[-1]
        if len(smaller) > 1 and amount > smaller[-2][0]:
            slope = max(0.0, seconds - smaller[-2][1]) / (amount - smaller[-2][0])
            return seconds + slope * (1.0 - amount), len(smaller)
        return seconds / amount, len(smaller)

    def leave_out(self, function: str, parameters: Parameters, seconds: float, how: str) -> str:
        """Leave a case and all larger ones of its family out; return the reason."""
        where = ", ".join(f"{name}={size}" for name, size in sizes(parameters).items())
        reason = (
            f"{how} {format_seconds(seconds)} a call{' at ' if where else ''}{where}, "
            f"over this profile's {format_seconds(self.cap)}"
        )
        self.refuse_larger(function, parameters, reason)
        return reason

    def refuse_larger(self, function: str, parameters: Parameters, reason: str) -> None:
        """Leave a case and all larger ones of its family out for `reason`."""
        self._family(function, parameters).left_out.append((sizes(parameters), reason))

    def climbed(self, function: str, parameters: Parameters, work: Work, seconds: float) -> None:
        """Remember how long one call took."""
        family = self._family(function, parameters)
        family.climbed.append((sizes(parameters), work, seconds))

    def _family(self, function: str, parameters: Parameters) -> _Family:
        small = sizes(parameters)
        alike = tuple((name, value) for name, value in parameters.items() if name not in small)
        return self._families.setdefault((function, alike), _Family())


def _amount(work: Work, of: Work) -> float:
    """Return one work as a part of another, by the first measure that both declare."""
    for mine, whole in ((work.flops, of.flops), (work.bytes, of.bytes), (work.items, of.items)):
        if mine and whole:
            return mine / whole
    return 1.0
