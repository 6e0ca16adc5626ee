# SPDX-License-Identifier: MIT
"""Split models: where one runs fastest, what its boundary costs, what several devices give."""

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import pandas as pd

from frobench.reports.findings.answers import Answer, ask, ask_on, at, largest, sizes_in_common
from frobench.reports.findings.finding import RATIO, Axis, Finding, Plot, exact
from frobench.reports.findings.select import (
    BUSY,
    PROOF,
    Cases,
    Curve,
    NotMeasuredError,
    lanes,
    measured,
    stack,
)
from frobench.reports.findings.values import SIZE, VALUE, N, behind, is_above, is_below, size, text
from frobench.suite.units import format_value

FORWARD, SPLIT = "bench_forward", "bench_split_forward"
STEP, SPLIT_STEP = "bench_step", "bench_split_step"
EMBEDDING, BOUNDARY, LAYERS = "bench_embedding", "bench_boundary", "bench_layers"
AT_ONCE, IN_SEQUENCE = "bench_tasks_at_once", "bench_tasks_in_sequence"
SMALL_SHARE, LARGE_SHARE = 0.1, 0.5
"""Parts of a forward pass below which its embedding is not worth a change, and above which it is
the first to be changed."""
PARTS = {EMBEDDING: "embedding", BOUNDARY: "boundary", LAYERS: "layers"}
WHOLE, TIME = "the whole pass", Axis("Time", "s")

PIPELINE, ONE = "bench_pipeline", "bench_one_device"
ONE_PIECE = 1.0
"""A batch in one piece."""


def findings(cases: Cases) -> Iterator[Finding]:
    """Answer for a model in two parts, for pipelines, and for independent models."""
    yield ask("placement", "Where is a model best run?", _placement, cases)
    yield ask("boundary", "What does the boundary between CPU and GPU cost?", _boundary, cases)
    yield ask("training", "What does the boundary cost in training?", _training, cases)
    question = "How much of the model is its embedding on {}?"
    for device in reversed(cases.values("device", function=FORWARD)):
        yield from ask_on(cases, [device], ("embedding", question, _embedding))
    yield from _pipeline_findings(cases)
    groups = cases.values("device", function=AT_ONCE)
    for group in groups:
        question = "How fast are independent models at once on {}?"
        yield from ask_on(cases, [group], ("tasks", question, _tasks))
    if not groups:
        question = "How fast are independent models at once on several devices?"
        yield Finding.missing("tasks", question, cases.reason(function=AT_ONCE))


def _placement(cases: Cases) -> Answer:
    times = _placements(cases)
    reason = "no two placements have a number of words in common"
    if len(times) == 1:
        raise NotMeasuredError(reason)
    common = sizes_in_common(times.values(), reason)
    fewest, most = common[0], common[-1]
    best, *others = sorted(times, key=lambda name: times[name].point(most).y.value)
    slower = {name: (times[name] / times[best]).at(most) for name in others}
    clauses = [f"{text(ratio, RATIO)} as long {name}" for name, ratio in slower.items()]
    if ties := [name for name, ratio in slower.items() if not is_above(ratio, 1.0)]:
        clauses.append(f"no measurable difference: {', '.join(ties)}")
    if fewest < most:
        few = min(times, key=lambda name: times[name].point(fewest).y.value)
        clauses.append(f"with {size(fewest)} words the fastest is {few}")
    return Answer(
        f"{VALUE} for a forward pass of {size(most)} words {best}",
        behind(*(curve.on([most]) for curve in times.values())),
        times[best].at(most),
        TIME.unit,
        "" if ties else f"With {size(most)} words run it {best}.",
        "".join(f"; {clause}" for clause in clauses),
    )


def _boundary(cases: Cases) -> Answer:
    device = cases.accelerator()
    extra = _times(cases, SPLIT, device) - _times(cases, FORWARD, device)
    return largest(extra, TIME.unit, f"more for a forward pass of {SIZE} words")


def _training(cases: Cases) -> Answer:
    device = cases.accelerator()
    ratio = _times(cases, SPLIT_STEP, device) / _times(cases, STEP, device)
    return largest(ratio, RATIO, f"as long in training when split, {SIZE} words")


