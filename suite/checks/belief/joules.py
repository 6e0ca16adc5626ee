# SPDX-License-Identifier: MIT
"""Rules about joules that no call costs."""

from collections.abc import Iterator, Sequence

from msgspec import UNSET

from suite.checks.ceilings import MOST_WATTS, accelerator, most_watts
from suite.checks.facts import accelerators, spell
from suite.checks.rule import Fault
from suite.stored.run import Run, Severity

SEVERITY: Severity = "error"

LEAST_OF_REST = 0.1
"""Power at work relative to that at rest, at least: what else a processor did may have ended."""
OTHER_TIME = 30.0
"""Seconds of a call while energy was measured relative to its samples, at most, or the inverse:
other programs may have begun, but none makes a thousand of it."""


def impossible_energy(run: Run) -> Iterator[Fault]:
    """A call costs more than its devices can draw in its time, or far less than they do at rest.

    Joules, or the seconds beside them, were changed, or are in another unit than they are stored
    in: some libraries count in thousandths or millionths of a joule.
    """
    rest = {} if (telemetry := run.frobench.telemetry) is UNSET else telemetry.idle_watts
    for device, watts in rest.items():
        if not 0 <= watts <= _most(run, [device]):
            yield Fault(f"{device} draws {spell(watts, 'W')} at rest")
    for case in run.benchmarks:
        if (spent := case.extra_info.energy) is None:
            continue
        devices = accelerators(case) or ["cpu"]
        least = LEAST_OF_REST * sum(rest.get(name, 0.0) for name in devices)
        usual = case.stats.median
        for joules, seconds in zip(spent.joules, spent.seconds, strict=False):
            if joules is None or seconds is None:
                continue
            if not 1 / OTHER_TIME <= seconds / usual <= OTHER_TIME:
                took = f"a call took {spell(seconds, 's')} beside its joules"
                yield Fault(f"{took}, and takes {spell(usual, 's')}", case.fullname)
                break
            # A counter that stands still counts nothing, and says so with 0.
            if joules < 0 or (joules and not least <= joules / seconds <= _most(run, devices)):
                yield Fault(f"calls of it draw {spell(joules / seconds, 'W')}", case.fullname)
                break


def _most(run: Run, devices: Sequence[str]) -> float:
    """Return the watts that devices draw together at most, for a second."""
    known = [accelerator(run, name) for name in devices]
    return sum(most_watts(device) if device else MOST_WATTS for device in known)
