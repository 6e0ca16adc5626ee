# SPDX-License-Identifier: MIT
"""Norm logging: what reading every norm back at its step costs, and where that time goes."""

from collections.abc import Iterable, Iterator
from contextlib import suppress

import pandas as pd

from reports.findings.answers import (
    SIZE,
    VALUE,
    Answer,
    ask,
    behind,
    estimate_of,
    is_above,
    is_below,
    saves_at_most,
    size,
    text,
    threshold,
)
from reports.findings.finding import RATIO, Axis, Finding, Plot, Point, Series
from reports.findings.select import Cases, Curve, NotMeasuredError, device_title, the_device

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
PARTS = {  # what takes the difference of two loops
    "launching": (LAUNCH, None),
    "computing": (COMPUTE, LAUNCH),
    "keeping the log": (KEEP, COMPUTE),
    "reading the log back": (READ_LOG, KEEP),
    "reading back": (READ_EACH, COMPUTE),
}
STEP = Axis("Time a step", "s")
TOLERANCE = 0.03
"""Parts add up to a whole if they miss it by at most this part of it."""
LITTLE = 1.05
"""A ratio of times below which reading back is not worth avoiding."""
LEVEL = 1 / 1.05
"""The log's length no longer matters when a step takes at most 5% more than in the longest log."""


def findings(cases: Cases) -> list[Finding]:
    """Answer for each device, an accelerator before the CPU."""
    questions = (
        ("penalty", "What does reading every norm back cost on {}?", penalty),
        ("read-back", "What does one read-back take on {}?", read_back),
        ("parts", "Where does the time of a step go on {}?", parts),
        ("sum", "Do the parts add up on {}?", total),
        ("length", "From which length does a longer log gain nothing on {}?", length),
    )
    return [
        ask(f"{name}-{device}", asked.format(the_device(cases.run, device)), compute, cases, device)
        for name, asked, compute in questions
        for device in reversed(cases.devices())
    ]


def penalty(cases: Cases, device: str) -> Answer:
    """Compare reading back at every step with a log that is read once."""
    ratio = _step(cases, READ_EACH, device) / _step(cases, READ_LOG, device)
    steps = ratio.sizes[-1]
    name = the_device(cases.run, device)
    longer = f"{VALUE} as long as with a log that is read once ({size(steps)} steps on {name})"
    sentence, rule = f"Calling .item() at every step takes {longer}.", ""
    brief = f"{VALUE} as long as with one log."
    if is_above(ratio.at(steps), 1.0):
        rule = "Keep the log on the device and read it once."
    elif not is_below(ratio.at(steps), 1.0) and estimate_of(ratio.at(steps)).low is not None:
        sentence = f"Calling .item() at every step costs nothing measurable: {longer}."
        brief = f"Nothing measurable: {VALUE}."
        rule = "Read norms back when you like."
        if not is_below(ratio.at(steps), LITTLE):
            rule = f"Reading norms less often {saves_at_most(ratio.at(steps))}."
    return Answer(
        sentence,
        ratio.cases[steps],
        ratio.at(steps),
        RATIO,
        f"as long when every norm is read back, on {name}",
        rule_of_thumb=rule,
        brief=brief,
    )


def read_back_of(cases: Cases, device: str) -> tuple[pd.Series, tuple[str, ...]]:
    """Return what a read-back adds by launch, and the cases behind it, as `read_back` has them."""
    extra = _step(cases, READ_EACH, device) - _step(cases, READ_LOG, device)
    steps = extra.sizes[-1]
    return extra.at(steps), extra.cases[steps]


def read_back(cases: Cases, device: str) -> Answer:
    """Divide what reading back adds to a loop with a log by the number of read-backs."""
    extra = _step(cases, READ_EACH, device) - _step(cases, READ_LOG, device)
    steps = extra.sizes[-1]
    return Answer(
        f"Each of {size(steps)} read-backs adds {VALUE} to its step, against a log.",
        extra.cases[steps],
        extra.at(steps),
        STEP.unit,
        f"a read-back on {the_device(cases.run, device)}",
    )


def parts(cases: Cases, device: str) -> Answer:
    """Split a step by the differences between loops that leave parts of it out."""
    split = {part: _part(cases, part, device) for part in PARTS}
    steps = _longest(split.values())
    spelled = {part: text(curve.at(steps), STEP.unit) for part, curve in split.items()}
    return Answer(
        f"Reading its norm back takes {VALUE} of a step, launching {spelled['launching']} and "
        f"computing {spelled['computing']}; with a log, keeping it takes "
        f"{spelled['keeping the log']} a step and reading it back once "
        f"{spelled['reading the log back']}.",
        behind(*(curve.on([steps]) for curve in split.values())),
        split["reading back"].at(steps),
        STEP.unit,
        f"for reading a norm back, on {the_device(cases.run, device)}",
    )


