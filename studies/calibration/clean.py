# SPDX-License-Identifier: MIT
"""Clean runs of the real command: none may raise an alarm, and its intervals hold the truth.

They measure the simulated accelerator in its own time, which nothing on the machine disturbs,
with jitter that is another in every process. So the runs may be made several at a time.
"""

import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from frobench.suite.statistics import case_medians, estimate
from frobench.suite.stored import store
from frobench.suite.stored.types import Case, Run
from frobench.suite.units import counted
from studies.calibration.figures import Figure, Goal, Table, bounded
from studies.calibration.work import Spread, Tell
from tests.instruments.faults.judging import validate_file
from tests.instruments.processes.command import frobench, simulated
from tests.instruments.simulated.simulated_accelerator.spec import Spec

LAUNCHES = 6
AT_ONCE = (os.cpu_count() or 1) + 1
"""One run more than there are cores, because each now and then waits for its processes."""
COVERED = Goal(least=0.93)
KNOWN = Path(__file__).parent / "known"
# So slow that a product takes milliseconds: few of them fill the seconds in which clocks settle.
FIELDS = {"virtual": True, "flops": {"float32": 2e8}, "faults": {"jitter": 0.01}}
SPEC = msgspec.convert(FIELDS, Spec)
DEVICES = f"{SPEC.name}:0,{SPEC.name}:1"


def study(tell: Tell, _spread: Spread, runs: int) -> list[Table]:
    """Make so many runs, and return how many raised an alarm and how often they held the truth."""
    alarms: Counter[str] = Counter()
    alarmed = held = pairs = 0
    for done, (codes, holds) in enumerate(_runs(runs), start=1):
        alarms.update(codes)
        alarmed += bool(codes)
        held, pairs = held + sum(holds), pairs + len(holds)
        tell(done / runs, f"{done} of {counted(runs, 'run')}")
    truth = "the true time lies in the interval of a case"
    return [
        Table(
            title=f"Clean runs of {counted(LAUNCHES, 'launch')} on the simulated accelerator",
            rows="",
            figures=[
                *bounded("a run raises an alarm", alarmed, runs, most=0.0),
                Figure.of(truth, "share", held / pairs, "1", COVERED),
                Figure.of(truth, "of", pairs, "n"),
            ],
            note=" ".join(f"`{code}` in {counted(n, 'run')}." for code, n in alarms.items()),
        )
    ]


def covered(run: Run, spec: Spec) -> list[bool]:
    """Tell for each case of a run whether its interval holds the true time."""
    holds = []
    for case in run.benchmarks:
        seen = estimate(case_medians(case))
        assert seen.low is not None, "too few launches for an interval"
        assert seen.high is not None
        holds.append(seen.low <= true_seconds(case, spec) <= seen.high)
    return holds


def true_seconds(case: Case, spec: Spec) -> float:
    """Return the median time of a case: jitter is as often below a nominal time as above."""
    n = int(case.params["n"] or 0)
    product = spec.launch + spec.kernel + 2 * n**3 / spec.flops["float32"]
    reading = spec.launch + spec.links.d2h_pageable.seconds(4 * n**2)
    return {
        "bench_product": product + spec.synchronise,
        "bench_read": reading + 2 * spec.synchronise,
        "bench_in_turn": 2 * (product + 2 * spec.synchronise),
    }[case.name.partition("[")[0]]


def _runs(runs: int) -> Iterator[tuple[set[str], list[bool]]]:
    """Make runs, several at a time; yield the codes of each one's alarms, and what it covered."""
    with ThreadPoolExecutor(AT_ONCE) as threads:
        yield from threads.map(_run, range(runs))


def _run(_number: int) -> tuple[set[str], list[bool]]:
    environment = simulated(FIELDS) | {"OMP_NUM_THREADS": "1"}  # the runs share the cores
    with TemporaryDirectory() as name:
        folder = Path(name)
        made = frobench(
            *("run", "--benchmarks", KNOWN, "--profile", "quick"),
            *("--devices", DEVICES, "--launches", LAUNCHES),
            folder=folder,
            environment=environment,
        )
        if not made.stdout:
            raise RuntimeError(made.stderr)
        path = folder / made.stdout.splitlines()[-1]
        run = store.read(path)
        alarms = [*run.frobench.conclusions, *validate_file(path)]
        return {alarm.code for alarm in alarms}, covered(run, SPEC)
