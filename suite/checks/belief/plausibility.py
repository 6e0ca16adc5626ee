# SPDX-License-Identifier: MIT
"""Rules about times that contradict each other, so that one of them was changed or misread."""

import math
from collections.abc import Iterator
from itertools import pairwise
from operator import itemgetter

from msgspec import UNSET

from frobench.suite.checks.facts import (
    LARGEST_CORRECTION,
    Observed,
    beginnings,
    by_launch,
    by_one_size,
    by_version,
    computed_once,
    is_accelerator,
    mostly,
    run_began,
    spell,
)
from frobench.suite.checks.numbers.timing import EVENT_NOISE, EVENTS
from frobench.suite.checks.rule import Fault
from frobench.suite.profiles import LARGEST_LOAD, STEPS_ON_ACCELERATOR, STEPS_ON_CPU
from frobench.suite.stored.run import Case, Launch, Run, Severity

SEVERITY: Severity = "error"

ROUNDED, STAMPED = 1e-3, 0.01
"""What rounding changes sums over a launch by, in seconds and relative; and the times at which
launches began and ended, in seconds."""
LONGER_THAN_ALLOWED = 20.0
"""The fastest sample relative to what a call may take: a pilot has called the body before."""
WHOLE = 10.0
"""Largest enqueue time as a multiple of the longest sample; an honest one is at most 1."""
TOO_LONG = 5.0
"""Length of a sample of several calls relative to the one wanted: probes may be disturbed."""
MUCH_MORE, HALF, PARALLEL = 3.0, 0.5, 1e-2
"""With at least this many times the work, a case takes at least this part of the time, if the
smaller one takes more than these seconds: tiny work may be left to a single core."""
LONGEST_EMPTY_BODY, LONGEST_STEP = 10.0, 0.1
"""Seconds of an empty body or one as short, and of a step of a clock: 10,000 times what is seen."""
BEHIND_OTHERS = 3.0
"""Longest time of a call behind other work or calls, relative to the longest sample: a power limit
makes it longer, on known cards by a fifth."""
CONTINUED = ("device", "sustained")
"""Parts from which rates are computed: seconds of a call that follows other calls."""
FRACTIONS = ("overlap", "concurrency", "balance")
"""Parts that are fractions, not seconds."""


def samples_beyond_launch(run: Run) -> Iterator[Fault]:
    """The samples of a launch add up to more than the time that it spent in samples.

    Samples were changed or are in the wrong unit. Take the file again from where it was made.
    """
    for number, launch in enumerate(run.frobench.launches, start=1):
        spent, inside = computed_once(_sampled, run)[number - 1], launch.body_seconds
        if spent > inside * (1 + ROUNDED) + ROUNDED:
            has = f"launch {number} has {spell(spent, 's')} of samples"
            yield Fault(f"{has}, and spent {spell(inside, 's')} in them")


def launch_beyond_run(run: Run) -> Iterator[Fault]:
    """Samples and launches take longer than the whole run.

    One of them was changed or is in the wrong unit. Take the file again from where it was made.
    """
    whole = run.frobench.seconds
    # A run that was killed forgets a launch's time, and keeps its samples.
    launches = [launch.seconds for launch in run.frobench.launches]
    for what, parts in {"samples": computed_once(_sampled, run), "launches": launches}.items():
        if sum(parts) - max(parts, default=0.0) > whole * (1 + ROUNDED) + 1:
            took = f"{what} take {spell(sum(parts), 's')}"
            yield Fault(f"{took}, the run {spell(max(whole, 0.0), 's')}")


def longer_than_allowed(run: Run, case: Case) -> Iterator[str]:
    """Every sample of a case is far longer than the settings let a call take.

    A run leaves such a case out. Its samples are in the wrong unit, or the settings are another
    run's. Launches that other programs disturbed do not count: a call may last 100 times as long.
    """
    most = run.frobench.settings.longest_sample
    least = min((min(launch.samples) for launch in _calm(run, case)), default=0.0)
    if least > LONGER_THAN_ALLOWED * most:
        yield f"a call takes {spell(least, 's')}, where {spell(most, 's')} are allowed"


def clock_set_back(run: Run) -> Iterator[Fault]:
    """A launch began before the one ahead of it had ended, or before the run, or ended after it.

    The clock went backwards, or launches were changed or put in another order. Measure again.
    """
    launches = beginnings(run)
    begun = [launch.begun for launch in launches if launch.begun is not None]
    overlap, before_run, ended = STAMPED, 0.0, run.frobench.seconds
    if len(begun) < len(launches):  # older files tell the time of day alone
        run_start = run_began(run) or launches[0].started
        begun = [(launch.started - run_start).total_seconds() for launch in launches]
        overlap, before_run, ended = LARGEST_CORRECTION, LARGEST_CORRECTION, math.inf
    for (launch, start), (later, at) in pairwise(zip(launches, begun, strict=True)):
        if (early := start + launch.seconds - at) > overlap:
            yield Fault(f"launch {later.number} began {spell(early, 's')} too early")
    if begun and -begun[0] > before_run:
        yield Fault(f"the first launch began {spell(-begun[0], 's')} before the run")
    if begun and (late := begun[-1] + launches[-1].seconds - ended) > STAMPED:
        yield Fault(f"the last launch ended {spell(late, 's')} after the run")


