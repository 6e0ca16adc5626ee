# SPDX-License-Identifier: MIT
"""Rules about what limits a device that works as it should."""

from collections.abc import Iterator

from msgspec import UNSET

from frobench.suite.checks.case_facts import held_back
from frobench.suite.checks.ceilings import accelerator
from frobench.suite.checks.rule import Fault
from frobench.suite.machine.sensors.sensor import MEAN_POWER, POWER, may_limit
from frobench.suite.machine.sensors.throttle_causes import of_kind
from frobench.suite.stored.types import Case, Run, Sensed, Severity
from frobench.suite.units import counted

SEVERITY: Severity = "info"
STILL, RESET = "did not move", "was reset"


def energy_unknown(run: Run) -> Iterator[Fault]:
    """An energy counter was reset while it was read, or did not move, so energy is unknown.

    Times are right. A newer driver may count.
    """
    if run.frobench.telemetry is not UNSET:
        for device, watts in run.frobench.telemetry.idle_watts.items():
            if watts <= 0:
                yield Fault(f"the counter of {device} {STILL if watts == 0 else RESET} at rest")
    still = [case.extra_info.energy for case in run.benchmarks]
    if cases := sum(energy is not None and 0 in energy.joules for energy in still):
        yield Fault(f"the counter {STILL} in {counted(cases, 'case')}")


def power_limited_case(run: Run, case: Case) -> Iterator[str]:
    """A device ran at its power limit while a case was measured, and so below its highest clock.

    That is what it can do for longer: nothing is wrong. A larger limit would make it faster, if
    its maker allows one.
    """

    def worked(name: str, sensed: Sensed) -> bool:
        device = accelerator(run, name)
        watts = sensed.values.get(POWER) or sensed.values.get(MEAN_POWER) or (None, None, None)
        _, busy, _ = sensed.values.get("utilization", (None, None, None))
        return may_limit(watts[2], device.power_limit_watts if device else None, busy)

    yield from held_back(case, of_kind("limit"), worked)
