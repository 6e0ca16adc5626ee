# SPDX-License-Identifier: MIT
"""What is asked of any benchmark function: how it compares with the CPU, its rates, its times."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from reports.findings.against_cpu import Compared
from reports.findings.answers import (
    VALUE,
    Answer,
    ask,
    behind,
    text,
)
from reports.findings.finding import RATIO, Finding
from reports.findings.own.ceilings import of_ceiling
from reports.findings.own.functions import CPU, TIME, Function, Quantity, Variant, functions
from reports.findings.select import Cases, Curve, NotMeasuredError, the_device
from suite.units import counted

MOST_LISTED = 4
"""Variants that a sentence names behind the first."""


def findings(cases: Cases) -> list[Finding]:
    """Answer for each function: against the CPU first, then for each device."""
    known = functions(cases)
    return [
        finding
        for function in known
        for finding in _findings(cases, function, f"{function.title}: " if known[1:] else "")
    ]


def _findings(cases: Cases, function: Function, prefix: str) -> Iterator[Finding]:
    """Put all questions to a function.

    Parameters
    ----------
    prefix
        Begins questions and answers where there are several functions.
    """

    def put(name: str, question: str, compute: Callable[[Cases], Answer]) -> Finding:
        return ask(name, f"{prefix}{question}", partial(_prefixed, prefix, compute), cases)

    compared = list(_compared_findings(cases, function, put))
    yield from (finding for finding in compared if not finding.absent)
    if not function.devices:
        compute = partial(time, function=function, device="")
        yield put(f"time-{function.short}", "How long does it take?", compute)
    for device in function.devices:
        where = the_device(cases.run, device)
        end = f"{function.short}-{device}"
        for quantity in function.rates:
            question = f"What is its rate on {where}?"
            if not quantity.is_rate:
                question = f"How long does an item take on {where}?"
            compute = partial(rate, function=function, device=device, quantity=quantity)
            yield put(f"{quantity.column.replace('_', '-')}-{end}", question, compute)
        compute = partial(time, function=function, device=device)
        yield put(f"time-{end}", f"How long does it take on {where}?", compute)
    yield from (finding for finding in compared if finding.absent)


def _compared_findings(
    cases: Cases,
    function: Function,
    put: Callable[[str, str, Callable[[Cases], Answer]], Finding],
) -> Iterator[Finding]:
    """Compare each accelerator with the CPU, as far as cases for both were selected."""
    if CPU not in function.selected:
        return
    measured = [name for name in cases.run.frobench.settings.devices if name != CPU]
    for device in function.accelerators or ([""] if not measured else []):
        name = the_device(cases.run, device) if device else "an accelerator"
        end = f"{function.short}-{device}" if device else function.short
        question = f"How much faster is {name} than the CPU?"
        yield put(f"speed-up-{end}", question, partial(speed_up, function=function, device=device))
        if function.axis or not device:
            question = f"From which size is {name} worth it?"
            compute = partial(crossover, function=function, device=device)
            yield put(f"crossover-{end}", question, compute)


def _prefixed(prefix: str, compute: Callable[[Cases], Answer], cases: Cases) -> Answer:
    answer = compute(cases)
    return replace(answer, sentence=f"{prefix}{answer.sentence}", label=f"{prefix}{answer.label}")


def speed_up(cases: Cases, function: Function, device: str) -> Answer:
    """Compare an accelerator with the CPU at the largest size of both, variant by variant."""
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


def crossover(cases: Cases, function: Function, device: str) -> Answer:
    """Find the size from which an accelerator takes no longer, variant by variant."""
    first, *others = _comparisons(cases, function, device)
    answer = first.crossover()
    listed = []
    for comparison in others:
        with suppress(NotMeasuredError):
            listed.append(f"{comparison.of_what.strip()} from {comparison.crossing()[0]}")
    return replace(
        answer,
        sentence=_listing(answer.sentence, listed),
        cases=(*answer.cases, *behind(*(comparison.ratio for comparison in others))),
    )


def rate(cases: Cases, function: Function, device: str, quantity: Quantity) -> Answer:
    """Give the best rate of the declared work, its part of a ceiling, and the largest size's."""
    (variant, first), *others = _curves(cases, function, device, quantity)
    best = _best(first, quantity)
    part, ceiling = of_ceiling(cases, variant.cases[device][best], quantity)
    per = "" if quantity.is_rate else " per item"
    name = the_device(cases.run, device)
    large = first.sizes[-1]
    listed = [f"{text(first.at(large), quantity.unit)}{function.at(large)}"] * (best < large)
    listed += [
        f"{text(curve.at(_best(curve, quantity)), quantity.unit)}{other.words}"
        f"{function.at(_best(curve, quantity))}"
        for other, curve in others
    ]
    largest = list(dict.fromkeys([best, large]))
    shown = [first.on(largest), *(curve.on([_best(curve, quantity)]) for _, curve in others)]
    sentence = f"{VALUE}{per} on {name}{variant.words}{function.at(best)}{part}."
    return Answer(
        _listing(sentence, listed),
        tuple(dict.fromkeys((*behind(*shown), *ceiling))),
        first.at(best),
        quantity.unit,
        f"{quantity.label.lower()} on {name}{variant.words}{function.at(best)}",
    )


