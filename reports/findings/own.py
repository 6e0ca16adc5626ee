# SPDX-License-Identifier: MIT
"""Answers and charts of any benchmark function: against the CPU, its rates, its times.

All of it follows from the parameters, the devices and the declared work.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, TypeVar

from frobench.reports.findings.answers import answered, ask
from frobench.reports.findings.compared import Compared
from frobench.reports.findings.exercises import limits
from frobench.reports.findings.finding import RATIO, Axis, Finding, Plot
from frobench.reports.findings.plots import dots
from frobench.reports.findings.select import Cases, Curve, NotMeasuredError
from frobench.reports.findings.values import VALUE, axis_pattern, behind, size
from frobench.reports.table.launches import device_of
from frobench.suite.compare.runs import compare_versions, launch_ratios
from frobench.suite.stored.machine_identity import function_of, is_cpu, name_of, short_name
from frobench.suite.stored.types import Case, Outcome, Run
from frobench.suite.units import counted, format_estimate

Result = TypeVar("Result")
MOST_SERIES = 6
"""Most lines that readers can distinguish in a chart."""
LARGEST = 2**63
"""The largest whole number that is taken for a size."""
CPU = "cpu"


@dataclass(frozen=True)
class Quantity:
    """A number of a case by launch.

    name : of its answers
    column : its name in `reports.table.launches.ByLaunch`
    label : what it is, as the name of an axis
    """

    name: str
    question: str
    column: str
    unit: str
    label: str


TIME = Quantity("time", "How long does it take", "seconds", "s", "Time")
_RATE = "What is its rate"
RATES = {
    "flops": Quantity("flop-rate", _RATE, "flop_rate", "FLOP/s", "Rate"),
    "bytes": Quantity("byte-rate", _RATE, "byte_rate", "B/s", "Rate"),
}
"""What declared work makes of a time."""
_ITEM = "How long does an item take"
PER_ITEM = Quantity("item-seconds", _ITEM, "item_seconds", "s", "Time per item")
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


class Function:
    """A benchmark function and its cases that passed.

    short : the name without ``bench_``
    title : the first line of its docstring, or its name where no case passed
    axis : the parameter that is a size; empty where none takes several whole numbers
    variants : those that the answers need first
    selected : the devices that a case was selected for, whatever became of it; none where the
        function asks for no device and so has nothing to be compared with
    """

    def __init__(self, name: str, members: Sequence[Case], outcomes: Sequence[Outcome]) -> None:
        self.name, self.short = name, name_of(name)
        self.title = members[0].extra_info.title.rstrip(".") if members else self.short
        self.axis = _axis(members)
        self.variants = _variants(members, self.axis)
        devices = {one.fullname: str(one.params.get("device", CPU)) for one in outcomes}
        # pytest names a case by its device first, if its function asks for one
        asks = [short_name(case).partition("[")[2].startswith(devices[case]) for case in devices]
        self.selected = frozenset(devices.values() if any(asks) else ())

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
        """Return the answers from the declared work of the cases; the first one leads."""
        groups = (members for variant in self.variants for members in variant.cases.values())
        works = [case.extra_info.work for members in groups for case in members.values()]
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
            works = {n: work.flops or work.bytes or work.items for n, work in declared.items()}
            known = sorted((number, amount) for number, amount in works.items() if amount)
            if known[1:]:
                (small, least), *_, (large, most) = known
                grown = math.log(most / least) / math.log(large / small)
                if grown > 0:
                    return grown
        return 1.0


def findings(cases: Cases) -> Iterator[Finding]:
    """Answer for each function: against the CPU first, then for each device."""
    known = functions(cases)
    for function in known:
        for finding in _findings(cases, function):
            yield _under(function.title, finding) if known[1:] else finding


def _under(title: str, finding: Finding) -> Finding:
    """Begin the words of a finding with the function that they are about."""
    said = ["question"] if finding.absent else ["question", "answer", "brief", "label"]
    words: dict[str, Any] = {
        name: f"{title}: {text}" for name in said if (text := getattr(finding, name))
    }
    return replace(finding, **words)


def _findings(cases: Cases, function: Function) -> Iterator[Finding]:
    compared = list(_compared_findings(cases, function))
    yield from (finding for finding in compared if not finding.absent)
    if not function.devices:
        name, question = f"time-{function.short}", "How long does it take?"
        yield ask(name, question, _number, cases, function, "", TIME)
    for device in function.devices:
        for quantity in (*function.rates, TIME):
            name = f"{quantity.name}-{function.short}-{device}"
            question = f"{quantity.question} on {cases.the(device)}?"
            yield ask(name, question, _number, cases, function, device, quantity)
    yield from (finding for finding in compared if finding.absent)


def _compared_findings(cases: Cases, function: Function) -> Iterator[Finding]:
    """Compare each accelerator with the CPU, as far as cases for both were selected."""
    if CPU not in function.selected:
        return
    measured = [name for name in cases.run.frobench.settings.devices if name != CPU]
    for device in function.accelerators or ([""] if not measured else []):
        name = cases.the(device) if device else "an accelerator"
        end = f"{function.short}-{device}" if device else function.short
        question, given = f"How much faster is {name} than the CPU?", (cases, function, device)
        yield ask(f"speed-up-{end}", question, _comparison, Compared.at_largest, *given)
        if function.axis or not device:
            question = f"From which size is {name} worth it?"
            yield ask(f"crossover-{end}", question, _comparison, Compared.crossover, *given)


def _comparison(
    answer: Callable[[Compared], Finding], cases: Cases, function: Function, device: str
) -> Finding:
    return answer(_compared(cases, function, device))


def _number(cases: Cases, function: Function, device: str, quantity: Quantity) -> Finding:
    """Give the best rate, or the time of the largest size, of the first variant that has one.

    There is no device if no case passed.
    """

    def measured(variant: Variant) -> tuple[Variant, Curve, float]:
        curve = function.curve(cases, variant, device, quantity)
        return variant, curve, curve.highest if quantity in RATES.values() else curve.largest

    known = _of_variants(cases, function, device, measured)
    variant, curve, best = known[0]
    where = f"on {cases.the(device)}{variant.words}{function.at(best)}"
    part = _of_ceiling(cases, variant.cases[device][best], quantity)
    return answered(
        f"{VALUE}{' per item' if quantity is PER_ITEM else ''} {where}",
        (
            *behind(*(one.on([n]) for _, one, n in known), curve.ends()),
            *(part.cases if part else ()),
        ),
        curve.at(best),
        quantity.unit,
        more=f"; {part.clause}" if part else "",
        label=f"{quantity.label.lower()} {where}",
    )


def _of_ceiling(cases: Cases, case: Case, quantity: Quantity) -> limits.Part | None:
    """Return which part of what its device allows a case's rate is, where that is known."""
    device, path = device_of(case), case.extra_info.work.path or limits.WITHIN
    if quantity.unit == "FLOP/s" and "+" not in device:
        rate = cases.one("flop_rate", case=case.fullname)
        return limits.part_of(rate, limits.allowed_flops(cases, case, rate))
    if quantity.unit == "B/s":
        rate = cases.one("byte_rate", case=case.fullname)
        return limits.part_of(rate, limits.allowed_bytes(cases, device, path))
    return None


