# SPDX-License-Identifier: MIT
"""From launch values to a sentence: estimates, thresholds, and honest absence."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import pandas as pd
from msgspec import structs

from frobench.reports.findings.finding import RATIO, Finding
from frobench.reports.findings.select import Cases, Curve, NotMeasuredError
from frobench.reports.findings.values import VALUE, N, behind, estimate_of, is_above, is_below, size
from frobench.suite.units import capital, format_estimate

ROUNDING = 1e-9
"""Relative error of a crossing, at most."""
NO_DIFFERENCE = "No measurable difference: "
LITTLE = 1.05
"""A ratio of times below which reading back is not worth avoiding."""


def answered(  # noqa: PLR0913, PLR0917 - one for each part of an answer
    text: str,
    cases: tuple[str, ...],
    by_launch: pd.Series | None = None,
    unit: str = "",
    rule_of_thumb: str = "",
    more: str = "",
    label: str = "",
    bracket: tuple[float, float] | None = None,
    at_least: bool = False,  # noqa: FBT001, FBT002 - as in `Finding`
) -> Finding:
    """Return what was computed as an answer to a question, which `ask` adds; as in `Finding`.

    text : the answer without its full stop, with ``{value}`` where the number belongs
    by_launch : the number, launch by launch; ``None`` where the answer is none
    more : further clauses of a leading answer, which its row on a page leaves out
    label : by default what follows the number in the text
    bracket : for a number interpolated between two measured sizes, these sizes; they are then the
        ends of its interval, because how the times run between them was not measured
    """
    if by_launch is None:
        return Finding("", "", f"{text}.", cases=cases, rule_of_thumb=rule_of_thumb)
    value = estimate_of(by_launch)
    if bracket is not None and value.low is not None:
        value = structs.replace(value, low=bracket[0], high=bracket[1])
    is_vague = value.is_wide and not at_least
    spelled = format_estimate(value, unit)
    if unit == RATIO and holds_one(by_launch) and not is_vague:
        spelled = f"{NO_DIFFERENCE}{spelled}"
    brief = text.replace(VALUE, spelled)
    return Finding(
        name="",
        question="",
        answer=f"{brief}{more}.",
        value=value,
        unit=unit,
        label=label or text.removeprefix(f"{VALUE} "),
        by_launch=tuple(by_launch.dropna()),
        cases=cases,
        rule_of_thumb="" if is_vague else rule_of_thumb,
        brief=f"{brief}.",
        at_least=at_least,
    )


def holds_one(ratio: pd.Series) -> bool:
    """Tell whether a ratio has an interval, and it holds 1: no measurable difference."""
    value = estimate_of(ratio)
    return value.low is not None and value.high is not None and value.low <= 1 <= value.high


def at(curve: Curve, x: float, unit: str, text: str, rule_of_thumb: str = "") -> Finding:
    """Answer with the number of a curve at a size."""
    numbers = curve.at(x)
    return answered(f"{VALUE} {text}", curve.cases[x], numbers, unit, rule_of_thumb)


def largest(curve: Curve, unit: str, text: str) -> Finding:
    """Answer with the number of a curve at its largest size, for which the text has ``{size}``."""
    return at(curve, curve.largest, unit, size(curve.largest, text))


def ask(name: str, question: str, compute: Callable[..., Finding], *given: object) -> Finding:
    """Answer a question; where what the answer needs is missing, the reason is the answer."""
    try:
        return replace(compute(*given), name=name, question=question)
    except NotMeasuredError as missing:
        return Finding.missing(name, question, missing)


def ask_on(
    cases: Cases, devices: Iterable[str], *questions: tuple[str, str, Callable[..., Finding]]
) -> Iterator[Finding]:
    """Put questions to devices: these follow their names, and their titles stand for braces."""
    for device, (name, question, compute) in product(devices, questions):
        asked = question.format(cases.the(device))
        yield ask(f"{name}-{device}", asked, compute, cases, device)


def ask_either(
    question: str, answers: Mapping[str, Callable[..., Finding]], *given: object
) -> Finding:
    """Return the first answer, by its name, that has a number; else the last."""
    findings = (ask(name, question, compute, *given) for name, compute in answers.items())
    for finding in findings:
        if finding.value:
            break
    return finding


def penalty(curve: Curve, x: float, words: str, rules: tuple[str, str], level: float) -> Finding:
    """Answer with what something costs at a size, as a ratio of times.

    rules : what to do where it costs more than a level, and where it costs next to nothing
    """
    ratio, (avoid, allow) = curve.at(x), rules
    rule = avoid if is_above(ratio, level) else ""
    if holds_one(ratio) and is_below(ratio, LITTLE):
        rule = allow
    text = f"No cost: {words}" if is_below(ratio) else words
    return answered(text, curve.cases[x], ratio, RATIO, rule)


class Crossing(NamedTuple):
    """The size from which on a ratio stays at or above a level.

    words : such as "from somewhere between n = 16 and n = 64"
    by_launch, bracket : the sizes by launch, and the measured sizes that all of them lie between;
        ``None`` where not every launch crosses the level inside the measured range
    """

    words: str
    by_launch: pd.Series | None = None
    bracket: tuple[float, float] | None = None

    def answer(self, curve: Curve, label: str) -> Finding:
        """Answer with the size, which all cases of a curve are behind."""
        text, cases = capital(self.words), behind(curve)
        return answered(text, cases, self.by_launch, "n", label=label, bracket=self.bracket)


def threshold(
    ratio: Curve, times: Curve, power: float = 1.0, level: float = 1.0, pattern: str = N
) -> Crossing:
    """Find the size from which on a ratio of two times stays at or above a level.

    Known are two measured sizes, below the level and above it. Between them the crossing is
    interpolated as if both times were a fixed cost and one that grows with a power of the size.
    Real times are not quite so, by more than launches differ: the two sizes are the interval.

    times : the denominators, in seconds
    power : with which the work grows, 3 for a product of n x n matrices
    """
    sizes = ratio.sizes
    if len(sizes) == 1:
        raise NotMeasuredError(f"a single size was measured, {size(ratio.smallest, pattern)}")
    margin = ((ratio.table[sizes] - level) * times.table[sizes]).dropna()
    if margin.empty:
        raise NotMeasuredError("no launch measured every size")
    work = [size**power for size in sizes]
    crossings = pd.Series({row[0]: _crossing(work, row[1:]) for row in margin.itertuples()})
    crossings = crossings ** (1 / power)
    if crossings.between(0, math.inf, inclusive="neither").all():
        bracket = _bracket(sizes, crossings)
        return Crossing(_between(bracket, pattern), crossings, bracket)
    typical = crossings.median()
    # Of an even number of launches the median also lies between 0 and the smallest size.
    if typical * (1 - ROUNDING) <= ratio.smallest:
        words = f"from {size(ratio.smallest, pattern)}, the smallest measured, or below"
    elif typical == math.inf:
        words = f"at no size measured, up to {size(ratio.largest, pattern)}"
    else:
        words = _between(_bracket(sizes, pd.Series([typical])), pattern)
    if (crossings == typical).all():
        return Crossing(words)
    reached = int((crossings < math.inf).sum())
    largest = size(ratio.largest, pattern)
    return Crossing(f"{words} ({reached} of {len(crossings)} launches get there by {largest})")


def _bracket(sizes: Sequence[float], crossings: pd.Series) -> tuple[float, float]:
    """Return the nearest measured sizes that some crossings lie between."""
    first, last = crossings.min() * (1 - ROUNDING), crossings.max() * (1 - ROUNDING)
    return max(n for n in sizes if n < first), min(n for n in sizes if n >= last)


def _between(bracket: tuple[float, float], pattern: str) -> str:
    return f"from somewhere between {size(bracket[0], pattern)} and {size(bracket[1], pattern)}"


def _crossing(work: Sequence[float], margins: Sequence[float]) -> float:
    """Return the work from which on a launch's margins are positive: 0 is before the first."""
    last = max((index for index, margin in enumerate(margins) if margin < 0), default=-1)
    if last < 0:
        return 0.0
    if last == len(work) - 1:
        return math.inf
    x0, x1, y0, y1 = *work[last : last + 2], *margins[last : last + 2]
    return x0 + (x1 - x0) * y0 / (y0 - y1)
