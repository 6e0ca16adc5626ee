# SPDX-License-Identifier: MIT
"""The devices of the index held against the runs that their rows show."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tests.instruments.site_checker import workloads
from tests.instruments.site_checker.files import Cells, RunFiles, row
from tests.instruments.site_checker.machines import measured, parts
from tests.instruments.site_checker.printed import first, first_number, scale
from tests.instruments.site_checker.recomputed import log_seconds
from tests.instruments.site_checker.report import NUMBERS, Report
from tests.instruments.site_checker.tree import Element

AXES = {"Compute": "compute", "Memory": "memory"}
COMPUTE = ("bfloat16", "float16", "float32")
ROUNDED = 0.01
"""Amounts have three digits at most."""
FEWER_DIGITS = 1 / 8
"""Part of an interval by which rounding to the digits that it supports may move an amount."""


def check(
    shown: Element | None,
    data: Mapping[str, Any],
    hrefs: Sequence[str],
    files: Mapping[str, RunFiles],
    report: Report,
) -> None:
    """Check speeds, rates and numbers of runs.

    Parameters
    ----------
    shown
        The table of devices, as it is before a reader asks for anything.
    hrefs
        The pages of all runs, in the order of the index's data.
    files
        Of each run, by the address of its page.
    """
    base = files[hrefs[data["base"]]]
    runs = Counter(data["devices"]["of"])
    for line in shown.every("tr") if shown else ():
        link = line.first("a")
        if link is None:
            continue
        href, cells = link.attributes["href"], [*line.every("td")]
        own, name = files[href], f"index.html: {link.text()}"
        count = runs[data["devices"]["of"][hrefs.index(href)]]
        head = line.first("th")
        told = head.first("small") if head else None
        runs_shown = first_number(told.text()) if told else "1"
        fault = f"{name}: {told.text() if told else 'one run'}, not {count}"
        report.check(runs_shown == str(count), NUMBERS, fault)
        found, right = first(cells[1].text()), speed(base, own, data["workloads"])
        same = found is None if right is None else found is not None and found.is_value(right)
        report.check(same, NUMBERS, f"{name}: the speed is {cells[1].text()!r}, not {right}")
        for cell in cells[2:]:
            title, _, unit = cell.attributes["data-l"].partition(", ")
            if title in AXES:
                fault = amount(title, cell.text(), unit, own)
                report.check(not fault, NUMBERS, f"{name}: {fault}")


def speed(base: RunFiles, own: RunFiles, known: Sequence[Mapping[str, Any]]) -> float | None:
    """Return how many times as fast a run is under the first workload that the base measured."""
    chosen, sides = parts(base), (measured(base), measured(own))
    table = {one["name"]: one["weights"] for one in workloads.table()["parts"]}
    there = {part for part, _ in chosen.values()}
    names = [one["name"] for one in known]
    workload = next((one for one in names if any(one in table[part] for part in there)), names[0])
    weighed: list[tuple[float, float]] = []
    for part in there:
        logs: dict[str, list[float]] = {}
        for key, (its, kind) in chosen.items():
            if its == part and all(key in side for side in sides):
                before, after = (log_seconds(side[key].values()) or 0.0 for side in sides)
                logs.setdefault(kind, []).append(before - after)
        if logs and workload in table[part]:
            means = [math.fsum(each) / len(each) for each in logs.values()]
            weighed.append((table[part][workload], math.fsum(means) / len(means)))
    every = math.fsum(weight for weight, _ in weighed)
    return math.exp(math.fsum(w * log for w, log in weighed) / every) if every else None


def amount(title: str, text: str, unit: str, files: RunFiles) -> str:
    """Say what is wrong with a rate, or nothing."""
    axes = [one for one in files.tables["axes"] if one["axis"].startswith(AXES[title])]
    axis = next((row(one) for one in axes if title != "Compute" or _fast(one)), None)
    right = axis and axis.value
    if axis is None or right is None or text == "unknown":
        agrees = right is None and text == "unknown"
    else:
        shown = float(first_number(text).replace(",", "")) * scale(unit)[0]
        low, high = (right if end is None else end for end in (axis.low, axis.high))
        fewer = FEWER_DIGITS * (high - low)
        agrees = math.isclose(shown, right, rel_tol=ROUNDED, abs_tol=fewer)
    return "" if agrees else f"{title} is {text!r}, not {right} in {unit}"


def _fast(cells: Cells) -> bool:
    return cells["precision"] in COMPUTE
