# SPDX-License-Identifier: MIT
"""What the index's script works with: the estimates of all runs, packed, and facts of each.

What the table says already, the script reads there.
"""

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import numpy as np
from msgspec import to_builtins

from frobench.reports.findings.finding import exercise_title
from frobench.reports.index.packing import pack, pack_error, pack_share
from frobench.reports.purchase.baseline import standing
from frobench.reports.purchase.prices import HOUR, Price, total
from frobench.reports.summary.model import Summary, device_names, equipment_of
from frobench.reports.table.equipment import surroundings
from frobench.reports.table.facts import fact_name, spelled
from frobench.reports.table.launches import Numbers
from frobench.reports.table.times import ON_CPU
from frobench.reports.table.workloads import table
from frobench.suite.stored.differences import FOLLOWS, SAID_BY_ABSENCE
from frobench.suite.stored.types import Estimate, Scalar
from frobench.suite.units import rounded

DIGITS = 3
"""Of what a device does, in the index."""
AXES = {
    "compute": ("bfloat16", "float16", "float32"),
    "memory": ("",),
    "overhead": ("",),
    "link_to_device": ("",),
}
"""The axes that the index compares, with the precisions of each."""


class Group(NamedTuple):
    """The runs of a device.

    run : the place of its newest run that ended and has no error, or of its newest one
    others : the places of such runs of its other specimens
    runs : how many there are in all
    """

    run: int
    others: list[int]
    runs: int


def data(
    machines: Sequence[Sequence[Summary]], known: Sequence[Price], named: str = ""
) -> dict[str, Any]:
    """Return what the script needs of all runs, each at its place in the table.

    machines : the runs of each machine, newest first
    known : what devices cost
    named : the page of the run that the others are compared with at first; empty for the usual one
    """
    runs = [*itertools.chain.from_iterable(machines)]
    bought = [equipment_of(run) for run in runs]
    prices, rents = ([total(known, one, per) for one in bought] for per in ("", HOUR))
    cases = _cases(runs)
    exercises, parts = _exercises(runs, cases), _parts(runs, cases)
    axes = [_axes(run) for run in runs]
    kinds = sorted(set(itertools.chain.from_iterable(axes)))
    groups = _groups(machines)
    return {
        "machines": [place for place, machine in enumerate(machines) for _ in machine],
        "devices": _listed(
            [(name, *device_kind(run)) for name, run in zip(device_names(runs), runs, strict=True)]
        ),
        "groups": groups,
        "base": _base(groups, runs, named),
        "invalid": {str(place): run.faults[0] for place, run in enumerate(runs) if run.faults},
        "doubts": {str(place): run.doubt for place, run in enumerate(runs) if run.doubt},
        "complete": [int(run.complete) for run in runs],
        "slower": [len(run.change.slower) if run.change else 0 for run in runs],
        "axis_kinds": kinds,
        "axes": [[(kinds.index(key), _printed(each[key])) for key in each] for each in axes],
        "hardware": _listed(
            [(one.count, one.watts, one.watts_source, one.memory_bytes) for one in bought]
        ),
        "prices": _listed([price and price[2:7] for price in prices]),
        "rents": _listed([rent and rent[2:7] for rent in rents]),
        "measured": [run.datetime[:10] for run in runs],
        **_surrounding([surroundings(run.environment) for run in runs]),
        "exercises": exercises,
        "workloads": to_builtins(table().workloads),
        "parts": parts,
        "times": pack(_logs(runs, cases)),
        "errors": [_errors(run, exercises, parts) for run in runs],
    }


def _groups(machines: Sequence[Sequence[Summary]]) -> list[Group]:
    """Return the devices with the places of their runs, in the order of these."""
    places = itertools.count()
    devices: dict[str, list[list[tuple[int, Summary]]]] = {}
    for machine in machines:
        numbered = [(next(places), run) for run in machine]
        devices.setdefault(machine[0].device_id, []).append(numbered)
    return [_group(specimens) for specimens in devices.values()]


def _group(specimens: Sequence[Sequence[tuple[int, Summary]]]) -> Group:
    newest = [
        next((one for one in machine if _is_whole(one[1])), machine[0]) for machine in specimens
    ]
    shown, _ = max(newest, key=lambda one: (_is_whole(one[1]), one[1].datetime, one[1].href))
    others = [place for place, _ in newest if place != shown]
    return Group(shown, others, sum(map(len, specimens)))


def _is_whole(run: Summary) -> bool:
    return run.complete and not run.faults


def _base(groups: Sequence[Group], runs: Sequence[Summary], named: str) -> int:
    """Return the run that others are compared with at first: of the device of a named run, if any.

    named : the page of a run; empty for the usual baseline
    """
    device = next((run.device_id for run in runs if run.href == named), None)
    for group in groups:
        if device == runs[group.run].device_id:
            return group.run

    def usual(group: Group) -> tuple[object, ...]:
        run = runs[group.run]
        return standing(run.times, group.runs, run.datetime, run.href, is_whole=_is_whole(run))

    return max(groups, key=usual).run


def _axes(run: Summary) -> dict[tuple[str, str, str], Estimate]:
    """Return what a buyer weighs of a run's axes, and its power under load.

    The key has an axis's name, the precision and the unit.
    """
    if run.faults:
        return {}
    known = {
        (one.name, one.precision, one.unit): one.value
        for one in run.axes.axes
        if one.precision in AXES.get(one.name, ())
    }
    load = run.axes.watts
    return known | ({("load", "", "W"): load} if load else {})


