# SPDX-License-Identifier: MIT
"""Training steps that a group takes: how they scale, and how much communication they hide.

A step without any exchange, and an exchange of its gradients alone, together take what a step with
DistributedDataParallel would take if it hid nothing.
"""

from collections.abc import Iterator
from contextlib import suppress

from reports.findings.answers import VALUE, Answer, ask, is_above, text
from reports.findings.finding import Axis, Finding, Plot
from reports.findings.groups.members import groups, ranks_in
from reports.findings.select import Cases, Curve, NotMeasuredError, the_device
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
        if not cases.names(function=STEP, device=group):
            continue
        where = the_device(cases.run, group)
        for way, name in WAYS.items():
            for scaling in SCALINGS:
                if cases.names(function=STEP, device=group, way=way, scaling=scaling):
                    question = f"How well does a step with {name} scale over {where} ({scaling})?"
                    more = group, way, scaling
                    yield ask(
                        f"scaling-{way}-{scaling}-{group}", question, efficiency, cases, *more
                    )
        question = f"From which model size does training over {where} hide its communication?"
        yield ask(f"hidden-{group}", question, hidden, cases, group)


def efficiency(cases: Cases, group: str, way: str, scaling: str) -> Answer:
    """Compare a step with one that exchanges nothing, at the largest width."""
    curve = _efficiency(cases, group, way, scaling)
    width = curve.sizes[-1]
    return Answer(
        f"{VALUE} of perfect scaling over {the_device(cases.run, group)} with {WAYS[way]}, "
        f"{SCALINGS[scaling]}, for a layer of {_parameters(width)} parameters.",
        curve.cases[width],
        curve.at(width),
        "1",
        f"of perfect {scaling} scaling with {WAYS[way]}",
    )


def hidden(cases: Cases, group: str) -> Answer:
    """Find the smallest layer whose step hides its communication."""
    part = _hidden(cases, group)
    first = next((width for width in part.sizes if is_above(part.at(width), HIDDEN)), None)
    width = first or part.sizes[-1]
    exchanged = text(_times(cases, group, "exchange").at(width), "s")
    beginning = (
        f"From a layer of {_parameters(width)} parameters"
        if first
        else f"At no size measured, up to a layer of {_parameters(width)} parameters"
    )
    return Answer(
        f"{beginning}, a step with DistributedDataParallel hides {HIDDEN:.0%} of its "
        f"communication: {VALUE} of the {exchanged} that its exchange takes alone.",
        part.cases[width],
        part.at(width),
        "1",
        f"of the communication hidden with {_parameters(width)} parameters",
    )


def plots(cases: Cases) -> Iterator[Plot]:
    """Draw the scaling of each group by width."""
    for group in groups(cases):
        lines = []
        for way, name in WAYS.items():
            for scaling in SCALINGS:
                with suppress(NotMeasuredError):
                    curve = _efficiency(cases, group, way, scaling)
                    lines.append(curve.series(f"{name}, {scaling}"))
        if lines:
            title = f"Scaling of a training step over {the_device(cases.run, group)}"
            axes = WIDTH, EFFICIENCY
            yield Plot(f"scaling-{group}", title, "curve", *axes, tuple(lines), 1.0, "perfect")


def _times(cases: Cases, group: str, way: str, scaling: str = "weak") -> Curve:
    return cases.curve("width", function=STEP, device=group, way=way, scaling=scaling)


def _efficiency(cases: Cases, group: str, way: str, scaling: str) -> Curve:
    """Return by width what a step without exchange takes, relative to one that all take part in."""
    ratio = _times(cases, group, "alone") / _times(cases, group, way, scaling)
    parts = ranks_in(group) if scaling == "strong" else 1
    return Curve.of(ratio.table / parts, ratio.cases)


def _hidden(cases: Cases, group: str) -> Curve:
    """Return by width the part of an exchange's time by which a step is shorter than both."""
    exchange = _times(cases, group, "exchange")
    both = _times(cases, group, "alone") + exchange
    part = (both - _times(cases, group, "ddp")) / exchange
    return Curve.of(part.table.clip(0, 1), part.cases)


def _parameters(width: float) -> str:
    """Spell the parameters of a decoder layer: its six matrices and two normalisations."""
    return format_value(12 * width**2 + 2 * width, "n")
