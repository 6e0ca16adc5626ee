# SPDX-License-Identifier: MIT
"""Transformers: tokens per second and layer, what limits them, and what replaying a graph gains."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import product

import pandas as pd

from frobench.reports.findings import peaks
from frobench.reports.findings.answers import Answer, ask
from frobench.reports.findings.exercises import limits
from frobench.reports.findings.finding import RATIO, Axis, Finding, Plot, Point
from frobench.reports.findings.select import Cases, NotMeasuredError, dots
from frobench.reports.findings.values import VALUE, estimate_of, is_above, size, text
from frobench.suite.stored.machine_identity import function_of, is_cpu
from frobench.suite.stored.types import Case, Scalar

GRAPH, NARROW = "_graph", "_narrow"
"""Behind the names of functions that replay a graph, and of those for narrow layers."""
RULES = {
    limits.COMPUTE: "For {} choose by the rate of {} products.",
    limits.MEMORY: "For {} choose by memory bandwidth.",
    limits.LAUNCHING: "Replay {} from a graph.",
}
"""What to do about each limit; braces stand for the work and its precision."""
SPEED = Axis("Rate per layer", "tokens/s")


@dataclass(frozen=True)
class Work:
    """What is done with layers.

    where : the parameters of its cases
    by_graph : whether it is usually replayed from a graph
    """

    name: str
    words: str
    function: str
    where: Mapping[str, Scalar]
    by_graph: bool = False


TRAINING = Work("train", "training", "bench_train", {})
PREFILL = Work("prefill", "prefill", "bench_prefill", {})
DECODING = Work("decode-1", "decoding at batch 1", "bench_decode", {"batch": 1}, by_graph=True)
WORKS = (
    TRAINING,
    PREFILL,
    DECODING,
    Work("decode-32", "decoding at batch 32", "bench_decode", {"batch": 32}, by_graph=True),
)


@dataclass(frozen=True)
class Model:
    """Layers that some work was measured on: launched from Python, and replayed from a graph.

    case : the one of both that answers for the model
    """

    width: int
    work: Work
    eager: Case | None
    replayed: Case | None
    case: Case

    @property
    def label(self) -> str:
        """What the layers are, such as "width 4,096, bfloat16"."""
        return f"width {size(self.width)}, {peaks.precision_of(self.case)}"


def findings(cases: Cases) -> Iterator[Finding]:
    """Answer for each work on each device, an accelerator before the CPU, and for graphs."""
    for device, work in product(reversed(cases.devices()), WORKS):
        question = f"How fast is {work.words} on {cases.the(device)}?"
        yield ask(f"{work.name}-{device}", question, _speed, cases, device, work)
    if all(map(is_cpu, cases.devices())):
        question = "How fast is training on an accelerator?"
        yield ask("train-accelerator", question, _speed, cases, "", TRAINING)
    yield ask("replay", "What does replaying a recorded graph gain?", _graph, cases)


def _speed(cases: Cases, device: str, work: Work) -> Answer:
    device = device or cases.accelerator()
    known = models(cases, device, work)
    if not known:
        function = work.function + (NARROW if is_cpu(device) else "")
        raise NotMeasuredError(cases.reason(function=function, device=device, **work.where))
    first, *others = known
    parts = _parts(cases, first)
    rule = limits.limit(parts)
    clauses = [part.clause for part in parts.values() if part.clause]
    clauses += [f"{rule} limits it"] if rule else []
    if not rule and parts and limits.surely_none(parts):
        clauses.append("none limits it alone")
    clauses += [
        f"{text(_rate(cases, other.case), SPEED.unit)} at {other.label}" for other in others
    ]
    names = [first.case.fullname, *(name for part in parts.values() for name in part.cases)]
    how = f"{first.label}{', replayed from a graph' if first.case is first.replayed else ''}"
    return Answer(
        f"{VALUE} per layer in {work.words} ({how})",
        tuple(dict.fromkeys([*names, *(other.case.fullname for other in others)])),
        _rate(cases, first.case),
        SPEED.unit,
        RULES[rule].format(work.words, peaks.precision_of(first.case)) if rule else "",
        "".join(f"; {clause}" for clause in clauses),
    )


def _graph(cases: Cases) -> Answer:
    device = cases.accelerator()
    gains: dict[str, tuple[Model, pd.Series, tuple[str, str]]] = {}
    for work in reversed(WORKS):
        for model in models(cases, device, work):
            if model.eager and model.replayed and work.name not in gains:
                names = model.eager.fullname, model.replayed.fullname
                with suppress(NotMeasuredError):
                    eager, replayed = (cases.one(case=name) for name in names)
                    gains[work.name] = model, (eager / replayed).dropna(), names
    if not gains:
        raise NotMeasuredError(cases.reason(function=f"bench_decode{GRAPH}", device=device))
    fastest = sorted(gains.values(), key=lambda pair: -estimate_of(pair[1]).value)
    (lead, gain, _), *others = fastest
    more = "".join(f"; {other.work.words} {text(ratio, RATIO)}" for other, ratio, _ in others)
    rule = RULES[limits.LAUNCHING].format(lead.work.words) if is_above(gain, 1.0) else ""
    behind = tuple(name for _, _, both in gains.values() for name in both)
    words = f"{VALUE} as fast replayed, in {lead.work.words} ({lead.label})"
    return Answer(words, behind, gain, RATIO, rule, more)


def plots(cases: Cases) -> Iterator[Plot]:
    """Draw the tokens per second and layer by work."""
    speeds: dict[str, list[Point]] = {}
    for device, work in product(reversed(cases.devices()), WORKS):
        for model in models(cases, device, work):
            for case, how in ((model.eager, ""), (model.replayed, ", replayed")):
                if case is not None:
                    point = Point(work.words, estimate_of(_rate(cases, case)), (case.fullname,))
                    label = f"{cases.title(device)}, {model.label}{how}"
                    speeds.setdefault(label, []).append(point)
    title = "Tokens per second and layer"
    yield Plot("tokens", title, "dots", Axis("work"), SPEED, dots(speeds))


def models(cases: Cases, device: str, work: Work) -> list[Model]:
    """Return what a work was measured on, the widest layers first; of each width, the most."""
    kinds: dict[tuple[int, int], dict[str, Case]] = {}
    for case in cases.passed():
        kind = function_of(case.fullname).removeprefix(work.function)
        given = {"device": device, **work.where}
        if kind in {"", GRAPH, NARROW} and given.items() <= case.params.items():
            width, layers = (case.params.get(name) for name in ("width", "layers"))
            if isinstance(width, int) and isinstance(layers, int):
                kinds.setdefault((width, layers), {})[kind.removesuffix(NARROW)] = case
    found = []
    widest = {width: kinds[width, layers] for width, layers in sorted(kinds)}
    for width, known in reversed(widest.items()):
        eager, replayed = known.get(""), known.get(GRAPH)
        case = (replayed if work.by_graph else None) or eager or known[GRAPH]
        found.append(Model(width, work, eager, replayed, case))
    return found


def _rate(cases: Cases, case: Case) -> pd.Series:
    """Return tokens per second and layer: a model of as many layers sends each through all."""
    layers = float(str(case.params["layers"]))
    return layers / cases.one("item_seconds", case=case.fullname)


def _parts(cases: Cases, model: Model) -> dict[str, limits.Part]:
    return limits.parts_of(cases, model.case, model.replayed if model.case is model.eager else None)
