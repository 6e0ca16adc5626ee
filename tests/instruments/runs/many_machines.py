# SPDX-License-Identifier: MIT
"""Stored runs of many machines, as a seed chooses: 300 cases, 6 launches of 5 samples, 5% missing.

The machines are processors with an accelerator that does what one of its kind may do; of every
twentieth there are two runs. The files are whole: they are what `frobench validate` takes.
"""

from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from hashlib import sha256
from itertools import repeat
from pathlib import Path
from random import Random

import msgspec
from msgspec.structs import replace

from frobench.suite.stored import store
from frobench.suite.stored.types import LABEL_DIGITS, Case, Environment, Run
from tests.instruments.faults.judging import add_up, of_its_name
from tests.instruments.runs import factory
from tests.instruments.runs.factory_plans import GPU, Rates
from tests.instruments.runs.made_up import made_up

CASES, LAUNCHES, SAMPLES = 300, 6, 5
MISSING = 0.05
TWICE = 20
"""Of every so manieth machine there are two runs."""
SIZES = ("n", "size", "parameters")
"""Parameters of which larger ones make more cases."""
BEGUN = datetime(2026, 1, 1, tzinfo=UTC)


def write(machines: int, folder: Path, seed: int = 0, *, equal: bool = False) -> list[Path]:
    """Store the runs of so many machines, and return their paths, oldest first.

    equal : whether the machines are nodes of one kind, each with a label
    """
    numbers = [(machine, 0) for machine in range(machines)]
    numbers += [(machine, 1) for machine in range(0, machines, TWICE)]
    ones, again = zip(*numbers, strict=True)
    make = partial(write_one, equal=equal)
    with ProcessPoolExecutor() as pool:
        return list(pool.map(make, ones, repeat(folder), repeat(seed), again, chunksize=4))


def write_one(
    machine: int, folder: Path, seed: int = 0, again: int = 0, *, equal: bool = False
) -> Path:
    """Store a run of one more machine, by default its first."""
    return store.write(run_of(machine, again, seed, equal=equal), folder)


def run_of(machine: int, again: int = 0, seed: int = 0, *, equal: bool = False) -> Run:
    """Return a run of one of many machines; `again` counts its runs from 0."""
    kind = 0 if equal else machine
    speeds = Random(f"{seed}/{kind}")  # noqa: S311 - no secret
    chance = Random(f"{seed}/{machine}/{again}")  # noqa: S311 - no secret
    run = msgspec.json.decode(_template(), type=Run)
    environment, rates = _environment(kind, speeds)
    label = sha256(f"{machine}".encode()).hexdigest()[:LABEL_DIGITS]
    if equal:
        environment = replace(environment, label=label)
    processor = speeds.lognormvariate(0, 0.7)
    tilt = {name: 1 + speeds.expovariate(5) for name in run.frobench.exercises}
    kept = [case for case in run.benchmarks if chance.random() >= MISSING]
    for case in kept:
        on_cpu = str(case.params["device"]).startswith("cpu")
        slower = processor if on_cpu else _slower(case, rates)
        _measure(case, slower * tilt[case.group], chance)
    longest = run.frobench.settings.longest_sample
    kept = [case for case in kept if case.stats.median <= longest]
    names = {case.fullname for case in kept}
    left_out = [case for case in run.benchmarks if case.fullname not in names]
    part = run.frobench
    when = BEGUN + timedelta(days=200 * again, minutes=machine)
    part.run = f"{when:%Y%m%dT%H%M%SZ}-{factory.COMMIT[:7]}" + (f"-{label}" if equal else "")
    part.environment = environment
    part.outcomes = [factory.outcome(case.fullname, case.params) for case in kept] + [
        factory.outcome(case.fullname, case.params, "the run had no time for it")
        for case in left_out
    ]
    run.benchmarks = kept
    run.datetime = when.isoformat()
    _shuffle(kept, chance)
    add_up(run)
    part.seconds = part.plan_seconds
    for launch in part.launches:
        launch.seconds, launch.begun = 2 * launch.body_seconds, part.seconds
        launch.started = (when + timedelta(seconds=part.seconds)).isoformat()
        part.seconds += launch.seconds
    cpu = part.environment.cpu
    run.machine_info |= {"machine": cpu.architecture, "cpu": {"brand_raw": cpu.model}}
    return run


