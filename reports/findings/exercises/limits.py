# SPDX-License-Identifier: MIT
"""What a device allows at most, and which of its resources limits the time of a case."""

from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

import pandas as pd

from frobench.reports.findings import peaks
from frobench.reports.findings.exercises.copies import AT_ONCE, KINDS, LARGE
from frobench.reports.findings.exercises.products import fastest_products
from frobench.reports.findings.select import Cases, NotMeasuredError, cases_of
from frobench.reports.findings.values import estimate_of, is_above, text
from frobench.reports.table.launches import device_of
from frobench.suite.datasheets.catalog import PeakRate
from frobench.suite.stored.types import Case
from frobench.suite.units import format_point

HALF = 0.5
"""A resource limits work if it is needed for more than this part of the time."""
COMPUTE, MEMORY, LAUNCHING = "compute", "memory bandwidth", "launching"
WITHIN = "within"
PATHS = {
    WITHIN: ("the memory bandwidth", [KINDS["within"]]),
    "host": ("the bandwidth of the link", [KINDS["to-device-pinned"], KINDS["to-host-pinned"]]),
    "both-ways": ("the bandwidth of the link both ways", [AT_ONCE["both-ways"]]),
    "between": ("the bandwidth between the devices", [KINDS["between"]]),
}
"""What the bandwidth of a path is called, and the copies that measure it."""


class Allowed(NamedTuple):
    """What a device allows at most: what the same run measured, or else its datasheet's figure.

    cases : behind what was measured
    """

    rate: pd.Series | float
    name: str
    figure: str
    cases: tuple[str, ...] = ()


def allowed_flops(cases: Cases, case: Case, rate: pd.Series) -> Allowed | None:
    """Return the rate of the fastest product in a case's precision.

    rate : the case's own, in FLOP/s by launch
    """
    precision = peaks.precision_of(case)
    fastest = fastest_products(cases.run, device_of(case)).get(precision)
    if fastest is None:
        return _of_sheet(peaks.peak_of(cases.run, case, rate))
    figure, names = format_point(estimate_of(fastest.rate), "FLOP/s"), (fastest.case.fullname,)
    return Allowed(fastest.rate, f"the fastest {precision} product", figure, names)


def allowed_bytes(cases: Cases, device: str, path: str) -> Allowed | None:
    """Return the bandwidth of the largest copies through a path; none of a network."""
    name, kinds = PATHS.get(path, ("", []))
    copied = []
    for kind in kinds:
        with suppress(NotMeasuredError):
            copies = kind.curve(cases_of(cases.run, "copies"), device, "byte_rate")
            largest = copies.largest
            copied += [(copies.at(largest), copies.cases[largest])] if largest >= LARGE else []
    if not copied:
        return _of_sheet(peaks.bound_of_copy(cases.run, device, path))
    bandwidth, behind = max(copied, key=lambda pair: estimate_of(pair[0]).value)
    return Allowed(bandwidth, name, format_point(estimate_of(bandwidth), "B/s"), behind)


def _of_sheet(known: PeakRate | None) -> Allowed | None:
    return Allowed(known.rate, known.name, known.figure) if known else None


class Part(NamedTuple):
    """A part of the time of a case that a resource is needed for, at least.

    clause : the part and its ceiling in words; empty where there is no ceiling to name
    cases : behind the ceiling, if it was measured
    """

    by_launch: pd.Series
    clause: str
    cases: tuple[str, ...] = ()


def parts_of(cases: Cases, case: Case, replayed: Case | None = None) -> dict[str, Part]:
    """Return the parts of a case's time by resource, those that are known.

    replayed : the same work without its launches, where the case is launched from Python
    """
    parts: dict[str, Part | None] = {}
    with suppress(NotMeasuredError):  # no operations are declared
        flops = cases.one("flop_rate", case=case.fullname)
        parts[COMPUTE] = part_of(flops, allowed_flops(cases, case, flops))
    with suppress(NotMeasuredError):
        moved = cases.one("byte_rate", case=case.fullname)
        parts[MEMORY] = part_of(moved, allowed_bytes(cases, device_of(case), WITHIN))
    if replayed is not None:
        seconds, rest = (cases.one(case=known.fullname) for known in (case, replayed))
        parts[LAUNCHING] = Part((1 - rest / seconds).dropna(), "", (replayed.fullname,))
    return {name: part for name, part in parts.items() if part is not None}


def part_of(rate: pd.Series, allowed: Allowed | None) -> Part | None:
    """Spell which part a rate is of what is allowed; what is faster comes from the caches."""
    if allowed is None or (part := (rate / allowed.rate).dropna()).empty:
        return None
    caches = ", from caches" if is_above(part) else ""
    clause = f"{text(part, '1')} of {allowed.name} ({allowed.figure}){caches}"
    return Part(part, clause, allowed.cases)


def limit(parts: Mapping[str, Part]) -> str:
    """Return the resource that is needed for most of the time; nothing if not conclusive."""
    needed = {
        name: estimate_of(part.by_launch).value
        for name, part in parts.items()
        if is_above(part.by_launch, HALF) and not is_above(part.by_launch)
    }
    return max(needed, key=lambda name: needed[name], default="")
