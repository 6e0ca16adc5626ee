# SPDX-License-Identifier: MIT
"""Honest runs of made-up machines, fast and slow, whole and lacking, as a seed chooses.

A machine is a CPU with 2 to 128 cores, or accelerators of the catalog that reach 5% to 110% of
their datasheet, or ones that no catalog has. Noise only ever makes a sample longer. What a
machine or its driver does not tell is unknown with a reason, as a run stores it.
"""

import math
from datetime import UTC, datetime, timedelta
from random import Random

from msgspec import UNSET
from msgspec.structs import replace

from frobench.suite.stored.types import Case, ProfileName, Run
from tests.instruments.faults.judging import add_up, made, of_its_name
from tests.instruments.runs import factory
from tests.instruments.runs.evidence import side_by_side
from tests.instruments.runs.factory_plans import PLANS, Plan
from tests.instruments.runs.made_up import Machine, made_up

LAUNCHES = (1, 2, 5, 6, 7, 8, 10, 12)
PROFILES: tuple[ProfileName, ...] = ("quick", "standard", "rigorous")


def good_run(seed: int) -> Run:
    """Return the run of a made-up machine."""
    chance = Random(seed)  # noqa: S311 - no secret
    machine = made_up(chance)
    launches, profile = chance.choice(LAUNCHES), chance.choice(PROFILES)
    longest = factory.LONGEST_SAMPLE[profile]
    names = ["cpu", *machine.accelerators]
    wanted = [
        (group, plan)
        for group, plans in PLANS.items()
        for plan in plans(names, machine.rates)
        if chance.random() < 0.8 and not plan.absence
    ]
    cases = [_case(machine, *one, launches) for one in wanted if one[1].seconds <= longest]
    places = [chance.sample(range(1, len(cases) + 1), len(cases)) for _ in range(launches)]
    for number, one in enumerate(cases):
        one.extra_info.order = [launch[number] for launch in places]
    run = made(launches=1, profile="quick")
    begun = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=chance.randrange(10**7))
    one_launch = run.frobench.launches[0]
    took = [chance.uniform(3.0, 40.0) for _ in range(launches)]
    starts = [begun + timedelta(seconds=20 + sum(took[:n])) for n in range(launches)]
    stamped = chance.random() < 0.9  # older files tell of no other clock
    if stamped and chance.random() < 0.2:  # the system's clock was set right
        first, by = chance.randrange(launches), timedelta(seconds=chance.uniform(-4000, 4000))
        starts = [at + by if n >= first else at for n, at in enumerate(starts)]
    step = chance.choice([1e-9, 4e-8, 1e-7, 1e-6])
    empty = {name: chance.uniform(0.5, 1.0) * _empty(machine, name) for name in names}
    run.benchmarks = cases
    part = run.frobench
    part.run, run.datetime = f"{begun:%Y%m%dT%H%M%SZ}-0a1b2c3", begun.isoformat()
    part.profile = profile
    part.settings = replace(
        part.settings, profile=profile, longest_sample=longest, devices=names, launches=None
    )
    part.environment = of_its_name(machine.environment)
    part.launches = [
        replace(
            one_launch,
            started=start.isoformat(),
            begun=20 + sum(took[:n]) if stamped else UNSET,
            seconds=took[n],
            empty_body=empty,
            timer_step=step,
        )
        for n, start in enumerate(starts)
    ]
    part.complete = chance.random() < 0.9
    part.outcomes = [
        factory.outcome(
            factory.fullname(group, plan.function, plan.params),
            plan.params,
            "a call takes too long" if plan.seconds > longest else None,
        )
        for group, plan in wanted
    ]
    cpu = machine.environment.cpu
    brand = {"brand_raw": cpu.model} if cpu.model else {}
    run.machine_info = run.machine_info | {"machine": cpu.architecture, "cpu": brand}
    add_up(run)
    part.seconds = part.plan_seconds + sum(took) + sum(one.body_seconds for one in part.launches)
    return run


def _case(machine: Machine, group: str, wanted: Plan, launches: int) -> Case:
    chance = machine.chance
    spread = chance.choice([0.002, 0.01, 0.05, 0.3])
    on_cpu = wanted.devices[0].startswith("cpu")
    least = 1e-4 if on_cpu else 0.0
    iterations = max(1, math.ceil(least / wanted.seconds))
    count = chance.choice([3, 5, 12])
    by_launch: list[list[float]] = []
    for _ in range(launches):
        slower = 1 + abs(chance.gauss(0, spread))
        factors = (
            1 + abs(chance.gauss(0, spread / 2)) + 1e-4 * chance.random() for _ in range(count)
        )
        by_launch.append([wanted.seconds * slower * factor for factor in factors])
    if launches > 2 and chance.random() < 0.05:
        by_launch[-1] = []
    return factory.case(
        group,
        wanted.function,
        wanted.params,
        by_launch,
        iterations,
        warmup=[5 * iterations * wanted.seconds if one else 0.0 for one in by_launch],
        work=wanted.work,
        check=wanted.check,
        parts=_parts(wanted, machine, by_launch),
        peak_bytes=None if on_cpu else int(chance.uniform(1e6, 2e9)),
    )


def _parts(
    wanted: Plan, machine: Machine, by_launch: list[list[float]]
) -> dict[str, list[float | None]]:
    """Let the devices work for most of a sample, and lanes share what they can."""
    shortest = [min(samples) if samples else None for samples in by_launch]
    parts: dict[str, list[float | None]] = {}
    if not wanted.devices[0].startswith("cpu"):
        parts["enqueue"] = [s and min(machine.rates.gpu.launch, s / 2) for s in shortest]
        parts["span"] = [s and 0.97 * s for s in shortest]
    if wanted.concurrency is not None:
        balance = machine.chance.uniform(0.8, 1.0)
        seen = [s and side_by_side(s, wanted.concurrency, balance=balance) for s in shortest]
        names = side_by_side(1.0, 0.0)
        parts |= {name: [one[name] if one else None for one in seen] for name in names}
    return parts


def _empty(machine: Machine, name: str) -> float:
    return 9e-8 if name == "cpu" else machine.rates.gpu.launch
