# SPDX-License-Identifier: MIT
"""The cases of a benchmark function: by what varies beside size and device, by device, by size."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from frobench.reports.findings.select import Cases, Curve
from frobench.reports.findings.values import axis_pattern, size
from frobench.reports.table.frame import device_of
from frobench.suite.stored.differences import function_of, is_cpu, name_of, short_name
from frobench.suite.stored.types import Case, Outcome

LARGEST = 2**63
"""The largest whole number that is taken for a size."""
CPU = "cpu"


@dataclass(frozen=True)
class Quantity:
    """A number of a case by launch.

    column : its name in `reports.table.launches.ByLaunch`
    label : what it is, as the name of an axis
    is_rate : whether more is better
    """

    column: str
    unit: str
    label: str
    is_rate: bool = False


TIME = Quantity("seconds", "s", "Time")
RATES = {
    "flops": Quantity("flop_rate", "FLOP/s", "Rate", is_rate=True),
    "bytes": Quantity("byte_rate", "B/s", "Rate", is_rate=True),
}
"""What declared work makes of a time."""
PER_ITEM = Quantity("item_seconds", "s", "Time per item")
"""The same where nothing but items is declared."""


@dataclass(frozen=True)
class Variant:
    """Cases of a function that differ in nothing but the device and the size.

    label : its other parameters, such as "dtype = bfloat16"; empty where there are none
    cases : each case by its device and its size
    """

    label: str
    cases: Mapping[str, Mapping[float, Case]]

    @property
    def words(self) -> str:
        """What follows a device in a sentence."""
        spelled = self.label.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")
        return f" with {spelled}" if self.label else ""


@dataclass(frozen=True)
class Function:
    """A benchmark function and its cases that passed.

    short : the name without ``bench_``
    title : the first line of its docstring, or its name where no case passed
    axis : the parameter that is a size; empty where none takes several whole numbers
    variants : those that the answers need first
    selected : the devices that a case was selected for, whatever became of it; none where the
        function asks for no device and so has nothing to be compared with
    """

    name: str
    short: str
    title: str
    axis: str
    variants: Sequence[Variant]
    selected: frozenset[str]

    @property
    def devices(self) -> list[str]:
        """The devices, or groups of them, with a case that passed, the CPU last."""
        measured = dict.fromkeys(device for variant in self.variants for device in variant.cases)
        return sorted(measured, key=is_cpu)

    @property
    def accelerators(self) -> list[str]:
        """The single accelerators that a case was selected for."""
        return sorted(name for name in self.selected if not is_cpu(name) and "+" not in name)

    @property
    def rates(self) -> list[Quantity]:
        """What the declared work of the cases gives, the first of which leads."""
        works = [
            case.extra_info.work
            for variant in self.variants
            for members in variant.cases.values()
            for case in members.values()
        ]
        rates = [RATES[name] for name in RATES if any(getattr(work, name) for work in works)]
        return rates or [PER_ITEM] * any(work.items for work in works)

    def curve(
        self, cases: Cases, variant: Variant, device: str, quantity: Quantity = TIME
    ) -> Curve:
        """Return a number of a variant on a device by launch and by size."""
        members = variant.cases.get(device, {})
        named = ((number, case.fullname) for number, case in members.items())
        return cases.by_size(named, quantity.column, function=self.name, device=device)

    def at(self, number: float) -> str:
        """Say at which size something was measured; nothing where there are no sizes."""
        return f" at {size(number, axis_pattern(self.axis))}" if self.axis else ""

    def power(self, variant: Variant) -> float:
        """Return with which power of the size the declared work grows; 1 where none is declared."""
        for members in variant.cases.values():
            declared = {number: case.extra_info.work for number, case in members.items()}
            works = {n: work.flops or work.bytes or work.items or 0 for n, work in declared.items()}
            known = sorted(number for number, amount in works.items() if amount)
            if len(known) > 1:
                small, large = known[0], known[-1]
                grown = math.log(works[large] / works[small]) / math.log(large / small)
                return grown if grown > 0 else 1.0
        return 1.0


def functions(cases: Cases) -> list[Function]:
    """Return the benchmark functions of an exercise: the one of its name, then as in the run."""
    outcomes: dict[str, list[Outcome]] = {}
    for outcome in cases.run.frobench.outcomes:
        if outcome.group == cases.exercise:
            outcomes.setdefault(function_of(outcome.fullname), []).append(outcome)
    passed: dict[str, list[Case]] = {}
    for case in cases.passed():
        passed.setdefault(function_of(case.fullname), []).append(case)
    names = sorted(outcomes, key=lambda name: name_of(name) != cases.exercise)
    return [_function(name, passed.get(name, []), outcomes[name]) for name in names]


def _function(name: str, members: Sequence[Case], outcomes: Sequence[Outcome]) -> Function:
    axis, short = _axis(members), name_of(name)
    title = members[0].extra_info.title.rstrip(".") if members else short
    devices = {outcome.fullname: str(outcome.params.get("device", CPU)) for outcome in outcomes}
    # pytest names a case by its device first, if its function asks for one
    asks = [short_name(case).partition("[")[2].startswith(devices[case]) for case in devices]
    selected = frozenset(devices.values() if any(asks) else ())
    return Function(name, short, title, axis, _variants(members, axis), selected)


def _variants(members: Sequence[Case], axis: str) -> list[Variant]:
    varying = [
        name
        for name in dict.fromkeys(name for case in members for name in case.params)
        if name not in {"device", axis} and len({case.params.get(name) for case in members}) > 1
    ]
    grouped: dict[str, dict[str, dict[float, Case]]] = {}
    headline: dict[str, bool] = {}
    for case in members:
        number = _size(case, axis) if axis else 1.0
        if number is not None:
            known = {name: case.params[name] for name in varying if name in case.params}
            label = ", ".join(f"{name} = {value}" for name, value in known.items())
            grouped.setdefault(label, {}).setdefault(device_of(case), {})[number] = case
            headline[label] = headline.get(label, False) or case.extra_info.headline
    order = sorted(grouped, key=lambda label: not headline[label])
    return [Variant(label, grouped[label]) for label in order]


def _axis(members: Sequence[Case]) -> str:
    """Return the parameter with the most sizes, the first of equals."""
    sizes = {
        name: {_size(case, name) for case in members}
        for name in (members[0].params if members else ())
        if all(type(case.params.get(name)) is int for case in members)
    }
    counts = {name: len(numbers - {None}) for name, numbers in sizes.items()}
    most = max(counts.values(), default=0)
    return next((name for name, count in counts.items() if count == most > 1), "")


def _size(case: Case, axis: str) -> float | None:
    number = case.params.get(axis)
    return float(number) if type(number) is int and 0 < number <= LARGEST else None