def _compared(cases: Cases, function: Function, device: str) -> Compared:
    """Compare the two in the first variant that both devices have a size of."""
    device = device or cases.accelerator()

    def compared(variant: Variant) -> Compared:
        cpu, times = (function.curve(cases, variant, name) for name in (CPU, device))
        name, power = cases.the(device), function.power(variant)
        return Compared(cpu / times, times, name, power, function.axis, variant.words)

    return _of_variants(cases, function, device, compared)[0]


def _of_variants(
    cases: Cases, function: Function, device: str, compute: Callable[[Variant], Result]
) -> list[Result]:
    """Return what the variants give that have it; raise why the last has not, if none has."""
    where = {"device": device} if device else {}
    results, missing = [], NotMeasuredError(cases.reason(function=function.name, **where))
    for variant in function.variants:
        try:
            results.append(compute(variant))
        except NotMeasuredError as error:
            missing = error
    if not results:
        raise missing
    return results


def plots(cases: Cases) -> Iterator[Plot]:
    """Draw each function over its sizes, or over its variants where it has no sizes."""
    every = functions(cases)
    titles = Counter(function.title for function in every)
    for function in every:
        title = function.title
        if titles[title] > 1:  # a chart is found by its name
            title = f"{title}: {function.short}"
        quantity = (*function.rates, TIME)[0]
        y = Axis(quantity.label, quantity.unit)
        curves = []
        for variant, device in product(function.variants, function.devices):
            with suppress(NotMeasuredError):
                curve = function.curve(cases, variant, device, quantity)
                curves.append((cases.title(device), variant.label, curve))
        if function.axis:
            left = len(curves) - MOST_SERIES
            more = f" ({counted(left, 'more line')} among the cases)" if left > 0 else ""
            shown = tuple(
                curve.series(f"{device}, {label}" if label else device)
                for device, label, curve in curves[:MOST_SERIES]
            )
            yield Plot(function.name, title + more, "curve", Axis(function.axis), y, shown)
        elif len(curves) > 1:
            points = dots(
                (device, curve.point(curve.smallest, label or function.short))
                for device, label, curve in curves
            )
            yield Plot(function.name, title, "dots", Axis("case"), y, points)


