# SPDX-License-Identifier: MIT
# ruff: noqa: D401 - the first line of a rule says what it reports, as a user reads it
"""Rules about times that contradict each other, so that one of them was changed or misread."""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, pairwise

from suite.checks.facts import by_launch, by_version, said
from suite.checks.rule import Fault
from suite.checks.when import TICK, Beginning, beginnings, run_began
from suite.model import Run, Severity

SEVERITY: Severity = "error"

ROUNDED = 1e-3
"""Seconds that a launch's sums are rounded to, and the part of them that samples are."""
LONGER_THAN_ALLOWED = 20.0
"""The fastest sample relative to what a call may take: a pilot has called the body before."""
STAMPED = 0.01
"""Seconds that the rounding of the times of launches may come to."""
WHOLE = 10.0
"""Seconds until a body returns relative to the longest sample, at most; it is no longer at all."""
LONGEST_EMPTY_BODY, LONGEST_STEP = 10.0, 0.1
"""Seconds of an empty body, and of a step of a clock, at most: ten thousand times what is seen."""
LEAST_COPIES = 10
"""Samples that agree to the last digit, at least; see `repeated_samples`."""
DIGITS = 6


def samples_beyond_launch(run: Run) -> Iterator[Fault]:
    """The samples of a launch add up to more than the time that it spent in samples.

    Samples are in another unit than they are stored in, or were changed. Take the file again from
    where it was made.
    """
    for number, (launch, spent) in enumerate(
        zip(run.frobench.launches, _sampled(run), strict=True), start=1
    ):
        if spent > launch.body_seconds * (1 + ROUNDED) + ROUNDED * len(run.benchmarks):
            seen, told = said(spent, "s"), said(launch.body_seconds, "s")
            yield Fault(f"launch {number} has {seen} of samples, and spent {told} in them")


def launch_beyond_run(run: Run) -> Iterator[Fault]:
    """Samples and launches take longer than the whole run.

    One of them is in another unit than it is stored in, or was changed. Take the file again from
    where it was made.
    """
    whole = run.frobench.seconds
    # A run that was killed forgets a launch's time, and keeps its samples.
    for what, parts in {
        "samples": _sampled(run),
        "launches": [launch.seconds for launch in run.frobench.launches],
    }.items():
        if sum(parts) - max(parts, default=0.0) > whole * (1 + ROUNDED) + 1:
            took = f"{what} take {said(sum(parts), 's')}"
            yield Fault(f"{took}, the run {said(max(whole, 0.0), 's')}")


def longer_than_allowed(run: Run) -> Iterator[Fault]:
    """Every sample of a case is far longer than the settings let a call take.

    Such a case is left out. Its samples are in another unit than they are stored in, or the
    settings are not those of the run.
    """
    most = run.frobench.settings.longest_sample
    for case in run.benchmarks:
        least = min(case.stats.data, default=0.0)
        if least > LONGER_THAN_ALLOWED * most:
            took, may = said(least, "s"), said(most, "s")
            yield Fault(f"a call takes {took}, where {may} are allowed", case.fullname)


def clock_set_back(run: Run) -> Iterator[Fault]:
    """A launch began before the one ahead of it had ended, or before the run, or ended after it.

    The clock that measured it went backwards, or launches were changed or put in another order.
    Measure again.
    """
    launches = beginnings(run)
    stamps = [(one, one.begun) for one in launches if one.begun is not None]
    if len(stamps) < len(launches):
        yield from _back_by_the_day(run, launches)  # no other clock tells
        return
    for (before, begun), (one, at) in pairwise(stamps):
        if (early := begun + before.seconds - at) > STAMPED:
            yield Fault(f"launch {one.number} began {said(early, 's')} too early")
    if stamps and stamps[0][1] < 0:
        yield Fault(f"the first launch began {said(-stamps[0][1], 's')} before the run")
    if stamps and (late := stamps[-1][1] + launches[-1].seconds - run.frobench.seconds) > STAMPED:
        yield Fault(f"the last launch ended {said(late, 's')} after the run")


