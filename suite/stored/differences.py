# SPDX-License-Identifier: MIT
"""What differs between the environments of two runs, and which of it moves numbers."""

from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from msgspec import UNSET, Struct, to_builtins

from frobench.suite.stored.machine_identity import digest, machine_id
from frobench.suite.stored.types import Environment, Scalar


def _facts(part: str, names: str) -> tuple[str, ...]:
    return tuple(f"{part}.{name}" for name in names.split())


MATTERS = (
    "accelerators",
    "label",
    *_facts(
        "accelerators.*",
        "capability driver ecc max_clock_hz max_memory_clock_hz memory_bytes mig numa_node"
        " pcie_generation_max pcie_width power_limit_watts",
    ),
    *_facts(
        "cpu",
        "architecture boost family frequency_driver governor huge_pages instruction_sets"
        " last_level_cache_bytes model model_number quota_cores stepping threads_per_core"
        " usable_cores usable_numa_nodes",
    ),
    *_facts("software", "flags.* interop_threads python threads torch torch_build.* variables.*"),
    "topology.*",
)
"""Facts, as patterns, that must be equal where a slow-down is to be blamed on the code.

`accelerators` is the list of their names.
"""

NOT_OF_A_LAUNCH = ("accelerators.*.pcie_generation", "accelerators.*.processes", "label")
"""Facts in which a launch may differ from its run: an idle link slows down, processes come and go,
and only the run knows its label.
"""

SAID_BY_ABSENCE = (
    "label",
    *("software.flags.", "software.packages.", "software.torch_build.", "software.variables."),
)
"""Where a fact that only one run has counts as different. Elsewhere the other file is older than
the fact: a newer one says ``null``, with the reason.
"""

FOLLOWS = {
    "accelerators": ("accelerators.*", "topology.*"),
    "cpu.model": _facts(
        "cpu",
        "architecture boost family frequency_driver instruction_sets last_level_cache_bytes"
        " logical_cores max_frequency_hz model_number numa_nodes physical_cores stepping"
        " threads_per_core usable_numa_nodes",
    ),
    "software.torch": _facts(
        "software", "packages.nvidia-* packages.torch packages.triton torch_build.*"
    ),
}
"""Facts that follow from another one: where that differs, they are left out."""

ASKED_OF_TORCH = _facts("software", "flags.* interop_threads threads torch torch_build.*")
"""Facts that are unknown, and so different from no others, where nothing imported torch."""


class Difference(Struct, frozen=True):
    """A fact on which two environments differ, by its dotted path."""

    fact: str
    base: Scalar
    new: Scalar

    @property
    def matters(self) -> bool:
        """Whether the fact moves numbers."""
        return matters(self.fact)


def compare_environments(base: Environment, new: Environment) -> list[Difference]:
    """Return every fact on which two environments differ, in the order of the model.

    What follows from another accelerator, processor or torch (memory, clocks, ...) is left out,
    and what torch would have told where a run did without it.
    """
    old_facts, new_facts = facts(base), facts(new)
    unknown = ASKED_OF_TORCH if None in {base.software.torch, new.software.torch} else ()
    differing = [
        fact
        for fact in dict.fromkeys([*old_facts, *new_facts])
        if old_facts.get(fact) != new_facts.get(fact)
        and not any(fnmatchcase(fact, pattern) for pattern in unknown)
        and (fact.startswith(SAID_BY_ABSENCE) or (fact in old_facts and fact in new_facts))
    ]
    known = [pattern for fact in differing for pattern in FOLLOWS.get(fact, ())]
    return [
        Difference(fact, old_facts.get(fact), new_facts.get(fact))
        for fact in differing
        if not any(fnmatchcase(fact, pattern) for pattern in known)
    ]


def changed(planned: Environment, found: Environment) -> dict[str, Scalar]:
    """Return what a launch found otherwise than the run began with, and how it found it."""
    return {
        difference.fact: difference.new
        for difference in compare_environments(planned, found)
        if not any(fnmatchcase(difference.fact, pattern) for pattern in NOT_OF_A_LAUNCH)
    }


@cache
def matters(fact: str) -> bool:
    """Tell whether a fact, by its dotted path, moves numbers."""
    return any(fnmatchcase(fact, pattern) for pattern in MATTERS)


def state(environment: Environment) -> str:
    """Return a digest of all facts that move numbers; equal ones allow a regression verdict."""
    moving = {name: value for name, value in facts(environment).items() if matters(name)}
    machine = machine_id(environment.cpu, environment.accelerators, environment.label)
    return digest(moving | {"machine": machine})


def facts(environment: Environment) -> dict[str, Scalar]:
    """Flatten an environment, without its own name for the machine and its reasons."""
    names = ", ".join(device.name for device in environment.accelerators)
    parts = to_builtins(environment)
    flat: dict[str, Scalar] = {"accelerators": names or "none"}
    if environment.label is not UNSET:
        flat["label"] = environment.label
    for part in ("cpu", "accelerators", "software", "topology"):
        _flatten(parts.get(part, {}), part, flat)
    return flat


def _flatten(value: Any, path: str, flat: dict[str, Scalar]) -> None:  # noqa: ANN401 - any JSON
    if isinstance(value, dict | list):
        for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
            _flatten(entry, f"{path}.{key}", flat)
    else:
        flat[path] = value
