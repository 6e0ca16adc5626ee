# SPDX-License-Identifier: MIT
"""Rules about times that cannot be what they claim to be."""

from collections.abc import Iterator, Mapping
from statistics import median

from suite.checks.facts import Observed, accelerators, by_launch, by_version, mostly
from suite.concurrency import concurrency
from suite.stored.run import Case, Run, Severity
from suite.units import format_seconds

SEVERITY: Severity = "error"

LONGEST_SPAN = 1.1
"""Device time relative to the longest of the host's, at most: they come from different samples,
which differ by more than this on a noisy machine, but not all in one direction."""
EVENT_NOISE = 2e-5
"""Seconds that an event may add to the device time, which the host's samples do not have: to record
one takes the host 5 to 7 µs with CUDA, and those of two devices are matched no better than this."""
EVENTS = 2
"""Events on a device, before and after its work."""
LEAST_OF_WAIT = 0.5
"""The part of the host's shortest waiting in which the device worked, at least."""
WAKING = 2e-4
"""Seconds that it may take until a host that waits knows that the device is done; on some
systems far more than the wait for an idle device, which is what an empty body shows."""
TIMES_READY, LEAST_OF_SAMPLE = 3.0, 0.5
"""Seconds by which reading a result back takes longer than a ready value, at least: so many times
the latter, and so much of a sample. A wait that held leaves no difference."""
MOST_OF_WORK = 2.0
"""The same in samples, where fewer launches than three tell: one of them may be disturbed."""
LARGEST_OVERLAP = 0.05
"""Overlap of devices that work in turn, at most; the clocks are matched no better."""
LARGEST_UNPROVED = 0.02
"""Concurrency beyond what a launch's other parts prove, at most: they are stored in full."""
LEAST_WARM_UP = 0.5
"""Calls that a warm-up took as long as, at least. Two are made, and they are not the fast ones."""
SLOW_FIRST = 1.5
"""A first sample this much longer than all others paid for something that they did not. Longer than
their median is not enough: on a CPU with two cores the first is so in two launches of three for
some cases, since the memory they write is still being handed over."""
OFTEN = 0.8
"""The part of the launches in which chance does not make the first sample the slow one."""
LEAST_LAUNCHES, LEAST_SAMPLES = 3, 5
"""With less, a neighbour's noise makes the first sample the slow one in all launches of some case:
it does in a launch of ten on a machine that is never quiet."""


def unsynchronised(run: Run, case: Case) -> Iterator[str]:
    """The devices worked for longer than the host waited: its clock stopped before they were done.

    Do not use these times: they are those of queueing the work. See that the case names every
    device that its body uses, and that waiting for a device of this backend does wait.
    """
    devices = accelerators(case)
    launches = [launch for launch in by_launch(run, case) if devices and "span" in launch.parts]
    noise = EVENT_NOISE * EVENTS * len(devices)
    if devices and mostly(
        launch.parts["span"] > LONGEST_SPAN * max(launch.samples) * launch.iterations + noise
        for launch in launches
    ):
        worked = format_seconds(_typical(launches, "span"))
        waited = format_seconds(median(launch.sample for launch in launches))
        yield f"the devices worked for {worked}, the host waited {waited}"


def result_not_ready(run: Run, case: Case) -> Iterator[str]:
    """Reading the result back after the wait takes far longer than reading a ready value.

    The wait ended before the work did, so the times are those of queueing it. Do not use them. See
    that waiting for this backend's devices does wait.
    """
    devices = accelerators(case)
    launches = [
        launch
        for launch in by_launch(run, case)
        if "reading" in launch.parts and {*devices} <= launch.whole.ready_reading.keys()
    ]
    part = LEAST_OF_SAMPLE if len(launches) >= LEAST_LAUNCHES else MOST_OF_WORK
    if devices and mostly((_read_late(launch, devices, part) for launch in launches), OFTEN):
        read = format_seconds(_typical(launches, "reading"))
        ready = format_seconds(median(_ready(launch, devices) for launch in launches))
        yield f"reading its result back takes {read}, a ready value {ready}"


