# SPDX-License-Identifier: MIT
"""Rules about settings under which a machine does not show what it can do."""

from collections.abc import Iterator, Mapping
from statistics import mode

from frobench.suite.checks.facts import is_accelerator
from frobench.suite.checks.rule import Fault
from frobench.suite.stored import differences
from frobench.suite.stored.run import Run, Scalar, Severity
from frobench.suite.units import counted

SEVERITY: Severity = "warning"

WATCHED = ("software.threads", "software.flags.", "cpu.usable_")
"""Beginnings of facts that `changed_settings` already tells of, for the process itself."""
LONGEST_VALUE = 40
"""Letters of a setting's value that a message shows; a list of cores may have hundreds."""


def few_threads(run: Run) -> Iterator[Fault]:
    """PyTorch computes with fewer threads than there are cores for it.

    Figures of the CPU are those of so many threads, and an accelerator seems better beside them
    than it is. Unset `OMP_NUM_THREADS` and its like, or give it the number of cores.
    """
    threads, cores = run.frobench.environment.software.threads, _cores(run)
    if cores is not None and threads < cores:
        yield Fault(f"{counted(threads, 'thread')} where {counted(cores, 'core')} may be used")


def many_threads(run: Run) -> Iterator[Fault]:
    """PyTorch computes with more threads than it may use cores.

    They wait for each other and for their turn. Set `OMP_NUM_THREADS` to the number of cores
    that may be used: a container's limit is not seen by PyTorch.
    """
    threads = run.frobench.environment.software.threads
    usable = run.frobench.environment.cpu.usable_cores
    if _uses_cpu(run) and threads > usable:
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
        usual = planned if name == "threads" else mode(values.values())
        if odd := {n: value for n, value in values.items() if value != usual}:
            every = len(odd) == len(values)
            where = "every launch" if every else f"launch {', '.join(map(str, odd))}"
            yield Fault(f"{name} is {_spell_all(odd)} in {where}, not {_spell(usual)}")


def changed_environment(run: Run) -> Iterator[Fault]:
    """The machine was not in the same state in all launches.

    Launches before and after measured different machines. Look for what changes it meanwhile: a
    power or clock limit, a governor, a container's quota, an update; then measure again.
    """
    changed = {n: launch.changed for n, launch in enumerate(run.frobench.launches, start=1)}
    for fact in dict.fromkeys(fact for facts in changed.values() for fact in facts):
        if differences.matters(fact) and not fact.startswith(WATCHED):
            values = {n: facts[fact] for n, facts in changed.items() if fact in facts}
            where = f"launch {', '.join(map(str, values))}"
            yield Fault(f"{fact} was {_spell_all(values)} in {where}, unlike when the run began")


def _spell_all(values: Mapping[int, Scalar]) -> str:
    return " or ".join(dict.fromkeys(map(_spell, values.values())))


def _spell(value: Scalar) -> str:
    text, end = str(value), LONGEST_VALUE - 1
    return text if len(text) <= LONGEST_VALUE else f"{text[:end]}\N{HORIZONTAL ELLIPSIS}"


def _uses_cpu(run: Run) -> bool:
    return any(not is_accelerator(case.extra_info.device) for case in run.benchmarks)


def _cores(run: Run) -> int | None:
    """Return how many threads are certainly not too many; ``None`` where the number tells nothing.

    PyTorch's default is a thread a core. Which logical cores share one is not known, so as many as
    can are taken to. Macs have cores of two kinds, and PyTorch leaves the slow ones alone.
    """
    cpu = run.frobench.environment.cpu
    if not _uses_cpu(run) or (cpu.model or "").startswith("Apple"):
        return None
    if not (cpu.physical_cores and cpu.logical_cores):
        return max(1, cpu.usable_cores // 2)
    return max(1, cpu.usable_cores * cpu.physical_cores // cpu.logical_cores)
