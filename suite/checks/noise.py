# SPDX-License-Identifier: MIT
"""Rules about noise: coarse clocks, changed settings, unsteady machines, other programs."""

import math
from collections.abc import Iterable, Iterator
from statistics import median, mode

from msgspec import UNSET

from frobench.suite.checks.case_facts import accelerators, busy, by_launch, held_back, mostly
from frobench.suite.checks.drift import find_drift
from frobench.suite.checks.rule import Fault
from frobench.suite.machine.sensors.throttle_causes import of_kind
from frobench.suite.profiles import STEPS_ON_ACCELERATOR, STEPS_ON_CPU
from frobench.suite.statistics import LEAST_LAUNCHES, estimate, spread
from frobench.suite.stored.differences import matters
from frobench.suite.stored.machine_identity import is_cpu
from frobench.suite.stored.types import Case, Run, Scalar, Severity
from frobench.suite.units import counted, format_estimate, format_seconds

SEVERITY: Severity = "warning"

PLAINEST = 0.9
"""The part of an input that may be one value; half of one is, after a rectifier."""


def plain_inputs(case: Case) -> Iterator[str]:
    """An input is all zeros, all ones, an identity, or nearly so.

    Such numbers cost less power than others, so that a device whose power is limited works
    faster on them. Draw inputs at random, as `device.uniform` does.
    """
    part = case.extra_info.commonest
    if part is not None and part > PLAINEST:
        yield f"{part:.0%} of an input is one and the same value"


COARSEST_STEP = 1e-5
"""Seconds of a clock's step; every system's monotonic clock has less than a tenth of it."""
LARGEST_COST = 0.1
"""What the harness may cost, relative to a sample."""


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
        least = STEPS_ON_CPU if is_cpu(case.extra_info.device) else STEPS_ON_ACCELERATOR
        if steps and min(steps) < least:
            yield Fault(f"a sample lasts {min(steps):.0f} steps of the clock", case.fullname)


def costly_harness(run: Run, case: Case) -> Iterator[str]:
    """Reading the clock around a case takes more than 10% of what it measures.

    What an empty body costs is never subtracted, so the case seems slower than it is. Let its
    body do more.
    """
    if not is_cpu(case.extra_info.device):
        return
    costs = [
        launch.whole.empty_body.get("cpu", 0.0) / launch.sample for launch in by_launch(run, case)
    ]
    if mostly(cost > LARGEST_COST for cost in costs):
        yield f"the harness takes {median(costs):.0%} of a sample"


WATCHED = ("software.threads", "software.flags.", "cpu.usable_")
"""Beginnings of facts that `changed_settings` already tells of, for the process itself."""
LONGEST_VALUE = 40
"""Letters of a setting's value that a message shows; a list of cores may have hundreds."""


def few_threads(run: Run) -> Iterator[Fault]:
    """PyTorch computes with fewer threads than there are cores for it.

    Figures of the CPU are those of so many threads, and an accelerator seems better beside them
    than it is. Unset `OMP_NUM_THREADS` and its like, or give it the number of cores.
    """
    cpu, threads = run.frobench.environment.cpu, run.frobench.environment.software.threads
    # PyTorch's default is a thread a core; which logical cores share one is not known.
    physical, logical = cpu.physical_cores, cpu.logical_cores
    cores = int(cpu.usable_cores * (physical / logical if physical and logical else 0.5))
    is_mac = (cpu.model or "").startswith("Apple")  # PyTorch leaves its slow cores alone
    if threads is not None and _uses_cpu(run) and threads < cores and not is_mac:
        yield Fault(f"{counted(threads, 'thread')} where {counted(cores, 'core')} may be used")


def many_threads(run: Run) -> Iterator[Fault]:
    """PyTorch computes with more threads than it may use cores.

    They wait for each other and for their turn. Set `OMP_NUM_THREADS` to the number of cores
    that may be used: a container's limit is not seen by PyTorch.
    """
    threads = run.frobench.environment.software.threads
    usable = run.frobench.environment.cpu.usable_cores
    if threads is not None and _uses_cpu(run) and threads > usable:
        yield Fault(f"{counted(threads, 'thread')} where {counted(usable, 'core')} may be used")


