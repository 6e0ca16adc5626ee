# SPDX-License-Identifier: MIT
"""Transformers: tokens per second and layer, what limits them, and what replaying a graph gains."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import product

import pandas as pd

from reports.findings import peaks
from reports.findings.answers import VALUE, Answer, ask, capital, estimate_of, is_above, size, text
from reports.findings.exercises.parts.limits import (
    COMPUTE,
    LAUNCHING,
    MEMORY,
    NONE,
    Part,
    limit,
    parts_of,
    surely_none,
)
from reports.findings.finding import RATIO, Axis, Finding, Plot, Point, Series
from reports.findings.select import Cases, NotMeasuredError, device_title, the_device
from reports.table.frame import function_of
from suite.stored.names import is_cpu
from suite.stored.run import Case, Scalar

GRAPH, NARROW = "_graph", "_narrow"
"""Behind the names of functions that replay a graph, and of those for narrow layers."""
RULES = {
    COMPUTE: "For {} choose by the rate of {} products.",
    MEMORY: "For {} choose by memory bandwidth.",
    LAUNCHING: "Replay {} from a graph.",
    NONE: "For {} choose by measured tokens per second.",
}
"""What to do about each limit; braces stand for the work and its precision."""
SPEED = Axis("Rate per layer", "tokens/s")


@dataclass(frozen=True)
class Work:
    """What is done with layers.

    Parameters
    ----------
    where
        The parameters of its cases.
    by_graph
        Whether it is usually replayed from a graph.
    """

    name: str
    words: str
    function: str
    where: Mapping[str, Scalar]
    by_graph: bool = False


WORKS = {
    work.name: work
    for work in (
        Work("train", "training", "bench_train", {}),
        Work("prefill", "prefill", "bench_prefill", {}),
        Work("decode-1", "decoding at batch 1", "bench_decode", {"batch": 1}, by_graph=True),
        Work("decode-32", "decoding at batch 32", "bench_decode", {"batch": 32}, by_graph=True),
    )
}


@dataclass(frozen=True)
class Model:
    """Layers that some work was measured on: launched from Python, and replayed from a graph."""

    width: int
    layers: int
    work: Work
    eager: Case | None
    replayed: Case | None

    @property
    def case(self) -> Case:
        """The case that answers for the model."""
        replayed = self.replayed if self.work.by_graph else None
        case = replayed or self.eager or self.replayed
        assert case is not None  # noqa: S101 - a model is made of a case
        return case

    @property
    def label(self) -> str:
        """What the layers are, such as "width 4,096, bfloat16"."""
        return f"width {size(self.width)}, {peaks.precision_of(self.case)}"


def findings(cases: Cases) -> list[Finding]:
    """Answer for each work on each device, an accelerator before the CPU, and for graphs."""
    found = []
    for device, work in product(reversed(cases.devices()), WORKS.values()):
        question = f"How fast is {work.words} on {the_device(cases.run, device)}?"
        found.append(ask(f"{work.name}-{device}", question, speed, cases, device, work.name))
    if all(map(is_cpu, cases.devices())):
        question = "How fast is training on an accelerator?"
        found.append(ask("train-accelerator", question, on_accelerator, cases))
    return [*found, ask("replay", "What does replaying a recorded graph gain?", graph, cases)]


def on_accelerator(cases: Cases) -> Answer:
    """Say why there is no training on an accelerator."""
    return speed(cases, cases.accelerator(), "train")


def speed(cases: Cases, device: str, name: str) -> Answer:
    """Give the tokens per second and layer of the widest layers, and what limits them."""
    work = WORKS[name]
    first, *others = models(cases, device, work)
    rate, where = _rate(cases, first.case), the_device(cases.run, device)
    parts = _parts(cases, first)
    limiting = limit(parts)
    rule = limiting or (NONE if parts and surely_none(parts) else "")
    clauses = [part.clause for part in parts.values() if part.clause]
    shares = f": {' and '.join(clauses)}" if clauses else ""
    if limiting:
        shares += f"; {limiting} limits it"
    elif rule:
        shares += "; none limits it alone"
    also = "".join(
        f"; {text(_rate(cases, other.case), SPEED.unit)} at {other.label}" for other in others
    )
    behind = [first.case.fullname, *(name for part in parts.values() for name in part.cases)]
    return Answer(
        f"{VALUE} per layer in {work.words} on {where} ({first.label}{_how(first)}){shares}{also}.",
        tuple(dict.fromkeys([*behind, *(other.case.fullname for other in others)])),
        rate,
        SPEED.unit,
        f"per layer in {work.words} on {where}, {first.label}",
        rule_of_thumb=RULES[rule].format(work.words, peaks.precision_of(first.case))
        if rule
        else "",
        brief=f"{VALUE} per layer ({first.label}{_how(first)}){_brief(parts)}.",
    )


def _brief(parts: Mapping[str, Part]) -> str:
    """Say which parts of what the device allows are used, without its numbers."""
    shares = " and ".join(part.brief for part in parts.values() if part.brief)
    return f": {shares}" if shares else ""


def graph(cases: Cases) -> Answer:
    """Compare replays with as many launches from Python, on the widest layers that have both."""
    device = cases.accelerator()
    gains: dict[str, tuple[Model, pd.Series]] = {}
    for work in reversed(WORKS.values()):
        with suppress(NotMeasuredError):
            for model in models(cases, device, work):
                if model.eager and model.replayed and work.name not in gains:
                    gains[work.name] = model, _gain(cases, model.eager, model.replayed)
    if not gains:
        raise NotMeasuredError(cases.reason(function=f"bench_decode{GRAPH}", device=device))
    (lead, gain), *others = sorted(gains.values(), key=lambda one: -estimate_of(one[1]).value)
    also = "".join(f"; {other.work.words} {text(its, RATIO)}" for other, its in others)
    both = [case for model, _ in gains.values() for case in (model.eager, model.replayed) if case]
    return Answer(
        f"On {the_device(cases.run, device)} replaying a recorded graph makes {lead.work.words} "
        f"{VALUE} as fast ({lead.label}){also}.",
        tuple(case.fullname for case in both),
        gain,
        RATIO,
        f"as fast replayed, in {lead.work.words}",
        rule_of_thumb=RULES[LAUNCHING].format(lead.work.words) if is_above(gain, 1.0) else "",
    )


def plots(cases: Cases) -> Iterator[Plot]:
    """Draw the tokens per second and layer by work, and the parts of what each device allows."""
    speeds: list[Series] = []
    shares: list[Series] = []
    for device in reversed(cases.devices()):
        title = device_title(cases.run, device)
        points: dict[str, list[Point]] = {}
        for work in WORKS.values():
            for model in _measured(cases, device, work):
                label = f"{title}, {model.label}"
                for case, how in ((model.eager, ""), (model.replayed, ", replayed")):
                    if case is not None:
                        rate = estimate_of(_rate(cases, case))
                        point = Point(work.words, rate, (case.fullname,))
                        points.setdefault(label + how, []).append(point)
        speeds += [Series(label, tuple(its)) for label, its in points.items()]
        shares += _shares(cases, device)
    works, part = Axis("work"), Axis("Part of the time that it is needed for", "1")
    if speeds:
        yield Plot("tokens", "Tokens per second and layer", "dots", works, SPEED, tuple(speeds))
    if shares:
        yield Plot("limits", "What limits the widest layers", "dots", works, part, tuple(shares))


def models(cases: Cases, device: str, work: Work) -> list[Model]:
    """Return what a work was measured on, the widest layers first.

    Raises
    ------
    NotMeasuredError
        On nothing.
    """
    found = _measured(cases, device, work)
    if not found:
        function = work.function + (NARROW if is_cpu(device) else "")
        raise NotMeasuredError(cases.reason(function=function, device=device, **work.where))
    return found


def _measured(cases: Cases, device: str, work: Work) -> list[Model]:
    """Return the models of `models`, of each width that with the most layers."""
    by_model: dict[tuple[int, int], dict[str, Case]] = {}
    for case in cases.passed():
        given = {"device": device, **work.where}
        kind = function_of(case.fullname).removeprefix(work.function)
        if kind in {"", GRAPH, NARROW} and given.items() <= case.params.items():
            width, layers = (case.params.get(name) for name in ("width", "layers"))
            if isinstance(width, int) and isinstance(layers, int):
                kind = GRAPH if kind == GRAPH else ""
                by_model.setdefault((width, layers), {})[kind] = case
    widest = dict(sorted(by_model))
    return [
        Model(width, layers, work, *(by_model[width, layers].get(kind) for kind in ("", GRAPH)))
        for width, layers in sorted(widest.items(), reverse=True)
    ]


def _rate(cases: Cases, case: Case) -> pd.Series:
    """Return tokens per second and layer: a model of as many layers sends each through all."""
    layers = float(str(case.params["layers"]))
    return layers / cases.one("item_seconds", case=case.fullname)


def _gain(cases: Cases, eager: Case, replayed: Case) -> pd.Series:
    seconds = (cases.one(case=case.fullname) for case in (eager, replayed))
    return (next(seconds) / next(seconds)).dropna()


def _how(model: Model) -> str:
    return ", replayed from a graph" if model.case is model.replayed else ""


def _parts(cases: Cases, model: Model) -> dict[str, Part]:
    return parts_of(cases, model.case, model.replayed if model.case is model.eager else None)


def _shares(cases: Cases, device: str) -> Iterator[Series]:
    """Yield the parts of each work's widest layers by resource."""
    points: dict[str, list[Point]] = {}
    for work in WORKS.values():
        for model in _measured(cases, device, work)[:1]:
            for name, part in _parts(cases, model).items():
                behind = (model.case.fullname, *part.cases)
                point = Point(work.words, estimate_of(part.by_launch), behind)
                points.setdefault(name, []).append(point)
    title = device_title(cases.run, device)
    for name, its in points.items():
        yield Series(f"{title}, {capital(name)}", tuple(its))
