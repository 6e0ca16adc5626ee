# SPDX-License-Identifier: MIT
"""Honest runs of made-up machines, fast and slow, whole and cut short, as a seed chooses.

A machine is a CPU with 2 to 128 cores, or accelerators of the catalog that reach 5% to 110% of
their datasheet, or ones that no catalog has. What a machine or its driver does not tell is unknown
with a reason, as a run stores it.
"""

from random import Random
from statistics import median

from frobench.suite.stored.types import Case, Energy, ProfileName, Run, Sensed
from tests.instruments.faults.judging import add_up, keep, of_its_name, samples
from tests.instruments.runs import factory
from tests.instruments.runs.made_up import Machine, made_up

LAUNCHES = (1, 2, 5, 6, 7, 8, 10, 12)
PROFILES: tuple[ProfileName, ...] = ("quick", "standard", "rigorous")
NOISE = (0.002, 0.01, 0.03)
KEPT = 0.2
"""Part of the cases that a run has, so that runs differ and are small."""


def good_run(seed: int) -> Run:
    """Return the run of a made-up machine."""
    chance = Random(seed)  # noqa: S311 - no secret
    machine = made_up(chance)
    launches = chance.choice(LAUNCHES)
    wanted = factory.Wanted(
        seed=seed % 300,  # days after the first of 2026
        launches=launches,
        profile=chance.choice(PROFILES),
        noise=chance.choice(NOISE),
        partial=launches > 1 and chance.random() < 0.1,
    )
    run = factory.of_machine(wanted, of_its_name(machine.environment), machine.rates)
    keep(run, lambda _: chance.random() < KEPT)
    for one in run.benchmarks:
        one.extra_info.telemetry = _sensed(machine, one)
        one.extra_info.energy = _energy(machine, one, chance)
    add_up(run)
    return run


def _sensed(machine: Machine, case: Case) -> dict[str, Sensed]:
    """Read the sensors of the devices that have any."""
    return {
        one.place: Sensed(
            readings=9,
            values={
                "sm_clock_hz": (0.3 * clock, 0.9 * clock, clock),
                "power_watts": (0.1 * watts, 0.8 * watts, 1.1 * watts),
                "temperature_celsius": (31.0, 55.0, 84.0),
            },
        )
        for one in machine.environment.accelerators
        if one.place in case.extra_info.devices
        and (clock := one.max_clock_hz)
        and (watts := one.power_limit_watts)
    }


def _energy(machine: Machine, case: Case, chance: Random) -> Energy | None:
    """Let calls cost what most of the devices' limits allow, where all have one."""
    limits = {one.place: one.power_limit_watts for one in machine.environment.accelerators}
    watts = [limits.get(name) or 0.0 for name in case.extra_info.devices]
    if not all(watts):
        return None
    part = chance.choice([0.0, 0.1, 0.8, 1.05])  # some counters stand still
    seconds = [median(one) if one else None for one in samples(case)]
    return Energy(joules=[s and part * sum(watts) * s for s in seconds], seconds=[*seconds])
