# SPDX-License-Identifier: MIT
"""The types of a stored machine: everything that moves a number."""

from msgspec import UNSET, Struct, UnsetType

from frobench.suite.stored.basics import Integer, Label, Name, Number, Scalar, Text


class Cpu(Struct, kw_only=True):
    """The host processor as this process may use it. Older files do not tell what has a default.

    boost : whether cores may exceed their base clock
    usable_numa_nodes, core_nodes : memory nodes that the usable cores belong to; their numbers
    huge_pages : the kernel's word on when it uses them by itself
    family, model_number, stepping : by which the vendor numbers processors
    instruction_sets : those that change how fast it computes, see `suite.stored.identity`
    """

    model: Text | None
    architecture: Text
    physical_cores: Integer | None
    logical_cores: Integer | None
    usable_cores: Integer
    quota_cores: Number | None
    governor: Text | None
    max_frequency_hz: Number | None
    last_level_cache_bytes: Integer | None
    numa_nodes: Integer | None
    memory_bytes: Integer
    boost: bool | UnsetType | None = UNSET
    frequency_driver: Text | UnsetType | None = UNSET
    usable_numa_nodes: Integer | UnsetType | None = UNSET
    core_nodes: list[Integer] | UnsetType | None = UNSET
    threads_per_core: Integer | UnsetType | None = UNSET
    huge_pages: Text | UnsetType | None = UNSET
    family: Integer | UnsetType | None = UNSET
    model_number: Integer | UnsetType | None = UNSET
    stepping: Integer | UnsetType | None = UNSET
    instruction_sets: Text | UnsetType | None = UNSET


class Accelerator(Struct, kw_only=True):
    """One device that ``torch.accelerator`` offers. Older files do not tell what has a default.

    numa_node : the memory node that it is attached to
    processes : of others, that computed on it as the run began
    """

    name: Text
    type: Text
    index: Integer
    memory_bytes: Integer | None
    capability: Text | None
    driver: Text | None
    multiprocessors: Integer | None
    power_limit_watts: Number | None
    power_limit_default_watts: Number | None
    max_clock_hz: Number | None
    ecc: bool | None
    persistence: bool | None
    mig: bool | None
    pcie_generation: Integer | None
    pcie_width: Integer | None
    pcie_generation_max: Integer | None
    pcie_width_max: Integer | None
    max_memory_clock_hz: Number | UnsetType | None = UNSET
    numa_node: Integer | UnsetType | None = UNSET
    processes: Integer | UnsetType | None = UNSET

    @property
    def place(self) -> str:
        """What torch calls it, such as ``cuda:0``."""
        return f"{self.type}:{self.index}"


class Software(Struct, kw_only=True):
    """Everything installed that moves a number."""

    os: Text
    kernel: Text
    container: bool | None
    python: Text
    torch: Text
    torch_build: dict[Name, Text | None]
    threads: Integer
    interop_threads: Integer
    flags: dict[Name, Scalar]
    variables: dict[Name, Text]
    packages: dict[Name, Text]


class Environment(Struct, kw_only=True):
    """Everything that moves a number, captured once a run.

    machine : a name for the kind of machine, used as the folder of its results
    unknown : reasons for every ``None`` above, by dotted path (``cpu.governor``)
    topology : what lies between each two accelerators (``cuda:0-cuda:1``), where there are
        several; older files do not tell
    label : which machine of this kind it is, as a seal of the name that ``--label`` gave it (see
        `suite.run.label`); only runs with a label have it
    """

    machine: Text
    cpu: Cpu
    accelerators: list[Accelerator]
    software: Software
    unknown: dict[Name, Text]
    topology: dict[Name, Text] | UnsetType | None = UNSET
    label: Label | UnsetType = UNSET