def impossible_duration(run: Run) -> Iterator[Fault]:
    """A time is negative, or longer than anything of its kind.

    It is in the wrong unit, or the clock that measured it ran backwards.
    """
    whole = run.frobench
    if not 0 <= whole.plan_seconds <= whole.seconds:
        yield Fault(f"a run of {whole.seconds:g} s planned for {whole.plan_seconds:g} s")
    planned = 0.0 if whole.plan_body_seconds is UNSET else whole.plan_body_seconds
    if not 0 <= planned <= whole.plan_seconds:
        yield Fault(f"planning for {whole.plan_seconds:g} s spent {planned:g} s in bodies")
    for number, launch in enumerate(whole.launches, start=1):
        for fault in _of_launch(launch, whole.seconds):
            yield Fault(f"launch {number}: {fault}")
    for case in run.benchmarks:
        if min(case.extra_info.warmup, default=0.0) < 0:
            yield Fault("a warm-up is negative", case.fullname)


def _of_launch(launch: Launch, run_seconds: float) -> Iterator[str]:
    checks = 0.0 if launch.check_seconds is UNSET else launch.check_seconds
    if min(launch.seconds, launch.body_seconds, launch.warmup_seconds, checks) < 0:
        yield "a time is negative"
    if checks > run_seconds * (1 + ROUNDED) + 1:
        yield f"its checks took {checks:g} s, the run {run_seconds:g} s"
    least = 0.0 if launch.empty_body else -1.0  # a launch that was cut off may not know
    if not least < launch.timer_step <= LONGEST_STEP:
        yield f"its clock has steps of {launch.timer_step:g} s"
    empty, ready, gauge = launch.empty_body, launch.ready_reading, launch.gauge
    short = {"an empty body": empty, "reading a ready value": ready, "a gauge": gauge}
    for what, times in short.items():
        for device, took in times.items():
            if not 0 <= took <= LONGEST_EMPTY_BODY:
                yield f"{what} took {took:g} s on {device}"


def needless_calls(run: Run, case: Case) -> Iterator[str]:
    """A sample holds far more calls than it takes to make it long enough.

    Calls or samples were changed. Take the file again from where it was made. Launches that other
    programs disturbed do not count: calls may have been faster when their number was chosen.
    """
    settings = run.frobench.settings
    launches = _calm(run, case)
    steps = STEPS_ON_ACCELERATOR if is_accelerator(case.extra_info.device) else STEPS_ON_CPU
    long = settings.case_seconds / max(settings.most_samples, 1)
    if mostly(
        launch.iterations > 1
        and min(launch.samples) * launch.iterations
        > TOO_LONG * max(long, steps * launch.whole.timer_step)
        for launch in launches
    ):
        lasts = spell(max(launch.sample for launch in launches), "s")
        calls = max(launch.iterations for launch in launches)
        yield f"{calls} calls make a sample of {lasts}"


def faster_when_larger(run: Run) -> Iterator[Fault]:
    """Of one benchmark, several times the work takes less than half the time.

    Samples were exchanged or changed. Take the file again from where it was made.
    """
    for family in computed_once(by_one_size, run):
        works = [(one.extra_info.work.flops or one.extra_info.work.bytes, one) for one in family]
        known = [(work, case) for work, case in works if work]
        for (less, small), (more, large) in pairwise(sorted(known, key=itemgetter(0))):
            quick, slow = min(small.stats.data), max(large.stats.data)
            if quick > PARALLEL and slow < HALF * quick and more >= MUCH_MORE * less:
                times = f"{more / less:.1f} times the work of {small.name}"
                yield Fault(f"{times} takes less than half the time", large.fullname)


def impossible_part(run: Run, case: Case) -> Iterator[str]:
    """A part of a sample is negative, far longer than the whole, or more than all.

    A body returns before its sample ends, a fraction is at most 1, and a call behind other calls
    takes some time, less than three times the longest sample. It was changed or has a wrong unit.
    """
    for launch in by_launch(run, case):
        parts = launch.parts
        wrong = [name for name, value in parts.items() if value < 0]
        if "enqueue" in parts and parts["enqueue"] > WHOLE * max(launch.samples):
            wrong.append("enqueue")
        wrong += [name for name in FRACTIONS if name in parts and parts[name] > 1 + ROUNDED]
        wrong += [name for name in CONTINUED if parts.get(name) == 0]
        if wrong:
            yield f"{wrong[0]} is {parts[wrong[0]]:g} in launch {launch.number}"
            return
    for name in CONTINUED:
        launches = [launch for launch in by_launch(run, case) if name in launch.parts]
        times = [(launch.parts[name], _longest(launch)) for launch in launches]
        if mostly(took > BEHIND_OTHERS * longest + EVENTS * EVENT_NOISE for took, longest in times):
            yield "{} is {:g}, where no sample exceeds {:g}".format(name, *max(times))


def _calm(run: Run, case: Case) -> list[Observed]:
    """Return the launches of a case in which other programs did not keep the processor busy."""
    most = LARGEST_LOAD * run.frobench.environment.cpu.usable_cores
    launches = by_launch(run, case)
    return [one for one in launches if one.whole.others is UNSET or one.whole.others <= most]


def _longest(launch: Observed) -> float:
    """Return the seconds of the longest call; a clock may stop before the devices do."""
    return max(*launch.samples, launch.parts.get("span", 0.0) / max(1, launch.iterations))


def _sampled(run: Run) -> list[float]:
    """Return for each launch the seconds of all its samples, of all their calls."""
    totals = [0.0] * len(run.frobench.launches)
    for case in run.benchmarks:
        for _, launches in by_version(run, case):
            for launch in launches:
                totals[launch.number - 1] += launch.iterations * sum(launch.samples)
    return totals
