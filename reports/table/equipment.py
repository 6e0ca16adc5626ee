# SPDX-License-Identifier: MIT
"""What a run was measured on, as a buyer sees it, and what else its machine is made of."""

from collections.abc import Collection, Sequence
from typing import TypeVar

from msgspec.structs import replace

from frobench.suite.datasheets.catalog import NotInCatalogError, sheet
from frobench.suite.stored.differences import facts, matters
from frobench.suite.stored.machine_identity import memory_as_sold
from frobench.suite.stored.types import Accelerator, Environment, Scalar

AROUND = ("driver", "pcie_generation_max", "pcie_width")
"""What an accelerator owes to the machine that it is in."""
LIMIT, SHEET = "power limit", "datasheet"
"""Where watts are from."""
_Number = TypeVar("_Number", int, float)


class Equipment:
    """The devices that a ratio is of: the accelerators, or the processor where there are none.

    device : their model; of several the first one's, which ratios take (`suite.compare.matching`)
    accelerators : those of it that were measured; none where it was the processor alone
    count : how many there are
    cpu : the processor's model
    watts, watts_source : what they may draw together, by their `LIMIT` or else by the `SHEET`;
        ``None`` where it is not known of each, and for a processor
    memory_bytes : of all of them, and the host's for a processor; ``None`` where it is not known
        of each
    sold_bytes : the same as it is sold: GiB of a memory are called GB
    """

    def __init__(self, environment: Environment, measured: Collection[str]) -> None:
        """Find what was measured, on devices with names such as ``cuda:0``."""
        there = [one for one in environment.accelerators if one.place in measured]
        cpu = environment.cpu
        self.cpu = cpu.model or cpu.architecture
        self.device = there[0].name if there else self.cpu
        self.accelerators = tuple(one for one in there if one.name == self.device)
        self.count = len(self.accelerators) or 1
        memories = [one.memory_bytes for one in self.accelerators or [cpu]]
        self.memory_bytes = _sum(memories)
        self.sold_bytes = _sum([one and 10**9 * memory_as_sold(one) for one in memories])
        limit = _sum([one.power_limit_watts for one in self.accelerators])
        printed = _sum([*map(printed_watts, self.accelerators)])
        self.watts = limit or printed or None
        self.watts_source = LIMIT if limit else SHEET if printed else None


def _sum(values: Sequence[_Number | None]) -> _Number | None:
    return sum(filter(None, values)) if all(values) else None


def printed_watts(accelerator: Accelerator) -> float | None:
    """Return the power limit that the datasheet names, if one is known."""
    try:
        return sheet(accelerator).figure("power_limit").value
    except NotInCatalogError:
        return None


def surroundings(environment: Environment) -> dict[str, Scalar]:
    """Return the facts of a machine that move numbers, beyond the devices themselves."""
    # Of the accelerators the first alone, without its name and what follows from that.
    first = [replace(accelerator, name="") for accelerator in environment.accelerators[:1]]
    known = facts(replace(environment, accelerators=first))
    return {fact: value for fact, value in known.items() if matters(fact) and _stands_around(fact)}


def _stands_around(fact: str) -> bool:
    part, _, rest = fact.partition(".")
    return part not in {"label", "topology"} and (
        part != "accelerators" or rest.rpartition(".")[2] in AROUND
    )
