# SPDX-License-Identifier: MIT
"""Two environments: what differs in what moves numbers, and what differs harmlessly."""

from fnmatch import fnmatchcase
from typing import Any

from msgspec import Struct, to_builtins

from suite.model import Environment, Scalar

MATTERS = (
    "accelerators",
    "accelerators.*.capability",
    "accelerators.*.driver",
    "accelerators.*.ecc",
    "accelerators.*.max_clock_hz",
    "accelerators.*.memory_bytes",
    "accelerators.*.mig",
    "accelerators.*.pcie_generation_max",
    "accelerators.*.pcie_width",
    "accelerators.*.power_limit_watts",
    "cpu.architecture",
    "cpu.governor",
    "cpu.model",
    "cpu.quota_cores",
    "cpu.usable_cores",
    "software.flags.*",
    "software.interop_threads",
    "software.python",
    "software.threads",
    "software.torch",
    "software.torch_build.*",
    "software.variables.*",
)
"""Facts, as patterns, that must be equal where a slow-down is to be blamed on the code.

`accelerators` is the list of their names. A fact that only one of the runs knows counts as
different, since nobody can say that it is not.
"""

FOLLOWS = {
    "accelerators": ("accelerators.*",),
    "cpu.model": (
        "cpu.architecture",
        "cpu.last_level_cache_bytes",
        "cpu.logical_cores",
        "cpu.max_frequency_hz",
        "cpu.numa_nodes",
        "cpu.physical_cores",
    ),
    "software.torch": (
        "software.packages.nvidia-*",
        "software.packages.torch",
        "software.packages.triton",
        "software.torch_build.*",
    ),
}
"""Facts that follow from another one: where that differs, they are left out."""


class Difference(Struct, frozen=True):
    """A fact on which two environments differ, by its dotted path."""

    fact: str
    base: Scalar
    new: Scalar

    @property
    def matters(self) -> bool:
        """Whether the fact moves numbers."""
        return any(fnmatchcase(self.fact, pattern) for pattern in MATTERS)


def compare_environments(base: Environment, new: Environment) -> list[Difference]:
    """Return every fact on which two environments differ, in the order of the model.

    Accelerators of different names or number are one difference, and so are other processors
    and another torch; what follows from them (memory, clocks, ...) is left out.
    """
    old_facts, new_facts = _facts(base), _facts(new)
    facts = dict.fromkeys([*old_facts, *new_facts])
    differing = [fact for fact in facts if old_facts.get(fact) != new_facts.get(fact)]
    known = [pattern for fact in differing for pattern in FOLLOWS.get(fact, ())]
    return [
        Difference(fact, old_facts.get(fact), new_facts.get(fact))
        for fact in differing
        if not any(fnmatchcase(fact, pattern) for pattern in known)
    ]


def _facts(environment: Environment) -> dict[str, Scalar]:
    """Flatten an environment, without its own name for the machine and its reasons."""
    names = ", ".join(device.name for device in environment.accelerators)
    parts = to_builtins(environment)
    facts: dict[str, Scalar] = {"accelerators": names or "none"}
    for part in ("cpu", "accelerators", "software"):
        _flatten(parts[part], part, facts)
    return facts


def _flatten(value: Any, path: str, facts: dict[str, Scalar]) -> None:  # noqa: ANN401 - any JSON
    if isinstance(value, dict):
        for key, entry in value.items():
            _flatten(entry, f"{path}.{key}", facts)
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            _flatten(entry, f"{path}.{index}", facts)
    else:
        facts[path] = value
