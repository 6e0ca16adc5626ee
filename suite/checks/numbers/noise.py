# SPDX-License-Identifier: MIT
"""Rules about numbers that are less trustworthy, or devices less even, than they look."""

from collections.abc import Iterator
from statistics import median

from suite.checks.facts import accelerators, by_launch, mostly
from suite.statistics import estimate, spread
from suite.stored.run import Case, Run, Severity
from suite.units import format_estimate

SEVERITY: Severity = "warning"

WIDEST_INTERVAL, WIDEST_SPREAD = 0.1, 0.1
"""Most width of a trustworthy interval, and most spread of trustworthy launches, relative."""
LEAST_BALANCE = 0.7
"""Least time of the device that is done first, relative to the last one's: devices of one kind
differ by a few percent."""
SHORTEST_WORK = 5e-4
"""Seconds of work, of which the larger part is launching if it is shorter."""


def noisy_case(run: Run, case: Case) -> Iterator[str]:
    """A case's launches differ by more than 10%, or its 95% interval is more than 10% wide.

    Do not trust differences of that size. Close other programs, plug the machine in, let it
    cool, and measure again with a larger budget.
    """
    medians = [launch.seconds for launch in by_launch(run, case)]
    typical, apart = estimate(medians), spread(medians)
    signs = []
    if apart is not None and apart > WIDEST_SPREAD:
        by = f"by {apart:.0%}" if apart < 1 else f"{1 + apart:,.0f}-fold"
        signs.append(f"launches differ {by}")
    low, high = typical.low, typical.high
    if low is not None and high is not None and (high - low) / typical.value > WIDEST_INTERVAL:
        signs.append("wide interval")
    if signs:
        yield f"{', '.join(signs)}: {format_estimate(typical, 's')}"


def uneven_devices(run: Run, case: Case) -> Iterator[str]:
    """One of several devices is done in less than 70% of the time that another takes.

    Together they are no faster than the slowest. Look for what slows that one (power, heat, its
    link, another user), or divide the work by speed.
    """
    parts = [launch.parts for launch in by_launch(run, case)]
    parts = [part for part in parts if {"balance", "span"} <= part.keys()]
    uneven = (p["balance"] < LEAST_BALANCE and p["span"] > SHORTEST_WORK for p in parts)
    if len(accelerators(case)) > 1 and mostly(uneven):
        share = median(part["balance"] for part in parts)
        yield f"the first device to be done takes {share:.0%} of the last one's time"
