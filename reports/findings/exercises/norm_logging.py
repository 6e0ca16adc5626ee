# SPDX-License-Identifier: MIT
"""Norm logging: what reading every norm back at its step costs, and where that time goes."""

from collections.abc import Iterator
from functools import partial

import pandas as pd

from frobench.reports.findings.answers import (
    Answer,
    ask_on,
    cost,
    is_little,
    largest,
    sizes_in_common,
    threshold,
)
from frobench.reports.findings.finding import RATIO, Axis, Finding, Plot
from frobench.reports.findings.select import (
    Cases,
    Curve,
    NotMeasuredError,
    dots,
    lines,
    measured,
    stack,
    ways_on_devices,
)
from frobench.reports.findings.values import SIZE, VALUE, behind, is_above, size

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


def findings(cases: Cases) -> Iterator[Finding]:
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


def _penalty(cases: Cases, device: str) -> Answer:
    curve = _step(cases, READ_EACH, device) / _step(cases, READ_LOG, device)
    steps, rule = curve.sizes[-1], ""
    ratio = curve.at(steps)
    if is_above(ratio, 1.0):
        rule = "Keep the log on the device and read it once."
    elif is_little(ratio):
        rule = "Read norms back when you like."
    more = f"; {size(steps)} steps on {cases.the(device)}"
    words = cost(ratio, f"{VALUE} as long as with a log that is read once")
    return Answer(words, curve.cases[steps], ratio, RATIO, rule, more)


def _read_back(cases: Cases, device: str) -> Answer:
    extra, names = read_back_of(cases, device)
    return Answer(f"{VALUE} for a read-back, against a log", names, extra, STEP.unit)


def read_back_of(cases: Cases, device: str) -> tuple[pd.Series, tuple[str, ...]]:
    """Return what a read-back adds to its step by launch, and the cases behind it."""
    extra = _step(cases, READ_EACH, device) - _step(cases, READ_LOG, device)
    return extra.at(extra.sizes[-1]), extra.cases[extra.sizes[-1]]


def _parts(cases: Cases, device: str) -> Answer:
    """Split a step by the differences between loops that leave parts of it out."""
    split = _split(cases, device)
    steps = _longest(*split.values())
    cases_behind = behind(*(curve.on([steps]) for curve in split.values()))
    words = f"{VALUE} of a step for reading its norm back"
    return Answer(words, cases_behind, split[READING].at(steps), STEP.unit)


def _total(cases: Cases, device: str) -> Answer:
    """Compare the loop with its parts, reading back measured by itself on ready norms."""
    parts = _step(cases, COMPUTE, device) + _step(cases, READY, device)
    part = parts / _step(cases, READ_EACH, device)
    return largest(part, "1", "of the loop that reads each norm back")


def _length(cases: Cases, device: str) -> Answer:
    step = _step(cases, READ_LOG, device)
    longest = step.at(step.sizes[-1])
    relative = Curve.of(step.table.rdiv(longest, axis="index"), step.cases)
    crossing = threshold(relative, LEVEL, step.by_size(), power=1, pattern=f"{SIZE} steps")
    return crossing.answer(step, "steps from which a longer log gains at most 5%")


def plots(cases: Cases) -> Iterator[Plot]:
    """Draw the parts of a step, all ways to read, and how the length matters."""
    devices = cases.devices()
    bars = {name: bar for device in devices for name, bar in _bars(cases, device).items()}
    title, order = "Where the time of a step goes", (LAUNCHING, COMPUTING, KEEPING, READING)
    yield stack("parts", title, (Axis("loop"), STEP), bars, order, WHOLE)
    ways = (
        (cases.title(device), step.point(step.sizes[-1], WAYS[way]))
        for device in devices
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
    return sizes_in_common(curves, "the loops have no length in common")[-1]


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
