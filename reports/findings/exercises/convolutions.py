# SPDX-License-Identifier: MIT
"""Convolutions: images per second, the share of the peak, and which layout is faster."""

from collections.abc import Iterator
from functools import partial

import pandas as pd

from frobench.reports.findings.answers import Answer, ask_on
from frobench.reports.findings.exercises import limits
from frobench.reports.findings.finding import RATIO, Axis, Finding, Plot, Point
from frobench.reports.findings.select import Cases, NotMeasuredError, dots, measured
from frobench.reports.findings.values import VALUE, estimate_of, is_above, is_below, size, text
from frobench.suite.stored.types import Case

STEP, FORWARD = "bench_step", "bench_forward"
WORKS = {STEP: "training", FORWARD: "the forward pass"}
LAYOUTS = {"channels_last": "channels last", "contiguous": "contiguous"}
SPEED = Axis("Rate per block", "images/s")


def findings(cases: Cases) -> Iterator[Finding]:
    """Answer for each device, an accelerator before the CPU."""
    for device in reversed(cases.devices()):
        yield from ask_on(
            cases,
            device,
            ("step", "How fast does a residual block train on {}?", _step),
            ("forward", "How fast do images pass a residual block on {}?", _forward),
            ("layout", "Which layout of images is faster on {}?", _layout),
        )


def _step(cases: Cases, device: str) -> Answer:
    return _speed(cases, device, STEP)


def _forward(cases: Cases, device: str) -> Answer:
    return _speed(cases, device, FORWARD)


def _speed(cases: Cases, device: str, function: str) -> Answer:
    layouts = _layouts(cases, device, function)
    best = max(layouts, key=lambda layout: estimate_of(_rate(cases, layouts[layout])).value)
    case = layouts[best]
    more, behind = limits.shares(cases, case.fullname, limits.COMPUTE)
    shape = f"{size(float(str(case.params['channels'])))} channels, {case.params['dtype']}"
    words = f"{VALUE} per block in {WORKS[function]} ({LAYOUTS[best]}, {shape})"
    return Answer(words, behind, _rate(cases, case), SPEED.unit, more=more)


def _layout(cases: Cases, device: str) -> Answer:
    gains = measured(partial(_gain, cases, device), WORKS)
    if not gains:
        raise NotMeasuredError(cases.reason(function=STEP, device=device))
    (lead, (gain, behind)), *others = gains.items()
    more = "".join(f"; {text(other, RATIO)} in {WORKS[name]}" for name, (other, _) in others)
    rule = "Keep images with channels last." if is_above(gain, 1.0) else ""
    rule = "Keep images contiguous." if is_below(gain, 1.0) else rule
    words = f"{VALUE} as fast with channels last, in {WORKS[lead]}"
    names = (*behind, *(name for _, (_, names) in others for name in names))
    return Answer(words, names, gain, RATIO, rule, more)


def _gain(cases: Cases, device: str, function: str) -> tuple[pd.Series, tuple[str, ...]]:
    layouts = _layouts(cases, device, function)
    if len(layouts) < len(LAYOUTS):
        raise NotMeasuredError(cases.reason(function=function, device=device))
    last, plain = (layouts[layout] for layout in LAYOUTS)
    gain = (_rate(cases, last) / _rate(cases, plain)).dropna()
    return gain, (last.fullname, plain.fullname)


def plots(cases: Cases) -> Iterator[Plot]:
    """Draw the images per second by work and layout."""
    speeds: dict[str, list[Point]] = {}
    for device in reversed(cases.devices()):
        for function, layouts in measured(partial(_layouts, cases, device), WORKS).items():
            for layout, case in layouts.items():
                point = Point(WORKS[function], estimate_of(_rate(cases, case)), (case.fullname,))
                speeds.setdefault(f"{cases.title(device)}, {LAYOUTS[layout]}", []).append(point)
    title = "Images per second and residual block"
    yield Plot("images", title, "dots", Axis("work"), SPEED, dots(speeds))


def _layouts(cases: Cases, device: str, function: str) -> dict[str, Case]:
    """Return the cases of the block with most channels by layout."""
    channels = max(cases.values("channels", device=device), default=0)
    names = cases.names(function=function, device=device, channels=channels)
    found = {str(c.params["layout"]): c for c in cases.passed() if c.fullname in names}
    if not found:
        raise NotMeasuredError(cases.reason(function=function, device=device))
    return {layout: found[layout] for layout in LAYOUTS if layout in found}


def _rate(cases: Cases, case: Case) -> pd.Series:
    return 1 / cases.one("item_seconds", case=case.fullname)
