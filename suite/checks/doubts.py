# SPDX-License-Identifier: MIT
"""Rules about figures too good to be taken as they are, and about devices held back."""

from collections.abc import Iterator

from frobench.suite.checks.ceilings import (
    above,
    find_sheet,
    label,
    link_ceiling,
    memory_ceiling,
    peak_ceiling,
)
from frobench.suite.checks.rule import Fault
from frobench.suite.datasheets import catalog
from frobench.suite.datasheets.catalog import NotInCatalogError
from frobench.suite.stored.types import Case, Run, Severity

SEVERITY: Severity = "warning"

CAPPED = 0.99
"""A power limit relative to the usual one, below which it counts as lowered."""


def near_peak(run: Run, case: Case) -> Iterator[str]:
    """A product is faster than the datasheet's dense peak, at the device's highest clock.

    Without a datasheet it is faster than the best card, or so many of the best units, in the
    catalog. Cards may run above the datasheet's clock, or be another model of that name.
    Else its inputs were plain, its precision another one, or it was not waited for.
    """
    yield from above(peak_ceiling, "flops", run, case, SEVERITY)


def faster_than_link(run: Run, case: Case) -> Iterator[str]:
    """A copy is faster than its device's link, as the driver states it.

    A virtual machine may not tell the link that there is. Else the copy was not waited for.
    """
    yield from above(link_ceiling, "bytes", run, case, SEVERITY)


def faster_than_memory(run: Run, case: Case) -> Iterator[str]:
    """A copy within a device is faster than its memory, or much faster than its caches usually are.

    What fits the last cache is left out of account. The memory's clock was raised, or the device
    is another model of the same name. Else the copy was not waited for.
    """
    yield from above(memory_ceiling, "bytes", run, case, SEVERITY)


def capped_power(run: Run) -> Iterator[Fault]:
    """A device's power limit is below its usual one.

    Its figures are those of a device held back. Say so beside them, or raise the limit: by
    `amd-smi reset -g all --power-cap`, or by `nvidia-smi -pl` with the default in watts, which a
    laptop refuses.
    """
    for device in run.frobench.environment.accelerators:
        limit, usual = device.power_limit_watts, device.power_limit_default_watts
        whose = "its default"
        if not usual and (printed := find_sheet(device)) and "power_limit" in printed.figures:
            usual, whose = printed.figures["power_limit"].value, "that of its datasheet"
        if limit and usual and limit < CAPPED * usual:
            claim = f"{label(device)} may draw {limit:.0f} W"
            yield Fault(f"{claim}, {limit / usual:.0%} of {whose}")


def other_model(run: Run) -> Iterator[Fault]:
    """A device has the name of one in the catalog, and not its memory or multiprocessors.

    It is another model of that name, or a part of one, so that its datasheet says nothing of it.
    Its rate is compared with the best in the catalog.
    """
    for device in run.frobench.environment.accelerators:
        try:
            catalog.sheet(device)
        except NotInCatalogError as why:
            if "memory" in str(why):
                yield Fault(f"{label(device)}: {why}")
