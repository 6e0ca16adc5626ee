# SPDX-License-Identifier: MIT
"""Rules about a stored file that says one thing in two places."""

import math
from collections import Counter
from collections.abc import Iterator
from statistics import fmean, median

from frobench.suite.checks.rule import Fault
from frobench.suite.stored.types import Case, Run, Severity

SEVERITY: Severity = "error"

TOLERANCE = 1e-6
"""Relative error that stored statistics may have."""
PER_LAUNCH = ("launches", "iterations", "warmup", "order")
"""Fields of a case with an entry for each launch."""


def repeated_name(run: Run) -> Iterator[Fault]:
    """Two cases or two outcomes have the same full name.

    Give the parameters of the benchmark distinct names, and measure again.
    """
    for what, entries in (("case", run.benchmarks), ("outcome", run.frobench.outcomes)):
        for name, count in Counter(entry.fullname for entry in entries).items():
            if count > 1:
                yield Fault(f"{count} {what}s have this name", name)


def outcome_missing(run: Run) -> Iterator[Fault]:
    """Cases and outcomes do not belong together one to one.

    Every selected case has an outcome, one with samples is not skipped, and one that passed
    has samples. Take the file again from where it was made.
    """
    status = {outcome.fullname: outcome.status for outcome in run.frobench.outcomes}
    measured = {case.fullname for case in run.benchmarks}
    for name in sorted(measured - status.keys()):
        yield Fault("has samples but no outcome", name)
    for name, word in status.items():
        if word == "passed" and name not in measured:
            yield Fault("passed, but has no samples", name)
        if word == "skipped" and name in measured:
            yield Fault("was skipped, but has samples", name)


def reason_missing(run: Run) -> Iterator[Fault]:
    """A case failed or was skipped, and the file does not say why.

    Measure again; a reader cannot tell this from a hole in the suite.
    """
    for outcome in run.frobench.outcomes:
        if outcome.status != "passed" and not outcome.reason:
            yield Fault(f"{outcome.status} without a reason", outcome.fullname)


def unchecked_pass(run: Run) -> Iterator[Fault]:
    """A case counts as passed although its result differs from the truth too much.

    Its speed is worth nothing: a wrong result can be had in no time. Measure again.
    """
    status = {outcome.fullname: outcome.status for outcome in run.frobench.outcomes}
    for case in run.benchmarks:
        check = case.extra_info.check
        if check and not check.passed and status.get(case.fullname) == "passed":
            yield Fault(f"error {check.error:.3g}, bound {check.bound:.3g}", case.fullname)


def exercise_missing(run: Run, case: Case) -> Iterator[str]:
    """A case belongs to an exercise whose question the file does not hold.

    Take the file again from where it was made.
    """
    if case.group not in run.frobench.exercises:
        yield f"there is no exercise {case.group!r}"


def other_parameters(case: Case) -> Iterator[str]:
    """A case's devices are not those of its name.

    Its figures are another device's. Report this run as a fault of Frobench.
    """
    if "+".join(case.extra_info.devices) != str(case.params.get("device", "cpu")):
        yield f"it ran on {' and '.join(case.extra_info.devices) or 'no device'}"


def sample_count(case: Case) -> Iterator[str]:
    """The samples of a case are not as many as its launches and its rounds say.

    Samples cannot be told apart by launch then. Take the file again from where it was made.
    """
    counts = len(case.stats.data), case.stats.rounds, sum(case.extra_info.launches)
    if len({*counts}) > 1 or 0 in counts:
        yield "{} samples, {} rounds, {} in the launches".format(*counts)
    against = case.extra_info.against
    if against is not None and len(against) != counts[0]:
        yield f"{counts[0]} samples, {len(against)} of the other version beside them"
    calls = zip(case.extra_info.launches, case.extra_info.iterations, strict=False)
    if any(count and not repeated for count, repeated in calls):
        yield "a launch has samples without calls"


def launch_count(run: Run, case: Case) -> Iterator[str]:
    """Something that a case has once a launch is there more or less often.

    Every such list has one entry for each launch of the run, also for a launch that did
    not measure the case. Take the file again from where it was made.
    """
    launches, info = len(run.frobench.launches), case.extra_info
    lengths = {name: len(getattr(info, name)) for name in PER_LAUNCH}
    lengths |= {f"parts.{name}": len(values) for name, values in info.parts.items()}
    if info.energy:
        lengths |= {"energy": len(info.energy.joules), "energy.seconds": len(info.energy.seconds)}
    for name, length in lengths.items():
        if length != launches:
            yield f"{name} has {length} entries for {launches} launches"


def statistics_differ(case: Case) -> Iterator[str]:
    """The statistics of a case are not those of its samples.

    One of them was changed. Take the file again from where it was made.
    """
    data = case.stats.data
    if not data:
        return
    mean = fmean(data)
    squares = math.fsum((sample - mean) * (sample - mean) for sample in data)
    truth = {
        "min": min(data),
        "max": max(data),
        "mean": mean,
        "median": median(data),
        "stddev": math.sqrt(squares / max(1, len(data) - 1)),
        "total": math.fsum(data),
        "ops": 1 / mean if mean else 0.0,
    }
    for name, value in truth.items():
        stored = getattr(case.stats, name)
        if not math.isclose(stored, value, rel_tol=TOLERANCE, abs_tol=TOLERANCE * abs(mean)):
            yield f"{name} is {stored:.9g}, its samples say {value:.9g}"
