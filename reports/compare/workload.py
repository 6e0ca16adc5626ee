# SPDX-License-Identifier: MIT
"""Two machines under a workload, for the terminal: the verdict of the page's script, and axes."""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from frobench.reports.findings.finding import RATIO
from frobench.reports.purchase import machines, script
from frobench.reports.summary.device_axes import DeviceAxes
from frobench.reports.summary.model import Summary, summarise
from frobench.reports.table.estimates import estimates
from frobench.reports.table.workloads import table as workloads
from frobench.suite import checks
from frobench.suite.stored.types import Estimate, Run
from frobench.suite.terminal.layout import Table
from frobench.suite.units import format_capacity, format_estimate, format_point, format_value

WHOLE = 1 - 1e-9


def sides(base: Run, new: Run) -> list[Summary]:
    """Return what is known of two machines."""
    credible = {"base.html": checks.credible(base), "new.html": checks.credible(new)}
    return [
        replace(summarise(run, "", estimates(run)), href=href) for href, run in credible.items()
    ]


def score(compared: Sequence[Summary], workload: str) -> dict[str, Any]:
    """Return how fast the second machine is under a workload of `reports.table.workloads`.

    ``speed`` is how many times as fast it is, ``energy`` how much work it does for a joule beside
    the first, both ``None`` where ``reasons`` say why; ``coverage`` is the share of the workload's
    weight that both measured, ``missing`` has the parts that lack something, and whose, and
    ``parts`` the parts with their weights.
    """
    try:
        found: Any = script.call("built.score", machines.data(compared), workload)
    except script.MissingEngineError as error:
        found = {"speed": None, "energy": None, "coverage": None, "missing": [], "parts": []}
        found["reasons"] = {"speed": str(error), "energy": str(error)}
    return {"workload": workload, **found}


def answers(found: dict[str, Any]) -> list[str]:
    """Return the verdicts in sentences: speed, energy, and what is missing."""
    titles = {workload.name: workload.title for workload in workloads().workloads}
    title, reasons = titles[found["workload"]], found["reasons"]
    lines = [f"{title}: not measured: {reasons['speed']}"]
    if found["speed"]:
        part = found["coverage"]
        covered = f"{min(round(100 * part), 100 if part > WHOLE else 99)}% of the workload's weight"
        lines = [f"{title}: new has {_spelled(found['speed'])} the speed of base ({covered})"]
    if found["energy"]:
        lines.append(f"Energy: new does {_spelled(found['energy'])} the work of base for a joule")
    elif found["speed"]:
        lines.append(f"Energy: not measured: {reasons['energy']}")
    where = {"new": "in new", "base": "in base", "both": "in both"}
    return lines + [
        f"missing {where[one['side']]}: {one['title']}: {one['reason']}" for one in found["missing"]
    ]


def parts(found: dict[str, Any]) -> Table:
    """Return a row for each part of the workload, with the speed of the new machine."""
    every = sum(one["weight"] for one in found["parts"])
    rows = [
        (
            "parts",
            one["title"],
            f"{100 * one['weight'] / every:.3g}%",
            _spelled(one["speed"]) if one["speed"] else "-",
            f"{one['coverage']:.0%}",
        )
        for one in found["parts"]
    ]
    return Table({"weight": ">", "new, times as fast": "<", "covered": ">"}, rows)


def axes(base: DeviceAxes, new: DeviceAxes) -> Table:
    """Return a row for each axis that either machine has."""
    rows = [("axes", name, *cells) for name, cells in _axes(base, new)]
    return Table({"base": ">", "new": ">"}, rows)


def models(base: DeviceAxes, new: DeviceAxes) -> Table:
    """Return a row for each language model that fits into a machine: tokens per second."""
    both = [{one.name: one for one in side.models if one.fits} for side in (base, new)]
    rows = []
    for name in both[0] | both[1]:
        here = [side.get(name) for side in both]
        rates = [one and one.decode for one in here] + [one and one.prompt for one in here]
        cells = [format_estimate(rate, "") if rate else "-" for rate in rates]
        rows.append(("tokens/s, computed", name, *cells))
    return Table(dict.fromkeys(("base", "new", "base, prompt", "new, prompt"), ">"), rows)


def _axes(base: DeviceAxes, new: DeviceAxes) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the axes, capacity and power of two machines in words."""
    both = base, new
    values = [
        {(axis.name, axis.precision): format_point(axis.value, axis.unit) for axis in each.axes}
        for each in both
    ]
    for key in dict.fromkeys([*values[0], *values[1]]):
        yield " ".join(key).strip(), tuple(side.get(key, "-") for side in values)
    memory = [format_capacity(each.memory_bytes) if each.memory_bytes else "-" for each in both]
    yield "capacity", tuple(memory)
    watts = [each.watts.value if each.watts else each.limit_watts for each in both]
    if any(watts):
        yield "power", tuple(format_value(value, "W") if value else "-" for value in watts)


def _spelled(speed: dict[str, Any]) -> str:
    if speed["low"] is None:
        return format_value(speed["value"], RATIO)
    return format_estimate(Estimate(**speed, launches=0), RATIO)
