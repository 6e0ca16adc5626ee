# SPDX-License-Identifier: MIT
"""Rules about results that no machine reaches, or that do not add up."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from msgspec import UNSET

from frobench.suite.checks.case_facts import (
    LEAST_AGREEING,
    accelerators,
    by_launch,
    by_version,
    efficiencies,
    moment,
    mostly,
)
from frobench.suite.checks.ceilings import (
    above,
    accelerator,
    link_ceiling,
    memory_ceiling,
    peak_ceiling,
    precision,
)
from frobench.suite.checks.rule import Fault
from frobench.suite.checks.timing import EVENT_NOISE, EVENTS
from frobench.suite.stored.types import Case, Run, Severity
from frobench.suite.units import format_seconds, format_value

SEVERITY: Severity = "error"

MOST_EFFICIENT = 1.25
"""Work of each of several devices relative to a single one's, at most: a display or a lack of
memory may slow the single one."""
NARROWER = {"tfloat32", "bfloat16", "float16", "float8_e4m3fn"}
ROUNDED = 1e-3
"""What rounding changes sums over a launch by, in seconds and relative."""
BEHIND_OTHERS = 3.0
"""Longest time of a call behind other work or calls, relative to the longest sample: a power limit
makes it longer, on known cards by a fifth."""
MOST_WATTS = 1e4
"""Watts of one device, more than any draws."""
LEAST_OF_REST = 0.1
"""Power at work relative to that at rest, at least: other work of a processor may have ended."""
FIRST, DAY = datetime(2026, 1, 1, tzinfo=UTC), timedelta(days=1)
"""Frobench is no older; and how wrong a machine's clock and time zone may honestly be."""


def above_peak(run: Run, case: Case) -> Iterator[str]:
    """A case computes faster than its devices can in its precision.

    Its clock stopped too early, its work or its times are in the wrong unit, or its precision is
    not the one that it names: TF32 passes for float32. Do not use it.
    """
    yield from above(peak_ceiling, "flops", run, case, SEVERITY)


def above_memory(run: Run, case: Case) -> Iterator[str]:
    """A case reads and writes faster than the memory and the caches of its devices can.

    Its clock stopped too early, or its bytes or its times are in the wrong unit. Do not use it.
    """
    yield from above(memory_ceiling, "bytes", run, case, SEVERITY)


def above_link(run: Run, case: Case) -> Iterator[str]:
    """A copy is faster than the fastest link that such devices have.

    Its clock stopped too early, or its bytes or its times are in the wrong unit. Do not use it.
    """
    yield from above(link_ceiling, "bytes", run, case, SEVERITY)


def above_one(run: Run) -> Iterator[Fault]:
    """Several devices are more times as fast as one than they are many, in every launch.

    Of several devices some were not waited for, or the single one was slowed. Wait for every
    device that takes part, and let all do the same work.
    """
    for case, shares in efficiencies(run):
        many = len(case.extra_info.devices)
        if len(shares) >= LEAST_AGREEING and min(shares) > MOST_EFFICIENT:
            times = f"{many} devices are at least {many * min(shares):.1f} times as fast as one"
            yield Fault(times, case.fullname)


def other_precision(case: Case) -> Iterator[str]:
    """A case that names float32 passed, although its result has the error of a narrower type.

    Its speed is that of the narrower type: TF32 passes for float32. Measure again, with
    `torch.set_float32_matmul_precision("highest")`, or name what was measured.
    """
    check = case.extra_info.check
    if check and precision(case) == "float32" and check.precision in NARROWER:
        yield f"computed in {check.precision} where float32 was asked"


def missing_device(run: Run, case: Case) -> Iterator[str]:
    """A case ran on an accelerator that the run does not describe.

    Its figures cannot be compared with what the device can do. Report this run as a fault of
    Frobench.
    """
    for name in accelerators(case):
        if accelerator(run, name) is None:
            yield f"it ran on {name}, which is not there"


def samples_beyond_launch(run: Run) -> Iterator[Fault]:
    """The samples of a launch add up to more than the time that it spent in samples.

    Samples or calls are in the wrong unit, or stored twice. Report this run as a fault of Frobench.
    """
    sampled = zip(run.frobench.launches, _sampled(run), strict=True)
    for number, (launch, spent) in enumerate(sampled, start=1):
        if spent > launch.body_seconds * (1 + ROUNDED) + ROUNDED:
            has = f"launch {number} has {format_seconds(spent)} of samples"
            yield Fault(f"{has}, and spent {format_seconds(launch.body_seconds)} in them")


def launch_beyond_run(run: Run) -> Iterator[Fault]:
    """Samples or launches take longer than the whole run.

    A time is in the wrong unit, or stored twice. Report this run as a fault of Frobench.
    """
    whole = run.frobench.seconds
    # A run that was killed forgets a launch's time, and keeps its samples.
    launches = [launch.seconds for launch in run.frobench.launches]
    for what, parts in {"samples": _sampled(run), "launches": launches}.items():
        if sum(parts) - max(parts, default=0.0) > whole * (1 + ROUNDED) + 1:
            took = f"{what} take {format_seconds(sum(parts))}"
            yield Fault(f"{took}, the run {format_seconds(whole)}")


def impossible_part(run: Run, case: Case) -> Iterator[str]:
    """Queueing a call, or a call behind others, takes over three times as long as any sample.

    The clock of this part counts in another unit, or is wrong. Do not use these times.
    """
    for name in ("device", "sustained", "enqueue"):
        launches = [launch for launch in by_launch(run, case) if name in launch.parts]
        # A clock may stop before the devices do.
        times = [
            (one.parts[name], max(*one.samples, one.parts.get("span", 0.0) / one.iterations))
            for one in launches
        ]
        if mostly(took > BEHIND_OTHERS * most + EVENTS * EVENT_NOISE for took, most in times):
            yield "{} is {:g}, where no sample exceeds {:g}".format(name, *max(times))


def impossible_energy(run: Run, case: Case) -> Iterator[str]:
    """A call draws more power than any device, or far less than its devices do at rest.

    Joules are in the wrong unit: some libraries count in mJ or µJ. Report this run as a fault of
    Frobench.
    """
    if (spent := case.extra_info.energy) is None:
        return
    rest = {} if (telemetry := run.frobench.telemetry) is UNSET else telemetry.idle_watts
    places = accelerators(case) or ["cpu"]
    least = LEAST_OF_REST * sum(rest[name] for name in places if name in rest)
    drawn = zip(spent.joules, spent.seconds, strict=True)
    # Of a counter that stands still see `energy_unknown`.
    watts = [joules / took for joules, took in drawn if joules and took]
    most = MOST_WATTS * len(case.extra_info.devices)
    if wrong := [power for power in watts if not least <= power <= most]:
        yield f"calls of it draw {format_value(wrong[0], 'W')}"


def impossible_date(run: Run) -> Iterator[Fault]:
    """A run's date is none, older than Frobench, or in the future.

    Set the clock of the machine that measured, or of the one that reads.
    """
    dated, now = moment(run.datetime), datetime.now(UTC)
    if dated is None:
        yield Fault(f"{run.datetime[:40]!r} is no date")
    elif not FIRST - DAY <= dated <= now + DAY:
        yield Fault(f"it is dated {dated.date()}, today is {now.date()}")


def _sampled(run: Run) -> list[float]:
    """Return for each launch the seconds of all its samples, of all their calls."""
    totals = [0.0] * len(run.frobench.launches)
    for case in run.benchmarks:
        for _, launches in by_version(run, case):
            for launch in launches:
                totals[launch.number - 1] += launch.iterations * sum(launch.samples)
    return totals
