# SPDX-License-Identifier: MIT
"""Rules about results that no machine reaches, or that were not measured."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from operator import itemgetter

from msgspec import UNSET

from frobench.suite.checks.ceilings import (
    UNITS,
    CeilingOf,
    link_ceiling,
    memory_ceiling,
    peak_ceiling,
)
from frobench.suite.checks.facts import (
    LARGEST_CORRECTION,
    Observed,
    beginnings,
    by_launch,
    by_one_size,
    by_version,
    computed_once,
    efficiencies,
    highest_rate,
    is_accelerator,
    mostly,
    run_began,
    spell,
)
from frobench.suite.checks.rule import Fault
from frobench.suite.checks.timing import EVENT_NOISE, EVENTS
from frobench.suite.profiles import LARGEST_LOAD, STEPS_ON_ACCELERATOR, STEPS_ON_CPU
from frobench.suite.stored.differences import short_name
from frobench.suite.stored.types import Case, Launch, Run, Severity

SEVERITY: Severity = "error"

MOST_EFFICIENT = 1.25
"""Work of each of several devices relative to a single one's, at most: a display or a lack of
memory may slow the single one."""


def above_peak(run: Run, case: Case) -> Iterator[str]:
    """A case computes faster than its devices can in its precision.

    Its clock stopped too early, its work or its times are in the wrong unit, or its precision is
    not the one that it names: TF32 passes for float32. Do not use it.
    """
    yield from _above(run, case, "flops", peak_ceiling)


def above_memory(run: Run, case: Case) -> Iterator[str]:
    """A case reads and writes faster than the memory and the caches of its devices can.

    Its clock stopped too early, or its bytes or its times are in the wrong unit. Do not use it.
    """
    yield from _above(run, case, "bytes", memory_ceiling)


def above_link(run: Run, case: Case) -> Iterator[str]:
    """A copy is faster than the fastest link that such devices have.

    Its clock stopped too early, or its bytes or its times are in the wrong unit. Do not use it.
    """
    yield from _above(run, case, "bytes", link_ceiling)


def above_one(run: Run) -> Iterator[Fault]:
    """Several devices are more times as fast as one than they are many, in every launch.

    Of several devices some were not waited for, or the single one was slowed. Wait for every
    device that takes part, and let all do the same work.
    """
    for case, shares in efficiencies(run, MOST_EFFICIENT):
        many = len(case.extra_info.devices)
        message = f"{many} devices are at least {many * min(shares):.1f} times as fast as one"
        yield Fault(message, case.fullname)


def _above(run: Run, case: Case, work: str, ceiling_of: CeilingOf) -> Iterator[str]:
    """Compare the highest rate: no chance makes a device do more."""
    rate = highest_rate(case, work)
    if rate and (ceiling := ceiling_of(run, case)) and rate > ceiling.most:
        most = spell(ceiling.most, UNITS[work])
        yield f"{spell(rate, UNITS[work])}, where {most} is more than {ceiling.why}"


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


LEAST_COPIES = 10
"""Samples that two cases share, at least. A coarse clock makes one or two agree by chance."""
DIGITS = 6
"""Digits to which samples are compared."""
SPREAD = 1e-3
"""Relative spread of honest samples, at least; a neighbour only ever makes it larger."""
MOST_ALIKE = 12
"""Launches, or cases, with the same samples that are compared; honest runs have none."""
NO_CHANCE, CERTAIN = 4.0, 10.0
"""Digits that agree in two measurements of a case, and in all of them together, at least. Fewer
agree by chance somewhere in a run of three hundred cases."""


def constant_samples(run: Run, case: Case) -> Iterator[str]:
    """All samples of a launch are equal, although the clock could tell them apart.

    Nothing was timed: two calls never take the same time. Measure again.
    """
    equal = [launch for launch in by_launch(run, case) if len({*launch.samples}) == 1]
    if sum((len(launch.samples) - 1) * _digits(launch) for launch in equal) >= CERTAIN:
        yield f"every sample of launch {equal[0].number} is {spell(equal[0].seconds, 's')}"


def constant_medians(run: Run, case: Case) -> Iterator[str]:
    """All launches of a case have the same median, although the clock could tell them apart.

    Launches are made one after the other and never agree to so many digits. Measure again.
    """
    launches = by_launch(run, case)
    alike = all(_rounded(one.seconds) == _rounded(launches[0].seconds) for one in launches[1:])
    if launches and alike and (len(launches) - 1) * min(map(_digits, launches)) >= CERTAIN:
        yield f"every launch has the median {spell(launches[0].seconds, 's')}"


def repeated_samples(run: Run) -> Iterator[Fault]:
    """Two launches have the same samples, or the same times a factor: one was not measured.

    Their order does not matter. Measure again. Let simulated devices draw new noise each launch.
    """
    digits_by_pair: defaultdict[tuple[int, int], float] = defaultdict(float)
    digits_by_case: defaultdict[str, float] = defaultdict(float)
    for case in run.benchmarks:
        by_shape: dict[tuple[str, ...], list[Observed]] = {}
        for launch in _of_one_range(by_launch(run, case)):
            by_shape.setdefault(_shape(launch.samples), []).append(launch)
        for group in by_shape.values():
            for earlier, later in combinations(group[:MOST_ALIKE], 2):
                digits = _agreement(earlier, later)
                digits_by_pair[earlier.number, later.number] += digits
                if earlier is group[0]:
                    digits_by_case[case.fullname] += digits
    originals: dict[int, int] = {}
    certain = [pair for pair, digits in digits_by_pair.items() if digits >= CERTAIN]
    for original, copy in sorted(certain):
        originals.setdefault(copy, original)
    for copy, original in sorted(originals.items()):
        yield Fault(f"launch {copy} has the samples of launch {original}")
    for name, digits in digits_by_case.items() if not originals else ():
        if digits >= CERTAIN:
            yield Fault("its launches have the same samples, times a factor", name)


def copied_samples(run: Run) -> Iterator[Fault]:
    """Two cases, or two versions of a body, have the very same samples: one was not measured.

    Take the file again from where it was made, or measure again.
    """
    owners: defaultdict[tuple[int, tuple[float, ...]], list[tuple[str, str]]] = defaultdict(list)
    for case in run.benchmarks:
        for version, launches in by_version(run, case):
            owner = case.fullname, version
            for launch in launches:
                owners[launch.number, tuple(launch.samples)].append(owner)
    copies: Counter[tuple[tuple[str, str], tuple[str, str]]] = Counter()
    for (_, samples), alike in owners.items():
        if len(alike) > 1:
            pairs = combinations(alike[:MOST_ALIKE], 2)
            copies.update(dict.fromkeys(pairs, _distinct(samples) - 1))
    for ((other, _), (name, _)), number in copies.items():
        if number >= LEAST_COPIES:
            whose = "its other version" if name == other else short_name(other)
            yield Fault(f"it has the samples of {whose}", name)


def _digits(launch: Observed) -> float:
    """Return in how many digits two honest samples differ, by the steps of the clock."""
    step = launch.whole.timer_step
    return max(0.0, math.log10(SPREAD * launch.sample / step)) if step > 0 else 0.0


def _of_one_range(launches: list[Observed]) -> list[Observed]:
    """Return the launches whose samples may have the shape of another launch's, which few have."""
    ranges = []
    for launch in launches:
        least = min(launch.samples)
        ranges.append(_rounded(max(launch.samples) / least) if least > 0 else "")
    often = Counter(ranges)
    return [launch for launch, own in zip(launches, ranges, strict=True) if often[own] > 1]


def _shape(samples: Sequence[float]) -> tuple[str, ...]:
    """Return what samples have in common with their multiples, in whatever order."""
    least = min(samples)
    return tuple(_rounded(sample / least) for sample in sorted(samples)) if least > 0 else ()


def _agreement(earlier: Observed, later: Observed) -> float:
    """Return how many digits agree in two launches of one shape; 0 if chance may explain it."""
    step = max(earlier.whole.timer_step, later.whole.timer_step, 1e-12)
    spread = max(later.samples) - min(later.samples)
    levels = min(spread * later.iterations / step, spread / later.seconds * 10 ** (DIGITS - 1))
    digits = (_distinct(later.samples) - 1) * math.log10(max(levels, 1.0))
    return digits if digits >= NO_CHANCE else 0.0


def _distinct(samples: Sequence[float]) -> int:
    return len({*map(_rounded, samples)})


def _rounded(value: float) -> str:
    return f"{value:.{DIGITS}g}"
