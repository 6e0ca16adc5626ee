# SPDX-License-Identifier: MIT
"""Rules about figures too good to be taken as they are."""

from collections.abc import Iterator

from frobench.suite.checks.ceilings import above, link_ceiling, memory_ceiling, peak_ceiling
from frobench.suite.checks.rule import Fault
from frobench.suite.datasheets import catalog
from frobench.suite.datasheets.catalog import NotInCatalogError
from frobench.suite.stored.types import Case, Run, Severity

SEVERITY: Severity = "warning"


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
                yield Fault(f"{device.name} ({device.place}): {why}")
