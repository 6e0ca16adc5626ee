# SPDX-License-Identifier: MIT
"""Which cases there are: a benchmark's grids, crossed with the devices that its argument names.

==============  ===========================================================================
none of these   the CPU
``device``      the CPU and the first accelerator of each kind, one case each; of the CPU those
                that `cpu_twins` keeps, if there is an accelerator
``accelerator`` the first accelerator of each kind
``pair``        the first two accelerators, in one process
``devices``     two accelerators and all there are; in the rigorous profile four, eight ... too
``workers``     the same, a process each; without an accelerator, two halves of the CPU, and with
                a single one too, but only in the rigorous profile
``group``       processes that exchange data: as ``workers``, or, where several nodes measure
                together, all devices of one node, of two nodes, of four ... and of all
==============  ===========================================================================

Where the machine has nothing of the kind, one skipped case says so.
"""

import inspect
import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from types import ModuleType
from typing import Any

import pytest

from frobench.suite.benchmark_version import benchmark_version
from frobench.suite.journal import Collected
from frobench.suite.kit.cases import Parameters, expand, is_headline, twins
from frobench.suite.kit.worker_process import Seat
from frobench.suite.kit.workers import HALVES, halves
from frobench.suite.machine import environment
from frobench.suite.machine.host import affinity, cores_in_use
from frobench.suite.nodes.groups import node_groups
from frobench.suite.nodes.rendezvous import Meeting
from frobench.suite.plan import CaseIdentity
from frobench.suite.stored.machine_identity import function_of, name_of
from frobench.suite.stored.types import Exercise, ProfileName, Settings

NONE = "none"
"""The device of a case that no device of this machine can run."""
ARGUMENTS = ("device", "accelerator", "pair", "devices", "workers", "group")
LONGEST_TEXT = 100
"""Characters of a stored parameter that is neither text nor a number."""


def parametrize(metafunc: pytest.Metafunc, settings: Settings) -> None:
    """Give one benchmark function its cases."""
    where = device_argument(metafunc.fixturenames)
    marks = list(metafunc.definition.iter_markers("cases"))
    grid = expand(marks, settings.profile) if marks else [{}]
    if not grid:
        return
    axes = list(grid[0])
    if where is None:
        absent = [pytest.mark.absent("the CPU is not measured")]
        skipped = [] if "cpu" in (settings.devices or ["cpu"]) else absent
        rows = [
            pytest.param(*case.values(), id=_id(*case.values()), marks=skipped) for case in grid
        ]
        if axes:
            metafunc.parametrize(axes, rows)
        return
    names, absence = _devices_for(where, settings)
    rows = [
        pytest.param(device, *(case[axis] for axis in axes), id=_id(device, *case.values()))
        for device in names
        for case in _grid(metafunc, grid, settings, where, device)
    ]
    if not names:
        absent = [pytest.mark.absent(absence)]
        rows = [pytest.param(NONE, *grid[0].values(), id=NONE, marks=absent)]
    if rows:
        metafunc.parametrize([where, *axes], rows, indirect=[where])


def device_argument(names: Sequence[str]) -> str | None:
    """Return which of a benchmark's arguments, by their names, is one of devices, if any is."""
    return next((name for name in ARGUMENTS if name in names), None)


def _id(*values: object) -> str:
    return "-".join(map(str, values))


def _grid(
    metafunc: pytest.Metafunc,
    grid: Sequence[Parameters],
    settings: Settings,
    where: str,
    device: str,
) -> Sequence[Parameters]:
    """Return those of a benchmark's cases that are measured on a device, or group of devices."""
    by_halves = where == "group" and device == HALVES
    beside_accelerator = device == "cpu" and settings.devices != ["cpu"]
    if not by_halves and (not beside_accelerator or settings.profile == "rigorous"):
        return grid
    marker = "on_one_machine" if by_halves else "cpu_twins"
    declared = next(metafunc.definition.iter_markers(marker), None)
    if declared is None:
        return grid
    if by_halves and settings.profile == "quick":
        return []
    return twins(declared, metafunc.function.__name__, grid)


def has_cases(item: pytest.Item) -> bool:
    """Tell whether an item is a case, rather than a benchmark that this profile leaves alone."""
    return hasattr(item, "callspec") or not any(item.iter_markers("cases"))


def seats(device: str) -> list[Seat]:
    """Return where the workers of a group sit; `a+b` names two."""
    names = device.split("+")
    if all(name.startswith("cpu/") for name in names):
        return halves(affinity()[: cores_in_use()])
    return [Seat(name, name) for name in names]


def parameters(item: pytest.Function) -> Parameters:
    """Return a case's parameters, what it runs on under the name ``device``.

    What is neither text nor a number, such as ``torch.float32``, is stored as its text.
    """
    given: Any = dict(item.callspec.params) if hasattr(item, "callspec") else {}
    device = next((given.pop(name) for name in ARGUMENTS if name in given), "cpu")
    plain = {
        name: value if isinstance(value, str | int | float | None) else str(value)[:LONGEST_TEXT]
        for name, value in given.items()
    }
    return {"device": device, **plain}


