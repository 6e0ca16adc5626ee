# SPDX-License-Identifier: MIT
"""What the index's script works with: the estimates of all runs, packed, and facts of each.

What the table says already, the script reads there.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from msgspec import to_builtins
from numpy.typing import NDArray

from reports.findings.finding import exercise_title
from reports.index.index_facts import surrounding
from reports.index.packing import pack, pack_error, pack_share
from reports.purchase.baseline import Candidate, baseline
from reports.purchase.prices import HOUR, Price, total
from reports.summary.model import Summary, equipment_of
from reports.table.equipment import Equipment, surroundings
from reports.table.exercise_names import ON_CPU
from reports.table.workloads import table
from suite.stored.run import Estimate
from suite.units import rounded

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

    Parameters
    ----------
    run
        The place of its newest run that ended and has no error, or of its newest one.
    others
        The places of such runs of its other specimens.
    runs
        How many there are in all.
    """

    run: int
    others: list[int]
    runs: int


class AxisOfRun(NamedTuple):
    """What a device does in one number; the key has its name, the precision and the unit."""

    key: tuple[str, str, str]
    value: Estimate


class Exercise(NamedTuple):
    """An exercise as far as one kind of device does it; see `reports.purchase.comparison.Exercise`.

    Parameters
    ----------
    cpu
        Whether these are its cases on the CPU alone.
    cases
        How many there are in all runs.
    """

    name: str
    title: str
    cpu: bool
    cases: int


class IndexPart(NamedTuple):
    """A part of the workloads as far as one kind of device does it.

    Parameters
    ----------
    kinds
        The places of its cases among all cases, by kind.
    """

    name: str
    title: str
    weights: dict[str, float]
    cpu: bool
    kinds: list[list[int]]


def data(
    machines: Sequence[Sequence[Summary]], known: Sequence[Price], named: str = ""
) -> dict[str, Any]:
    """Return what the script needs of all runs, each at its place in the table.

    Parameters
    ----------
    machines
        The runs of each machine, newest first.
    known
        What devices cost.
    named
        The page of the run that the others are compared with at first; empty for the usual one.
    """
    runs = [*itertools.chain.from_iterable(machines)]
    bought = [equipment_of(run) for run in runs]
    prices = [total(known, one) for one in bought]
    rents = [total(known, one, HOUR) for one in bought]
    cases = _cases(runs)
    exercises, parts = _exercises(runs, cases), _parts(runs, cases)
    kinds = sorted({one.key for run in runs for one in _axes(run)})
    groups = device_groups(machines)
    return {
        "machines": [place for place, machine in enumerate(machines) for _ in machine],
        "devices": _listed([(run.device, *device_kind(run)) for run in runs]),
        "groups": groups,
        "base": _base(groups, runs, named),
        "invalid": {str(place): run.faults[0] for place, run in enumerate(runs) if run.faults},
        "complete": [int(run.complete) for run in runs],
        "slower": [len(run.change.slower) if run.change else 0 for run in runs],
        "axis_kinds": kinds,
        "axes": [[_spelled_axis(one, kinds) for one in _axes(run)] for run in runs],
        "hardware": _listed([_spelled(one) for one in bought]),
        "prices": _listed([price and tuple(price)[2:7] for price in prices]),
        "rents": _listed([rent and tuple(rent)[2:7] for rent in rents]),
        "measured": [run.datetime[:10] for run in runs],
        **surrounding([surroundings(run.environment) for run in runs]),
        "exercises": [one._asdict() for one in exercises],
        "workloads": to_builtins(table().workloads),
        "parts": [one._asdict() for one in parts],
        "times": pack(_logs(runs, cases)),
        "errors": [_errors(run, exercises, parts) for run in runs],
    }


def device_groups(machines: Sequence[Sequence[Summary]]) -> list[Group]:
    """Return the devices with the places of their runs, in the order of these.

    Parameters
    ----------
    machines
        The runs of each machine, newest first.
    """
    places = itertools.count()
    numbered = [[(next(places), run) for run in machine] for machine in machines]
    found: dict[str, list[list[tuple[int, Summary]]]] = {}
    for machine in numbered:
        found.setdefault(machine[0][1].device, []).append(machine)
    return [_group(specimens) for specimens in found.values()]


def _group(specimens: Sequence[Sequence[tuple[int, Summary]]]) -> Group:
    """Return a device's newest whole run, those of its other specimens, and how many there are."""
    newest = [
        next((one for one in machine if one[1].complete and not one[1].faults), machine[0])
        for machine in specimens
    ]
    shown = max(newest, key=lambda one: (one[1].complete and not one[1].faults, one[1].datetime))
    others = [place for place, _ in newest if place != shown[0]]
    return Group(shown[0], others, sum(map(len, specimens)))


