# SPDX-License-Identifier: MIT
"""Clauses to append to a rate: which part it is of what the datasheet or the link allows.

They are empty where nothing is known to hold a rate against, as for a CPU.
"""

from collections.abc import Callable

import pandas as pd

from reports.findings.answers import text
from suite import catalog
from suite.catalog import Ceiling, NotInCatalogError
from suite.model import Accelerator, Run

HALF_ACCUMULATOR = "cuda_matmul_fp16_accumulation"
"""A setting of torch with which float16 runs above every peak of the catalog."""


def of_peak(run: Run, device: str, precision: str, rate: pd.Series, *, named: bool = True) -> str:
    """Say which part a product's rate is of the datasheet's dense peak in its precision.

    Parameters
    ----------
    rate
        FLOP/s by launch.
    named
        Whether to say what the peak is, rather than only how high: once in a sentence is enough.
    """
    if precision == "float16" and run.frobench.environment.software.flags.get(HALF_ACCUMULATOR):
        return ""
    return _part(
        run, device, rate, lambda known: catalog.peak(catalog.sheet(known), precision), named=named
    )


def of_copy(run: Run, device: str, function: str, rate: pd.Series) -> str:
    """Say which part a copy's rate, B/s by launch, is of what its link or memory allows."""
    find = _BOUNDS.get(function)
    return _part(run, device, rate, find) if find else ""


def bound_of_copy(run: Run, device: str, function: str) -> Ceiling | None:
    """Return what a copy's link or memory allows, where it is known."""
    find = _BOUNDS.get(function)
    return _ceiling(run, device, find) if find else None


def missing(run: Run, device: str) -> str:
    """Say why a device's rates are not held against its datasheet, where one would expect it."""
    known = _accelerator(run, device)
    try:
        if known:
            catalog.sheet(known)
    except NotInCatalogError as reason:
        return f"; no percent of a datasheet's peak, because {reason}"
    return ""


def _part(
    run: Run,
    device: str,
    rate: pd.Series,
    find: Callable[[Accelerator], Ceiling],
    *,
    named: bool = True,
) -> str:
    ceiling = _ceiling(run, device, find)
    if ceiling is None:
        return ""
    of = f"{ceiling.name} ({ceiling.figure})" if named else ceiling.figure
    return f", {text(rate / ceiling.rate, '1')} of {of}"


def _ceiling(run: Run, device: str, find: Callable[[Accelerator], Ceiling]) -> Ceiling | None:
    known = _accelerator(run, device)
    try:
        return find(known) if known else None
    except NotInCatalogError:
        return None


def _accelerator(run: Run, device: str) -> Accelerator | None:
    present = run.frobench.environment.accelerators
    return next((one for one in present if f"{one.type}:{one.index}" == device), None)


def _memory(known: Accelerator) -> Ceiling:
    return catalog.memory_bandwidth(catalog.sheet(known))


_BOUNDS: dict[str, Callable[[Accelerator], Ceiling]] = {
    "bench_to_device": catalog.host_link,
    "bench_to_host": catalog.host_link,
    "bench_within": _memory,
}
"""What limits a copy, by its function: the link to the host, or the device's memory."""
