# SPDX-License-Identifier: MIT
"""Rules about cases that did not do what their names and parameters say."""

from collections.abc import Iterator
from statistics import median

from frobench.suite.checks.facts import Observed, accelerators, by_version, mostly
from frobench.suite.profiles import TIMES_THE_CACHE
from frobench.suite.stored.run import Case, Run, Severity
from frobench.suite.units import format_seconds, format_value

SEVERITY: Severity = "error"

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
