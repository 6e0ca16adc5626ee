# SPDX-License-Identifier: MIT
"""Training steps that a group takes: how they scale, and how much communication they hide.

A step without any exchange, and an exchange of its gradients alone, together take what a step with
DistributedDataParallel would take if it hid nothing.
"""

from collections.abc import Iterator
from itertools import product

from reports.findings.answers import VALUE, Answer, ask, is_above, text
from reports.findings.finding import Axis, Finding, Plot
from reports.findings.groups.members import groups, ranks_in
from reports.findings.select import Cases, Curve, lines
from suite.units import format_value

STEP = "bench_step"
WAYS = {"ddp": "DistributedDataParallel", "fsdp": "fully_shard"}
SCALINGS = {
    "weak": "with as many tokens on each",
    "strong": "with the tokens of a step shared among them",
}
HIDDEN = 0.95
"""Part of the communication from which it counts as hidden."""
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
            question = f"From which model size does training over {where} hide its communication?"
            yield ask(f"hidden-{group}", question, _hidden, cases, group)


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
    """Find the smallest layer whose step hides its communication.

    Hidden is the part of an exchange's time by which a step is shorter than both.
    """
    exchange = _times(cases, group, "exchange")
    both = _times(cases, group, "alone") + exchange
    shown = (both - _times(cases, group, "ddp")) / exchange
    part = Curve.of(shown.table.clip(0, 1), shown.cases)
    first = next((width for width in part.sizes if is_above(part.at(width), HIDDEN)), None)
    width = first or part.sizes[-1]
    layer, took = f"a layer of {_parameters(width)} parameters", text(exchange.at(width), "s")
    from_where = f"From {layer}" if first else f"At no size measured, up to {layer}"
    sentence = (
        f"{from_where}, a step with DistributedDataParallel hides {HIDDEN:.0%} of its "
        f"communication: {VALUE} of the {took} that its exchange takes alone."
    )
    label = f"of the communication hidden with {_parameters(width)} parameters"
    return Answer(sentence, part.cases[width], part.at(width), "1", label)


def plots(cases: Cases) -> Iterator[Plot]:
    """Draw the scaling of each group by width."""
    for group in groups(cases):
        asked = (
            (f"{WAYS[way]}, {scaling}", cases, group, way, scaling)
            for way, scaling in product(WAYS, SCALINGS)
        )
        title = f"Scaling of a training step over {cases.the(group)}"
        axes, shown = (WIDTH, EFFICIENCY), lines(_efficiency, asked)
        yield Plot(f"scaling-{group}", title, "curve", *axes, shown, 1.0, "perfect")


def _times(cases: Cases, group: str, way: str, scaling: str = "weak") -> Curve:
    return cases.curve("width", function=STEP, device=group, way=way, scaling=scaling)


def _efficiency(cases: Cases, group: str, way: str, scaling: str) -> Curve:
    """Return by width what a step without exchange takes, relative to one that all take part in."""
    ratio = _times(cases, group, "alone") / _times(cases, group, way, scaling)
    parts = ranks_in(group) if scaling == "strong" else 1
    return Curve.of(ratio.table / parts, ratio.cases)


def _parameters(width: float) -> str:
    """Spell the parameters of a decoder layer: its six matrices and two normalisations."""
    return format_value(12 * width**2 + 2 * width, "n")