def functions(cases: Cases) -> list[Function]:
    """Return the benchmark functions of an exercise: the one of its name, then as in the run."""
    outcomes: dict[str, list[Outcome]] = {}
    for outcome in cases.run.frobench.outcomes:
        if outcome.group == cases.exercise:
            outcomes.setdefault(function_of(outcome.fullname), []).append(outcome)
    passed: dict[str, list[Case]] = {}
    for case in cases.where():
        passed.setdefault(function_of(case.fullname), []).append(case)
    names = sorted(outcomes, key=lambda name: name_of(name) != cases.exercise)
    return [Function(name, passed.get(name, []), outcomes[name]) for name in names]


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
    axis = max(counts, key=counts.__getitem__, default="")
    return axis if axis and counts[axis] > 1 else ""


def _size(case: Case, axis: str) -> float | None:
    number = case.params.get(axis)
    return float(number) if type(number) is int and 0 < number <= LARGEST else None


VERSIONS = {
    "same": "They are the same to half a percent",
    "faster": "It is faster",
    "slower": "It is slower",
    "unresolved": "That decides nothing",
}


def beside_versions(run: Run, exercise: str) -> Iterator[Finding]:
    """Say of each case that was measured beside another version how long it takes beside it."""
    cases = {
        case.fullname: (case, case.extra_info.against)
        for case in run.benchmarks
        if case.group == exercise and case.extra_info.against is not None
    }
    for compared in compare_versions(run).cases if cases else ():  # all are judged together
        if compared.fullname in cases and compared.word != "incomparable":
            case, against = cases[compared.fullname]
            title = case.extra_info.title.rstrip(".")
            ratio = format_estimate(compared.ratio, RATIO)
            text = f"It takes {ratio} as long. {VERSIONS[compared.word]}."
            name, label = f"versions-{case.name}", "time beside the other version's"
            question = f"Is it faster than the version beside it? {title} ({case.name})"
            ratios = tuple(ratio for ratio in launch_ratios(case, against) if ratio is not None)
            number = (compared.ratio, RATIO, label, ratios)
            yield Finding(name, question, text, *number, (case.fullname,), brief=text)
