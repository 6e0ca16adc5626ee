# SPDX-License-Identifier: MIT
"""Which part of a ceiling a rate is: of what the same run measured, or else of a datasheet."""

from contextlib import suppress
from typing import NamedTuple

import pandas as pd

from reports.findings import peaks
from reports.findings.answers import estimate_of, is_above, text
from reports.findings.exercises.attainable_peak import fastest_products
from reports.findings.kinds import AT_ONCE, KINDS, LARGE, Kind
from reports.findings.own.functions import Quantity
from reports.findings.remembered import cases_of
from reports.findings.select import Cases, NotMeasuredError
from reports.table.frame import device_of
from suite.datasheets.catalog import Ceiling
from suite.stored.run import Case
from suite.units import format_point

MEMORY = "within"
COPIES: dict[str, tuple[str, tuple[Kind, ...]]] = {
    MEMORY: ("the memory bandwidth", (KINDS["within"],)),
    "host": ("the bandwidth of the link", (KINDS["to-device-pinned"], KINDS["to-host-pinned"])),
    "both-ways": ("the bandwidth of the link both ways", (AT_ONCE["both-ways"],)),
    "between": ("the bandwidth between the devices", (KINDS["between"],)),
}
"""The copies that measure a path's bandwidth, and what it is called."""


class Part(NamedTuple):
    """A clause that follows a rate, and the cases behind a ceiling that was measured."""

    clause: str
    cases: tuple[str, ...] = ()


def of_ceiling(cases: Cases, case: Case, quantity: Quantity) -> Part:
    """Say which part of what its device allows a case's rate is, where that is known."""
    if quantity.unit == "FLOP/s":
        return _of_products(cases, case)
    return _of_bandwidth(cases, case) if quantity.unit == "B/s" else Part("")


def _of_products(cases: Cases, case: Case) -> Part:
    """Compare a rate with that of the fastest product in the case's precision."""
    device, precision = device_of(case), peaks.precision_of(case)
    if "+" in device:
        return Part("")
    rate = cases.one("flop_rate", case=case.fullname)
    fastest = fastest_products(cases, device)
    if precision in fastest:
        peak, behind = fastest[precision]
        figure = format_point(estimate_of(peak), "FLOP/s")
        name = f"the fastest {precision} product that this run measured ({figure})"
        return _part(rate / peak, name, behind)
    return _of_datasheet(rate, peaks.peak_of(cases.run, case, rate))


def _of_bandwidth(cases: Cases, case: Case) -> Part:
    """Compare a rate with the bandwidth of what the case's bytes go through."""
    device, path = device_of(case), case.extra_info.work.path or MEMORY
    if ("+" in device) != (path == "between"):
        return Part("")
    rate = cases.one("byte_rate", case=case.fullname)
    name, kinds = COPIES[path]
    copied = []
    for kind in kinds:
        with suppress(NotMeasuredError):
            copies = kind.curve(cases_of(cases.run, "copies"), device, "byte_rate")
            largest = copies.sizes[-1]
            copied += [(copies.at(largest), copies.cases[largest])] if largest >= LARGE else []
    if not copied:
        known = peaks.bound_of_copy(cases.run, device, path)
        return _of_datasheet(rate, known, is_memory=path == MEMORY)
    bandwidth, behind = max(copied, key=lambda pair: estimate_of(pair[0]).value)
    figure = format_point(estimate_of(bandwidth), "B/s")
    name = f"{name} that this run measured ({figure})"
    return _part(rate / bandwidth, name, behind, is_memory=path == MEMORY)


def _of_datasheet(rate: pd.Series, known: Ceiling | None, *, is_memory: bool = False) -> Part:
    if known is None:
        return Part("")
    return _part(rate / known.rate, f"{known.name} ({known.figure})", (), is_memory=is_memory)


def _part(
    by_launch: pd.Series, name: str, behind: tuple[str, ...], *, is_memory: bool = False
) -> Part:
    """Spell the part; what is faster than the memory comes from the caches."""
    known = by_launch.dropna()
    if known.empty:
        return Part("")
    if is_memory and is_above(known, 1.0):
        return Part(f", faster than {name}: from caches", behind)
    return Part(f", {text(known, '1')} of {name}", behind)
