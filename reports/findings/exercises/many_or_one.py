# SPDX-License-Identifier: MIT
"""Many or one: what an operation costs whatever its size, which size hides it, what avoids it."""

from collections.abc import Iterator
from contextlib import suppress
from itertools import product

import pandas as pd

from reports.findings.answers import VALUE, Answer, N, ask, behind, size, text, threshold
from reports.findings.finding import RATIO, Axis, Finding, Plot, Series
from reports.findings.fit import LEAST_SIZES, Line, fit
from reports.findings.select import Cases, Curve, NotMeasuredError, device_title, the_device

PIECES, FOREACH, GRAPH = "bench_pieces", "bench_pieces_foreach", "bench_pieces_graph"
CHAIN, LARGE, COMPILED = "bench_chain", "bench_chain_large", "bench_chain_compiled"
AT_ONCE = {
    FOREACH: "one call of torch._foreach_mul",
    GRAPH: "replaying a recorded graph",
}
LEVEL = 2.0
"""A launch is hidden where an operation takes this many times as long as on a single number."""
OPERATIONS, NUMBERS = Axis("operations"), Axis("n")
TIME, EACH = Axis("Time", "s"), Axis("Time an operation", "s")


def findings(cases: Cases) -> list[Finding]:
    """Answer for each device, an accelerator before the CPU."""
    devices = cases.devices()[::-1]
    found = [overhead(cases, device) for device in devices]
    for name, asked, compute in (
        ("whole", "What does it cost to work on {} piece by piece?", whole),
        ("hidden", "Which size of operation hides its launch on {}?", hidden),
        ("foreach", "What does one call for many tensors gain on {}?", foreach),
        ("compile", "What does compiling a chain of operations gain on {}?", compiling),
    ):
        for device in devices:
            question = asked.format(the_device(cases.run, device))
            found.append(ask(f"{name}-{device}", question, compute, cases, device))
    question = "What does replaying a recorded graph gain?"
    return [*found, ask("graph", question, graph, cases)]


def overhead(cases: Cases, device: str) -> Finding:
    """Answer with the slope of a line if one fits: what is none is called by another name."""
    question = f"What is the overhead of an operation on {the_device(cases.run, device)}?"
    fitted = ask(f"launch-{device}", question, launch, cases, device)
    return fitted if fitted.value else ask(f"operation-{device}", question, each, cases, device)


def overhead_of(cases: Cases, device: str) -> tuple[pd.Series, tuple[str, ...]]:
    """Return what an operation adds by launch, and the cases behind it, as `overhead` has them.

    Raises
    ------
    NotMeasuredError
        Operations were not counted.
    """
    with suppress(NotMeasuredError):
        line, on_it = _line(_pieces(cases, PIECES, device))
        return 1 / line.rate, behind(on_it)
    times = cases.curve("pieces", "item_seconds", function=PIECES, device=device)
    return times.at(times.sizes[-1]), times.cases[times.sizes[-1]]


def launch(cases: Cases, device: str) -> Answer:
    """Give what each further operation adds, as far as the times lie on a line."""
    times = _pieces(cases, PIECES, device)
    line, on_it = _line(times)
    most, where = on_it.sizes[-1], the_device(cases.run, device)
    beyond = f"; more than {size(most)} do not lie on the line" if most < times.sizes[-1] else ""
    return Answer(
        f"{VALUE} of overhead per operation on {where}, from {size(on_it.sizes[0])} to "
        f"{size(most)} operations{beyond}.",
        behind(on_it),
        1 / line.rate,
        TIME.unit,
        f"overhead per operation on {where}",
        rule_of_thumb=_mostly_overhead(cases, device),
        brief=f"{VALUE} of overhead per operation.",
    )


def _mostly_overhead(cases: Cases, device: str) -> str:
    """Say up to which measured size an operation takes less than twice its overhead."""
    with suppress(NotMeasuredError):
        _, _, bracket = _hidden(cases, device)
        if bracket is not None:
            return f"Up to {size(bracket[0], N)} an operation is mostly overhead."
    return ""


def _line(times: Curve) -> tuple[Line, Curve]:
    """Return the line on which the most operations lie, from the fewest on, and those."""
    for count in range(len(times.sizes), LEAST_SIZES - 1, -1):
        with suppress(NotMeasuredError):
            some = times.on(times.sizes[:count])
            return fit(some), some
    raise NotMeasuredError("no line fits the times")


def each(cases: Cases, device: str) -> Answer:
    """Give the time of an operation among the most that were measured, where no line fits."""
    times = cases.curve("pieces", "item_seconds", function=PIECES, device=device)
    count = times.sizes[-1]
    where = the_device(cases.run, device)
    no_line = "; no line fits the times of fewer" if len(times.sizes) >= LEAST_SIZES else ""
    return Answer(
        f"{VALUE} per operation on {where} for {size(count)} operations{no_line}.",
        times.cases[count],
        times.at(count),
        TIME.unit,
        f"for each of {size(count)} operations on {where}",
    )


def whole(cases: Cases, device: str) -> Answer:
    """Compare most pieces with the whole tensor."""
    times = _pieces(cases, PIECES, device)
    few, many = times.sizes[0], times.sizes[-1]
    if few != 1 or few == many:
        raise NotMeasuredError("one operation and many are not both among the cases")
    ratio = (times.at(many) / times.at(few)).dropna()
    where = the_device(cases.run, device)
    return Answer(
        f"On {where} {size(many)} operations on the pieces of a tensor take {VALUE} as long as one "
        "on the whole.",
        behind(times.ends()),
        ratio,
        RATIO,
        f"as long in {size(many)} pieces, on {where}",
    )


