# SPDX-License-Identifier: MIT
"""Answers and charts of any benchmark function: against the CPU, its rates, its times.

All of it follows from the parameters, the devices and the declared work.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import product
from typing import TypeVar

from frobench.reports.findings.against_cpu import Compared
from frobench.reports.findings.answers import Answer, ask
from frobench.reports.findings.exercises.parts.limits import WITHIN, allowed_bytes, allowed_flops
from frobench.reports.findings.finding import RATIO, Axis, Finding, Plot, Point, Series
from frobench.reports.findings.own.functions import (
    CPU,
    TIME,
    Function,
    Quantity,
    Variant,
    functions,
)
from frobench.reports.findings.select import Cases, Curve, NotMeasuredError
from frobench.reports.findings.values import VALUE, behind, is_above, text
from frobench.reports.table.frame import device_of
from frobench.suite.stored.types import Case
from frobench.suite.units import counted

Result = TypeVar("Result")
MOST_LISTED = 4
"""Variants that a sentence names behind the first."""
MOST_SERIES = 6
"""Lines that a chart can tell apart."""


def findings(cases: Cases) -> list[Finding]:
    """Answer for each function: against the CPU first, then for each device."""
    known = functions(cases)
    return [
        finding
        for function in known
        for finding in _findings(cases, function, f"{function.title}: " if known[1:] else "")
    ]


def _findings(cases: Cases, function: Function, prefix: str) -> Iterator[Finding]:
    """Put all questions to a function; the prefix begins each where there are several functions."""

    def put(name: str, question: str, compute: Callable[..., Answer], *more: object) -> Finding:
        return ask(name, f"{prefix}{question}", _prefixed, cases, prefix, compute, *more)

    compared = list(_compared_findings(cases, function, put))
    yield from (finding for finding in compared if not finding.absent)
    if not function.devices:
        yield put(f"time-{function.short}", "How long does it take?", _time, function, "")
    for device in function.devices:
        where, end = cases.the(device), f"{function.short}-{device}"
        for quantity in function.rates:
            question = f"What is its rate on {where}?"
            if not quantity.is_rate:
                question = f"How long does an item take on {where}?"
            name = f"{quantity.column.replace('_', '-')}-{end}"
            yield put(name, question, _rate, function, device, quantity)
        yield put(f"time-{end}", f"How long does it take on {where}?", _time, function, device)
    yield from (finding for finding in compared if finding.absent)


def _compared_findings(
    cases: Cases, function: Function, put: Callable[..., Finding]
) -> Iterator[Finding]:
    """Compare each accelerator with the CPU, as far as cases for both were selected."""
    if CPU not in function.selected:
        return
    measured = [name for name in cases.run.frobench.settings.devices if name != CPU]
    for device in function.accelerators or ([""] if not measured else []):
        name = cases.the(device) if device else "an accelerator"
        end = f"{function.short}-{device}" if device else function.short
        question = f"How much faster is {name} than the CPU?"
        yield put(f"speed-up-{end}", question, _speed_up, function, device)
        if function.axis or not device:
            question = f"From which size is {name} worth it?"
            yield put(f"crossover-{end}", question, _crossover, function, device)


def _prefixed(cases: Cases, prefix: str, compute: Callable[..., Answer], *more: object) -> Answer:
    answer = compute(cases, *more)
    return replace(answer, sentence=f"{prefix}{answer.sentence}", label=f"{prefix}{answer.label}")


def _speed_up(cases: Cases, function: Function, device: str) -> Answer:
    first, *others = _comparisons(cases, function, device)
    answer = first.at_largest()
    largest = [(other, other.ratio.sizes[-1]) for other in others]
    listed = [
        f"{text(other.ratio.at(n), RATIO)}{other.of_what}{other.at(n)}" for other, n in largest
    ]
    return replace(
        answer,
        sentence=_listing(answer.sentence, listed),
        cases=(*answer.cases, *behind(*(other.ratio.on([n]) for other, n in largest))),
        rule_of_thumb=first.advice(first.of_what),
    )


def _crossover(cases: Cases, function: Function, device: str) -> Answer:
    first, *others = _comparisons(cases, function, device)
    answer = first.crossover()
    listed = []
    for comparison in others:
        with suppress(NotMeasuredError):
            listed.append(f"{comparison.of_what.strip()} from {comparison.crossing().words}")
    return replace(
        answer,
        sentence=_listing(answer.sentence, listed),
        cases=(*answer.cases, *behind(*(comparison.ratio for comparison in others))),
    )


def _rate(cases: Cases, function: Function, device: str, quantity: Quantity) -> Answer:
    (variant, first), *others = _curves(cases, function, device, quantity)
    best, large = _best(first, quantity), first.sizes[-1]
    part, ceiling = _of_ceiling(cases, variant.cases[device][best], quantity)
    where = f"on {cases.the(device)}{variant.words}{function.at(best)}"
    bests = [(other, curve, _best(curve, quantity)) for other, curve in others]
    listed = [f"{text(first.at(large), quantity.unit)}{function.at(large)}"] * (best < large)
    listed += [
        f"{text(curve.at(n), quantity.unit)}{other.words}{function.at(n)}"
        for other, curve, n in bests
    ]
    shown = [
        first.on(list(dict.fromkeys([best, large]))),
        *(curve.on([n]) for _, curve, n in bests),
    ]
    per = "" if quantity.is_rate else " per item"
    return Answer(
        _listing(f"{VALUE}{per} {where}{part}.", listed),
        tuple(dict.fromkeys((*behind(*shown), *ceiling))),
        first.at(best),
        quantity.unit,
        f"{quantity.label.lower()} {where}",
    )


def _of_ceiling(cases: Cases, case: Case, quantity: Quantity) -> tuple[str, tuple[str, ...]]:
    """Say which part of what its device allows a case's rate is, and from which cases that is."""
    device, path = device_of(case), case.extra_info.work.path or WITHIN
    is_group, is_memory, allowed = "+" in device, False, None
    if quantity.unit == "FLOP/s" and not is_group:
        rate = cases.one("flop_rate", case=case.fullname)
        allowed = allowed_flops(cases, case, rate, "the fastest {} product")
    elif quantity.unit == "B/s" and is_group == (path == "between"):
        rate, is_memory = cases.one("byte_rate", case=case.fullname), path == WITHIN
        allowed = allowed_bytes(cases, device, path)
    if allowed is None or (part := (rate / allowed.rate).dropna()).empty:
        return "", ()
    name = f"{allowed.name}{' that this run measured' * bool(allowed.cases)} ({allowed.figure})"
    if is_memory and is_above(part, 1.0):
        return f", faster than {name}: from caches", allowed.cases
    return f", {text(part, '1')} of {name}", allowed.cases