def total(cases: Cases, device: str) -> Answer:
    """Compare the loop with its parts, reading back measured by itself on ready norms."""
    loops = ((READ_EACH, COMPUTE, READY), (READ_LOG, KEEP, READY_LOG))
    each, log = (
        (_step(cases, rest, device) + _step(cases, ready, device)) / _step(cases, whole, device)
        for whole, rest, ready in loops
    )
    steps = _longest([each, log])
    return Answer(
        "With reading back measured by itself, on norms that were ready, the parts make "
        f"{VALUE} of the loop that reads each norm back and {text(log.at(steps), '1')} of the "
        "loop that reads a log.",
        behind(each.on([steps]), log.on([steps])),
        each.at(steps),
        "1",
        "of the loop that reads each norm back",
    )


def length(cases: Cases, device: str) -> Answer:
    """Find the length of the log from which a step costs what it does in the longest."""
    step = _step(cases, READ_LOG, device)
    longest = step.at(step.sizes[-1])
    relative = Curve.of(step.table.rdiv(longest, axis="index"), step.cases)
    loops = Curve.of(step.table.mul(step.sizes, axis="columns"), step.cases)
    where, by_launch, bracket = threshold(relative, LEVEL, loops, power=1, pattern=f"{SIZE} steps")
    return Answer(
        f"From {where}, a step costs at most 5% more than in the longest log.",
        behind(step),
        by_launch,
        "n",
        "steps",
        bracket,
    )


def plots(cases: Cases) -> Iterator[Plot]:
    """Draw the parts of a step, all ways to read, and how the length matters."""
    devices = cases.devices()[::-1]
    stack = [bars for device in devices for bars in _bars(cases, device)]
    if stack:
        series = [
            Series(part, tuple(bar[part] for bar in stack if part in bar))
            for part in ("launching", "computing", "keeping the log", "reading back")
        ]
        whole = Series("the whole loop", tuple(bar["whole"] for bar in stack))
        title = "Where the time of a step goes"
        if not all(_adds_up(bar) for bar in stack):
            title += " (launches differ so much that the parts do not add up)"
        yield Plot("parts", title, "stack", Axis("loop"), STEP, tuple(series), whole=whole)
    ways = [(device, _ways(cases, device)) for device in devices]
    series = [Series(device_title(cases.run, device), points) for device, points in ways if points]
    if series:
        yield Plot("ways", "Ways to keep the norms", "dots", Axis("way"), STEP, tuple(series))
    lines = []
    for device in devices:
        for function in (READ_EACH, READ_LOG):
            with suppress(NotMeasuredError):
                label = f"{device_title(cases.run, device)}, {WAYS[function]}"
                lines.append(_step(cases, function, device).series(label))
    if lines:
        title = "A step, by the length of the loop"
        yield Plot("length", title, "curve", Axis("steps"), STEP, tuple(lines))


def _step(cases: Cases, function: str, device: str) -> Curve:
    """Return the time of a step by launch and by the length of the loop."""
    return cases.curve("steps", "item_seconds", function=function, device=device)


def _part(cases: Cases, part: str, device: str) -> Curve:
    more, less = PARTS[part]
    whole = _step(cases, more, device)
    return whole - _step(cases, less, device) if less else whole


def _longest(curves: Iterable[Curve]) -> float:
    """Return the longest loop that all curves have."""
    common = set.intersection(*(set(curve.sizes) for curve in curves))
    if not common:
        raise NotMeasuredError("the loops have no length in common")
    return max(common)


def _bars(cases: Cases, device: str) -> list[dict[str, Point]]:
    """Return the parts of both loops, with the whole of each as it was measured."""
    try:
        split = {part: _part(cases, part, device) for part in PARTS}
        wholes = {name: _step(cases, name, device) for name in (READ_EACH, READ_LOG)}
        steps = _longest([*split.values(), *wholes.values()])
    except NotMeasuredError:
        return []
    bars = []
    for function, own in (
        (READ_EACH, {"reading back": "reading back"}),
        (READ_LOG, {"keeping the log": "keeping the log", "reading the log back": "reading back"}),
    ):
        name = f"{device_title(cases.run, device)}: {WAYS[function]}"
        shown = {"launching": "launching", "computing": "computing", **own}
        bar = {label: split[part].point(steps, name) for part, label in shown.items()}
        bars.append(bar | {"whole": wholes[function].point(steps, name)})
    return bars


def _adds_up(bar: dict[str, Point]) -> bool:
    """Tell whether the parts add up to the whole; medians do, if all launches agree."""
    whole = bar["whole"].y.value
    parts = sum(point.y.value for part, point in bar.items() if part != "whole")
    return abs(parts - whole) <= TOLERANCE * whole


def _ways(cases: Cases, device: str) -> tuple[Point, ...]:
    """Return the time of a step in the longest loop of each way."""
    points = []
    for function, label in WAYS.items():
        with suppress(NotMeasuredError):
            step = _step(cases, function, device)
            points.append(step.point(step.sizes[-1], label))
    return tuple(points)