def _printed(value: Estimate) -> float:
    """Return a number with the digits that its interval supports, and `DIGITS` at most."""
    return float(f"{rounded(value):.{DIGITS}g}")


def device_kind(run: Summary) -> tuple[str, str]:
    """Return the kind of device that names a run, and what drives it."""
    present = run.environment.accelerators
    if not present:
        return "CPU", "CPU"
    hip = run.environment.software.torch_build.get("hip")
    return "accelerator", "ROCm" if hip else present[0].type.upper()


def _listed(values: Sequence[Any]) -> dict[str, list[Any]]:
    """Return each value once, and for each run the place of its own."""
    places = {value: place for place, value in enumerate(dict.fromkeys(values))}
    return {"values": [*places], "of": [places[value] for value in values]}


def _surrounding(runs: Sequence[Mapping[str, Scalar]]) -> dict[str, list[Any]]:
    """List what stands around devices, for a script that says in what two runs differ.

    It does what `suite.stored.differences.compare_environments` does: a fact that only one of the
    two has says something in some tables and nothing elsewhere, and what follows from another fact
    that differs is left out.

    ``facts`` are the name of each that is not the same in all, whether its absence says something,
    and the places of those that it follows from; ``values`` the place of the fact that each is of,
    and its words; ``has`` the places of each run's values.
    """
    spelt = [
        {fact: spelled(fact, value, named=False) for fact, value in run.items()} for run in runs
    ]
    counts: dict[str, Counter[str]] = {}
    for run in spelt:
        for fact, words in run.items():
            counts.setdefault(fact, Counter())[words] += 1
    varying = [fact for fact, known in counts.items() if len(runs) not in known.values()]
    places = {fact: place for place, fact in enumerate(varying)}
    values = [(fact, words) for fact in varying for words in counts[fact]]
    numbers = {value: number for number, value in enumerate(values)}
    return {
        "facts": [
            (
                fact_name(fact),
                int(fact.startswith(SAID_BY_ABSENCE)),
                _leaders(fact, places),
            )
            for fact in varying
        ],
        "values": [(places[fact], words) for fact, words in values],
        "has": [
            [numbers[fact, words] for fact, words in run.items() if fact in places] for run in spelt
        ],
    }


def _leaders(fact: str, places: Mapping[str, int]) -> list[int]:
    """Return the places of the facts that this one follows from."""
    return [
        places[leader]
        for leader, patterns in FOLLOWS.items()
        if leader in places and any(fnmatchcase(fact, pattern) for pattern in patterns)
    ]


def _cases(runs: Iterable[Summary]) -> dict[str, dict[int, int]]:
    """Return the places of the cases of all runs by exercise, both in order."""
    found: dict[str, set[int]] = {}
    for run in runs:
        for name, times in run.times.items():
            found.setdefault(name, set()).update(times)
    count = itertools.count()
    return {name: {case: next(count) for case in sorted(found[name])} for name in sorted(found)}


def _exercises(
    runs: Sequence[Summary], cases: Mapping[str, Mapping[int, int]]
) -> list[dict[str, Any]]:
    """Return the exercises as far as one kind of device does them, in the order of their cases."""
    titles = {one.exercise: one.title for run in reversed(runs) for one in run.answers}
    found = []
    for name, places in cases.items():
        whole, alone = name.removesuffix(ON_CPU), name.endswith(ON_CPU)
        title = titles.get(whole, exercise_title(whole)) + ", on the CPU" * alone
        found.append({"name": name, "title": title, "cpu": alone, "cases": len(places)})
    return found


def _parts(runs: Sequence[Summary], cases: Mapping[str, Mapping[int, int]]) -> list[dict[str, Any]]:
    """Return the parts of the workloads of which some run has a case, with the cases by kind."""
    places = {case: place for each in cases.values() for case, place in each.items()}
    found: dict[str, dict[str, set[int]]] = {}
    for run in runs:
        for name, by_kind in run.scored.items():
            for kind, numbers in by_kind.items():
                known = {places[number] for number in numbers if number in places}
                found.setdefault(name, {}).setdefault(kind, set()).update(known)
    return [
        {
            "name": part.name,
            "title": part.title,
            "weights": part.weights,
            "cpu": cpu,
            "kinds": [sorted(each) for each in kinds.values()],
        }
        for part in table().parts
        for cpu in (False, True)
        if (kinds := found.get(part.name + ON_CPU * cpu))
    ]


def _logs(runs: Sequence[Summary], cases: Mapping[str, Mapping[int, int]]) -> Numbers:
    """Return the logarithms of times by run (rows) and case, NaN where a run lacks one."""
    found = np.full((len(runs), sum(map(len, cases.values()))), np.nan)
    for row, run in enumerate(runs):
        for name, times in run.times.items():
            found[row, [cases[name][case] for case in times]] = [*times.values()]
    return found


def _errors(
    run: Summary, exercises: Iterable[dict[str, Any]], parts: Iterable[dict[str, Any]]
) -> str:
    """Return as digits the errors of exercises' means, how far they err together, and of parts.

    Cases that a reference lacks are in these errors too: that is what makes them approximate.
    """
    of_exercises = (run.spread.errors.get(one["name"]) for one in exercises)
    of_parts = (run.spread.parts.get(one["name"] + ON_CPU * one["cpu"]) for one in parts)
    shared = pack_share(run.spread.shared)
    return "".join([*map(pack_error, of_exercises), shared, *map(pack_error, of_parts)])
