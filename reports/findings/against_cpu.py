# SPDX-License-Identifier: MIT
"""An accelerator against the CPU: how many times as fast it is, and from which size."""

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from reports.findings.answers import (
    VALUE,
    Answer,
    axis_pattern,
    behind,
    capital,
    estimate_of,
    is_above,
    is_below,
    size,
    text,
    threshold,
)
from reports.findings.finding import RATIO
from reports.findings.select import Curve, NotMeasuredError


@dataclass(frozen=True)
class Compared:
    """The times of the same work on the CPU and on an accelerator, by size.

    Parameters
    ----------
    name
        Of the accelerator, as it stands in a sentence.
    power
        With which the work grows, see `threshold`.
    axis
        The name of the size; empty where there is a single case on each.
    of_what
        Follows the devices in a sentence, such as " in float32".
    """

    cpu: Curve
    accelerator: Curve
    name: str
    power: float
    axis: str = "n"
    of_what: str = ""

    @cached_property
    def ratio(self) -> Curve:
        """How many times as fast as the CPU the accelerator is.

        Raises
        ------
        NotMeasuredError
            No launch measured a size on both.
        """
        return self.cpu / self.accelerator

    def at_largest(self) -> Answer:
        """Compare the two at the largest size of both, the faster one first; and at the smallest.

        The number of the answer is the accelerator's speed, whichever is faster.
        """
        large = self.ratio.sizes[-1]
        ratio, at_large = self.ratio.at(large), self.at(large)
        both = ", the largest size of both" if self.ratio.sizes[1:] else ""
        speed = f"{VALUE} the speed of the CPU on {self.name}"
        if is_below(ratio, 1.0):
            speed = f"{text(1 / ratio, RATIO)} the speed of {self.name} on the CPU"
        elif not is_above(ratio, 1.0) and estimate_of(ratio).low is not None:
            speed = f"No measurable difference, {VALUE} the speed of the CPU on {self.name}"
        return Answer(
            f"{speed}{self.of_what}{at_large}{both}{self._at_smallest()}.",
            behind(self.ratio.ends()),
            ratio,
            RATIO,
            f"as fast as the CPU{self.of_what}{at_large}",
        )

    def _at_smallest(self) -> str:
        """Say how the two compare at the smallest size, the faster one first: a clause."""
        first = self.ratio.sizes[0]
        if first == self.ratio.sizes[-1]:
            return ""
        ratio = self.ratio.at(first)
        if is_below(ratio, 1.0):
            return f";{self.at(first)} the CPU is {text(1 / ratio, RATIO)} faster"
        return f"; {text(ratio, RATIO)}{self.at(first)}"

    def advice(self, of_what: str = "") -> str:
        """Say up to which size the CPU is faster, where all launches agree that there is one.

        Parameters
        ----------
        of_what
            Follows the size in the sentence, such as " in float32".
        """
        if all(is_below(self.ratio.at(one), 1.0) for one in self.ratio.sizes):
            return "Stay on the CPU."
        with suppress(NotMeasuredError):
            _, _, bracket = self.crossing()
            if bracket is not None:
                return f"Up to {self._spelled(bracket[0])}{of_what} stay on the CPU."
        return ""

    def crossing(self) -> tuple[str, pd.Series | None, tuple[float, float] | None]:
        """Find the size from which the accelerator takes no longer, see `threshold`."""
        return threshold(self.ratio, 1.0, self.accelerator, self.power, axis_pattern(self.axis))

    def crossover(self, before: str = "") -> Answer:
        """Say from which size the accelerator takes no longer.

        Parameters
        ----------
        before
            Begins the sentence.
        """
        where, by_launch, bracket = self.crossing()
        faster = f"{before}{self.name} is at least as fast as the CPU{self.of_what}"
        return Answer(
            capital(f"{faster} from {where}."),
            behind(self.ratio),
            by_launch,
            "n",
            f"crossover size {self.axis}",
            bracket,
        )

    def at(self, number: float) -> str:
        """Say at which size; nothing where there is a single case."""
        return f" at {self._spelled(number)}" if self.axis else ""

    def _spelled(self, number: float) -> str:
        return size(number, axis_pattern(self.axis))
