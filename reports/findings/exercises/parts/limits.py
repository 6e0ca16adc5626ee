# SPDX-License-Identifier: MIT
"""What limits work on a device: the parts of its time that it needs each resource for, at least."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

import pandas as pd

from reports.findings import peaks
from reports.findings.answers import estimate_of, is_above, is_below, text
from reports.findings.exercises.attainable_peak import fastest_products
from reports.findings.kinds import KINDS, LARGE
from reports.findings.remembered import cases_of
from reports.findings.select import Cases, NotMeasuredError
from suite.datasheets.catalog import Ceiling
from suite.stored.run import Case
from suite.units import format_point

HALF = 0.5
"""A resource limits work if it is needed for more than this part of the time."""
COMPUTE, MEMORY, LAUNCHING, NONE = "compute", "memory bandwidth", "launching", "none"


@dataclass(frozen=True)
class Part:
    """A part of the time of a case that a resource is needed for, at least.

    Parameters
    ----------
    clause
        The part and its ceiling in words; empty where there is no ceiling to name.
    cases
        Behind the ceiling, if it was measured.
    brief
        The clause without the ceiling's number.
    """

    by_launch: pd.Series
    clause: str
    cases: tuple[str, ...] = ()
    brief: str = ""


def parts_of(cases: Cases, case: Case, replayed: Case | None = None) -> dict[str, Part]:
    """Return the parts of a case's time by resource, those that are known.

    Parameters
    ----------
    replayed
        The same work without its launches, where the case is launched from Python.
    """
    parts = {COMPUTE: _of_peak(cases, case), MEMORY: _of_memory(cases, case)}
    if replayed is not None:
        seconds, rest = (cases.one(case=one.fullname) for one in (case, replayed))
        parts[LAUNCHING] = Part((1 - rest / seconds).dropna(), "", (replayed.fullname,))
    return {name: part for name, part in parts.items() if part is not None}


def limit(parts: Mapping[str, Part]) -> str:
    """Return the resource that is needed for most of the time; nothing if not conclusive."""
    needed = {
        name: estimate_of(part.by_launch).value
        for name, part in parts.items()
        if is_above(part.by_launch, HALF) and not is_above(part.by_launch, 1.0)
    }
    return max(needed, key=lambda name: needed[name], default="")


def surely_none(parts: Mapping[str, Part]) -> bool:
    """Tell whether each resource is needed for less than half of the time."""
    return all(is_below(part.by_launch, HALF) for part in parts.values())


def _of_peak(cases: Cases, case: Case) -> Part | None:
    """Compare the arithmetic with the fastest product in its precision, or the datasheet's."""
    device, precision = str(case.params["device"]), peaks.precision_of(case)
    rate = cases.one("flop_rate", case=case.fullname)
    fastest = fastest_products(cases, device)
    if precision not in fastest:
        return _of_sheet(rate, peaks.peak_of(cases.run, case, rate))
    peak, behind = fastest[precision]
    name = f"the attainable {precision} peak ({format_point(estimate_of(peak), 'FLOP/s')})"
    return _part(rate / peak, name, behind)


def _of_memory(cases: Cases, case: Case) -> Part | None:
    """Compare the bytes with the largest copy within the memory, or the datasheet's bandwidth."""
    device, rate = str(case.params["device"]), cases.one("byte_rate", case=case.fullname)
    with suppress(NotMeasuredError):
        copies = KINDS["within"].curve(cases_of(cases.run, "copies"), device, "byte_rate")
        if (most := copies.sizes[-1]) >= LARGE:
            figure = format_point(estimate_of(copies.at(most)), "B/s")
            return _part(rate / copies.at(most), f"the {MEMORY} ({figure})", copies.cases[most])
    return _of_sheet(rate, peaks.bound_of_copy(cases.run, device, "within"))


def _of_sheet(rate: pd.Series, known: Ceiling | None) -> Part | None:
    return _part(rate / known.rate, f"{known.name} ({known.figure})", ()) if known else None


def _part(by_launch: pd.Series, name: str, behind: tuple[str, ...]) -> Part | None:
    """Spell a part; what is faster than the memory comes from the caches."""
    part = by_launch.dropna()
    if part.empty:
        return None
    shared = f"{text(part, '1')} of"
    caches = ", from caches" if is_above(part, 1.0) else ""
    brief = f"{shared} {name.partition(' (')[0]}{caches}"
    return Part(part, f"{shared} {name}{caches}", behind, brief)
