# SPDX-License-Identifier: MIT
"""Loops of small operations: what an operation costs, and what reading norms back costs."""

from collections.abc import Iterator
from contextlib import suppress
from functools import partial

import pandas as pd

from frobench.reports.findings.answers import (
    Crossing,
    answered,
    ask,
    ask_either,
    ask_on,
    at,
    largest,
    penalty,
    threshold,
)
from frobench.reports.findings.finding import RATIO, Axis, Finding, Plot
from frobench.reports.findings.fit import LEAST_SIZES, fit
from frobench.reports.findings.plots import dots, lines, stack, ways_on_devices
from frobench.reports.findings.select import Cases, Curve, NotMeasuredError, common_sizes, measured
from frobench.reports.findings.values import SIZE, VALUE, N, behind, size
from frobench.suite.units import format_point

READ_EACH, READ_LOG = "bench_item", "bench_log_on_device"
LAUNCH, COMPUTE, KEEP = "bench_launch_only", "bench_norm_only", "bench_log_kept"
READY = "bench_read_ready"
WAYS = {
    READ_EACH: ".item() at every step",
    "bench_numpy": ".cpu().numpy() at every step",
    "bench_print": "print() at every step",
    "bench_pinned": "non-blocking copy to pinned memory at every step",
    READ_LOG: "log on the device, one .tolist() at the end",
    "bench_graph": "log of a replayed graph, one .tolist() at the end",
    "bench_batched": "batched products and norms, one .tolist()",
}
LAUNCHING, COMPUTING = "launching", "computing"
KEEPING, READING, READING_LOG = "keeping the log", "reading back", "reading the log back"
PARTS = {  # what takes the difference of two loops
    LAUNCHING: (LAUNCH, None),
    COMPUTING: (COMPUTE, LAUNCH),
    KEEPING: (KEEP, COMPUTE),
    READING_LOG: (READ_LOG, KEEP),
    READING: (READ_EACH, COMPUTE),
}
WHOLE, STEP = "the whole loop", Axis("Time a step", "s")
LEVEL = 1 / 1.05
"""The log's length no longer matters when a step takes at most 5% more than in the longest log."""


def _norm_logging(cases: Cases) -> Iterator[Finding]:
    """Answer for each device, an accelerator before the CPU."""
    return ask_on(
        cases,
        cases.devices(),
        ("penalty", "What does reading every norm back cost on {}?", _penalty),
        ("read-back", "What does one read-back take on {}?", _read_back),
        ("parts", "Where does the time of a step go on {}?", _parts),
        ("sum", "Do the parts add up on {}?", _total),
        ("length", "From which length does a longer log gain nothing on {}?", _length),
    )


def _penalty(cases: Cases, device: str) -> Finding:
    curve = _step(cases, READ_EACH, device) / _step(cases, READ_LOG, device)
    rules = "Keep the log on the device and read it once.", "Read norms back when you like."
    words = f"{VALUE} as long as with a log that is read once"
    return penalty(curve, curve.largest, words, rules, 1.0)


def _read_back(cases: Cases, device: str) -> Finding:
    extra, names = read_back_of(cases, device)
    return answered(f"{VALUE} for a read-back, against a log", names, extra, STEP.unit)


def read_back_of(cases: Cases, device: str) -> tuple[pd.Series, tuple[str, ...]]:
    """Return what a read-back adds to its step by launch, and the cases behind it."""
    extra = _step(cases, READ_EACH, device) - _step(cases, READ_LOG, device)
    return extra.at(extra.largest), extra.cases[extra.largest]


def _parts(cases: Cases, device: str) -> Finding:
    """Split a step by the differences between loops that leave parts of it out."""
    split = _split(cases, device)
    steps = _longest(*split.values())
    cases_behind = behind(*(curve.on([steps]) for curve in split.values()))
    words = f"{VALUE} of a step for reading its norm back"
    return answered(words, cases_behind, split[READING].at(steps), STEP.unit)


def _total(cases: Cases, device: str) -> Finding:
    """Compare the loop with its parts, reading back measured by itself on ready norms."""
    parts = _step(cases, COMPUTE, device) + _step(cases, READY, device)
    part = parts / _step(cases, READ_EACH, device)
    return largest(part, "1", "of the loop that reads each norm back")


def _length(cases: Cases, device: str) -> Finding:
    step = _step(cases, READ_LOG, device)
    longest = step.level(step.at(step.largest))
    crossing = threshold(longest / step, step.by_size(), level=LEVEL, pattern=f"{SIZE} steps")
    return crossing.answer(step, "steps from which a longer log gains at most 5%")


def _norm_plots(cases: Cases) -> Iterator[Plot]:
    """Draw the parts of a step, all ways to read, and how the length matters."""
    bars = {name: bar for device in cases.devices() for name, bar in _bars(cases, device).items()}
    title, order = "Where the time of a step goes", (LAUNCHING, COMPUTING, KEEPING, READING)
    yield stack("parts", title, (Axis("loop"), STEP), bars, order, WHOLE)
    ways = (
        (cases.title(device), step.point(step.largest, WAYS[way]))
        for device in cases.devices()
        for way, step in measured(partial(_step, cases, device=device), WAYS).items()
    )
    yield Plot("ways", "Ways to keep the norms", "dots", Axis("way"), STEP, dots(ways))
    both = {way: WAYS[way] for way in (READ_EACH, READ_LOG)}
    title, steps = "A step, by the length of the loop", lines(_step, ways_on_devices(cases, both))
    yield Plot("length", title, "curve", Axis("steps"), STEP, steps)


def _step(cases: Cases, function: str, device: str) -> Curve:
    return cases.curve("steps", "item_seconds", function=function, device=device)


