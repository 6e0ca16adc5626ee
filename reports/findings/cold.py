# SPDX-License-Identifier: MIT
"""What cold caches cost: a body compared with itself when all was in the caches."""

from collections.abc import Callable, Iterable

from frobench.reports.findings.answers import LITTLE, Answer, at
from frobench.reports.findings.finding import RATIO, Axis, Plot
from frobench.reports.findings.select import Cases, Curve, lines
from frobench.reports.findings.values import is_above


def longer(ratio: Curve, spell: Callable[[float], str]) -> Answer:
    """Say how many times as long the smallest takes with cold caches; up to where they matter.

    ratio : times with cold caches over those with warm ones, by size
    """
    matter = [size for size in ratio.sizes if is_above(ratio.at(size), LITTLE)]
    rule = f"Up to {spell(matter[-1])} keep inputs in the caches." if matter else ""
    first = ratio.sizes[0]
    return at(ratio, first, RATIO, f"as long with cold caches at {spell(first)}", rule)


def cold_plot(
    what: str, x: Axis, ratio: Callable[[Cases, str], Curve], cases: Cases, devices: Iterable[str]
) -> Plot:
    """Draw the ratio by size, a line for each device that has one."""
    shown = lines(ratio, ((cases.title(name), cases, name) for name in devices))
    title, y = f"A {what} with cold caches against one with warm ones", Axis("Times as long", RATIO)
    return Plot(f"cold-{what}", title, "curve", x, y, shown, 1.0, "as long")
