# SPDX-License-Identifier: MIT
"""Everything that moves a number, captured once a run, and nothing that names anybody.

Only `capture` and `machine` import torch: `commit` and `machine_info` serve processes without it.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from frobench.suite.checkout import CHECKOUT
from frobench.suite.machine.host import kernel, processor
from frobench.suite.project import git
from frobench.suite.stored.machine_identity import machine_id, machine_name
from frobench.suite.stored.types import CommitInfo, Environment

MEASURING = ("benchmarks", "frobench", "suite")
"""Folders of a clone whose changes move numbers; new results and other pages do not."""


def capture(devices: Iterable[str]) -> Environment:
    """Describe the machine and its software; no accelerator but the given devices is touched."""
    from frobench.suite.machine import torch_facts  # noqa: PLC0415 - imports torch

    unknown: dict[str, str] = {}
    cpu = processor(unknown)
    names = [name for name in devices if name != "cpu"]
    accelerators = [
        torch_facts.accelerator(name, f"accelerators.{index}.", unknown)
        for index, name in enumerate(names)
    ]
    return Environment(
        machine=machine_name(cpu, accelerators),
        cpu=cpu,
        accelerators=accelerators,
        software=torch_facts.software(unknown),
        unknown=unknown,
    )


def machine(devices: Iterable[str]) -> tuple[str, str]:
    """Name the kind of machine that `capture` would describe, and identify it without a label."""
    from frobench.suite.machine.torch_facts import accelerator  # noqa: PLC0415 - imports torch

    accelerators = [accelerator(name, "", {}) for name in devices if name != "cpu"]
    cpu = processor({})
    return machine_name(cpu, accelerators), machine_id(cpu, accelerators)


def machine_info() -> dict[str, Any]:
    """Return what pytest-benchmark stores of a machine, without names of host and user."""
    from pytest_benchmark import plugin  # noqa: PLC0415 - imports pytest

    described = plugin.pytest_benchmark_generate_machine_info()  # type: ignore[no-untyped-call] # it has no types
    info: dict[str, Any] = described | {"node": "", "release": kernel()}
    return info


def commit(folder: Path = CHECKOUT) -> CommitInfo:
    """Return the revision of the suite in `folder`, without author and branch; times are UTC.

    `dirty` is about what measures: a new result changes no number.
    """
    is_top = git.ask(folder, "rev-parse", "--show-prefix") == ""  # not inside a foreign one
    head = git.head(folder) if is_top else None
    if head is None:
        return CommitInfo()
    head.dirty = git.ask(folder, "status", "--porcelain", "--", *MEASURING) != ""
    return head
