# SPDX-License-Identifier: MIT
"""Bodies that are compared: an accelerator's with the CPU's, one with cold caches with itself."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass

from frobench.reports.findings.answers import LITTLE, Crossing, answered, at, threshold
from frobench.reports.findings.finding import RATIO, Axis, Finding, Plot
from frobench.reports.findings.plots import lines
from frobench.reports.findings.select import Cases, Curve, NotMeasuredError
from frobench.reports.findings.values import VALUE, axis_pattern, is_above, is_below, size, text


@dataclass(frozen=True)
class Compared:
    """The same work on the CPU and on an accelerator, by size.

    ratio : how many times as fast as the CPU the accelerator is
    times : of the accelerator, in seconds
    name : of the accelerator, as it stands in a sentence
    power : with which the work grows, see `threshold`
    axis : the name of the size; empty where there is a single case on each
    of_what : follows the devices in a sentence, such as " in float32"
    """

    ratio: Curve
    times: Curve
    name: str
    power: float
    axis: str = "n"
    of_what: str = ""

    def at_largest(self) -> Finding:
        """Compare the two at the largest size of both; the faster one first.

        The number of the answer is the accelerator's speed, whichever is faster.
        """
        large = self.ratio.largest
        ratio = self.ratio.at(large)
        label = f"as fast as the CPU{self.of_what}{self.at(large)}"
        speed = f"{VALUE} the speed of the CPU on {self.name}"
        if is_below(ratio):
            speed = f"{text(1 / ratio, RATIO)} the speed of {self.name} on the CPU"
        sentence, cases = f"{speed}{self.of_what}{self.at(large)}", self.ratio.cases[large]
        return answered(sentence, cases, ratio, RATIO, self.advice(), label=label)

    def advice(self) -> str:
        """Say up to which size the CPU is faster, where all launches agree that there is one."""
        if all(is_below(self.ratio.at(number)) for number in self.ratio.sizes):
            return "Stay on the CPU."
        with suppress(NotMeasuredError):
            if bracket := self.crossing().bracket:
                return f"Up to {self._spelled(bracket[0])}{self.of_what} stay on the CPU."
        return ""

    def crossing(self) -> Crossing:
        """Find the size from which the accelerator takes no longer."""
        return threshold(self.ratio, self.times, self.power, pattern=axis_pattern(self.axis))

    def crossover(self) -> Finding:
        """Say from which size it takes no longer."""
        return self.crossing().answer(self.ratio, f"crossover size {self.axis}")

    def at(self, number: float) -> str:
        """Say at which size; nothing where there is a single case."""
        return f" at {self._spelled(number)}" if self.axis else ""

    def _spelled(self, number: float) -> str:
        return size(number, axis_pattern(self.axis))


def longer(ratio: Curve, spell: Callable[[float], str]) -> Finding:
    """Say how many times as long the smallest takes with cold caches; up to where they matter.

    ratio : times with cold caches over those with warm ones, by size
    """
    matter = [size for size in ratio.sizes if is_above(ratio.at(size), LITTLE)]
    rule = f"Up to {spell(matter[-1])} keep inputs in the caches." if matter else ""
    first = ratio.smallest
    return at(ratio, first, RATIO, f"as long with cold caches at {spell(first)}", rule)


def cold_plot(
    what: str, x: Axis, ratio: Callable[[Cases, str], Curve], cases: Cases, devices: Iterable[str]
) -> Plot:
    """Draw the ratio by size, a line for each device that has one."""
    shown = lines(ratio, ((cases.title(name), cases, name) for name in devices))
    title, y = f"A {what} with cold caches against one with warm ones", Axis("Times as long", RATIO)
    return Plot(f"cold-{what}", title, "curve", x, y, shown, "as long")
