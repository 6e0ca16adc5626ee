# SPDX-License-Identifier: MIT
"""Rules about numbers that are less trustworthy, or devices less even, than they look."""

from collections.abc import Iterator
from statistics import median

from msgspec import UNSET

from frobench.suite.checks.facts import accelerators, by_launch, mostly
from frobench.suite.checks.rule import Fault
from frobench.suite.statistics import estimate, spread
from frobench.suite.stored.run import Case, Run, Severity
from frobench.suite.units import format_estimate

SEVERITY: Severity = "warning"

WIDEST_INTERVAL, WIDEST_SPREAD = 0.1, 0.1
"""Most width of a trustworthy interval, and most spread of trustworthy launches, relative."""
LEAST_BALANCE = 0.7
"""Least time of the device that is done first, relative to the last one's: devices of one kind
differ by a few percent."""
SHORTEST_WORK = 5e-4
"""Seconds of work, of which the larger part is launching if it is shorter."""
BUSIEST_RUNNER = 0.02
"""Cores that the runner may use besides reading sensors: on two cores it uses 0.004."""
STARTING_SECONDS = 0.1
"""Seconds of a processor that starting a launch takes the runner, however short the launch is."""


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


def busy_runner(run: Run) -> Iterator[Fault]:
    """The runner used more than 0.02 cores in a launch, besides those for reading sensors.

    It took this time from cases on the CPU. Report this run as a fault of Frobench.
    """
    sensors = 0.0 if run.frobench.telemetry is UNSET else run.frobench.telemetry.cost
    busy = [
        (launch.runner_cores, number)
        for number, launch in enumerate(run.frobench.launches, start=1)
        if launch.runner_cores is not UNSET
        and (launch.runner_cores - sensors - BUSIEST_RUNNER) * launch.seconds > STARTING_SECONDS
    ]
    if busy:
        cores, number = max(busy)
        yield Fault(f"the runner used {cores:.2f} cores in launch {number}")
