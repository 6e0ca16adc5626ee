# SPDX-License-Identifier: MIT
"""Frobench, by its command: launches over a folder of benchmarks."""

from collections.abc import Sequence
from pathlib import Path
from statistics import median

from frobench.suite import statistics
from frobench.suite.compare.verdicts import compare_values, verdict
from frobench.suite.stored import store
from frobench.suite.stored.types import Case, Run
from studies.peers import tool
from studies.peers.adapters import OURS
from studies.peers.bodies import DEVICE, QUEUED
from studies.peers.tool import Measurement, Order, Process, Samples
from studies.peers.waits import written_down
from tests.instruments.faults.judging import samples

BENCHMARKS = Path(__file__).parents[1] / "bench"


def measure(order: Order) -> list[Measurement]:
    """Make one run."""
    options = ["--launches", order.processes, "--devices", order.device]
    if order.budget:
        options += ["--budget", order.budget]
    wall, said = tool.run(
        *("-m", "frobench", "run", "--benchmarks", BENCHMARKS, "--results", order.folder),
        *("-k", " or ".join(order.bodies), *options),
        order=order,
        environment={DEVICE: order.device},
    )
    stored = store.read(order.folder / said.splitlines()[-1])
    beyond = wall - sum(launch.seconds for launch in stored.frobench.launches)
    return [
        Measurement(
            body=str(case.params["body"]),
            processes=_processes(stored, case, order.folder),
            alone=beyond,
            shared=beyond / len(stored.benchmarks),
        )
        for case in stored.benchmarks
    ]


def _processes(stored: Run, case: Case, folder: Path) -> list[Process]:
    """Return what each launch says of a case."""
    launches = stored.frobench.launches
    recorded = written_down(folder, str(case.params["body"]))[-len(launches) :]
    processes = []
    for index, (launch, taken) in enumerate(zip(launches, samples(case), strict=True)):
        own = [_seconds(each, index) for each in stored.benchmarks]
        mine = next(i for i, each in enumerate(stored.benchmarks) if each is case)
        process = Process(
            samples=taken,
            alone=tool.alone(launch.seconds, own)[mine],
            shared=launch.seconds / len(own),
        )
        if recorded:
            recorded[index].note(process, case.extra_info.iterations[index])
        processes.append(process)
    return processes


def _seconds(case: Case, launch: int) -> float:
    """Return what a case took in a launch."""
    info = case.extra_info
    return info.warmup[launch] + sum(samples(case)[launch]) * info.iterations[launch]


def _interval(medians: Samples) -> tool.Interval:
    seen = statistics.estimate(list(medians))
    if seen.low is None or seen.high is None:
        raise ValueError(f"{len(medians)} launches have no interval")
    return seen.low, seen.high


def _differs(base: Measurement, new: Measurement) -> bool:
    before, after = ([median(s) for s in side.samples()] for side in (base, new))
    return verdict(compare_values(before, after)) in ("faster", "slower")


def _median_of_medians(processes: Sequence[Samples]) -> float:
    return median(median(samples) for samples in processes)


TOOL = tool.Tool(
    name=OURS,
    usage="`frobench run --launches N`, with `--budget` where many bodies share a run",
    distribution="frobench",
    measure=measure,
    reports=_median_of_medians,
    rules=tool.Rules(
        replicates=True,
        number=median,
        least=statistics.LEAST_LAUNCHES,
        interval=_interval,
        estimand=_median_of_medians,
        differs=_differs,
        interval_rule="of the median of launch medians, as every report prints it",
        alarm_rule="`faster` or `slower` by the rule of `frobench compare`, from 8 launches each",
    ),
    devices=(QUEUED,),
    processes=8,
)
