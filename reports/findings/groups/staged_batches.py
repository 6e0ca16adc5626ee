# SPDX-License-Identifier: MIT
"""A pipeline over a group: how much faster it is than one process that has all layers."""

from collections.abc import Iterator
from contextlib import suppress

from reports.findings.answers import VALUE, Answer, ask
from reports.findings.finding import RATIO, Axis, Finding, Plot, Point, Series
from reports.findings.groups.members import groups, ranks_in
from reports.findings.select import Cases, Curve, NotMeasuredError
from suite.stored.run import Estimate
from suite.units import counted, format_value

PIPELINE = "bench_pipeline"


def findings(cases: Cases) -> Iterator[Finding]:
    """Answer for each group, the largest first."""
    for group in groups(cases):
        if cases.names(function=PIPELINE, device=group):
            question = f"How much faster is a pipeline over {cases.the(group)}?"
            yield ask(f"pipeline-{group}", question, _fastest, cases, group)


def _fastest(cases: Cases, group: str) -> Answer:
    curve = _speedup(cases, group)
    micro = int(curve.highest())
    parts, limit = counted(micro, "micro-batch"), format_value(_best(ranks_in(group), micro), RATIO)
    sentence = (
        f"A pipeline over {cases.the(group)} is {VALUE} as fast as one process that "
        f"has all layers, with {parts}; filling and emptying it would leave {limit}."
    )
    label = f"as fast as one process, with {parts}"
    rule = "Do not split a batch." if micro == 1 else f"Split a batch into {parts}."
    names = curve.cases[micro]
    return Answer(sentence, names, curve.at(micro), RATIO, label, rule_of_thumb=rule)


def _best(ranks: int, micro: float) -> float:
    """Return the speedup of a pipeline that loses only the time to fill it and to empty it."""
    return ranks * micro / (micro + ranks - 1)


def plots(cases: Cases) -> Iterator[Plot]:
    """Draw the speedup of each group by the number of micro-batches, below its limit."""
    for group in groups(cases):
        with suppress(NotMeasuredError):
            curve = _speedup(cases, group)
            limits = {micro: _best(ranks_in(group), micro) for micro in curve.sizes}
            points = tuple(Point(x, Estimate(y, y, y, 0)) for x, y in limits.items())
            title = f"Speedup of a pipeline over {cases.the(group)}"
            shown, alone = curve.series("measured"), Series("filling and emptying alone", points)
            axes = Axis("Micro-batches"), Axis("Speedup over one process", RATIO)
            yield Plot(f"pipeline-{group}", title, "curve", *axes, (shown,), lines=(alone,))


def _speedup(cases: Cases, group: str) -> Curve:
    """Return by micro-batches how many times as fast a pipeline is, for the widest layers."""
    where = {"function": PIPELINE, "device": group}
    widths = cases.values("width", **where)
    if not widths:
        raise NotMeasuredError(cases.reason(**where))
    alone, taken = (
        cases.curve("micro", **where, width=max(widths), way=way) for way in ("alone", "pipeline")
    )
    return alone / taken