def collected(items: Sequence[pytest.Function], settings: Settings) -> Collected:
    """Return everything that collection found."""
    return Collected(
        cases=[_identity(item, settings) for item in items],
        exercises={_exercise_of(item): _exercise(item.module) for item in items},
    )


def near(expression: str, items: Iterable[pytest.Item]) -> list[str]:
    """Return names of benchmarks like those in an expression; names of their files count too."""
    found = [item for item in items if isinstance(item, pytest.Function)]
    names = {name_of(item.function.__name__) for item in found} | set(map(_exercise_of, found))
    words = re.findall(r"\w+", expression)
    return [*dict.fromkeys(one for word in words for one in get_close_matches(word, names, 2))]


def leads(item: pytest.Function, settings: Settings) -> bool:
    """Tell whether the answers need a case: it belongs to the quick profile."""
    return settings.profile == "quick" or is_headline(item.iter_markers("cases"), parameters(item))


def _identity(item: pytest.Function, settings: Settings) -> CaseIdentity:
    given, function = parameters(item), item.function
    return CaseIdentity(
        fullname=item.nodeid,
        name=item.name,
        group=_exercise_of(item),
        function=function.__name__,
        params=dict(given),
        param=item.callspec.id if hasattr(item, "callspec") else None,
        title=inspect.cleandoc(function.__doc__ or function.__name__).partition("\n")[0],
        headline=leads(item, settings),
        devices=[] if given["device"] == NONE else str(given["device"]).split("+"),
        version=benchmark_version(function),
    )


def _exercise_of(item: pytest.Function) -> str:
    name: str = item.module.__name__
    return name.rpartition(".")[2].removeprefix("bench_")


def _exercise(module: ModuleType) -> Exercise:
    question, _, explanation = inspect.cleandoc(module.__doc__ or "").partition("\n\n")
    return Exercise(question=" ".join(question.split()), explanation=explanation.strip())


def changed_since(
    planned: Iterable[CaseIdentity], order: Iterable[str], items: Sequence[pytest.Function]
) -> list[str]:
    """Return the names of benchmarks that have another version now, or that are not found.

    planned : cases with their versions; without any nothing is compared
    order : full names of the cases that must be there
    """
    versions = {case.fullname: case.version for case in planned}
    if not versions:
        return []
    now = {item.nodeid: benchmark_version(item.function) for item in items}
    changed = [case for case, version in now.items() if versions.get(case) != version]
    missing = [case for case in order if case not in now]
    return sorted({function_of(case) for case in [*changed, *missing]})


def _devices_for(where: str, settings: Settings) -> tuple[list[str], str]:
    """Return the devices, or groups of them, for an argument; and why there are none."""
    chosen = settings.devices
    accelerators = [name for name in chosen if name != "cpu"]
    firsts = list({name.partition(":")[0]: name for name in reversed(accelerators)}.values())[::-1]
    if where == "accelerator":
        return firsts, "no accelerator"
    if where == "device":
        return [name for name in ("cpu",) if name in chosen] + firsts, "no device is measured"
    if where == "group" and (meeting := Meeting.here()) is not None:
        return node_groups(chosen, len(meeting.nodes)), "a group has two processes at least"
    sizes = group_sizes(len(accelerators), settings.profile)
    groups = ["+".join(accelerators[:count]) for count in sizes]
    if where == "pair":
        groups = groups[:1]
    lacking = f"needs two accelerators; {len(accelerators)} measured here"
    if where in {"workers", "group"} and not groups:
        if chosen != ["cpu"] and settings.profile != "rigorous":
            lacking += " (the rigorous profile takes halves of the CPU instead)"
        elif "cpu" in chosen and cores_in_use() > 1:
            groups = [HALVES]
        else:
            lacking = "needs two accelerators, or two CPU cores to make two halves of"
    return groups, lacking


def group_sizes(accelerators: int, profile: ProfileName) -> list[int]:
    """Return how many accelerators work together: two and all, in the rigorous profile more."""
    powers = [2**power for power in range(1, accelerators.bit_length())]
    smaller = powers if profile == "rigorous" else powers[:1]
    return [size for size in smaller if size < accelerators] + [accelerators] * (accelerators > 1)


def add_machine(found: Collected, items: Sequence[pytest.Function], settings: Settings) -> None:
    """Add the machine, and why some cases cannot run on it; no function of a benchmark runs."""
    found.machine, found.machine_id = environment.machine(settings.devices)
    for item in items:
        mark = item.get_closest_marker("absent") or item.get_closest_marker("skip")
        if mark is not None:  # the reason may be its first argument
            reason = mark.kwargs.get("reason") or next(iter(mark.args), "skipped")
            found.absent[item.nodeid] = str(reason)