def _split(cases: Cases, device: str) -> dict[str, Curve]:
    split = {}
    for part, (more, less) in PARTS.items():
        whole = _step(cases, more, device)
        split[part] = whole - _step(cases, less, device) if less else whole
    return split


def _longest(*curves: Curve) -> float:
    return max(common_sizes(curves, "the loops have no length in common"))


def _bars(cases: Cases, device: str) -> dict[str, dict[str, tuple[Curve, float]]]:
    """Return the parts of both loops, with the whole of each as it was measured."""
    try:
        split = _split(cases, device)
        wholes = {name: _step(cases, name, device) for name in (READ_EACH, READ_LOG)}
        steps = _longest(*split.values(), *wholes.values())
    except NotMeasuredError:
        return {}
    both = {READ_EACH: {READING: READING}, READ_LOG: {KEEPING: KEEPING, READING: READING_LOG}}
    return {
        f"{cases.title(device)}: {WAYS[function]}": {
            LAUNCHING: (split[LAUNCHING], steps),
            COMPUTING: (split[COMPUTING], steps),
            **{label: (split[part], steps) for label, part in own.items()},
            WHOLE: (wholes[function], steps),
        }
        for function, own in both.items()
    }


PIECES, FOREACH, GRAPH = "bench_pieces", "bench_pieces_foreach", "bench_pieces_graph"
CHAIN, LARGE, COMPILED = "bench_chain", "bench_chain_large", "bench_chain_compiled"
AT_ONCE = {FOREACH: "one call of torch._foreach_mul", GRAPH: "replaying a recorded graph"}
HIDES = 2.0
"""A launch is hidden where an operation takes this many times as long as on a single number."""


def _many_or_one(cases: Cases) -> Iterator[Finding]:
    """Answer for each device, an accelerator before the CPU."""
    for device in cases.devices():
        question = f"What is the overhead of an operation on {cases.the(device)}?"
        ways = {f"launch-{device}": _launch, f"operation-{device}": _each}
        yield ask_either(question, ways, cases, device)
    yield from ask_on(
        cases,
        cases.devices(),
        ("hidden", "Which size of operation hides its launch on {}?", _hidden),
        ("foreach", "What does one call for many tensors gain on {}?", _foreach),
        ("compile", "What does compiling a chain of operations gain on {}?", _compiling),
    )
    question = "What does replaying a recorded graph gain?"
    yield ask("graph", question, lambda: _foreach(cases, cases.accelerator(), GRAPH))


def overhead_of(cases: Cases, device: str) -> tuple[pd.Series, tuple[str, ...]]:
    """Return what an operation adds by launch, and the cases behind it; as an answer has them."""
    with suppress(NotMeasuredError):
        return _fitted(cases, device)
    times = _items(cases, PIECES, device, "pieces")
    return times.at(times.largest), times.cases[times.largest]


def _launch(cases: Cases, device: str) -> Finding:
    added, names = _fitted(cases, device)
    rule = ""
    with suppress(NotMeasuredError):
        if bracket := _hides(cases, device).bracket:
            rule = f"Up to {size(bracket[0], N)} an operation is mostly overhead."
    words = f"{VALUE} per operation on {cases.the(device)}"
    return answered(words, names, added, "s", rule)


def _fitted(cases: Cases, device: str) -> tuple[pd.Series, tuple[str, ...]]:
    """Return what an operation adds on the line of the most of them, and the cases on it."""
    times = _pieces(cases, PIECES, device)
    for count in range(len(times.sizes), LEAST_SIZES - 1, -1):
        with suppress(NotMeasuredError):
            some = times.on(times.sizes[:count])
            return 1 / fit(some).rate, behind(some)
    raise NotMeasuredError("no line fits the times")


def _each(cases: Cases, device: str) -> Finding:
    times = _items(cases, PIECES, device, "pieces")
    return largest(times, "s", f"for each of {SIZE} operations on {cases.the(device)}")


def _hidden(cases: Cases, device: str) -> Finding:
    return _hides(cases, device).answer(_chain(cases, device), "numbers that hide a launch")


def _hides(cases: Cases, device: str) -> Crossing:
    step = _chain(cases, device)
    tiny = step.level(cases.one("item_seconds", function=CHAIN, device=device, n=1))
    return threshold(step / tiny, tiny, level=HIDES)


def _foreach(cases: Cases, device: str, function: str = FOREACH) -> Finding:
    gain = _pieces(cases, PIECES, device) / _pieces(cases, function, device)
    return largest(gain, RATIO, f"as fast by {AT_ONCE[function]}, {SIZE} operations")


def _compiling(cases: Cases, device: str) -> Finding:
    compiled = cases.curve("n", function=COMPILED, device=device)
    spent = cases.curve("n", "part_compile", function=COMPILED, device=device)
    plain = cases.curve("n", function=CHAIN, device=device)
    gain, calls = plain / compiled, spent / (plain - compiled)
    n, rule = gain.smallest, ""
    if (calls.at(n) > 0).all():
        rule = f"Compile what is called more than {format_point(calls.point(n).y, 'n')} times."
    return at(gain, n, RATIO, f"as fast compiled, with {size(n)} numbers", rule)


def _operation_plots(cases: Cases) -> Iterator[Plot]:
    """Draw the time by the number of operations, and of each operation by its size."""
    operations = ways_on_devices(cases, {PIECES: "one after the other", **AT_ONCE})
    title, y = "The same arithmetic in many operations", Axis("Time", "s")
    shown = lines(_pieces, operations)
    yield Plot("operations", title, "curve", Axis("operations"), y, shown)
    shown = ()
    for device in cases.devices():
        title = cases.title(device)
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


RULES = {
    "norm_logging": (_norm_logging, _norm_plots),
    "many_or_one": (_many_or_one, _operation_plots),
}
