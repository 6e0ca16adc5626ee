# SPDX-License-Identifier: MIT
"""Stored runs of many machines, the same each time: 300 cases, 6 launches of 5 samples.

The machines are processors with an accelerator that does what one of its kind may do; of every
twentieth there are two runs. The files are whole: they are what `frobench validate` takes.
"""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random

from msgspec.structs import replace

from frobench.suite.stored import store
from frobench.suite.stored.types import Environment, Run
from tests.instruments.faults.judging import add_up, keep, of_its_name, samples, set_samples
from tests.instruments.runs import factory
from tests.instruments.runs.factory_plans import PLANS, Pair, Plan, Plans
from tests.instruments.runs.made_up import made_up
from tests.instruments.runs.made_up_fleet import label

CASES, LAUNCHES, SAMPLES = 300, 6, 5
"""Cases are about as many, and samples at most."""
TWICE = 20
"""One machine of so many has two runs."""
SIZES = ("n", "size", "parameters")
"""Parameters whose larger values make more cases."""
LARGER = 1.5
BEGUN = datetime(2026, 1, 1, tzinfo=UTC)


def write(machines: int, folder: Path, *, equal: bool = False) -> list[Path]:
    """Store the runs of so many machines, and return their paths, oldest first.

    equal : whether the machines are nodes of one kind, each with a label
    """
    numbers = [(machine, 0) for machine in range(machines)]
    numbers += [(machine, 1) for machine in range(0, machines, TWICE)]
    ones, again = zip(*numbers, strict=True)
    make = partial(write_one, folder=folder, equal=equal)
    with ProcessPoolExecutor() as pool:
        return list(pool.map(make, ones, again, chunksize=4))


def write_one(machine: int, again: int = 0, *, folder: Path, equal: bool = False) -> Path:
    """Store a run of one more machine, by default its first."""
    return store.write(run_of(machine, again, equal=equal), folder)


def run_of(machine: int, again: int = 0, *, equal: bool = False) -> Run:
    """Return a run of one of many machines; `again` counts its runs from 0."""
    chance = Random(f"0/{machine}/{again}")  # noqa: S311 - no secret
    told, rates = _machine(0 if equal else machine)
    if equal:
        told = replace(told, label=label(machine))
    wanted = factory.Wanted(
        seed=chance.getrandbits(31),
        launches=LAUNCHES,
        profile="rigorous",
        started=BEGUN + timedelta(days=200 * again, minutes=machine),
    )
    plans = {name: partial(_more, plans) for name, plans in PLANS.items()}
    run = factory.of_machine(wanted, told, rates, plans)
    kept = CASES / len(run.benchmarks)
    keep(run, lambda _: chance.random() < kept)
    for case in run.benchmarks:
        set_samples(case, [launch[:SAMPLES] for launch in samples(case)])
    add_up(run)
    return run


def _more(plans: Plans, devices: list[str], rates: Pair) -> Iterator[Plan]:
    """Yield cases, and cases like them of a larger size, with which work and time grow alike."""
    for plan in plans(devices, rates):
        yield plan
        for name in filter(plan.params.__contains__, SIZES):
            amounts = plan.work.flops, plan.work.bytes, plan.work.items
            flops, moved, items = (amount and LARGER * amount for amount in amounts)
            yield plan._replace(
                params=plan.params | {name: round(LARGER * float(str(plan.params[name])))},
                seconds=LARGER * plan.seconds,
                work=replace(plan.work, flops=flops, bytes=moved, items=items),
                headline=False,
            )


def _machine(number: int) -> tuple[Environment, Pair]:
    """Return a machine with one accelerator that torch calls ``cuda``, and what they do."""
    chance = Random(f"0/{number}")  # noqa: S311 - no secret
    while True:
        told, rates, _ = made_up(chance)
        if told.accelerators and told.accelerators[0].type == "cuda":
            others = tuple(f"accelerators.{place}." for place in range(1, 8))
            unknown = {
                where: why
                for where, why in told.unknown.items()
                if where != "cpu.model" and not where.startswith(others)
            }
            cpu = replace(told.cpu, model=f"Machine {number:04}")
            one = replace(told, cpu=cpu, accelerators=told.accelerators[:1], unknown=unknown)
            return of_its_name(one), rates
