# SPDX-License-Identifier: MIT
"""Two machines under a workload, for the terminal: the verdict of the page's script, and axes."""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from frobench.reports.findings.finding import RATIO
from frobench.reports.purchase import machines, script
from frobench.reports.summary.model import DeviceAxes, Summary, summarise
from frobench.reports.table.launches import estimates
from frobench.reports.table.workloads import table as workloads
from frobench.suite import checks
from frobench.suite.stored.types import Estimate, Run
from frobench.suite.terminal.output import Table
from frobench.suite.units import format_capacity, format_estimate, format_value

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
    ``parts`` the parts with their weights. ``doubts`` say why a run is doubtful, ``hosts`` whether
    the workload is mostly the host's, and ``one_device`` whether both are runs of one device.
    """
    one_device = len({side.device_id for side in compared}) == 1
    doubts = dict(zip(("base", "new"), (side.doubt for side in compared), strict=True))
    try:
        found: Any = script.call("built.score", machines.data(compared), workload)
    except script.MissingEngineError as error:
        found = {"speed": None, "energy": None, "coverage": None, "missing": [], "parts": []}
        found["hosts"] = False
        found["reasons"] = {"speed": str(error), "energy": str(error)}
    return {"workload": workload, "one_device": one_device, "doubts": doubts, **found}


def answers(found: dict[str, Any], hosts: Sequence[str]) -> list[str]:
    """Return the verdicts in sentences: speed, energy, and what is missing.

    A doubtful run leads no sentence, and two specimens of a device are no two devices.

    hosts : the processors of both machines
    """
    titles = {workload.name: workload.title for workload in workloads().workloads}
    title, reasons = titles[found["workload"]], found["reasons"]
    lines = [f"{title}: not measured: {reasons['speed']}"]
    if found["speed"]:
        part, spelled = found["coverage"], _spelled(found["speed"])
        covered = f"{min(round(100 * part), 100 if part > WHOLE else 99)}% of the workload's weight"
        doubts = [
            f"{side} is doubtful ({doubt})" for side, doubt in found["doubts"].items() if doubt
        ]
        if doubts:
            lines = [f"{title}: not judged, {' and '.join(doubts)}; {spelled} ({covered})"]
        elif found["one_device"]:
            lines = [f"{title}: two runs of one device, {spelled} apart ({covered})"]
        else:
            lines = [f"{title}: new has {spelled} the speed of base ({covered})"]
        lines.append("There is one specimen of each: intervals cover launches, not specimens")
    if found["hosts"]:
        lines.append(f"Mostly the host's: base has {hosts[0]}, new has {hosts[1]}")
    if found["energy"]:
        work = f"{_spelled(found['energy'])} the work of base for a joule"
        lines.append(
            f"Energy: {'not judged; ' if any(found['doubts'].values()) else ''}new does {work}"
        )
    elif found["speed"]:
        lines.append(f"Energy: not measured: {reasons['energy']}")
    where = {"new": "in new", "base": "in base", "both": "in both"}
    return lines + [
        f"missing {where[one['side']]}: {one['title']}: {one['reason']}" for one in found["missing"]
    ]


def parts(found: dict[str, Any]) -> Table:
    """Return a row for each part of the workload, with the speed of the new machine."""
    every = sum(one["weight"] for one in found["parts"])
    rows = []
    for one in found["parts"]:
        weight, covered = f"{100 * one['weight'] / every:.3g}%", f"{one['coverage']:.0%}"
        speed = _spelled(one["speed"]) if one["speed"] else "-"
        rows.append(("parts", one["title"], weight, speed, covered))
    return Table({"weight": ">", "new, times as fast": "<", "covered": ">"}, rows)


def axes(base: DeviceAxes, new: DeviceAxes) -> Table:
    """Return a row for each axis that either machine has."""
    rows = [("axes", name, *cells) for name, cells in _axes(base, new)]
    return Table({"base": ">", "new": ">"}, rows)


def models(base: DeviceAxes, new: DeviceAxes) -> Table:
    """Return a row for each language model that fits into a machine: tokens per second."""
    both = [_speeds(side) for side in (base, new)]
    rows = []
    for name in dict.fromkeys(name for side in both for name in side):
        here = [side.get(name, (None, None)) for side in both]
        rates = [decode for decode, _ in here] + [prompt for _, prompt in here]
        cells = [format_estimate(rate, "") if rate else "-" for rate in rates]
        rows.append(("tokens/s, computed", name, *cells))
    return Table(dict.fromkeys(("base", "new", "base, prompt", "new, prompt"), ">"), rows)


def _speeds(side: DeviceAxes) -> dict[str, tuple[Estimate | None, Estimate | None]]:
    """Return tokens per second of the models that fit, decoding and of a prompt, by their names."""
    found = {}
    for one in side.models:
        if one.fits:
            found[one.name] = one.decode, one.prompt
        found |= {f"{one.name}, {weights}": (speed, None) for weights, speed in one.small.items()}
    return found


def _axes(base: DeviceAxes, new: DeviceAxes) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the axes, capacity and power of two machines in words."""
    both = base, new
    values = [
        {(axis.name, axis.precision): format_estimate(axis.value, axis.unit) for axis in each.axes}
        for each in both
    ]
    for key in dict.fromkeys(key for side in values for key in side):
        hosts = ", mostly the host's" if key[0] == "overhead" else ""
        yield " ".join(key).strip() + hosts, tuple(side.get(key, "-") for side in values)
    memory = [format_capacity(each.memory_bytes) if each.memory_bytes else "-" for each in both]
    yield "capacity", tuple(memory)
    yield "power", tuple(_power(each) for each in both)


def _power(device: DeviceAxes) -> str:
    """Return the power under load where it was measured, else its limit."""
    if device.watts:
        return f"{format_estimate(device.watts, 'W')}, measured"
    return f"{format_value(device.limit_watts, 'W')}, the limit" if device.limit_watts else "-"


def _spelled(speed: dict[str, Any]) -> str:
    if speed["low"] is None:
        return format_value(speed["value"], RATIO)
    return format_estimate(Estimate(**speed, launches=0), RATIO)