def _slower(case: Case, rates: Rates) -> float:
    """Return how many times as long a case takes as on the accelerator that was modelled.

    What a launch holds the host is one part, what the device does the other; a tenth of its rates
    is lost.
    """
    fixed = min(GPU.launch + GPU.readback, case.stats.median)
    precision = str(case.params.get("dtype", "float32"))
    if "bench_within" in case.name or "decode" in case.name:
        reached = rates.memory / GPU.memory
    elif case.group != "copies":
        reached = rates.flops.get(precision, rates.flops["float32"]) / GPU.flops[precision]
    else:
        reached = rates.link / GPU.link
    held = fixed * rates.launch / GPU.launch
    return (held + (case.stats.median - fixed) / (0.9 * min(reached, 1.0))) / case.stats.median


def _shuffle(cases: list[Case], chance: Random) -> None:
    """Give every case its place in each launch."""
    places = [chance.sample(range(1, len(cases) + 1), len(cases)) for _ in range(LAUNCHES)]
    for number, case in enumerate(cases):
        case.extra_info.order = [launch[number] for launch in places]


def _measure(case: Case, slower: float, chance: Random) -> None:
    """Give a case samples: a launch differs by about 1% from another, its samples by a third."""
    seconds = case.stats.median * slower
    data = [
        float(f"{seconds * launch * chance.lognormvariate(0, 0.003):.6g}")
        for launch in (chance.lognormvariate(0, 0.01) for _ in range(LAUNCHES))
        for _ in range(SAMPLES)
    ]
    case.stats = store.case_stats(data, case.stats.iterations)
    info = case.extra_info
    info.warmup = [5 * seconds] * LAUNCHES
    for name in ("enqueue", "span", "device", "sustained"):
        if values := info.parts.get(name):
            info.parts[name] = [value and value * slower for value in values]


def _environment(machine: int, chance: Random) -> tuple[Environment, Rates]:
    """Return a machine with one accelerator that torch calls ``cuda``, and what that does."""
    while True:
        found = made_up(chance)
        made = found.environment
        if made.accelerators and made.accelerators[0].type == "cuda":
            unknown = {
                where: why
                for where, why in made.unknown.items()
                if not where.startswith("accelerators.") or where.startswith("accelerators.0.")
            }
            first = made.accelerators[:1]
            cpu = replace(made.cpu, model=f"Machine {machine:04}")
            unknown.pop("cpu.model", None)
            told = replace(made, cpu=cpu, accelerators=first, unknown=unknown)
            return of_its_name(told), found.rates.gpu


@cache
def _template() -> bytes:
    """Return a run with so many cases, each measured in so many launches, as JSON."""
    run = factory.run(accelerators=1, launches=LAUNCHES, profile="rigorous")
    cases = {case.fullname: case for case in run.benchmarks}
    for factor in (1.25, 1.5, 1.75, 1.1, 1.3, 1.6):
        for case in run.benchmarks:
            if larger := _larger(case, factor):
                cases.setdefault(larger.fullname, larger)
    chosen = list(cases.values())[:CASES]
    for case in chosen:
        info = case.extra_info
        info.launches, info.order = [SAMPLES] * LAUNCHES, []
    run.benchmarks = chosen
    run.frobench.conclusions = []
    return msgspec.json.encode(run)


def _larger(case: Case, factor: float) -> Case | None:
    """Return a case like another, but for its size, with which work and time grow alike."""
    size = next((name for name in SIZES if name in case.params), None)
    if size is None:
        return None
    info, stats = case.extra_info, case.stats
    params = case.params | {size: round(float(str(case.params[size])) * factor)}
    param = "-".join(map(str, params.values()))
    name = f"{case.name.partition('[')[0]}[{param}]"
    amounts = {"flops": info.work.flops, "bytes": info.work.bytes, "items": info.work.items}
    grown = {name: amount and amount * factor for name, amount in amounts.items()}
    work = replace(info.work, **grown)
    return replace(
        case,
        name=name,
        fullname=case.fullname.rpartition("::")[0] + f"::{name}",
        params=params,
        param=param,
        extra_info=replace(info, work=work, headline=False),
        stats=replace(stats, median=stats.median * factor),
    )
