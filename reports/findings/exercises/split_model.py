# SPDX-License-Identifier: MIT
"""Split models: where one runs fastest, what its boundary costs, what several devices give."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pandas as pd

from reports.findings.answers import (
    VALUE,
    Answer,
    ask,
    behind,
    estimate_of,
    is_above,
    is_below,
    size,
    smallest,
    text,
)
from reports.findings.exercises.parts import pipelines
from reports.findings.finding import RATIO, Axis, Finding, Plot, Series
from reports.findings.select import Cases, Curve, NotMeasuredError, the_device

FORWARD, SPLIT = "bench_forward", "bench_split_forward"
STEP, SPLIT_STEP = "bench_step", "bench_split_step"
EMBEDDING, BOUNDARY, LAYERS = "bench_embedding", "bench_boundary", "bench_layers"
AT_ONCE, IN_SEQUENCE = "bench_tasks_at_once", "bench_tasks_in_sequence"
SMALL_SHARE, LARGE_SHARE = 0.1, 0.5
"""Parts of a forward pass below which its embedding is not worth a change, and above which it is
the first to be changed."""
TOKENS, TIME = Axis("words"), Axis("Time", "s")
ON_CPU = "all on the CPU"


def findings(cases: Cases) -> list[Finding]:
    """Answer for a model in two parts, for pipelines, and for independent models."""
    found = [
        ask("placement", "Where is a model best run?", placement, cases),
        ask("boundary", "What does the boundary between CPU and GPU cost?", boundary, cases),
        ask("training", "What does the boundary cost in training?", training, cases),
    ]
    for device in reversed(cases.values("device", function=FORWARD)):
        question = f"How much of the model is its embedding on {the_device(cases.run, device)}?"
        found.append(ask(f"embedding-{device}", question, embedding, cases, device))
    found += pipelines.findings(cases)
    groups = cases.values("device", function=AT_ONCE)
    for group in groups:
        question = f"How fast are independent models at once on {the_device(cases.run, group)}?"
        found.append(ask(f"tasks-{group}", question, tasks, cases, group))
    if not groups:
        question = "How fast are independent models at once on several devices?"
        found.append(ask("tasks", question, no_tasks, cases))
    return found


def placement(cases: Cases) -> Answer:
    """Name the fastest placement for the most words that all have, and for the fewest."""
    times = _placements(cases)
    common = sorted(set.intersection(*(set(curve.sizes) for curve in times.values())))
    if len(times) == 1 or not common:
        raise NotMeasuredError("no two placements have a number of words in common")
    fewest, most = common[0], common[-1]
    best, *others = sorted(times, key=lambda name: times[name].point(most).y.value)
    slower = {name: (times[name] / times[best]).at(most) for name in others}
    words = [f"{text(ratio, RATIO)} as long {name}" for name, ratio in slower.items()]
    if ties := [name for name, ratio in slower.items() if _is_tie(ratio)]:
        words.append(f"no measurable difference: {', '.join(ties)}")
    if fewest < most:
        few = min(times, key=lambda name: times[name].point(fewest).y.value)
        words.append(f"with {size(fewest)} words the fastest is {few}")
    return Answer(
        f"{VALUE} for a forward pass of {size(most)} words {best}; {'; '.join(words)}.",
        behind(*(curve.on([most]) for curve in times.values())),
        times[best].at(most),
        TIME.unit,
        f"for {size(most)} words, {best}",
        rule_of_thumb="" if ties else f"With {size(most)} words run it {best}.",
    )


def boundary(cases: Cases) -> Answer:
    """Compare a model that is split with one that is all on the accelerator."""
    device = cases.accelerator()
    split, whole = (cases.curve("tokens", function=f, device=device) for f in (SPLIT, FORWARD))
    extra, where = split - whole, the_device(cases.run, device)
    most, fewest = extra.sizes[-1], extra.sizes[0]
    rest = ""
    with suppress(NotMeasuredError):
        copy = cases.curve("tokens", function=BOUNDARY, device=device).at(most)
        rest = f"; the copy across takes {text(copy, TIME.unit)} by itself"
    if fewest < most:
        rest += f"; for {size(fewest)} words it is {text(extra.at(fewest), TIME.unit)}"
    return Answer(
        f"Split between the CPU and {where}, a forward pass of {size(most)} words takes "
        f"{text((split / whole).at(most), RATIO)} as long as all on {where}, a difference of "
        f"{VALUE}{rest}.",
        behind(extra.ends()),
        extra.at(most),
        TIME.unit,
        f"longer when split, {size(most)} words",
    )


def training(cases: Cases) -> Answer:
    """Compare both passes of a split model with those of one that is on the accelerator."""
    device = cases.accelerator()
    split, whole = (cases.curve("tokens", function=f, device=device) for f in (SPLIT_STEP, STEP))
    ratio, where = split / whole, the_device(cases.run, device)
    most = ratio.sizes[-1]
    return Answer(
        f"Forward and backward, {size(most)} words take {VALUE} as long split between the CPU and "
        f"{where} as all on {where}.",
        ratio.cases[most],
        ratio.at(most),
        RATIO,
        f"as long in training when split, {size(most)} words",
    )


def embedding(cases: Cases, device: str) -> Answer:
    """Give the part of a forward pass that could be moved elsewhere."""
    part, whole = (cases.curve("tokens", function=f, device=device) for f in (EMBEDDING, FORWARD))
    share = part / whole
    most = share.sizes[-1]
    rule = ""
    if is_below(share.at(most), SMALL_SHARE):
        rule = "Leave the embedding where it is."
    elif is_above(share.at(most), LARGE_SHARE):
        rule = "Make the embedding faster before the layers."
    return Answer(
        f"Looking up {size(most)} words takes {VALUE} of a forward pass of "
        f"{text(whole.at(most), TIME.unit)} on {the_device(cases.run, device)}.",
        share.cases[most],
        share.at(most),
        "1",
        f"of the forward pass is the embedding, {size(most)} words",
        rule_of_thumb=rule,
        brief=f"Looking up {size(most)} words takes {VALUE} of a forward pass.",
    )


def tasks(cases: Cases, group: str) -> Answer:
    """Compare independent models at once with one after the other on the first device."""
    first, count = group.partition("+")[0], group.count("+") + 1
    speed = cases.curve("n", "item_seconds", function=IN_SEQUENCE, device=first) / cases.curve(
        "n", "item_seconds", function=AT_ONCE, device=group
    )
    most = speed.sizes[-1]
    tiny = smallest(speed, RATIO, ", and {value} as fast at {size}")
    return Answer(
        f"{count} independent models at once on {the_device(cases.run, group)} are {VALUE} as fast "
        f"as one after the other on one of them, at layers of width {size(most)}{tiny}.",
        behind(speed.ends()),
        speed.at(most),
        RATIO,
        f"as fast as on one device, width {size(most)}",
    )


def no_tasks(cases: Cases) -> Answer:
    """Say why no independent models ran at once."""
    raise NotMeasuredError(cases.reason(function=AT_ONCE))


def plots(cases: Cases) -> Iterator[Plot]:
    """Draw the placements by words, where their time goes, and the pipelines."""
    with suppress(NotMeasuredError):
        lines = [curve.series(name) for name, curve in _placements(cases).items()]
        yield Plot("placements", "A forward pass", "curve", TOKENS, TIME, tuple(lines))
    yield from _parts(cases)
    yield from pipelines.plots(cases)


def _placements(cases: Cases) -> dict[str, Curve]:
    """Return the seconds of each placement that was measured, by words."""
    device = cases.accelerator()
    where = the_device(cases.run, device)
    curves = {}
    for name, function, place in (
        (f"all on {where}", FORWARD, device),
        (ON_CPU, FORWARD, "cpu"),
        (f"split between the CPU and {where}", SPLIT, device),
    ):
        with suppress(NotMeasuredError):
            curves[name] = cases.curve("tokens", function=function, device=place)
    if not curves:
        raise NotMeasuredError(cases.reason(function=SPLIT))
    return curves


def _parts(cases: Cases) -> Iterator[Plot]:
    """Draw the parts of each placement, measured alone, beside the whole."""
    bars = {}
    for name, function, place, parts in _made_of(cases):
        with suppress(NotMeasuredError):
            bars[name] = {
                "": cases.curve("tokens", function=function, device=place),
                **{label: cases.curve("tokens", **where) for label, where in parts.items()},
            }
    sizes = [set(curve.sizes) for bar in bars.values() for curve in bar.values()]
    if not sizes or not (common := set.intersection(*sizes)):
        return
    words = max(common)
    series = [
        Series(
            part, tuple(bar[part].point(words, name) for name, bar in bars.items() if part in bar)
        )
        for part in ("embedding", "boundary", "layers", "")
    ]
    shown = tuple(line for line in series[:-1] if line.points)
    whole = Series("the whole pass", series[-1].points)
    title = f"Where a forward pass of {size(words)} words spends its time"
    yield Plot("parts", title, "stack", Axis("placement"), TIME, shown, whole=whole)


def _made_of(cases: Cases) -> Iterator[tuple[str, str, str, dict[str, dict[str, Any]]]]:
    """Yield each placement, the case of it as a whole, and the cases of its parts."""
    for device in cases.values("device", function=FORWARD):
        looked_up = {"embedding": {"function": EMBEDDING, "device": device}}
        layers = {"layers": {"function": LAYERS, "device": device}}
        yield f"all on {the_device(cases.run, device)}", FORWARD, device, looked_up | layers
    for device in cases.values("device", function=SPLIT):
        parts = {
            "embedding": {"function": EMBEDDING, "device": "cpu"},
            "boundary": {"function": BOUNDARY, "device": device},
            "layers": {"function": LAYERS, "device": device},
        }
        yield f"split between the CPU and {the_device(cases.run, device)}", SPLIT, device, parts


def _is_tie(ratio: pd.Series) -> bool:
    """Tell whether the interval of a ratio holds 1, or there is none."""
    low = estimate_of(ratio).low
    return low is None or low <= 1