def hidden(cases: Cases, device: str) -> Answer:
    """Find the size from which on an operation takes twice what it does on a single number."""
    tiny = _tiny(cases, device)
    where, by_launch, bracket = _hidden(cases, device)
    return Answer(
        f"On {the_device(cases.run, device)} an operation takes twice as long as its launch, "
        f"{text(tiny, TIME.unit)}, from {where} on; below that, overhead dominates.",
        behind(_chain(cases, device)),
        by_launch,
        "n",
        f"numbers that hide a launch on {the_device(cases.run, device)}",
        bracket,
    )


def _tiny(cases: Cases, device: str) -> pd.Series:
    """Return the time of an operation on a single number, by launch."""
    return cases.one("item_seconds", function=CHAIN, device=device, n=1)


def _hidden(cases: Cases, device: str) -> tuple[str, pd.Series | None, tuple[float, float] | None]:
    """Return the size from which on an operation hides its launch, see `threshold`."""
    step, tiny = _chain(cases, device), _tiny(cases, device)
    ratio = Curve.of(step.table.div(tiny, axis="index"), step.cases)
    launches = Curve.of(step.table.mul(0).add(tiny, axis="index"), step.cases)
    return threshold(ratio, LEVEL, launches, power=1)


def foreach(cases: Cases, device: str) -> Answer:
    """Compare one call for all pieces with a call for each."""
    return _at_once(cases, FOREACH, device)


def graph(cases: Cases) -> Answer:
    """Compare a replay with as many launches from Python."""
    return _at_once(cases, GRAPH, cases.accelerator())


def _at_once(cases: Cases, function: str, device: str) -> Answer:
    gain = _pieces(cases, PIECES, device) / _pieces(cases, function, device)
    count = gain.sizes[-1]
    return Answer(
        f"On {the_device(cases.run, device)} {AT_ONCE[function]} is {VALUE} as fast as launching "
        f"{size(count)} operations one after the other.",
        gain.cases[count],
        gain.at(count),
        RATIO,
        f"as fast by {AT_ONCE[function]}",
    )


def compiling(cases: Cases, device: str) -> Answer:
    """Compare a compiled chain with one operation after the other, and with what compiling took."""
    compiled = cases.curve("n", function=COMPILED, device=device)
    spent = cases.curve("n", "part_compile", function=COMPILED, device=device)
    plain = cases.curve("n", function=CHAIN, device=device)
    gain, saved = plain / compiled, plain - compiled
    n, large = gain.sizes[0], gain.sizes[-1]
    also = f", and with {size(large, N)} {text(gain.at(large), RATIO)}" if large > n else ""
    calls = (spent / saved).at(n)
    pays = f", which {text(calls, 'n')} calls make up for" if (calls > 0).all() else ""
    return Answer(
        f"On {the_device(cases.run, device)} a chain of operations on {size(n)} numbers is {VALUE} "
        f"as fast when it is compiled{also}; compiling takes {text(spent.at(n), TIME.unit)}{pays}.",
        behind(gain.ends()),
        gain.at(n),
        RATIO,
        f"as fast compiled, with {size(n)} numbers",
    )


def plots(cases: Cases) -> Iterator[Plot]:
    """Draw the time by the number of operations, and of each operation by its size."""
    devices = cases.devices()[::-1]
    lines = tuple(_lines(cases, devices))
    if lines:
        title = "The same arithmetic in many operations"
        yield Plot("operations", title, "curve", OPERATIONS, TIME, lines)
    lines = tuple(_chains(cases, devices))
    if lines:
        title = "An operation of a chain, by its size"
        yield Plot("size", title, "curve", NUMBERS, EACH, lines)


def _pieces(cases: Cases, function: str, device: str) -> Curve:
    """Return the time of all operations by their number."""
    return cases.curve("pieces", function=function, device=device)


def _lines(cases: Cases, devices: list[str]) -> Iterator[Series]:
    """Return the time by the number of operations for each device and way."""
    ways = {PIECES: "one after the other", **AT_ONCE}
    for device, (function, how) in product(devices, ways.items()):
        with suppress(NotMeasuredError):
            label = f"{device_title(cases.run, device)}, {how}"
            yield _pieces(cases, function, device).series(label)


def _chains(cases: Cases, devices: list[str]) -> Iterator[Series]:
    """Return the time of an operation by its size for each device, plain and compiled."""
    for device in devices:
        title = device_title(cases.run, device)
        with suppress(NotMeasuredError):
            yield _chain(cases, device).series(title)
        with suppress(NotMeasuredError):
            compiled = cases.curve("n", "item_seconds", function=COMPILED, device=device)
            yield compiled.series(f"{title}, compiled")


def _chain(cases: Cases, device: str) -> Curve:
    """Return the time of each operation in a chain by its size, small and large ones together."""
    functions = [name for name in (CHAIN, LARGE) if cases.names(function=name, device=device)]
    curves = [
        cases.curve("n", "item_seconds", function=name, device=device)
        for name in functions or [CHAIN]
    ]
    table = pd.concat([curve.table for curve in curves], axis="columns")
    return Curve.of(table, {n: curve.cases[n] for curve in curves for n in curve.sizes})