def _base(groups: Sequence[Group], runs: Sequence[Summary], named: str) -> int:
    """Return the run that others are compared with at first: of the device of a named run, if any.

    named : the page of a run; empty for the usual baseline
    """
    device = next((run.device for run in runs if run.href == named), None)
    for group in groups:
        if device == runs[group.run].device:
            return group.run
    return groups[baseline([_candidate(runs[group.run], group.runs) for group in groups])].run


def _candidate(run: Summary, runs: int) -> Candidate:
    return Candidate.of(run.times, runs, run.datetime, is_whole=run.complete and not run.faults)


def _axes(run: Summary) -> list[AxisOfRun]:
    """Return what a buyer weighs of a run's axes, and its power under load."""
    if run.faults:
        return []
    known = [
        AxisOfRun((one.name, one.precision, one.unit), one.value)
        for one in run.axes.axes
        if one.precision in AXES.get(one.name, ())
    ]
    load = run.axes.watts
    return [*known, *([AxisOfRun(("load", "", "W"), load)] if load else [])]


def _spelled_axis(axis: AxisOfRun, kinds: Sequence[tuple[str, str, str]]) -> tuple[int, float]:
    """Return the place of an axis's kind, and its value with the digits that are printed.

    The digits are those that its interval supports, and `DIGITS` at most.
    """
    return kinds.index(axis.key), float(f"{rounded(axis.value):.{DIGITS}g}")


def device_kind(run: Summary) -> tuple[str, str]:
    """Return the kind of device that names a run, and what drives it."""
    present = run.environment.accelerators
    if not present:
        return "CPU", "CPU"
    hip = run.environment.software.torch_build.get("hip")
    return "accelerator", "ROCm" if hip else present[0].type.upper()


def _spelled(bought: Equipment) -> tuple[Any, ...]:
    return bought.count, bought.watts, bought.watts_source, bought.memory_bytes


def _listed(values: Sequence[Any]) -> dict[str, list[Any]]:
    """Return each value once, and for each run the place of its own."""
    places = {value: place for place, value in enumerate(dict.fromkeys(values))}
    return {"values": [*places], "of": [places[value] for value in values]}


def _cases(runs: Iterable[Summary]) -> dict[str, list[int]]:
    """Return the cases of all runs by exercise, both in order."""
    found: dict[str, set[int]] = {}
    for run in runs:
        for name, each in run.times.items():
            found.setdefault(name, set()).update(each)
    return {name: sorted(found[name]) for name in sorted(found)}


def _exercises(runs: Sequence[Summary], cases: Mapping[str, Sequence[int]]) -> list[Exercise]:
    """Return the exercises in the order of their cases."""
    titles = {one.exercise: one.title for run in reversed(runs) for one in run.answers}
    found = []
    for name, each in cases.items():
        whole = name.removesuffix(ON_CPU)
        title = titles.get(whole, exercise_title(whole))
        alone = name != whole
        found.append(Exercise(name, f"{title}, on the CPU" if alone else title, alone, len(each)))
    return found


def _parts(runs: Sequence[Summary], cases: Mapping[str, Sequence[int]]) -> list[IndexPart]:
    """Return the parts of the workloads of which some run has a case."""
    places = {case: place for place, case in enumerate(itertools.chain(*cases.values()))}
    found: dict[str, dict[str, set[int]]] = {}
    for run in runs:
        for name, its in run.scored.items():
            for kind, numbers in its.items():
                known = {places[number] for number in numbers if number in places}
                found.setdefault(name, {}).setdefault(kind, set()).update(known)
    return [
        IndexPart(part.name, part.title, part.weights, cpu, kinds)
        for part in table().parts
        for cpu in (False, True)
        if (kinds := [sorted(each) for each in found.get(part.name + ON_CPU * cpu, {}).values()])
    ]


def _logs(runs: Sequence[Summary], cases: Mapping[str, Sequence[int]]) -> NDArray[np.float64]:
    """Return the logarithms of times by run (rows) and case, NaN where a run lacks one."""
    count = itertools.count()
    places = {name: {case: next(count) for case in each} for name, each in cases.items()}
    found = np.full((len(runs), next(count)), np.nan)
    for row, run in enumerate(runs):
        for name, times in run.times.items():
            found[row, [places[name][case] for case in times]] = [*times.values()]
    return found


def _errors(run: Summary, exercises: Iterable[Exercise], parts: Iterable[IndexPart]) -> str:
    """Return as digits the errors of exercises' means, how far they err together, and of parts.

    Cases that a reference lacks are in these errors too: that is what makes them approximate.
    """
    errors = "".join(pack_error(run.spread.errors.get(one.name)) for one in exercises)
    names = (part.name + ON_CPU * part.cpu for part in parts)
    of_parts = "".join(pack_error(run.spread.parts.get(name)) for name in names)
    return errors + pack_share(run.spread.shared) + of_parts
