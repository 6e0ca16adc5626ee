# SPDX-License-Identifier: MIT
"""Plausible stored runs without measuring: a small model of rates, launches and noise.

The same arguments give the same run. Each case draws from a generator of its own, so that
adding a case leaves the others as they were.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import sha256
from random import Random
from statistics import median
from typing import Any, NamedTuple

import msgspec

from frobench.suite import checks
from frobench.suite.stored import store, types
from frobench.suite.stored.types import Case, CaseInfo, Launch, Outcome, ProfileName, Run, Scalar
from tests.instruments.runs.evidence import of_launches
from tests.instruments.runs.factory_machine import environment, machine_info
from tests.instruments.runs.factory_plans import PLANS, RATES, Pair, Plan, Plans, Rates

KEPT = 300
"""Runs that are kept, since most tests want one that another has had made."""
PLANNED = 20.0
"""Seconds of a run before its first launch."""
COMMIT = "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567"
LONGEST_SAMPLE: dict[ProfileName, float] = {"quick": 0.02, "standard": 0.2, "rigorous": 2.0}
EXPLANATION = "One question of the suite."
QUESTIONS = {
    "matmul": "How much faster is an accelerator on a large product, and on a tiny one?",
    "norm_logging": "What does it cost to bring every norm of a long loop back at once?",
    "parallel_matmul": "How near are two products on two devices to twice as fast?",
    "parameters": "How should model parameters be read and written on the device?",
    "copies": "What does moving data cost?",
    "transformer": "What does the machine give to the layers of a transformer?",
}


class Wanted(NamedTuple):
    """A stored run that is wanted.

    noise : standard deviation of a launch's effect on a case, relative; samples inside a launch
        vary by a third of it
    slower : factor on the time of every case, for comparisons
    partial : it was interrupted: its last launch measured every second case only, which shows as 0
        samples of that launch
    started : when its first launch began; by default as many days into 2026 as the seed counts
    """

    seed: int = 0
    machine: str | None = None
    accelerators: int = 0
    launches: int = 8
    profile: ProfileName = "standard"
    noise: float = 0.01
    slower: float = 1.0
    partial: bool = False
    started: datetime | None = None


def _samples(plan: Plan, launches: int, noise: float, seed: int) -> list[list[float]]:
    """Host samples by launch: a process effect, autocorrelated noise, and late arrivals."""
    random = Random(f"{seed}/{plan.function}/{plan.params}")  # noqa: S311 - no secret
    count = max(3, min(12, round(0.1 / plan.seconds)))
    result = []
    for _ in range(launches):
        process, drift, samples = random.gauss(0, noise), 0.0, []
        for _ in range(count):
            drift = 0.4 * drift + random.gauss(0, noise / 3)
            late = random.expovariate(1) * noise if random.random() < 0.05 else 0.0
            samples.append(float(f"{plan.seconds * math.exp(process + drift + late):.6g}"))
        result.append(samples)
    return result


def _parts(plan: Plan, by_launch: list[list[float]], gpu: Rates) -> dict[str, list[float | None]]:
    hosts = [median(samples) if samples else math.nan for samples in by_launch]
    on_cpu = plan.devices[0].startswith("cpu")
    parts = {"enqueue": [host if on_cpu else min(host, gpu.launch) for host in hosts]}
    if not on_cpu:
        parts["span"] = [max(host - gpu.readback, host / 2) for host in hosts]
    if not on_cpu and plan.function == "bench_square":
        parts["device"] = [max(host - gpu.readback - gpu.launch, host / 3) for host in hosts]
        if plan.params["n"] == 8192:
            parts["sustained"] = [1.1 * host for host in hosts]
    if plan.concurrency is not None:
        parts |= of_launches(hosts, plan.concurrency)
    return {
        name: [None if math.isnan(value) else value for value in values]
        for name, values in parts.items()
    }


def fullname(group: str, function: str, params: dict[str, Scalar]) -> str:
    """Return the name of a case of the suite."""
    values = "-".join(map(str, params.values()))
    return f"benchmarks/bench_{group}.py::{function}[{values}]"


def case(
    group: str,
    function: str,
    params: dict[str, Scalar],
    by_launch: list[list[float]],
    iterations: int = 1,
    **info: Any,  # noqa: ANN401 - as `CaseInfo` has it
) -> Case:
    """Build a case by its samples of each launch; by default it declares and checks nothing."""
    whole = fullname(group, function, params)
    name = whole.partition("::")[2]
    samples = [sample for launch in by_launch for sample in launch]
    place = str(params["device"])
    plain: dict[str, Any] = {
        "version": sha256(function.encode()).hexdigest()[:12],
        "title": "Do it.",
        "headline": True,
        "device": place,
        "devices": place.split("+"),
        "launches": [len(launch) for launch in by_launch],
        "iterations": [iterations if launch else 0 for launch in by_launch],
        "warmup": [5 * iterations * median(launch) if launch else 0.0 for launch in by_launch],
        "work": types.Work(),
        "check": None,
        "parts": {},
        "peak_bytes": None,
        "order": [],
    }
    return Case(
        group=group,
        name=name,
        fullname=whole,
        params=params,
        param=name.partition("[")[2][:-1],
        extra_info=CaseInfo(**plain | info),
        options={},
        stats=store.case_stats(samples, iterations),
    )


def outcome(
    name: str,
    params: dict[str, Scalar],
    reason: str | None = None,
    status: types.Status = "skipped",
) -> Outcome:
    """Return what became of a case of an exercise: it passed, unless there is a reason why not."""
    return Outcome(
        fullname=name,
        group=name.partition("bench_")[2].partition(".")[0],
        params=params,
        status=status if reason else "passed",
        reason=reason,
    )


def _case(exercise: str, plan: Plan, by_launch: list[list[float]], gpu: Rates) -> Case:
    iterations = 1 if plan.seconds > 1e-5 else round(1e-5 / plan.seconds) + 1
    made = case(
        exercise,
        plan.function,
        plan.params,
        by_launch,
        iterations,
        headline=plan.headline,
        warmup=[5 * plan.seconds if samples else 0.0 for samples in by_launch],
        work=plan.work,
        check=plan.check,
        parts=_parts(plan, by_launch, gpu),
        peak_bytes=None if plan.devices[0].startswith("cpu") else int(2e9),
    )
    made.extra_info.device = str(plan.params["device"])
    return made


def _outcome(exercise: str, plan: Plan, profile: ProfileName) -> Outcome:
    """Leave out what takes too long, and let one case fail."""
    longest = LONGEST_SAMPLE[profile]
    name = fullname(exercise, plan.function, {"": "none"} if plan.absence else plan.params)
    if plan.function == "bench_write" and plan.params["how"] == "rebuild":
        reason = "RuntimeError: not enough memory to build the model twice"
        if plan.seconds <= longest:
            return outcome(name, plan.params, reason, "failed")
    reason = f"one call takes {plan.seconds:.2g} s, more than the {longest:g} s of the profile"
    return outcome(name, plan.params, plan.absence or (reason if plan.seconds > longest else None))


def _shuffle(cases: list[Case], launches: int, seed: int) -> None:
    """Give every case its place in each launch that reached it."""
    random = Random(seed)  # noqa: S311 - no secret
    for launch in range(launches):
        places = random.sample(range(1, len(cases) + 1), len(cases))
        for case, place in zip(cases, places, strict=True):
            case.extra_info.order.append(place if case.extra_info.launches[launch] else 0)


def sampled(cases: list[Case], launch: int) -> float:
    """Return what a launch spent in samples, of all their calls."""
    seconds = 0.0
    for case in cases:
        counts = case.extra_info.launches
        here = case.stats.data[sum(counts[:launch]) :][: counts[launch]]
        seconds += sum(here) * case.extra_info.iterations[launch]
    return seconds


def _launches(
    wanted: Wanted, started: datetime, cases: list[Case], devices: list[str]
) -> Iterator[Launch]:
    begun, infos = PLANNED, [case.extra_info for case in cases]
    for index in range(wanted.launches):
        body, warmup = sampled(cases, index), sum(info.warmup[index] for info in infos)
        yield Launch(
            started=(started + timedelta(seconds=begun)).isoformat(),
            seconds=max(31.5, body + warmup),
            begun=begun,
            body_seconds=body,
            warmup_seconds=warmup,
            empty_body={device: 9.4e-8 if device == "cpu" else 6.1e-6 for device in devices},
            timer_step=3.1e-8,
        )
        begun += max(31.5, body + warmup) + 0.5


def run(**wanted: Any) -> Run:  # noqa: ANN401 - what `Wanted` has
    """Build a stored run of a machine with two CPU cores and some accelerators, as it is wanted."""
    return msgspec.json.decode(_encoded(checks.conclude, Wanted(**wanted)), type=Run)


@lru_cache(KEPT)
def _encoded(conclude: Callable[[Run], list[types.Conclusion]], wanted: Wanted) -> bytes:
    """Make a run, judge it and seal it; tests may replace what judges."""
    result = of_machine(wanted, environment(wanted.machine, wanted.accelerators), RATES)
    result.frobench.conclusions = conclude(result)
    result.frobench.digest = store.digest(result)
    return msgspec.json.encode(result)


def of_machine(
    wanted: Wanted, told: types.Environment, rates: Pair, every: Mapping[str, Plans] = PLANS
) -> Run:
    """Return a run of some machine, without conclusions.

    every : by exercise, what plans its cases
    """
    seed, profile = wanted.seed, wanted.profile
    devices = ["cpu", *(one.place for one in told.accelerators)]
    cases: list[Case] = []
    outcomes: list[Outcome] = []
    for exercise, plans in every.items():
        for plan in plans(devices, rates):
            if profile == "quick" and not plan.headline:
                continue
            outcomes.append(_outcome(exercise, plan, profile))
            if outcomes[-1].status == "passed":
                slow = plan._replace(seconds=plan.seconds * wanted.slower)
                by_launch = _samples(slow, wanted.launches, wanted.noise, seed)
                if wanted.partial and len(cases) % 2:
                    by_launch[-1] = []
                cases.append(_case(exercise, slow, by_launch, rates.gpu))
    _shuffle(cases, wanted.launches, seed)
    started = wanted.started or datetime(2026, 1, 1, 12, tzinfo=UTC) + timedelta(days=seed)
    names = [f"{started:%Y%m%dT%H%M%SZ}", COMMIT[:7], *([told.label] if told.label else [])]
    launches = [*_launches(wanted, started, cases, devices)]
    return Run(
        machine_info=machine_info(told.cpu),
        commit_info=types.CommitInfo(
            id=COMMIT, time=started.isoformat(), dirty=False, branch="main"
        ),
        benchmarks=cases,
        datetime=(started + timedelta(seconds=280)).isoformat(),
        version="5.3.1",
        frobench=types.Frobench(
            schema=types.SCHEMA,
            minor=types.MINOR,
            run="-".join(names),
            profile=profile,
            seed=seed,
            complete=not wanted.partial,
            seconds=8.0 + PLANNED + sum(launch.seconds for launch in launches),
            plan_seconds=PLANNED,
            settings=types.Settings(
                profile=profile,
                longest_sample=LONGEST_SAMPLE[profile],
                case_seconds=0.1,
                budget=270.0,
                devices=devices,
            ),
            environment=told,
            exercises={
                name: types.Exercise(
                    question=QUESTIONS.get(name, "How fast?"), explanation=EXPLANATION
                )
                for name in every
            },
            launches=launches,
            outcomes=outcomes,
            conclusions=[],
        ),
    )