def _embedding(cases: Cases, device: str) -> Answer:
    curve = _times(cases, EMBEDDING, device) / _times(cases, FORWARD, device)
    most, rule = curve.sizes[-1], ""
    if is_below(curve.at(most), SMALL_SHARE):
        rule = "Leave the embedding where it is."
    elif is_above(curve.at(most), LARGE_SHARE):
        rule = "Make the embedding faster before the layers."
    return at(curve, most, "1", f"of a forward pass of {size(most)} words", rule)


def _tasks(cases: Cases, group: str) -> Answer:
    first, count = group.partition("+")[0], group.count("+") + 1
    alone = cases.curve("n", "item_seconds", function=IN_SEQUENCE, device=first)
    speed = alone / cases.curve("n", "item_seconds", function=AT_ONCE, device=group)
    words = f"as fast as {count} models in turn on one of them, width {SIZE}"
    return largest(speed, RATIO, words)


def plots(cases: Cases) -> Iterator[Plot]:
    """Draw the placements by words, where their time goes, and the pipelines."""
    with suppress(NotMeasuredError):
        shown = tuple(curve.series(name) for name, curve in _placements(cases).items())
        yield Plot("placements", "A forward pass", "curve", Axis("words"), TIME, shown)
    with suppress(NotMeasuredError):
        yield _parts(cases)
    yield from _pipeline_plots(cases)


def _times(cases: Cases, function: str, device: str) -> Curve:
    return cases.curve("tokens", function=function, device=device)


def _placements(cases: Cases) -> dict[str, Curve]:
    """Return the seconds of each placement that was measured, by words."""
    device = cases.accelerator()
    where = cases.the(device)
    placed = {
        f"all on {where}": (FORWARD, device),
        "all on the CPU": (FORWARD, "cpu"),
        f"split between the CPU and {where}": (SPLIT, device),
    }
    curves = measured(lambda name: _times(cases, *placed[name]), placed)
    if not curves:
        raise NotMeasuredError(cases.reason(function=SPLIT))
    return curves


def _parts(cases: Cases) -> Plot:
    """Draw the parts of each placement, measured alone, beside the whole."""
    bars = {}
    for whole, title, others in (  # the devices of its parts, where that is not the device itself
        (FORWARD, "all on {}", {EMBEDDING: "", LAYERS: ""}),
        (SPLIT, "split between the CPU and {}", {EMBEDDING: "cpu", BOUNDARY: "", LAYERS: ""}),
    ):
        for device in cases.values("device", function=whole):
            with suppress(NotMeasuredError):
                bars[title.format(cases.the(device))] = {
                    PARTS.get(function, WHOLE): _times(cases, function, other or device)
                    for function, other in {**others, whole: ""}.items()
                }
    words = sizes_in_common((curve for bar in bars.values() for curve in bar.values()), "")[-1]
    sized = {name: {part: (bar[part], words) for part in bar} for name, bar in bars.items()}
    title = f"Where a forward pass of {size(words)} words spends its time"
    return stack("parts", title, (Axis("placement"), TIME), sized, PARTS.values(), WHOLE)


@dataclass(frozen=True)
class Pipeline:
    """A pipeline beside the same work on its first device, in seconds by micro-batches.

    n : width of the layers
    stages : as many as devices
    """

    n: float
    stages: int
    times: Curve
    alone: Curve

    def speed_up(self) -> Curve:
        """Return how fast it is relative to one device that has the batch in one piece."""
        whole, sizes = self.alone.at(ONE_PIECE), self.times.sizes
        table = pd.DataFrame(dict.fromkeys(sizes, whole))
        return Curve.of(table, dict.fromkeys(sizes, self.alone.cases[ONE_PIECE])) / self.times

    def idle(self, micro: float) -> float:
        """Return the part of the time in which equal stages must wait for each other."""
        return (self.stages - 1) / (micro + self.stages - 1)