def changed_settings(run: Run) -> Iterator[Fault]:
    """A launch began with other settings than the rest of the run.

    Its samples are of another experiment. Look for what sets them: a variable, a start-up
    file, a module that a benchmark imports, or another program that moves processes about.
    """
    states = {n: launch.state for n, launch in enumerate(run.frobench.launches, start=1)}
    for name in dict.fromkeys(name for state in states.values() for name in state):
        values = {n: state[name] for n, state in states.items() if name in state}
        planned = run.frobench.environment.software.threads  # counts, whatever most launches had
        is_planned = name == "threads" and planned is not None
        usual = planned if is_planned else mode(values.values())
        if odd := {n: value for n, value in values.items() if value != usual}:
            every = len(odd) == len(values)
            where = "every launch" if every else f"launch {', '.join(map(str, odd))}"
            yield Fault(f"{name} is {_spelled(odd.values())} in {where}, not {_spelled([usual])}")


def changed_environment(run: Run) -> Iterator[Fault]:
    """The machine was not in the same state in all launches.

    Launches before and after measured different machines. Look for what changes it meanwhile: a
    power or clock limit, a governor, a container's quota, an update; then measure again.
    """
    changed = {n: launch.changed for n, launch in enumerate(run.frobench.launches, start=1)}
    for fact in dict.fromkeys(fact for facts in changed.values() for fact in facts):
        if matters(fact) and not fact.startswith(WATCHED):
            values = {n: facts[fact] for n, facts in changed.items() if fact in facts}
            where = f"launch {', '.join(map(str, values))}"
            yield Fault(
                f"{fact} was {_spelled(values.values())} in {where}, unlike when the run began"
            )


def _spelled(values: Iterable[Scalar]) -> str:
    return " or ".join(dict.fromkeys(f"{value!s:.{LONGEST_VALUE}}" for value in values))


def _uses_cpu(run: Run) -> bool:
    return any(is_cpu(case.extra_info.device) for case in run.benchmarks)


def few_launches(run: Run) -> Iterator[Fault]:
    """Fewer launches were made than a 95% interval needs.

    Values stand without an interval, so nothing can be compared with them. Measure again
    with more `--launches`; a run that was interrupted is finished with `--resume`.
    """
    launches, needed = len(run.frobench.launches), f"where an interval needs {LEAST_LAUNCHES}"
    if launches < LEAST_LAUNCHES:
        yield Fault(f"{counted(launches, 'launch')}, {needed}")
        return
    for case in run.benchmarks:
        measured = sum(map(bool, case.extra_info.launches))
        if measured < LEAST_LAUNCHES:
            yield Fault(f"measured in {counted(measured, 'launch')}, {needed}", case.fullname)


def incomplete_run(run: Run) -> Iterator[Fault]:
    """The run ended before its last launch did.

    Some cases have fewer samples than others. Finish it with `--resume`.
    """
    if not run.frobench.complete:
        yield Fault("interrupted before every planned launch ended")


def missing_launch(run: Run, case: Case) -> Iterator[str]:
    """A case has no samples in some launches of a run that counts as complete.

    It was left out there for want of memory, or these launches were taken out: the slowest one
    missing makes a case look faster. Measure again.
    """
    absent = [n for n, count in enumerate(case.extra_info.launches, 1) if not count]
    if absent and run.frobench.complete:
        yield f"no samples in launch {', '.join(map(str, absent))}"


WIDEST_INTERVAL, WIDEST_SPREAD = 0.1, 0.1
"""Most width of a trustworthy interval, and most spread of trustworthy launches, relative."""
LEAST_BALANCE = 0.7
"""Least time of the device that is done first, relative to the last one's: devices of one kind
differ by a few percent."""
SHORTEST_WORK = 5e-4
"""Seconds of work, of which the larger part is launching if it is shorter."""
BUSIEST_RUNNER = 0.02
"""Cores that the runner may use besides reading sensors: on two cores it uses 0.004."""
STARTING_SECONDS = 0.1
"""Seconds of a processor that starting a launch takes the runner, however short the launch is."""


def noisy_case(run: Run, case: Case) -> Iterator[str]:
    """A case's launches differ by more than 10%, or its 95% interval is more than 10% wide.

    Do not trust differences of that size. Close other programs, plug the machine in, let it
    cool, and measure again with a larger budget.
    """
    medians = [launch.seconds for launch in by_launch(run, case)]
    typical, apart = estimate(medians), spread(medians)
    signs = []
    if apart is not None and apart > WIDEST_SPREAD:
        by = f"by {apart:.0%}" if apart < 1 else f"{1 + apart:,.0f}-fold"
        signs.append(f"launches differ {by}")
    low, high = typical.low, typical.high
    if low is not None and high is not None and (high - low) / typical.value > WIDEST_INTERVAL:
        signs.append("wide interval")
    if signs:
        yield f"{', '.join(signs)}: {format_estimate(typical, 's')}"


