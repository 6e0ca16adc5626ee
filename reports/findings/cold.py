# SPDX-License-Identifier: MIT
"""What cold caches cost: a body compared with itself when all was in the caches."""

from collections.abc import Callable, Iterable

from frobench.reports.findings.answers import Answer
from frobench.reports.findings.finding import RATIO, Axis, Plot
from frobench.reports.findings.select import Cases, Curve, lines
from frobench.reports.findings.values import VALUE, behind, text

TIMES = Axis("Times as long", RATIO)
LITTLE = 1.05
"""What takes less than this many times as long with cold caches has no need of warm ones."""


def longer(what: str, ratio: Curve, spell: Callable[[float], str]) -> Answer:
    """Say how many times as long it takes with cold caches, and from which size on it is little.

    what : what takes its time, with braces for the size
    ratio : times with cold caches over those with warm ones, by size
    """
    first, last = ratio.sizes[0], ratio.sizes[-1]
    large = f", and one of {spell(last)} {text(ratio.at(last), RATIO)}" if first < last else ""
    body = what.replace("{}", spell(first))  # not by `format`: a device's name may have braces
    sentence = f"{body} takes {VALUE} as long with cold caches{large}; {_little(ratio, spell)}."
    label = f"as long with cold caches at {spell(first)}"
    return Answer(sentence, behind(ratio), ratio.at(first), RATIO, label)


def _little(ratio: Curve, spell: Callable[[float], str]) -> str:
    ends = {size: ratio.point(size).y for size in ratio.sizes}
    highs = {size: end.value if end.high is None else end.high for size, end in ends.items()}
    more = [size for size, high in highs.items() if high >= LITTLE]
    less = [size for size in ratio.sizes if not more or size > more[-1]]
    if not less:
        return "more than 5%, or not conclusive, at every size"
    return f"less than 5% more from {spell(less[0])} on"


def cold_plot(
    what: str, x: Axis, ratio: Callable[[Cases, str], Curve], cases: Cases, devices: Iterable[str]
) -> Plot:
    """Draw the ratio by size, a line for each device that has one."""
    shown = lines(ratio, ((cases.title(name), cases, name) for name in devices))
    title = f"A {what} with cold caches against one with warm ones"
    return Plot(f"cold-{what}", title, "curve", x, TIMES, shown, 1.0, "as long")