def _pipeline_findings(cases: Cases) -> Iterator[Finding]:
    """Answer for each group of devices."""
    groups = _pipelines(cases)
    if not groups:
        question = "What does a pipeline on several devices gain?"
        yield Finding.missing("pipeline", question, cases.reason(function=PIPELINE))
    questions = (
        ("pipeline", "What does a pipeline on {} gain?", _gain),
        ("bubble", "How long do stages on {} not compute?", _bubble),
        ("worth", "How many micro-batches does a pipeline on {} need?", _worth),
        ("overlap", "How much of their time do stages on {} share?", _overlap),
    )
    yield from ask_on(cases, groups, *questions)


def _gain(cases: Cases, group: str) -> Answer:
    speed = _pipeline(cases, group).speed_up()
    best = speed.highest
    return at(speed, best, RATIO, f"as fast as one device, in {_pieces(best)}")


def _bubble(cases: Cases, group: str) -> Answer:
    """Compare the time in which the stages do not compute with what equal stages must wait."""
    pipeline = _pipeline(cases, group)
    (working,) = lanes(cases, "micro", BUSY, function=PIPELINE, device=group, n=pipeline.n)
    share = working / pipeline.times
    micro = share.sizes[-1]
    idle = 1 - share.at(micro) / pipeline.stages
    theory = format_value(pipeline.idle(micro), "1")
    words = f"{VALUE} of the time, in {_pieces(micro)}; equal stages must wait for {theory}"
    return Answer(words, pipeline.times.cases[micro], idle, "1")


def _worth(cases: Cases, group: str) -> Answer:
    speed = _pipeline(cases, group).speed_up()
    table = speed.table.dropna()
    if table.empty:
        raise NotMeasuredError("no launch measured every number of micro-batches")
    smallest = (table > 1).idxmax(axis="columns").where((table > 1).any(axis="columns"), math.inf)
    if smallest.max() < math.inf:
        words = f"{VALUE} micro-batches to be faster than one device"
        return Answer(words, behind(speed), smallest, "n")
    never = int((smallest == math.inf).sum())
    measured = ", ".join(map(size, speed.sizes))
    words = f"No faster than one device with any of {measured} in {never} of {len(smallest)}"
    return Answer(f"{words} launches", behind(speed))


def _overlap(cases: Cases, group: str) -> Answer:
    """Say what the stages share of their time; a batch in one piece is the control."""
    pipeline = _pipeline(cases, group)
    proved, *_ = lanes(cases, "micro", *PROOF, function=PIPELINE, device=group, n=pipeline.n)
    if ONE_PIECE not in proved.cases or len(proved.sizes) == 1:
        raise NotMeasuredError("there is no batch in one piece beside one in several")
    micro = proved.sizes[-1]
    return at(proved, micro, "1", f"of the time that they can share, in {_pieces(micro)}")


def _pipeline_plots(cases: Cases) -> Iterator[Plot]:
    """Draw for each group of devices how fast it is by micro-batches, beside theory."""
    for group in _pipelines(cases):
        with suppress(NotMeasuredError):
            pipeline = _pipeline(cases, group)
            speed, count = pipeline.speed_up(), pipeline.stages
            theory = {m: count * (1 - pipeline.idle(m)) for m in speed.sizes}
            lines = speed.series("measured"), exact("equal stages, nothing else", theory)
            title = f"A pipeline on {cases.title(group)}, {size(pipeline.n, N)}"
            axes, reference = (Axis("micro-batches"), Axis("Speed", RATIO)), (1.0, "one device")
            yield Plot(f"pipeline-{group}", title, "curve", *axes, lines, *reference)


def _pipelines(cases: Cases) -> list[str]:
    return [str(group) for group in cases.values("device", function=PIPELINE)]


def _pipeline(cases: Cases, group: str) -> Pipeline:
    """Return the largest pipeline that was also run on a single device."""
    first, count = group.partition("+")[0], group.count("+") + 1
    for n in sorted(cases.values("n", function=PIPELINE, device=group), reverse=True):
        with suppress(NotMeasuredError):
            alone = cases.curve("micro", function=ONE, device=first, n=n)
            if ONE_PIECE in alone.cases:
                times = cases.curve("micro", function=PIPELINE, device=group, n=n)
                return Pipeline(n, count, times, alone)
    raise NotMeasuredError(cases.reason(function=ONE))


def _pieces(micro: float) -> str:
    return "one piece" if micro == ONE_PIECE else f"{size(micro)} micro-batches"
