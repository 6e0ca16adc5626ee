# SPDX-License-Identifier: MIT
"""What a group gains: how training steps scale, what communication they hide, and pipelines.

A step without any exchange, and an exchange of its gradients alone, together take what a step with
DistributedDataParallel would take if it hid nothing.
"""

from collections.abc import Iterator
from contextlib import suppress
from itertools import product

from frobench.reports.findings.answers import Answer, ask
from frobench.reports.findings.finding import RATIO, Axis, Finding, Plot, Point, Series
from frobench.reports.findings.groups.members import groups, ranks_in
from frobench.reports.findings.select import Cases, Curve, NotMeasuredError, lines
from frobench.reports.findings.values import VALUE, is_above, text
from frobench.suite.stored.types import Estimate
from frobench.suite.units import counted, format_value

STEP, PIPELINE = "bench_step", "bench_pipeline"
WAYS = {"ddp": "DistributedDataParallel", "fsdp": "fully_shard"}
SCALINGS = {
    "weak": "with as many tokens on each",
    "strong": "with the tokens of a step shared among them",
}
HIDDEN = 0.95
"""Part of the communication from which it counts as hidden."""
TOKENS = 1024
"""Tokens of the steps that show how training scales, at all widths."""
WIDTH, EFFICIENCY = Axis("Width of the layer"), Axis("Scaling efficiency", "1")


def findings(cases: Cases) -> Iterator[Finding]:
    """Answer for each group, the largest first."""
    for group in groups(cases):
        where = cases.the(group)
        for way, scaling in product(WAYS, SCALINGS):
            if cases.names(function=STEP, device=group, way=way, scaling=scaling):
                question = f"How well does a step with {WAYS[way]} scale over {where} ({scaling})?"
                name = f"scaling-{way}-{scaling}-{group}"
                yield ask(name, question, _answer_efficiency, cases, group, way, scaling)
        if cases.names(function=STEP, device=group):
            question = f"How many tokens hide the communication of training over {where}?"
            yield ask(f"hidden-{group}", question, _hidden, cases, group)
    for group in groups(cases):
        if cases.names(function=PIPELINE, device=group):
            question = f"How much faster is a pipeline over {cases.the(group)}?"
            yield ask(f"pipeline-{group}", question, _fastest, cases, group)


def _answer_efficiency(cases: Cases, group: str, way: str, scaling: str) -> Answer:
    curve = _efficiency(cases, group, way, scaling)
    width = curve.sizes[-1]
    sentence = (
        f"{VALUE} of perfect scaling over {cases.the(group)} with {WAYS[way]}, "
        f"{SCALINGS[scaling]}, for a layer of {_parameters(width)} parameters."
    )
    label = f"of perfect {scaling} scaling with {WAYS[way]}"
    return Answer(sentence, curve.cases[width], curve.at(width), "1", label)


def _hidden(cases: Cases, group: str) -> Answer:
    """Find the fewest tokens of a process with which a step hides its communication.

    Of the layer that was tried with most numbers of tokens, the widest if there are several.
    Hidden is the part of an exchange's time by which a step is shorter than both.
    """
    where = {"function": STEP, "device": group, "scaling": "weak"}
    widths: list[int] = cases.values("width", **where, way="exchange")
    if not widths:
        raise NotMeasuredError(cases.reason(**where, way="exchange"))

    def tried(width: int) -> tuple[int, int]:
        return len(cases.values("tokens", **where, way="ddp", width=width)), width

    width = max(widths, key=tried)
    took = cases.one(**where, way="exchange", width=width)
    names = cases.names(**where, way="exchange", width=width)
    ddp, alone = (cases.curve("tokens", **where, way=way, width=width) for way in ("ddp", "alone"))
    longer = ddp - alone
    hidden = 1 - longer.table.div(took, axis=0).dropna(how="all")
    part = Curve.of(hidden.clip(0, 1), {x: (*longer.cases[x], *names) for x in longer.sizes})
    first = next((tokens for tokens in part.sizes if is_above(part.at(tokens), HIDDEN)), None)
    tokens = first or part.sizes[-1]
    few = f"{tokens:,.0f} tokens a process"
    from_where = f"From {few}" if first else f"With no number of tokens measured, up to {few}"
    sentence = (
        f"{from_where}, a step with DistributedDataParallel hides {HIDDEN:.0%} of its "
        f"communication: {VALUE} of the {text(took, 's')} that its exchange takes alone, for a "
        f"layer of {_parameters(width)} parameters."
    )
    label = f"of the communication hidden with {few}"
    return Answer(sentence, part.cases[tokens], part.at(tokens), "1", label)


def _fastest(cases: Cases, group: str) -> Answer:
    curve = _speedup(cases, group)
    micro = int(curve.highest)
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
    """Draw the scaling of each group by width, and its pipeline below what it could gain."""
    for group in groups(cases):
        asked = (
            (f"{WAYS[way]}, {scaling}", cases, group, way, scaling)
            for way, scaling in product(WAYS, SCALINGS)
        )
        title = f"Scaling of a training step over {cases.the(group)}"
        axes, shown = (WIDTH, EFFICIENCY), lines(_efficiency, asked)
        yield Plot(f"scaling-{group}", title, "curve", *axes, shown, 1.0, "perfect")
    for group in groups(cases):
        with suppress(NotMeasuredError):
            curve = _speedup(cases, group)
            limits = {micro: _best(ranks_in(group), micro) for micro in curve.sizes}
            points = tuple(Point(x, Estimate(y, y, y, 0)) for x, y in limits.items())
            title = f"Speedup of a pipeline over {cases.the(group)}"
            measured, limit = curve.series("measured"), Series("filling and emptying alone", points)
            axes = Axis("Micro-batches"), Axis("Speedup over one process", RATIO)
            yield Plot(f"pipeline-{group}", title, "curve", *axes, (measured,), lines=(limit,))


def _times(cases: Cases, group: str, way: str, scaling: str = "weak") -> Curve:
    where = {"function": STEP, "device": group, "way": way, "scaling": scaling}
    return cases.curve("width", **where, tokens=TOKENS)


def _efficiency(cases: Cases, group: str, way: str, scaling: str) -> Curve:
    """Return by width what a step without exchange takes, relative to one that all take part in."""
    ratio = _times(cases, group, "alone") / _times(cases, group, way, scaling)
    parts = ranks_in(group) if scaling == "strong" else 1
    return Curve.of(ratio.table / parts, ratio.cases)


def _parameters(width: float) -> str:
    """Spell the parameters of a decoder layer: its six matrices and two normalisations."""
    return format_value(12 * width**2 + 2 * width, "n")


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
