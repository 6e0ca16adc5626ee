# SPDX-License-Identifier: MIT
"""Rules about cases: how they were timed, and whether they did what they say."""

from collections.abc import Iterable, Iterator, Mapping
from statistics import median

from frobench.suite.checks.case_facts import (
    LEAST_AGREEING,
    Observed,
    accelerators,
    by_launch,
    by_version,
    mostly,
)
from frobench.suite.profiles import TIMES_THE_CACHE
from frobench.suite.stored.types import Case, Run, Severity
from frobench.suite.units import format_seconds, format_value

SEVERITY: Severity = "error"

LONGEST_SPAN = 1.1
"""Largest device time relative to the longest of the host's: they come from different samples."""
EVENTS, EVENT_NOISE = 2, 2e-5
"""Events on a device, before and after its work, and seconds that each may add to the device time
but not to the host's: to record one takes the host 5 to 7 µs with CUDA, and the clocks of two
devices are matched no better than this."""
LEAST_OF_WAIT = 0.5
"""The least part of the host's shortest waiting in which the device worked."""
WAKING = 2e-4
"""Seconds until a waiting host knows that the device is done; on some systems far more than the
wait for an idle device."""
TIMES_READY, LEAST_OF_SAMPLE, MOST_OF_WORK = 3.0, 0.5, 2.0
"""A result that was not ready takes longer to read than a ready value by so many times the latter,
and by so much of a sample; or by so many samples where fewer than three launches tell."""
LARGEST_OVERLAP = 0.05
"""Overlap of devices that work in turn, as clocks are matched no better."""
OFTEN = 0.8
"""Chance does not make a result late in more than this part of the launches."""


def unsynchronised(run: Run, case: Case) -> Iterator[str]:
    """The devices worked for longer than the host waited: its clock stopped before they were done.

    Do not use these times: they are those of queueing the work. See that the case names every
    device that its body uses, and that waiting for a device of this backend does wait.
    """
    devices, launches = _with_parts(run, case, "span")
    noise = EVENT_NOISE * EVENTS * len(devices)
    if mostly(
        launch.parts["span"] > LONGEST_SPAN * max(launch.samples) * launch.iterations + noise
        for launch in launches
    ):
        worked = _typical(launch.parts["span"] for launch in launches)
        waited = _typical(launch.sample for launch in launches)
        yield f"the devices worked for {worked}, the host waited {waited}"


def result_not_ready(run: Run, case: Case) -> Iterator[str]:
    """Reading the result back after the wait takes far longer than reading a ready value.

    The wait ended before the work did, so the times are those of queueing it. Do not use them. See
    that waiting for this backend's devices does wait.
    """
    devices, measured = _with_parts(run, case, "reading")
    ready = [
        (launch, max(launch.whole.ready_reading[name] for name in devices))
        for launch in measured
        if {*devices} <= launch.whole.ready_reading.keys()
    ]
    part = LEAST_OF_SAMPLE if len(ready) >= LEAST_AGREEING else MOST_OF_WORK
    late = [
        launch.parts["reading"] - value
        > max(TIMES_READY * value, WAKING, part * min(launch.samples))
        for launch, value in ready
    ]
    if mostly(late, OFTEN):
        read = _typical(launch.parts["reading"] for launch, _ in ready)
        yield f"reading its result back takes {read}, a ready value {_typical(v for _, v in ready)}"


def events_miss_work(run: Run, case: Case) -> Iterator[str]:
    """The host waited for the devices much longer than their events say that they worked.

    Do not use the device time, nor any overlap of this case: its events lie on another stream
    than the work, or on a part of it. Queue all work of the body inside its lanes.
    """
    devices, measured = _with_parts(run, case, "enqueue", "span")
    launches = [launch for launch in measured if {*devices} <= launch.whole.empty_body.keys()]
    if mostly(_waited_for_more(launch, devices) for launch in launches):
        worked = _typical(launch.parts["span"] for launch in launches)
        waited = _typical(launch.seconds - launch.parts["enqueue"] for launch in launches)
        yield f"the host waited {waited}, the events show {worked} of work"


def overlap_in_turn(run: Run, case: Case) -> Iterator[str]:
    """A control that works strictly in turn shows overlap, so the clocks of its devices differ.

    Do not believe the overlap that this case and the cases beside it show.
    """
    control = case.extra_info.control or "in_turn" in case.name  # older files do not declare it
    launches = by_launch(run, case)
    shown = [part for launch in launches for part in _in_turn(launch.parts, control=control)]
    if shown and max(shown) > LARGEST_OVERLAP:
        yield f"overlap of {max(shown):.0%} where there can be none"


