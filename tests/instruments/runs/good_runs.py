# SPDX-License-Identifier: MIT
"""Honest runs of made-up machines, fast and slow, whole and cut short, as a seed chooses.

A machine is a CPU with 2 to 128 cores, or accelerators of the catalog that reach 5% to 110% of
their datasheet, or ones that no catalog has. What a machine or its driver does not tell is unknown
with a reason, as a run stores it.
"""

from random import Random

from frobench.suite.stored.types import ProfileName, Run
from tests.instruments.faults.judging import of_its_name
from tests.instruments.runs import factory
from tests.instruments.runs.made_up import made_up

LAUNCHES = (1, 2, 5, 6, 7, 8, 10, 12)
PROFILES: tuple[ProfileName, ...] = ("quick", "standard", "rigorous")
NOISE = (0.002, 0.01, 0.03)


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
    outcomes = run.frobench.outcomes
    run.frobench.outcomes = [one for one in outcomes if one.status != "failed"]
    cpu = machine.environment.cpu
    brand = {"brand_raw": cpu.model} if cpu.model else {}
    run.machine_info = run.machine_info | {"machine": cpu.architecture, "cpu": brand}
    return run
