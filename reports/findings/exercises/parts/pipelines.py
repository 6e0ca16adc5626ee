# SPDX-License-Identifier: MIT
"""Pipelines of split models: what micro-batches gain, and how long the devices stand idle."""

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import pandas as pd

from frobench.reports.findings.answers import Answer, ask_on
from frobench.reports.findings.finding import RATIO, Axis, Finding, Plot, Point, Series
from frobench.reports.findings.select import Cases, Curve, NotMeasuredError
from frobench.reports.findings.side_by_side import BUSY, PROOF, lanes
from frobench.reports.findings.values import VALUE, N, behind, size, text
from frobench.suite.stored.types import Estimate, Scalar
from frobench.suite.units import format_value

PIPELINE, ONE = "bench_pipeline", "bench_one_device"
WHOLE = 1.0
"""A batch in one piece."""


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
        whole, sizes = self.alone.at(WHOLE), self.times.sizes
        table = pd.DataFrame(dict.fromkeys(sizes, whole))
        return Curve.of(table, dict.fromkeys(sizes, self.alone.cases[WHOLE])) / self.times

    def idle(self, micro: float) -> float:
        """Return the part of the time in which equal stages must wait for each other."""
        return (self.stages - 1) / (micro + self.stages - 1)


def findings(cases: Cases) -> Iterator[Finding]:
    """Answer for each group of devices."""
    groups = _groups(cases)
    if not groups:
        question = "What does a pipeline on several devices gain?"
        yield Finding.missing("pipeline", question, cases.reason(function=PIPELINE))
    questions = (
        ("pipeline", "What does a pipeline on {} gain?", _gain),
        ("bubble", "How long do stages on {} not compute?", _bubble),
        ("worth", "How many micro-batches does a pipeline on {} need?", _worth),
        ("overlap", "How much of their time do stages on {} share?", _overlap),
    )
    for group in groups:
        yield from ask_on(cases, group, *questions)


def _gain(cases: Cases, group: str) -> Answer:
    pipeline = _pipeline(cases, group)
    speed, whole = pipeline.speed_up(), ""
    best = speed.highest
    if best != WHOLE and WHOLE in speed.cases:
        whole = f"; in one piece it is {text(speed.at(WHOLE), RATIO)} as fast"
    sentence = (
        f"With its batch in {_pieces(best)}, a pipeline on {cases.the(group)} is "
        f"{VALUE} as fast as one device, an efficiency of "
        f"{text(speed.at(best) / pipeline.stages, '1')}{whole} ({size(pipeline.n, N)})."
    )
    label = f"as fast as one device, in {_pieces(best)}"
    return Answer(sentence, behind(speed), speed.at(best), RATIO, label)


def _bubble(cases: Cases, group: str) -> Answer:
    """Compare the time in which the stages do not compute with what equal stages must wait."""
    pipeline = _pipeline(cases, group)
    (working,) = lanes(cases, "micro", BUSY, function=PIPELINE, device=group, n=pipeline.n)
    share, count = working / pipeline.times, pipeline.stages
    micro = share.sizes[-1]
    theory = pipeline.idle(micro)
    longer = count * (1 - theory) / share.at(micro)
    sentence = (
        f"With the batch in {_pieces(micro)}, the stages of a pipeline on "
        f"{cases.the(group)} do not compute for {VALUE} of the time, where theory says "
        f"{format_value(theory, '1')}: with launches and copies, which theory leaves out, it takes "
        f"{text(longer, RATIO)} as long as in theory."
    )
    label = f"of the time idle, in {_pieces(micro)}"
    return Answer(sentence, pipeline.times.cases[micro], 1 - share.at(micro) / count, "1", label)


def _worth(cases: Cases, group: str) -> Answer:
    speed = _pipeline(cases, group).speed_up()
    table, sizes = speed.table.dropna(), speed.sizes
    if table.empty:
        raise NotMeasuredError("no launch measured every number of micro-batches")
    smallest = (table > 1).idxmax(axis="columns").where((table > 1).any(axis="columns"), math.inf)
    where, measured = cases.the(group), ", ".join(map(size, sizes))
    if smallest.max() < math.inf:
        sentence = f"A pipeline on {where} needs {VALUE} micro-batches to be faster than one device"
        sentence += f"; {measured} were measured."
        return Answer(sentence, behind(speed), smallest, "n", "micro-batches to be faster than one")
    never = int((smallest == math.inf).sum())
    return Answer(
        f"A pipeline on {where} is no faster than one device with any of {measured} micro-batches "
        f"in {never} of {len(smallest)} launches.",
        behind(speed),
    )


def _overlap(cases: Cases, group: str) -> Answer:
    """Compare what the stages share of their time with theory, and with a batch in one piece."""
    pipeline = _pipeline(cases, group)
    where: dict[str, Scalar] = {"function": PIPELINE, "device": group, "n": pipeline.n}
    proved, at_once, in_turn = lanes(cases, "micro", *PROOF, **where)
    if WHOLE not in proved.cases or len(proved.sizes) == 1:
        raise NotMeasuredError("there is no batch in one piece beside one in several")
    micro = proved.sizes[-1]
    sentence = (
        f"{VALUE} of the time that its {pipeline.stages} stages can share is shared with the batch "
        f"in {_pieces(micro)}, where theory says {format_value(1 - 1 / micro, '1')}: it takes "
        f"{text(at_once.at(micro), 's')}, and {text(in_turn.at(micro), 's')} with its stages "
        f"strictly in turn. In one piece, as a control, {text(proved.at(WHOLE), '1')} is shared."
    )
    label = f"of the shareable time shared, in {_pieces(micro)}"
    return Answer(sentence, behind(proved.on([WHOLE, micro])), proved.at(micro), "1", label)


def plots(cases: Cases) -> Iterator[Plot]:
    """Draw for each group of devices how fast it is by micro-batches, beside theory."""
    for group in _groups(cases):
        with suppress(NotMeasuredError):
            pipeline = _pipeline(cases, group)
            speed, count = pipeline.speed_up(), pipeline.stages
            exact = {m: count * (1 - pipeline.idle(m)) for m in speed.sizes}
            theory = tuple(Point(m, Estimate(y, y, y, launches=0)) for m, y in exact.items())
            lines = (speed.series("measured"), Series("equal stages, nothing else", theory))
            title = f"A pipeline on {cases.title(group)}, {size(pipeline.n, N)}"
            axes, reference = (Axis("micro-batches"), Axis("Speed", RATIO)), (1.0, "one device")
            yield Plot(f"pipeline-{group}", title, "curve", *axes, lines, *reference)


def _groups(cases: Cases) -> list[str]:
    return [str(group) for group in cases.values("device", function=PIPELINE)]


def _pipeline(cases: Cases, group: str) -> Pipeline:
    """Return the largest pipeline that was also run on a single device."""
    first, count = group.partition("+")[0], group.count("+") + 1
    for n in sorted(cases.values("n", function=PIPELINE, device=group), reverse=True):
        with suppress(NotMeasuredError):
            alone = cases.curve("micro", function=ONE, device=first, n=n)
            if WHOLE in alone.cases:
                times = cases.curve("micro", function=PIPELINE, device=group, n=n)
                return Pipeline(n, count, times, alone)
    raise NotMeasuredError(cases.reason(function=ONE))


def _pieces(micro: float) -> str:
    return "one piece" if micro == WHOLE else f"{size(micro)} micro-batches"