def time(cases: Cases, function: Function, device: str) -> Answer:
    """Give the time of the largest size, and of the smallest.

    device : empty where no case passed anywhere
    """
    (variant, first), *others = _curves(cases, function, device, TIME)
    large, small = first.sizes[-1], first.sizes[0]
    name = the_device(cases.run, device)
    where = f"on {name}{variant.words}{function.at(large)}"
    listed = [f"{text(first.at(small), 's')}{function.at(small)}"] if small < large else []
    listed += [
        f"{text(curve.at(curve.sizes[-1]), 's')}{other.words}{function.at(curve.sizes[-1])}"
        for other, curve in others
    ]
    shown = [first.ends(), *(curve.on([curve.sizes[-1]]) for _, curve in others)]
    sentence = _listing(f"{VALUE} {where}.", listed)
    return Answer(sentence, behind(*shown), first.at(large), "s", f"time {where}")


def _comparisons(cases: Cases, function: Function, device: str) -> list[Compared]:
    """Return the variants that both devices have a size of.

    Raises
    ------
    NotMeasuredError
        There is none, or no accelerator.
    """
    device = device or cases.accelerator()
    comparisons, missing = [], NotMeasuredError(cases.reason(function=function.name, device=device))
    for variant in function.variants:
        try:
            comparison = Compared(
                function.curve(cases, variant, CPU),
                function.curve(cases, variant, device),
                the_device(cases.run, device),
                function.power(variant),
                function.axis,
                variant.words,
            )
            comparisons += [comparison] if comparison.ratio.sizes else []
        except NotMeasuredError as error:
            missing = error
    if not comparisons:
        raise missing
    return comparisons


def _curves(
    cases: Cases, function: Function, device: str, quantity: Quantity
) -> list[tuple[Variant, Curve]]:
    """Return a number of each variant that has it on a device, by size.

    Raises
    ------
    NotMeasuredError
        None has it.
    """
    where = {"device": device} if device else {}
    curves, missing = [], NotMeasuredError(cases.reason(function=function.name, **where))
    for variant in function.variants:
        try:
            curves.append((variant, function.curve(cases, variant, device, quantity)))
        except NotMeasuredError as error:
            missing = error
    if not curves:
        raise missing
    return curves


def _best(curve: Curve, quantity: Quantity) -> float:
    """Return the size with the best rate; the largest for what is no rate."""
    return curve.highest() if quantity.is_rate else curve.sizes[-1]


def _listing(sentence: str, others: Sequence[str]) -> str:
    """Return a sentence with further clauses, of which a few are named."""
    more = [counted(len(others) - MOST_LISTED, "other")] if len(others) > MOST_LISTED else []
    return "; ".join([sentence.removesuffix("."), *others[:MOST_LISTED], *more]) + "."