def events_miss_work(run: Run, case: Case) -> Iterator[str]:
    """The host waited for the devices much longer than their events say that they worked.

    Do not use the device time, nor any overlap of this case: its events lie on another stream
    than the work, or on a part of it. Queue all work of the body inside its lanes.
    """
    devices = accelerators(case)
    launches = [
        launch
        for launch in by_launch(run, case)
        if devices
        and "enqueue" in launch.parts
        and "span" in launch.parts
        and all(device in launch.whole.empty_body for device in devices)
    ]
    if devices and mostly(_waited_for_more(launch, devices) for launch in launches):
        worked = format_seconds(_typical(launches, "span"))
        waited = format_seconds(
            median(launch.seconds - launch.parts["enqueue"] for launch in launches)
        )
        yield f"the host waited {waited}, the events show {worked} of work"


def overlap_in_turn(run: Run, case: Case) -> Iterator[str]:
    """A control that works strictly in turn shows overlap, so the clocks of its devices differ.

    Do not believe the overlap that this case and the cases beside it show.
    """
    control = case.extra_info.control or "in_turn" in case.name  # older files do not declare it
    shown = (_in_turn(launch.parts, control=control) for launch in by_launch(run, case))
    most = max(shown, default=0.0)
    if most > LARGEST_OVERLAP:
        yield f"overlap of {most:.0%} where there can be none"


def unproved_overlap(run: Run, case: Case) -> Iterator[str]:
    """A case claims more concurrency than its control in turn and its intervals prove.

    Do not use this overlap: intervals of events hold launch gaps, and the waits of one stream for
    another. What running at the same time saves is the time of the control less that of the case.
    """
    for launch in by_launch(run, case):
        claimed, proved = launch.parts.get("concurrency", 0.0), concurrency(launch.parts) or 0.0
        if claimed > proved + LARGEST_UNPROVED:
            message = f"concurrency of {claimed:.0%}, where {proved:.0%} is proved"
            yield f"{message} in launch {launch.number}"
            break


def first_call_counted(run: Run, case: Case) -> Iterator[str]:
    """The first sample pays for what the later ones do not, or nothing was warmed up before it.

    First calls make handles, choose algorithms and fill caches. Call the body until it is
    steady before the first sample; what it does only once belongs outside of it.
    """
    for version, launches in by_version(run, case):
        if fault := _first_call(launches):
            yield version + fault


def _in_turn(parts: Mapping[str, float], *, control: bool) -> float:
    """Return the largest overlap that a launch shows of a control, or of a case's own, in turn."""
    shown = [parts.get("overlap", 0.0), parts.get("concurrency", 0.0)] if control else []
    if parts.get("shareable", 0.0) > 0:
        noise = EVENT_NOISE * parts.get("entries", 0.0)
        shown.append((parts.get("shared_in_turn", 0.0) - noise) / parts["shareable"])
    return max(shown, default=0.0)


def _read_late(launch: Observed, devices: list[str], part: float) -> bool:
    """Tell whether reading a result back took as if most of the work was done only then."""
    ready = _ready(launch, devices)
    late = launch.parts["reading"] - ready
    return late > max(TIMES_READY * ready, WAKING, part * min(launch.samples))


def _ready(launch: Observed, devices: list[str]) -> float:
    return max(launch.whole.ready_reading[name] for name in devices)


def _waited_for_more(launch: Observed, devices: list[str]) -> bool:
    """Tell whether the host waited for more than the events and an idle device explain.

    Wait and work are told from medians, so that what varies in the queueing cancels out. A
    neighbour who takes the host's core may make most waits longer, but not those of all
    samples, so the shortest must be longer than what is explained too.
    """
    explained = (
        launch.parts["span"] + sum(launch.whole.empty_body[name] for name in devices) + WAKING
    )
    typical, shortest = (
        sample - launch.parts["enqueue"] for sample in (launch.seconds, min(launch.samples))
    )
    return explained < LEAST_OF_WAIT * typical and explained < shortest


def _first_call(launches: list[Observed]) -> str:
    """Return what is wrong with the first samples of one version, or nothing."""
    firsts = [
        launch.samples[0] / max(launch.samples[1:])
        for launch in launches
        if len(launch.samples) >= LEAST_SAMPLES
    ]
    if mostly((launch.warmup < LEAST_WARM_UP * min(launch.samples) for launch in launches), OFTEN):
        return "sampled after a warm-up shorter than a call"
    if len(firsts) >= LEAST_LAUNCHES and mostly((r > SLOW_FIRST for r in firsts), OFTEN):
        return f"the first sample lasts {median(firsts):.1f} times as long as any other"
    return ""


def _typical(launches: list[Observed], part: str) -> float:
    return median(launch.parts[part] for launch in launches)
