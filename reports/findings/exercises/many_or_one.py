# SPDX-License-Identifier: MIT
"""Many or one: what an operation costs whatever its size, which size hides it, what avoids it."""

from collections.abc import Iterator
from contextlib import suppress

import pandas as pd

from frobench.reports.findings.answers import (
    Answer,
    Crossing,
    ask,
    ask_either,
    ask_on,
    at,
    largest,
    threshold,
)
from frobench.reports.findings.finding import RATIO, Axis, Finding, Plot
from frobench.reports.findings.fit import LEAST_SIZES, Line, fit
from frobench.reports.findings.select import Cases, Curve, NotMeasuredError, lines, ways_on_devices
from frobench.reports.findings.values import SIZE, VALUE, N, behind, size
from frobench.suite.units import format_point

PIECES, FOREACH, GRAPH = "bench_pieces", "bench_pieces_foreach", "bench_pieces_graph"
CHAIN, LARGE, COMPILED = "bench_chain", "bench_chain_large", "bench_chain_compiled"
AT_ONCE = {FOREACH: "one call of torch._foreach_mul", GRAPH: "replaying a recorded graph"}
LEVEL = 2.0
"""A launch is hidden where an operation takes this many times as long as on a single number."""


def findings(cases: Cases) -> Iterator[Finding]:
    """Answer for each device, an accelerator before the CPU."""
    devices = cases.devices()
    for device in devices:
        question = f"What is the overhead of an operation on {cases.the(device)}?"
        ways = {f"launch-{device}": _launch, f"operation-{device}": _each}
        yield ask_either(question, ways, cases, device)
    yield from ask_on(
        cases,
        devices,
        ("whole", "What does it cost to work on {} piece by piece?", _whole),
        ("hidden", "Which size of operation hides its launch on {}?", _hidden),
        ("foreach", "What does one call for many tensors gain on {}?", _foreach),
        ("compile", "What does compiling a chain of operations gain on {}?", _compiling),
    )
    yield ask("graph", "What does replaying a recorded graph gain?", _graph, cases)


def overhead_of(cases: Cases, device: str) -> tuple[pd.Series, tuple[str, ...]]:
    """Return what an operation adds by launch, and the cases behind it; as an answer has them."""
    with suppress(NotMeasuredError):
        line, on_it = _line(_pieces(cases, PIECES, device))
        return 1 / line.rate, behind(on_it)
    times = _items(cases, PIECES, device, "pieces")
    return times.at(times.sizes[-1]), times.cases[times.sizes[-1]]


def _launch(cases: Cases, device: str) -> Answer:
    times = _pieces(cases, PIECES, device)
    line, on_it = _line(times)
    few, most = on_it.sizes[0], on_it.sizes[-1]
    more = f"; from {size(few)} to {size(most)} operations"
    if most < times.sizes[-1]:
        more += f"; more than {size(most)} do not lie on the line"
    rule = ""
    with suppress(NotMeasuredError):
        if bracket := _hides(cases, device).bracket:
            rule = f"Up to {size(bracket[0], N)} an operation is mostly overhead."
    words = f"{VALUE} per operation on {cases.the(device)}"
    return Answer(words, behind(on_it), 1 / line.rate, "s", rule, more)


def _line(times: Curve) -> tuple[Line, Curve]:
    """Return the line on which the most operations lie, from the fewest on, and those."""
    for count in range(len(times.sizes), LEAST_SIZES - 1, -1):
        with suppress(NotMeasuredError):
            some = times.on(times.sizes[:count])
            return fit(some), some
    raise NotMeasuredError("no line fits the times")


def _each(cases: Cases, device: str) -> Answer:
    times = _items(cases, PIECES, device, "pieces")
    return largest(times, "s", f"for each of {SIZE} operations on {cases.the(device)}")


def _whole(cases: Cases, device: str) -> Answer:
    times = _pieces(cases, PIECES, device)
    few, many = times.sizes[0], times.sizes[-1]
    if few != 1 or few == many:
        raise NotMeasuredError("one operation and many are not both among the cases")
    ratio = (times.at(many) / times.at(few)).dropna()
    words = f"{VALUE} as long in {size(many)} pieces as one operation on the whole"
    return Answer(words, behind(times.ends()), ratio, RATIO)


def _hidden(cases: Cases, device: str) -> Answer:
    return _hides(cases, device).answer(_chain(cases, device), "numbers that hide a launch")


def _hides(cases: Cases, device: str) -> Crossing:
    step = _chain(cases, device)
    tiny = cases.one("item_seconds", function=CHAIN, device=device, n=1)
    ratio = Curve.of(step.table.div(tiny, axis="index"), step.cases)
    launches = Curve.of(step.table.mul(0).add(tiny, axis="index"), step.cases)
    return threshold(ratio, LEVEL, launches, power=1)


def _foreach(cases: Cases, device: str, function: str = FOREACH) -> Answer:
    gain = _pieces(cases, PIECES, device) / _pieces(cases, function, device)
    return largest(gain, RATIO, f"as fast by {AT_ONCE[function]}, {SIZE} operations")


def _graph(cases: Cases) -> Answer:
    return _foreach(cases, cases.accelerator(), GRAPH)


def _compiling(cases: Cases, device: str) -> Answer:
    compiled = cases.curve("n", function=COMPILED, device=device)
    spent = cases.curve("n", "part_compile", function=COMPILED, device=device)
    plain = cases.curve("n", function=CHAIN, device=device)
    gain, calls = plain / compiled, spent / (plain - compiled)
    n, rule = gain.sizes[0], ""
    if (calls.at(n) > 0).all():
        rule = f"Compile what is called more than {format_point(calls.point(n).y, 'n')} times."
    return at(gain, n, RATIO, f"as fast compiled, with {size(n)} numbers", rule)


def plots(cases: Cases) -> Iterator[Plot]:
    """Draw the time by the number of operations, and of each operation by its size."""
    titled = [(cases.title(device), device) for device in cases.devices()]
    operations = ways_on_devices(cases, {PIECES: "one after the other", **AT_ONCE})
    title, y = "The same arithmetic in many operations", Axis("Time", "s")
    shown = lines(_pieces, operations)
    yield Plot("operations", title, "curve", Axis("operations"), y, shown)
    shown = ()
    for title, device in titled:
        shown += lines(_chain, [(title, cases, device)])
        shown += lines(_items, [(f"{title}, compiled", cases, COMPILED, device)])
    title, y = "An operation of a chain, by its size", Axis("Time an operation", "s")
    yield Plot("size", title, "curve", Axis("n"), y, shown)


def _pieces(cases: Cases, function: str, device: str) -> Curve:
    return cases.curve("pieces", function=function, device=device)


def _items(cases: Cases, function: str, device: str, over: str = "n") -> Curve:
    return cases.curve(over, "item_seconds", function=function, device=device)


def _chain(cases: Cases, device: str) -> Curve:
    """Return the time of each operation in a chain by its size, small and large ones together."""
    functions = [name for name in (CHAIN, LARGE) if cases.names(function=name, device=device)]
    curves = [_items(cases, name, device) for name in functions or [CHAIN]]
    table = pd.concat([curve.table for curve in curves], axis="columns")
    return Curve.of(table, {n: curve.cases[n] for curve in curves for n in curve.sizes})
