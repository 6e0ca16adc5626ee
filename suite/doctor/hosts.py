# SPDX-License-Identifier: MIT
"""Rules about what disturbs a measurement on the host, memory nodes among it."""

from collections.abc import Iterable, Iterator

from frobench.suite.checks.rule import Fault
from frobench.suite.doctor.there import There
from frobench.suite.units import counted, format_value

IN_THE_WAY = 0.25
"""Part of the usable cores' time that others take, from which they are in the way."""
LEAST_MEMORY, LEAST_SHARED, LEAST_DISK = 2 * 2**30, 2**30, 2**30
"""Bytes that the suite may need."""


def far_accelerator(there: There) -> Iterator[Fault]:
    """The cores that may be used belong to other memory nodes than an accelerator.

    Copies and launches cross the nodes' link, and are slower. Start on the accelerator's node.
    """
    nodes = there.host.cpu.core_nodes or []
    for name, node in _attached(there):
        if nodes and node not in nodes:
            yield _apart(name, node, f"node {', '.join(map(str, nodes))}")


def native_windows(there: There) -> Iterator[Fault]:
    """Frobench measures nothing on Windows itself.

    Stored runs can be read there. To measure, install WSL2 (`wsl --install`), and use that.
    """
    if there.host.os.startswith("Windows"):
        mend = "wsl --install, and use WSL2"
        yield Fault("nothing can be measured on Windows itself", advice=mend)


def slow_governor(there: There) -> Iterator[Fault]:
    """The CPU's cores do not keep their highest clock.

    The kernel's governor lets them slow down between and within samples. Choose `performance`.
    """
    governor = there.host.cpu.governor
    if governor not in {None, "performance"}:
        mend = "sudo cpupower frequency-set -g performance"
        yield Fault(f"the CPU's governor is {governor}", advice=mend)


def quota_below_cores(there: There) -> Iterator[Fault]:
    """A control group, as of a container, gives processes less time than they see cores for.

    Threads stop amid a sample when the time is used up. Raise the limit, or pin whole cores.
    """
    quota, cores = there.host.cpu.quota_cores, there.host.cores
    if quota is not None and quota < cores:
        if there.host.container:
            group = "this container"
            whole = "--cpuset-cpus with whole cores"
            mend = f"docker run --cpus={cores}, or {whole}; in Kubernetes its limit"
        else:
            group = "this process's control group"
            mend = "ask for more cores where the job or service is defined"
        yield Fault(f"{group} may use {quota:g} of {counted(cores, 'core')}", advice=mend)


def busy_processor(there: There) -> Iterator[Fault]:
    """Other programs use the CPU.

    They take time from what is measured, and make it vary. `top` shows them; wait, or end them.
    """
    others, cores = there.host.others, there.host.cores
    if others is not None and others > IN_THE_WAY * cores:
        message = f"other programs use {others:.1f} of {counted(cores, 'core')}"
        yield Fault(message, advice="wait for them, or end what `top` shows")


def on_battery(there: There) -> Iterator[Fault]:
    """The machine runs on its battery.

    Most then lower their clocks. Plug it in.
    """
    if there.host.on_battery:
        yield Fault("the machine runs on its battery", advice="plug it in")


def little_memory(there: There) -> Iterator[Fault]:
    """Little memory is free.

    Large cases are left out, or the system begins to swap. End other programs.
    """
    free = there.host.memory_free_bytes
    if free < LEAST_MEMORY:
        yield Fault(f"{format_value(free, 'B')} of memory are free", advice="end other programs")


def little_shared_memory(there: There) -> Iterator[Fault]:
    """Processes can share little memory.

    Docker's default of 64 MiB is too little for workers that exchange tensors. Give them more.
    """
    shared = there.host.shared_memory_bytes
    if shared is not None and shared < LEAST_SHARED:
        mend = "docker run --shm-size=8g; elsewhere: sudo mount -o remount,size=8G /dev/shm"
        yield Fault(f"processes can share {format_value(shared, 'B')} of memory", advice=mend)


def little_disk_space(there: There) -> Iterator[Fault]:
    """The disk that results are written to is nearly full.

    A run whose journal cannot be written ends. Make room, or write elsewhere with `--results`.
    """
    free = there.host.disk_free_bytes
    if free < LEAST_DISK:
        mend = "make room, or `frobench run --results FOLDER` on another disk"
        yield Fault(f"{format_value(free, 'B')} are free where results are written", advice=mend)


def several_nodes(there: There) -> Iterator[Fault]:
    """The cores that may be used belong to several memory nodes, an accelerator to one of them.

    Pinned memory lies on the node where a launch runs, so copies may differ between launches. Start
    the run on the accelerator's node to measure copies.
    """
    nodes = there.host.cpu.core_nodes or []
    for name, node in _attached(there):
        if node in nodes and len(nodes) > 1:
            yield _apart(name, node, f"{len(nodes)} nodes")


def _attached(there: There) -> Iterable[tuple[str, int]]:
    """Return each accelerator's name with the memory node that it is attached to, once."""
    named = ((device.name, device.numa_node) for device in there.accelerators)
    return dict.fromkeys((name, node) for name, node in named if node is not None)


def _apart(name: str, node: int, cores: str) -> Fault:
    return Fault(
        f"{name} is attached to memory node {node}, and the usable cores belong to {cores}",
        advice=f"numactl --cpunodebind={node} --membind={node} frobench run",
    )