def _time(cases: Cases, function: Function, device: str) -> Answer:
    """Give the time of the largest size, and of the smallest; no device if no case passed."""
    (variant, first), *others = _curves(cases, function, device, TIME)
    large, small = first.sizes[-1], first.sizes[0]
    where = f"on {cases.the(device)}{variant.words}{function.at(large)}"
    largest = [(other, curve, curve.sizes[-1]) for other, curve in others]
    listed = [f"{text(first.at(small), 's')}{function.at(small)}"] * (small < large)
    listed += [
        f"{text(curve.at(n), 's')}{other.words}{function.at(n)}" for other, curve, n in largest
    ]
    shown = [first.ends(), *(curve.on([n]) for _, curve, n in largest)]
    sentence = _listing(f"{VALUE} {where}.", listed)
    return Answer(sentence, behind(*shown), first.at(large), "s", f"time {where}")


def _comparisons(cases: Cases, function: Function, device: str) -> list[Compared]:
    """Return the variants that both devices have a size of; raise if there is none."""
    device = device or cases.accelerator()

    def compared(variant: Variant) -> Compared:
        cpu, times = (function.curve(cases, variant, name) for name in (CPU, device))
        name, power = cases.the(device), function.power(variant)
        return Compared(cpu / times, times, name, power, function.axis, variant.words)

    return _of_variants(cases, function, device, compared)


def _curves(
    cases: Cases, function: Function, device: str, quantity: Quantity
) -> list[tuple[Variant, Curve]]:
    """Return a number of each variant that has it on a device, by size; raise if none has it."""

    def curve(variant: Variant) -> tuple[Variant, Curve]:
        return variant, function.curve(cases, variant, device, quantity)

    return _of_variants(cases, function, device, curve)


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


def _best(curve: Curve, quantity: Quantity) -> float:
    """Return the size with the best rate; the largest for what is no rate."""
    return curve.highest if quantity.is_rate else curve.sizes[-1]


def _listing(sentence: str, others: Sequence[str]) -> str:
    """Return a sentence with further clauses, of which a few are named."""
    more = [counted(len(others) - MOST_LISTED, "other")] if len(others) > MOST_LISTED else []
    return "; ".join([sentence.removesuffix("."), *others[:MOST_LISTED], *more]) + "."


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
            dots: dict[str, list[Point]] = {}
            for device, label, curve in curves:
                point = curve.point(curve.sizes[0], label or function.short)
                dots.setdefault(device, []).append(point)
            shown = tuple(Series(device, tuple(points)) for device, points in dots.items())
            yield Plot(function.name, title, "dots", Axis("case"), y, shown)