def uneven_devices(run: Run, case: Case) -> Iterator[str]:
    """One of several devices is done in less than 70% of the time that another takes.

    Together they are no faster than the slowest. Look for what slows that one (power, heat, its
    link, another user), or divide the work by speed.
    """
    parts = [launch.parts for launch in by_launch(run, case)]
    parts = [part for part in parts if {"balance", "span"} <= part.keys()]
    uneven = (p["balance"] < LEAST_BALANCE and p["span"] > SHORTEST_WORK for p in parts)
    if len(accelerators(case)) > 1 and mostly(uneven):
        share = median(part["balance"] for part in parts)
        yield f"the first device to be done takes {share:.0%} of the last one's time"


def busy_runner(run: Run) -> Iterator[Fault]:
    """The runner used more than 0.02 cores in a launch, besides those for reading sensors.

    It took this time from cases on the CPU. Report this run as a fault of Frobench.
    """
    sensors = 0.0 if run.frobench.telemetry is UNSET else run.frobench.telemetry.cost
    busy = [
        (launch.runner_cores, number)
        for number, launch in enumerate(run.frobench.launches, start=1)
        if launch.runner_cores is not UNSET
        and (launch.runner_cores - sensors - BUSIEST_RUNNER) * launch.seconds > STARTING_SECONDS
    ]
    if busy:
        cores, number = max(busy)
        yield Fault(f"the runner used {cores:.2f} cores in launch {number}")


def busy_machine(run: Run) -> Iterator[Fault]:
    """Other programs used more than 5% of the cores in the median launch.

    They took time from the cases. Do not publish this run: close other programs, and measure again.
    """
    if told := busy(run):
        yield Fault(told)


def drift(run: Run) -> Iterator[Fault]:
    """Over the run, cases became slower or faster by more than 2% together, by a trend or a step.

    The machine did not hold its speed: it heated up, its power source changed, or something
    else started or ended. The launches are not independent, so a 95% interval may cover the median
    in fewer than 95% of runs. Warm the machine up or let it cool, and measure again.
    """
    whole = [case for case in run.benchmarks if all(case.extra_info.launches)]
    times = [[math.log(launch.seconds) for launch in by_launch(run, case)] for case in whole]
    if found := find_drift(times):
        change, since = found
        by = f"{abs(change):.1%} {'slower' if change > 0 else 'faster'}"
        if since is None:
            yield Fault(f"the last launches were {by} than the first")
        else:
            yield Fault(f"from launch {since} on, times were {by} than before")


def throttled_case(case: Case) -> Iterator[str]:
    """A device was slowed down, by heat or by a lack of power, while a case was measured.

    The number is that of a machine in trouble. Cool it better, let dust out, check its power
    supply and cables, and measure again.
    """
    yield from held_back(case, of_kind("wrong"))


def fixed_clock_case(case: Case) -> Iterator[str]:
    """A device was held to a clock that was chosen for it, while a case was measured.

    The number is that of the setting: do not compare it with that of a device that is left to
    itself. Clocks that somebody set are undone by `sudo nvidia-smi -rac`, and locked ones by
    `sudo nvidia-smi -rgc -rmc`; some older cards come with such a setting. For `SyncBoost`, take
    the device out of the group that nvidia-smi or DCGM put it into; for `DisplayClockSetting`,
    measure on a device without a display. Then measure again.
    """
    yield from held_back(case, of_kind("chosen"))


MOST_FACTS = 3
"""Facts that a message names."""


def rank_lost(run: Run) -> Iterator[Fault]:
    """A process of a group ended or did not answer, and its launch measured no further groups.

    The cases of groups have samples of the other launches. Look at the node that is named, and at
    its network.
    """
    for number, launch in enumerate(run.frobench.launches, 1):
        if launch.lost:
            yield Fault(f"launch {number} lost its group: {launch.lost}")


def unlike_nodes(run: Run) -> Iterator[Fault]:
    """A node differs from the first one in something that moves numbers.

    A group is as slow as its slowest node. Measure nodes of one kind together, or make them alike.
    """
    nodes = [] if run.frobench.nodes is UNSET else run.frobench.nodes
    for number, node in enumerate(nodes):
        facts = [fact for fact in node.differs if matters(fact)]
        if facts:
            shown = ", ".join(f"{fact} is {node.differs[fact]}" for fact in facts[:MOST_FACTS])
            more = f", and {len(facts) - MOST_FACTS} more differ" if facts[MOST_FACTS:] else ""
            yield Fault(f"node {number} differs from node 0: {shown}{more}")
