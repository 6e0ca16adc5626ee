# SPDX-License-Identifier: MIT
"""Clauses to append to a rate: which part it is of what the datasheet or the link allows.

They are empty where nothing is known to compare a rate with, as for a CPU. Rates are in FLOP/s
or B/s, by launch.
"""

from collections.abc import Callable

import pandas as pd

from frobench.reports.findings.values import text
from frobench.suite.checks.ceilings import LEAST_CLOCK
from frobench.suite.datasheets import catalog
from frobench.suite.datasheets.catalog import NotInCatalogError, PeakRate
from frobench.suite.stored.types import Accelerator, Case, Run

HALF_ACCUMULATOR = "cuda_matmul_fp16_accumulation"
"""A setting of torch with which float16 runs above every peak of the catalog."""


def of_peak(run: Run, case: str, rate: pd.Series) -> str:
    """Say which part a product's rate is of the datasheet's dense peak in its precision.

    That is the peak at the highest clock that was seen while the product ran, in any launch, or
    else at the clock that the datasheet assumes; the clause says which.

    case : full name of the product's case
    """
    product = next(measured for measured in run.benchmarks if measured.fullname == case)
    return _part(peak_of(run, product, rate), rate)


def peak_of(run: Run, product: Case, rate: pd.Series) -> PeakRate | None:
    """Return the datasheet's peak for a case in its precision, where it is known."""
    precision = precision_of(product)
    if precision == "float16" and run.frobench.environment.software.flags.get(HALF_ACCUMULATOR):
        return None
    sensed = product.extra_info.telemetry.get(product.extra_info.device)
    readings = sensed.values if sensed else {}  # noqa: PD011 - no frame of pandas'
    clock = readings["sm_clock_hz"][2] if "sm_clock_hz" in readings else None  # the highest

    def find(known: Accelerator) -> PeakRate:
        sheet = catalog.sheet(known)
        printed = catalog.peak(sheet, precision)
        if not clock or not printed.clock_hz or clock < LEAST_CLOCK * printed.clock_hz:
            return printed
        scaled = catalog.peak(sheet, precision, clock)
        # A rate above it tells that the clock was higher than at any moment that it was read.
        missed = scaled.rate < min(printed.rate, rate.median())
        return printed if missed else scaled

    return _ceiling(run, product.extra_info.device, find)


def precision_of(case: Case) -> str:
    """Return the precision that a case names, or that its results show; else it is float32."""
    shown = case.extra_info.check.precision if case.extra_info.check else None
    return str(case.params.get("dtype", shown or "float32"))


def number(case: Case, name: str) -> float:
    """Return a parameter of a case that is a number; 0 where it has none of that name."""
    return float(str(case.params.get(name, 0)))


def of_copy(run: Run, device: str, function: str, rate: pd.Series) -> str:
    """Say which part a copy's rate is of what its link or memory allows."""
    return _part(bound_of_copy(run, device, function), rate)


def bound_of_copy(run: Run, device: str, function: str) -> PeakRate | None:
    """Return what limits a copy, where it is known: the link to the host, or the device's memory.

    function : of the copy, or the path that a benchmark declares for its bytes
    """
    if function in {"bench_to_device", "bench_to_host", "host"}:
        return _ceiling(run, device, catalog.host_link)
    if function in {"bench_within", "within"}:
        return _ceiling(run, device, lambda known: catalog.memory_bandwidth(catalog.sheet(known)))
    return None


def _part(ceiling: PeakRate | None, rate: pd.Series) -> str:
    if ceiling is None:
        return ""
    return f", {text(rate / ceiling.rate, '1')} of {ceiling.name} ({ceiling.figure})"


def _ceiling(run: Run, device: str, find: Callable[[Accelerator], PeakRate]) -> PeakRate | None:
    known = accelerator(run, device)
    try:
        return find(known) if known else None
    except NotInCatalogError:
        return None


def accelerator(run: Run, device: str) -> Accelerator | None:
    """Return what is recorded of a device; nothing of a CPU or a group."""
    present = run.frobench.environment.accelerators
    return next((card for card in present if card.place == device), None)
