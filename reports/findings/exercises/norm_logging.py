# SPDX-License-Identifier: MIT
"""Norm logging: what reading every norm back at its step costs, and where that time goes."""

from collections.abc import Iterator
from functools import partial

import pandas as pd

from frobench.reports.findings.answers import Answer, ask_on, rarely, sizes_in_common, threshold
from frobench.reports.findings.finding import RATIO, Axis, Finding, Plot, Point, Series
from frobench.reports.findings.select import Cases, Curve, NotMeasuredError, lines, measured
from frobench.reports.findings.values import SIZE, VALUE, behind, holds_one, is_above, size, text

READ_EACH, READ_LOG = "bench_item", "bench_log_on_device"
LAUNCH, COMPUTE, KEEP = "bench_launch_only", "bench_norm_only", "bench_log_kept"
READY, READY_LOG = "bench_read_ready", "bench_read_ready_log"
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
STEP = Axis("Time a step", "s")
TOLERANCE = 0.03
"""Parts add up to a whole if they miss it by at most this part of it."""
LEVEL = 1 / 1.05
"""The log's length no longer matters when a step takes at most 5% more than in the longest log."""


def findings(cases: Cases) -> Iterator[Finding]:
    """Answer for each device, an accelerator before the CPU."""
    for question in (
        ("penalty", "What does reading every norm back cost on {}?", _penalty),
        ("read-back", "What does one read-back take on {}?", _read_back),
        ("parts", "Where does the time of a step go on {}?", _parts),
        ("sum", "Do the parts add up on {}?", _total),
        ("length", "From which length does a longer log gain nothing on {}?", _length),
    ):
        for device in reversed(cases.devices()):
            yield from ask_on(cases, device, question)


def _penalty(cases: Cases, device: str) -> Answer:
    curve = _step(cases, READ_EACH, device) / _step(cases, READ_LOG, device)
    steps, name = curve.sizes[-1], cases.the(device)
    ratio, verb, rule = curve.at(steps), "takes", ""
    brief = f"{VALUE} as long as with one log."
    if is_above(ratio, 1.0):
        rule = "Keep the log on the device and read it once."
    elif holds_one(ratio):
        verb, brief = "costs nothing measurable:", f"Nothing measurable: {VALUE}."
        rule = rarely(ratio, "norms") or "Read norms back when you like."
    sentence = (
        f"Calling .item() at every step {verb} {VALUE} as long as with a log that is read once "
        f"({size(steps)} steps on {name})."
    )
    label = f"as long when every norm is read back, on {name}"
    return Answer(
        sentence, curve.cases[steps], ratio, RATIO, label, rule_of_thumb=rule, brief=brief
    )


def _read_back(cases: Cases, device: str) -> Answer:
    extra = _step(cases, READ_EACH, device) - _step(cases, READ_LOG, device)
    steps = extra.sizes[-1]
    sentence = f"Each of {size(steps)} read-backs adds {VALUE} to its step, against a log."
    label = f"a read-back on {cases.the(device)}"
    return Answer(sentence, extra.cases[steps], extra.at(steps), STEP.unit, label)


def read_back_of(cases: Cases, device: str) -> tuple[pd.Series, tuple[str, ...]]:
    """Return what a read-back adds to its step by launch, and the cases behind it."""
    extra = _step(cases, READ_EACH, device) - _step(cases, READ_LOG, device)
    return extra.at(extra.sizes[-1]), extra.cases[extra.sizes[-1]]


def _parts(cases: Cases, device: str) -> Answer:
    """Split a step by the differences between loops that leave parts of it out."""
    split = _split(cases, device)
    steps = _longest(*split.values())
    spelled = {part: text(curve.at(steps), STEP.unit) for part, curve in split.items()}
    return Answer(
        f"Reading its norm back takes {VALUE} of a step, launching {spelled[LAUNCHING]} and "
        f"computing {spelled[COMPUTING]}; with a log, keeping it takes {spelled[KEEPING]} a step "
        f"and reading it back once {spelled[READING_LOG]}.",
        behind(*(curve.on([steps]) for curve in split.values())),
        split[READING].at(steps),
        STEP.unit,
        f"for reading a norm back, on {cases.the(device)}",
    )