def _back_by_the_day(run: Run, launches: list[Beginning]) -> Iterator[Fault]:
    for before, one in pairwise(launches):
        early = before.seconds - (one.started - before.started).total_seconds()
        if early > TICK:
            yield Fault(f"launch {one.number} began {said(early, 's')} too early")
    named = run_began(run)
    if named and launches and (early := (named - launches[0].started).total_seconds()) > TICK:
        yield Fault(f"the first launch began {said(early, 's')} before the run")


def impossible_duration(run: Run) -> Iterator[Fault]:
    """A time is negative, or longer than anything of its kind.

    It is in another unit than it is stored in, or the clock that measured it ran backwards.
    """
    whole = run.frobench
    if not 0 <= whole.plan_seconds <= whole.seconds:
        yield Fault(f"a run of {whole.seconds:g} s planned for {whole.plan_seconds:g} s")
    for number, one in enumerate(whole.launches, start=1):
        if min(one.seconds, one.body_seconds, one.warmup_seconds) < 0:
            yield Fault(f"a time of launch {number} is negative")
        if not 0 <= one.timer_step <= LONGEST_STEP:
            yield Fault(f"the clock of launch {number} has steps of {one.timer_step:g} s")
        for device, took in one.empty_body.items():
            if not 0 <= took <= LONGEST_EMPTY_BODY:
                yield Fault(f"an empty body took {took:g} s on {device} in launch {number}")
    for case in run.benchmarks:
        if min(case.extra_info.warmup, default=0.0) < 0:
            yield Fault("a warm-up is negative", case.fullname)


def impossible_part(run: Run) -> Iterator[Fault]:
    """A part of a sample is negative, far longer than the whole, or more than all.

    Until the body has returned takes no longer than until all is done, and devices overlap in no
    more than all of their time. The part was changed, or is in another unit than it is stored in.
    """
    for case in run.benchmarks:
        for one in by_launch(run, case):
            parts = one.parts
            wrong = [name for name, value in parts.items() if value < 0]
            wrong += ["enqueue"] if parts.get("enqueue", 0.0) > WHOLE * max(one.samples) else []
            wrong += [n for n in ("overlap", "balance") if parts.get(n, 0.0) > 1 + ROUNDED]
            if wrong:
                what = f"{wrong[0]} is {parts[wrong[0]]:g} in launch {one.number}"
                yield Fault(what, case.fullname)
                break


def copied_samples(run: Run) -> Iterator[Fault]:
    """Two cases, or two versions of a body, have the very same samples: one was not measured.

    Take the file again from where it was made, or measure again.
    """
    seen: dict[tuple[int, tuple[float, ...]], list[str]] = {}
    for case in run.benchmarks:
        for version, launches in by_version(run, case):
            for one in launches:
                key = one.number, tuple(one.samples)
                seen.setdefault(key, []).append(f"{case.fullname}\n{version}")
    copies: Counter[tuple[str, str]] = Counter()
    for (_, samples), names in seen.items():
        if len(names) == 1:
            continue
        distinct = len({f"{sample:.{DIGITS}g}" for sample in samples}) - 1
        copies.update(dict.fromkeys(combinations(names, 2), distinct))
    for (earlier, later), number in copies.items():
        if number >= LEAST_COPIES:
            other, name = (one.partition("\n")[0] for one in (earlier, later))
            whose = "its other version" if name == other else other.rpartition("::")[2]
            yield Fault(f"it has the samples of {whose}", name)


def _sampled(run: Run) -> list[float]:
    """Return for each launch the seconds of all its samples, of all their calls."""
    totals = [0.0] * len(run.frobench.launches)
    for case in run.benchmarks:
        info = case.extra_info
        for data in (case.stats.data, info.against or []):
            begin = 0
            for number, (count, calls) in enumerate(
                zip(info.launches, info.iterations, strict=True)
            ):
                totals[number] += calls * sum(data[begin : begin + count])
                begin += count
    return totals
