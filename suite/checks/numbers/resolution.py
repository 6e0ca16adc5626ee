# SPDX-License-Identifier: MIT
"""Rules about clocks too coarse, and harnesses too costly, for what they measure."""

import math
from collections.abc import Iterable, Iterator
from itertools import chain
from statistics import median

from frobench.suite.checks.facts import Observed, by_launch, is_accelerator, mostly
from frobench.suite.checks.rule import Fault
from frobench.suite.profiles import STEPS_ON_ACCELERATOR, STEPS_ON_CPU
from frobench.suite.stored.run import Case, Run, Severity
from frobench.suite.units import counted, format_seconds

SEVERITY: Severity = "warning"

COARSEST_STEP = 1e-5
"""Seconds of a clock's step; every system's monotonic clock has less than a tenth of it."""
LARGEST_COST = 0.1
"""What the harness may cost, relative to a sample."""
LEAST_SAMPLES, LEAST_RANGE = 20, 0.01
"""Fewer samples share a step by chance, and samples of a launch that differ by less, relative, show
no steps."""
LEAST_STEPS = 100
"""Least ratio of a shared step to the clock's: any numbers share some smaller one by chance."""
STEP_NOISE, PART_NOISE = 5, 0.01
"""How far from a multiple of a shared step a sample may be, in steps of the clock (reading it takes
some), and as a part of the shared one (iterations multiply rounding)."""


def coarse_clock(run: Run) -> Iterator[Fault]:
    """A case's samples are shorter than 100 steps of the clock, or its steps exceed 10 µs.

    The clock rounds such samples by more than 1%, and a real clock has steps below 1 µs. A case
    this short needs a body that does more; a clock this coarse needs another system timer. On an
    accelerator, where a body is called once, 20 steps are enough.
    """
    step = max((launch.timer_step for launch in run.frobench.launches), default=0.0)
    if step > COARSEST_STEP:
        yield Fault(f"the clock's smallest step is {format_seconds(step)}")
    for case in run.benchmarks:
        steps = [
            launch.sample / launch.whole.timer_step
            for launch in by_launch(run, case)
            if launch.whole.timer_step > 0
        ]
        least = STEPS_ON_ACCELERATOR if is_accelerator(case.extra_info.device) else STEPS_ON_CPU
        if steps and min(steps) < least:
            yield Fault(f"a sample lasts {min(steps):.0f} steps of the clock", case.fullname)


def quantised_samples(run: Run) -> Iterator[Fault]:
    """All samples are multiples of one step, far larger than those that the clock showed.

    The clock that timed them is coarser than it seemed, and rounds every sample to such a step.
    Use the system's finest clock, and measure again.
    """
    finest = max((launch.timer_step for launch in run.frobench.launches), default=0.0)
    lengths = [
        [s * launch.iterations for launch in launches for s in launch.samples]
        for case in run.benchmarks
        if _varies(launches := by_launch(run, case))
    ]
    count = sum(map(len, lengths))
    step = _common_step(chain(*lengths), STEP_NOISE * finest, LEAST_STEPS * finest)
    short = sum(median(case) < STEPS_ON_CPU * step for case in lengths)
    if step and short and finest and count >= LEAST_SAMPLES:
        shown = format_seconds(float(f"{step:.3g}"))
        those = f"those of {counted(short, 'case')} last less than {STEPS_ON_CPU}"
        yield Fault(f"samples come in steps of {shown}, and {those}")


def costly_harness(run: Run, case: Case) -> Iterator[str]:
    """Reading the clock around a case takes more than 10% of what it measures.

    What an empty body costs is never subtracted, so the case seems slower than it is. Let its
    body do more.
    """
    if is_accelerator(case.extra_info.device):
        return
    costs = [
        launch.whole.empty_body.get("cpu", 0.0) / launch.sample
        for launch in by_launch(run, case)
        if launch.sample > 0
    ]
    if mostly(cost > LARGEST_COST for cost in costs):
        yield f"the harness takes {median(costs):.0%} of a sample"


def _varies(launches: list[Observed]) -> bool:
    """Tell whether the samples of a launch differ; a simulated device's may not."""
    return mostly(
        max(launch.samples) - min(launch.samples) > LEAST_RANGE * launch.seconds
        for launch in launches
        if len(launch.samples) > 1
    )


def _common_step(lengths: Iterable[float], noise: float, least: float) -> float:
    """Return the greatest common divisor of lengths that are not exact, by Euclid; 0 if none.

    noise : what a length may differ from a multiple by
    least : smaller ones do not count
    """
    every = sorted({length for length in lengths if length > 0})
    step = every[0] if every else 0.0
    for length in every:
        rest = abs(math.remainder(length, step))
        while rest > max(noise, PART_NOISE * step):
            step, rest = rest, abs(math.remainder(step, rest))
        if step < least:
            return 0.0
    most = max(noise, PART_NOISE * step)
    return step if all(abs(math.remainder(length, step)) <= most for length in every) else 0.0