def _with_parts(run: Run, case: Case, *parts: str) -> tuple[list[str], list[Observed]]:
    """Return a case's accelerators, and if it has any the launches that have all these parts."""
    devices = accelerators(case)
    launches = by_launch(run, case) if devices else []
    return devices, [launch for launch in launches if {*parts} <= launch.parts.keys()]


def _in_turn(parts: Mapping[str, float], *, control: bool) -> Iterator[float]:
    """Yield the overlaps that a launch shows of a control, or of a case's own, in turn."""
    if control:
        yield from (parts[name] for name in ("overlap", "concurrency") if name in parts)
    if parts.get("shareable") and "shared_in_turn" in parts:
        noise = EVENT_NOISE * parts.get("entries", 0.0)
        yield (parts["shared_in_turn"] - noise) / parts["shareable"]


def _waited_for_more(launch: Observed, devices: list[str]) -> bool:
    """Tell whether the host waited for more than the events and an idle device explain.

    A neighbour who takes the host's core may make most waits longer, but not those of all samples,
    so the shortest must be longer than what is explained too.
    """
    idle = sum(launch.whole.empty_body[name] for name in devices)
    explained = launch.parts["span"] + idle + WAKING
    typical = launch.seconds - launch.parts["enqueue"]
    shortest = min(launch.samples) - launch.parts["enqueue"]
    return explained < LEAST_OF_WAIT * typical and explained < shortest


def _typical(times: Iterable[float]) -> str:
    return format_seconds(median(times))


NOTHING_QUEUED, NOTHING_CALLED = 1.2, 2.0
"""Longest sample of a body that does nothing, relative to an empty one's: on an accelerator; and on
the CPU, where a function of Python costs about as much as reading the clock twice."""
DEAR_WAIT, NOTHING_HELD = 2e-5, 2e-6
"""Seconds of waiting for an idle device that hide the launch of tiny work; and the most seconds
that a body which launches nothing holds the host."""
PYTHON_CALL = 2e-7
"""Seconds of a call that queues nothing; the fastest launch of work takes several times that."""


def idle_device(case: Case) -> Iterator[str]:
    """Nothing was allocated for a case on a device that it is named for.

    The tensors lay elsewhere, and so did the work. Make them with `device=`, or with the
    methods of the device that the benchmark is given.
    """
    if idle := case.extra_info.idle_devices:
        yield f"nothing was allocated for it on {', '.join(idle)}"


def no_work(run: Run, case: Case) -> Iterator[str]:
    """A case that declares work takes no longer than a body that does nothing.

    Its result was kept from an earlier call, or was never computed. Make every call of the body
    do the whole work.
    """
    if not (case.extra_info.work.flops or case.extra_info.work.bytes):
        return
    for version, launches in by_version(run, case):
        if mostly(launch.sample <= _nothing(case, launch) for launch in launches):
            took = format_seconds(median(launch.seconds for launch in launches))
            yield f"{version}a call takes {took}, as if it did nothing"


def warm_cache(run: Run, case: Case) -> Iterator[str]:
    """A case that claims cold caches was measured with warm ones.

    It claims them by `cold=True`, or by a parameter named `cache` that is "cold". Read at least
    twice the last-level cache before each sample, as `cold=True` does, and call the body once
    in it.
    """
    info = case.extra_info
    flushed = info.flushed_bytes
    if flushed is None and case.params.get("cache") != "cold":
        return
    cache = run.frobench.environment.cpu.last_level_cache_bytes or 0
    needed = 0 if accelerators(case) else TIMES_THE_CACHE * cache
    if not flushed:
        yield "nothing was read over the caches between the samples"
    elif flushed < needed:
        read, enough = format_value(flushed, "B"), format_value(needed, "B")
        yield f"{read} were read between the samples, not {enough}"
    elif (calls := max(info.iterations)) > 1:
        yield f"a sample holds {calls} calls, so only the first is cold"


def _nothing(case: Case, launch: Observed) -> float:
    """Return how long a sample takes at most if its calls do nothing; 0 where that is unknown."""
    empty, devices = launch.whole.empty_body, case.extra_info.devices
    if not all(device in empty for device in devices):
        return 0.0
    waiting = sum(empty[device] for device in devices)
    if not accelerators(case):
        return NOTHING_CALLED * waiting * launch.iterations
    if waiting > DEAR_WAIT and launch.parts.get("enqueue", 0.0) > NOTHING_HELD:
        return 0.0
    return NOTHING_QUEUED * waiting + (launch.iterations - 1) * PYTHON_CALL  # all waited for once
