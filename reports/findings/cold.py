# SPDX-License-Identifier: MIT
"""What cold caches cost: a body compared with itself when all was in the caches."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from reports.findings.answers import VALUE, Answer, behind, text
from reports.findings.finding import RATIO, Axis, Plot
from reports.findings.select import Cases, Curve, NotMeasuredError, device_title
from suite.stored.run import Estimate

TIMES = Axis("Times as long", RATIO)
LITTLE = 1.05
"""What takes less than this many times as long with cold caches has no need of warm ones."""


def longer(what: str, ratio: Curve, spell: Callable[[float], str]) -> Answer:
    """Say how many times as long it takes with cold caches, and from which size on it is little.

    Parameters
    ----------
    what
        What takes its time, with braces for the size.
    ratio
        Times with cold caches over those with warm ones, by size.
    spell
        Puts a size into words.
    """
    first, last = ratio.sizes[0], ratio.sizes[-1]
    large = f", and one of {spell(last)} {text(ratio.at(last), RATIO)}" if first < last else ""
    body = what.replace("{}", spell(first))  # not by `format`: a device's name may have braces
    return Answer(
        f"{body} takes {VALUE} as long with cold caches{large}; {_little(ratio, spell)}.",
        behind(ratio),
        ratio.at(first),
        RATIO,
        f"as long with cold caches at {spell(first)}",
    )


def cold_plot(
    what: str, x: Axis, ratio: Callable[[Cases, str], Curve], cases: Cases, devices: Iterable[str]
) -> Iterator[Plot]:
    """Draw the ratio by size, a line for each device that has one.

    Parameters
    ----------
    what
        What takes its time, such as "product".
    """
    lines = []
    for device in devices:
        with suppress(NotMeasuredError):
            lines.append(ratio(cases, device).series(device_title(cases.run, device)))
    if lines:
        title = f"A {what} with cold caches against one with warm ones"
        yield Plot(f"cold-{what}", title, "curve", x, TIMES, tuple(lines), 1.0, "as long")


def _little(ratio: Curve, spell: Callable[[float], str]) -> str:
    more = [size for size in ratio.sizes if _most(ratio.point(size).y) >= LITTLE]
    less = [size for size in ratio.sizes if not more or size > more[-1]]
    if not less:
        return "more than 5%, or not conclusive, at every size"
    return f"less than 5% more from {spell(less[0])} on"


def _most(estimate: Estimate) -> float:
    """Return the upper end of an interval, or the value of what has none."""
    return estimate.value if estimate.high is None else estimate.high