def _total(cases: Cases, device: str) -> Answer:
    """Compare the loop with its parts, reading back measured by itself on ready norms."""
    each, log = (
        (_step(cases, rest, device) + _step(cases, ready, device)) / _step(cases, whole, device)
        for whole, rest, ready in ((READ_EACH, COMPUTE, READY), (READ_LOG, KEEP, READY_LOG))
    )
    steps = _longest(each, log)
    sentence = (
        "With reading back measured by itself, on norms that were ready, the parts make "
        f"{VALUE} of the loop that reads each norm back and {text(log.at(steps), '1')} of the "
        "loop that reads a log."
    )
    label = "of the loop that reads each norm back"
    return Answer(sentence, behind(each.on([steps]), log.on([steps])), each.at(steps), "1", label)


def _length(cases: Cases, device: str) -> Answer:
    step = _step(cases, READ_LOG, device)
    longest = step.at(step.sizes[-1])
    relative = Curve.of(step.table.rdiv(longest, axis="index"), step.cases)
    crossing = threshold(relative, LEVEL, step.by_size(), power=1, pattern=f"{SIZE} steps")
    sentence = f"From {crossing.words}, a step costs at most 5% more than in the longest log."
    return crossing.answer(sentence, step, "steps")


def plots(cases: Cases) -> Iterator[Plot]:
    """Draw the parts of a step, all ways to read, and how the length matters."""
    devices = cases.devices()[::-1]
    stack = [bars for device in devices for bars in _bars(cases, device)]
    if stack:
        series = tuple(
            Series(part, tuple(bar[part] for bar in stack if part in bar))
            for part in (LAUNCHING, COMPUTING, KEEPING, READING)
        )
        whole = Series("the whole loop", tuple(bar["whole"] for bar in stack))
        title = "Where the time of a step goes"
        if not all(map(_adds_up, stack)):
            title += " (launches differ so much that the parts do not add up)"
        yield Plot("parts", title, "stack", Axis("loop"), STEP, series, whole=whole)
    ways = {device: measured(partial(_step, cases, device=device), WAYS) for device in devices}
    series = tuple(
        Series(
            cases.title(device),
            tuple(step.point(step.sizes[-1], WAYS[way]) for way, step in steps.items()),
        )
        for device, steps in ways.items()
        if steps
    )
    yield Plot("ways", "Ways to keep the norms", "dots", Axis("way"), STEP, series)
    asked = (
        (f"{cases.title(device)}, {WAYS[function]}", cases, function, device)
        for device in devices
        for function in (READ_EACH, READ_LOG)
    )
    title = "A step, by the length of the loop"
    yield Plot("length", title, "curve", Axis("steps"), STEP, lines(_step, asked))


def _step(cases: Cases, function: str, device: str) -> Curve:
    return cases.curve("steps", "item_seconds", function=function, device=device)


def _split(cases: Cases, device: str) -> dict[str, Curve]:
    split = {}
    for part, (more, less) in PARTS.items():
        whole = _step(cases, more, device)
        split[part] = whole - _step(cases, less, device) if less else whole
    return split


def _longest(*curves: Curve) -> float:
    return sizes_in_common(curves, "the loops have no length in common")[-1]


def _bars(cases: Cases, device: str) -> list[dict[str, Point]]:
    """Return the parts of both loops, with the whole of each as it was measured."""
    try:
        split = _split(cases, device)
        wholes = {name: _step(cases, name, device) for name in (READ_EACH, READ_LOG)}
        steps = _longest(*split.values(), *wholes.values())
    except NotMeasuredError:
        return []
    bars = []
    for function, own in (
        (READ_EACH, {READING: READING}),
        (READ_LOG, {KEEPING: KEEPING, READING_LOG: READING}),
    ):
        name = f"{cases.title(device)}: {WAYS[function]}"
        shown = {LAUNCHING: LAUNCHING, COMPUTING: COMPUTING, **own}
        bar = {label: split[part].point(steps, name) for part, label in shown.items()}
        bars.append(bar | {"whole": wholes[function].point(steps, name)})
    return bars


def _adds_up(bar: dict[str, Point]) -> bool:
    """Tell whether the parts add up to the whole; medians do, if all launches agree."""
    whole = bar["whole"].y.value
    parts = sum(point.y.value for part, point in bar.items() if part != "whole")
    return abs(parts - whole) <= TOLERANCE * whole
