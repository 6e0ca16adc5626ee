# SPDX-License-Identifier: MIT
"""Layers of networks: transformers, long contexts, small weights, compiling, convolutions."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

import pandas as pd

from frobench.reports.findings import peaks
from frobench.reports.findings.answers import answered, ask, ask_on, largest, threshold
from frobench.reports.findings.exercises import limits
from frobench.reports.findings.finding import RATIO, Axis, Finding, Plot, Point, Series
from frobench.reports.findings.plots import certain, dots, lines, point
from frobench.reports.findings.select import Cases, Curve, NotMeasuredError, cases_of, measured
from frobench.reports.findings.values import SIZE, VALUE, estimate_of, is_above, is_below, size
from frobench.suite.stored.machine_identity import is_cpu
from frobench.suite.stored.types import Case, Scalar
from frobench.suite.units import format_estimate, format_point

GRAPH, NARROW = "_graph", "_narrow"
"""Behind the names of functions that replay a graph, and of those for narrow layers."""
DECODE = "bench_decode"
"""What is usually replayed from a graph."""
LIMITED = {
    limits.COMPUTE: "For {} choose by the rate of {} products.",
    limits.MEMORY: "For {} choose by memory bandwidth.",
    limits.LAUNCHING: "Replay {} from a graph.",
}
"""What to do about each limit; braces stand for the work and its precision."""
SPEED, TIME = Axis("Rate per layer", "tokens/s"), Axis("Time", "s")


@dataclass(frozen=True)
class Work:
    """What is done with layers.

    where : the parameters of its cases
    """

    name: str
    words: str
    function: str
    where: Mapping[str, Scalar]


TRAINING = Work("train", "training", "bench_train", {})
PREFILL = Work("prefill", "prefill", "bench_prefill", {})
DECODING = Work("decode-1", "decoding at batch 1", DECODE, {"batch": 1})
BATCHED = Work("decode-32", "decoding at batch 32", DECODE, {"batch": 32})
WORKS = (TRAINING, PREFILL, DECODING, BATCHED)


@dataclass(frozen=True)
class Model:
    """Layers that some work was measured on: launched from Python, and replayed from a graph.

    case : the one of both that answers for the model
    """

    eager: Case | None
    replayed: Case | None
    case: Case

    @property
    def label(self) -> str:
        """What the layers are, such as "width 4,096, bfloat16"."""
        return f"width {size(peaks.number(self.case, 'width'))}, {peaks.precision_of(self.case)}"


def _transformer(cases: Cases) -> Iterator[Finding]:
    """Answer for each work on each device, and for graphs."""
    for device, work in product(cases.devices(), WORKS):
        question = f"How fast is {work.words} on {cases.the(device)}?"
        yield ask(f"{work.name}-{device}", question, _speed, cases, device, work)
    if all(map(is_cpu, cases.devices())):
        question = "How fast is training on an accelerator?"
        yield ask("train-accelerator", question, _speed, cases, "", TRAINING)
    yield ask("replay", "What does replaying a recorded graph gain?", _replay, cases)


def _speed(cases: Cases, device: str, work: Work) -> Finding:
    device = device or cases.accelerator()
    known = models(cases, device, work)
    if not known:
        function = work.function + (NARROW if is_cpu(device) else "")
        raise NotMeasuredError(cases.reason(function=function, device=device, **work.where))
    model = known[0]
    parts = limits.parts_of(
        cases, model.case, model.replayed if model.case is model.eager else None
    )
    rule = limits.limit(parts)
    clauses = [part.clause for part in parts.values() if part.clause]
    clauses += [f"{rule} limits it"] if rule else []
    if parts and all(is_below(part.by_launch, limits.HALF) for part in parts.values()):
        clauses.append("none limits it alone")
    how = f"{model.label}{', replayed from a graph' if model.case is model.replayed else ''}"
    return answered(
        f"{VALUE} per layer in {work.words} ({how})",
        (model.case.fullname, *(name for part in parts.values() for name in part.cases)),
        _rate(cases, model.case),
        SPEED.unit,
        LIMITED[rule].format(work.words, peaks.precision_of(model.case)) if rule else "",
        "".join(f"; {clause}" for clause in clauses),
    )


def _replay(cases: Cases) -> Finding:
    """Give the largest gain of all works, each of its widest layers."""
    device = cases.accelerator()
    gains: dict[str, tuple[Model, pd.Series, tuple[str, str]]] = {}
    for work in reversed(WORKS):
        for model in models(cases, device, work):
            if model.eager and model.replayed and work.words not in gains:
                names = model.eager.fullname, model.replayed.fullname
                with suppress(NotMeasuredError):
                    eager, replayed = (cases.one(case=name) for name in names)
                    gains[work.words] = model, (eager / replayed).dropna(), names
    if not gains:
        raise NotMeasuredError(cases.reason(function=f"{DECODE}{GRAPH}", device=device))
    words = max(gains, key=lambda work: estimate_of(gains[work][1]).value)
    model, gain, names = gains[words]
    rule = LIMITED[limits.LAUNCHING].format(words) if is_above(gain) else ""
    return answered(
        f"{VALUE} as fast replayed, in {words} ({model.label})", names, gain, RATIO, rule
    )


def _tokens(cases: Cases) -> Iterator[Plot]:
    """Draw the tokens per second and layer by work."""
    speeds = dots(
        (
            f"{cases.title(device)}, {model.label}{how}",
            point(work.words, _rate(cases, case), case.fullname),
        )
        for device, work in product(cases.devices(), WORKS)
        for model in models(cases, device, work)
        for case, how in ((model.eager, ""), (model.replayed, ", replayed"))
        if case is not None
    )
    yield Plot("tokens", "Tokens per second and layer", "dots", Axis("work"), SPEED, speeds)


def models(cases: Cases, device: str, work: Work) -> list[Model]:
    """Return what a work was measured on, the widest layers first; of each width, the most."""
    kinds: dict[tuple[int, int], dict[str, Case]] = {}
    for kind in ("", NARROW, GRAPH):
        for case in cases.where(function=f"{work.function}{kind}", device=device, **work.where):
            width, layers = (case.params.get(name) for name in ("width", "layers"))
            if isinstance(width, int) and isinstance(layers, int):
                kinds.setdefault((width, layers), {})[kind.removesuffix(NARROW)] = case
    found = {}
    for (width, _), known in sorted(kinds.items(), key=lambda kind: kind[0]):
        eager, replayed = known.get(""), known.get(GRAPH)
        case = (replayed if work.function == DECODE else None) or eager or known[GRAPH]
        found[width] = Model(eager, replayed, case)
    return [*reversed(found.values())]


def _rate(cases: Cases, case: Case) -> pd.Series:
    """Return tokens per second and layer: a model of as many layers sends each through all."""
    return peaks.number(case, "layers") / cases.one("item_seconds", case=case.fullname)


def _beside_limit(cases: Cases, answer: Finding, limit: str) -> Finding:
    """Add which part of a resource the first case behind an answer needs."""
    (case,) = cases.where(case=answer.cases[0])
    if not (part := limits.parts_of(cases, case).get(limit)):
        return answer
    names = dict.fromkeys([*answer.cases, *part.cases])
    return replace(answer, cases=tuple(names), answer=f"{answer.brief[:-1]}; {part.clause}.")


ATTENTION, CACHED, PRODUCTS = "bench_prefill", DECODE, "bench_products"
TOKENS = f"{SIZE} tokens"


def _long_context(cases: Cases) -> Iterator[Finding]:
    outweighs = "From which length does attention outweigh a layer's products in"
    return ask_on(
        cases,
        cases.devices(),
        ("prefill", "How fast is attention over a long prompt on {}?", _prompt),
        ("decode", "How fast is attention to a long cache on {}?", _cache),
        ("prefill-length", f"{outweighs} prefill on {{}}?", _prompt_length),
        ("decode-length", f"{outweighs} decoding on {{}}?", _cache_length),
    )


def _prompt(cases: Cases, device: str) -> Finding:
    rate = _by_length(cases, device, ATTENTION, "flop_rate")
    answer = largest(rate, "FLOP/s", f"in the causal attention of {TOKENS}")
    return _beside_limit(cases, answer, limits.COMPUTE)


def _cache(cases: Cases, device: str) -> Finding:
    rate = _by_length(cases, device, CACHED, "byte_rate")
    return _beside_limit(cases, largest(rate, "B/s", f"from a cache of {TOKENS}"), limits.MEMORY)


def _prompt_length(cases: Cases, device: str) -> Finding:
    attention, products = (_by_length(cases, device, name) for name in (ATTENTION, PRODUCTS))
    # By token the one grows with the length, and the other does not.
    by_token = Curve(products.numbers / products.sizes, products.launches, products.cases)
    return _outweighs(attention / products, by_token, "compare devices by their attention")


def _cache_length(cases: Cases, device: str) -> Finding:
    attention, products = _by_length(cases, device, CACHED), _one_token(cases, device)
    rule = "a smaller cache gains more than smaller weights"
    return _outweighs(attention / products, products, rule)


def _outweighs(ratio: Curve, weight: Curve, rule: str) -> Finding:
    crossing = threshold(ratio, weight, pattern=TOKENS)
    answer = crossing.answer(ratio, "tokens from which attention outweighs products")
    if crossing.bracket is None:
        return answer
    return replace(answer, rule_of_thumb=f"Beyond {size(crossing.bracket[1], TOKENS)} {rule}.")


def _lengths(cases: Cases) -> Iterator[Plot]:
    """Draw the times of attention and of products by length."""
    for name, words, function, products in (
        ("prefill", "a prefill", ATTENTION, _by_length),
        ("decode", "decoding", CACHED, _one_token),
    ):
        shown: tuple[Series, ...] = ()
        for device in cases.devices():
            title = cases.title(device)
            shown += lines(_by_length, [(f"{title}: attention", cases, device, function)])
            shown += lines(products, [(f"{title}: products", cases, device, PRODUCTS)])
        title = f"A layer's attention and products in {words}"
        yield Plot(name, title, "curve", Axis("tokens"), TIME, shown)


def _by_length(cases: Cases, device: str, function: str, what: str = "device_seconds") -> Curve:
    """Return a number of the widest layers by launch and length."""
    over = "cached" if function == CACHED else "tokens"
    return cases.curve(over, what, function=function, **_widest(cases, device))


def _one_token(cases: Cases, device: str, _function: str = PRODUCTS) -> Curve:
    """Return the time of one token's products at every length of the cache."""
    where = {"function": PRODUCTS, "tokens": 1, **_widest(cases, device)}
    one = cases.one("device_seconds", **where)
    return _by_length(cases, device, CACHED).level(one, *cases.names(**where))


def _widest(cases: Cases, device: str) -> dict[str, Scalar]:
    return {"device": device, "width": max(cases.values("width", device=device), default=None)}


def _small_weights(cases: Cases) -> Iterator[Finding]:
    """Answer for each device and each type of weights."""
    for device, weights in product(cases.devices(), ("int8", "int4", "float8_e4m3fn")):
        question = f"What do {weights} weights gain in decoding on {cases.the(device)}?"
        yield ask(f"{weights}-{device}", question, _smaller, cases, device, weights)


def decoding(cases: Cases, device: str) -> dict[str, Case]:
    """Return the cases of a token through the widest layer by the type of its weights.

    All are replayed from a graph, or all are launched from Python where none is.
    """
    replayed, eager = (
        {str(case.params["weights"]): case for case in cases.where(function=function, **where)}
        for where in [_widest(cases, device)]
        for function in (f"{DECODE}{GRAPH}", DECODE)
    )
    return replayed or eager


def _smaller(cases: Cases, device: str, weights: str) -> Finding:
    known = decoding(cases, device)
    if weights not in known:
        raise NotMeasuredError(cases.reason(device=device, weights=weights))
    case = known[weights]
    plain = peaks.precision_of(case)
    if plain not in known:
        raise NotMeasuredError(cases.reason(device=device, weights=plain))
    seconds, others = (cases.one(case=one.fullname) for one in (case, known[plain]))
    gain = (others / seconds).dropna()
    how = f"width {size(peaks.number(case, 'width'))}"
    how += ", replayed from a graph" * (GRAPH in case.fullname)
    words = f"{VALUE} as fast with {weights} weights as with {plain} ({how})"
    rule = f"Decode with {weights} weights." if is_above(gain) else ""
    answer = answered(words, (case.fullname, known[plain].fullname), gain, RATIO, rule)
    return _beside_limit(cases, answer, limits.MEMORY)


def _weights(cases: Cases) -> Iterator[Plot]:
    """Draw time and error by the type of the weights."""
    known = [
        (cases.title(device), weights, case)
        for device in cases.devices()
        for weights, case in decoding(cases, device).items()
    ]
    times = dots(
        (title, point(weights, cases.one(case=case.fullname), case.fullname))
        for title, weights, case in known
    )
    errors = dots(
        (title, certain(weights, check.error, case.fullname))
        for title, weights, case in known
        if (check := case.extra_info.check)
    )
    kind, time = Axis("weights"), Axis("Time for a token and layer", "s")
    yield Plot("time", "Decoding by type of weights", "dots", kind, time, times)
    yield Plot("error", "What small weights lose", "dots", kind, Axis("Error", "1"), errors)


def _compiling(cases: Cases) -> Iterator[Finding]:
    return ask_on(
        cases,
        cases.devices() or reversed(cases.run.frobench.settings.devices),
        ("gain", "What does torch.compile gain in a training step on {}?", _compiled),
        ("pays", "From when does compiling a training step pay on {}?", _pays),
    )


def _step(cases: Cases, device: str) -> tuple[Case, pd.Series, str]:
    """Return the widest compiled step, its time beside a step as Python launches it, its layer."""
    found = [case for case in cases.where(device=device) if case.extra_info.against]
    if not found:
        raise NotMeasuredError(cases.reason(function="bench_step", device=device))
    case = max(found, key=lambda case: peaks.number(case, "width"))
    words = f"width {size(peaks.number(case, 'width'))}, {case.params['dtype']}"
    return case, cases.beside(case=case.fullname), words


def _compiled(cases: Cases, device: str) -> Finding:
    case, ratio, layer = _step(cases, device)
    rule = "Compile long trainings." if is_below(ratio) else ""
    words = f"{VALUE} as fast compiled, in training ({layer})"
    return answered(words, (case.fullname,), 1 / ratio, RATIO, rule)


def _pays(cases: Cases, device: str) -> Finding:
    case, ratio, layer = _step(cases, device)
    spent = cases.one("part_compile", case=case.fullname)
    compiling = f"compiling takes {format_estimate(estimate_of(spent), 's')}"
    if not is_below(ratio):
        return answered(f"Never, as far as this run shows: {compiling}", (case.fullname,))
    until = (spent / (1 - ratio)).dropna()
    rule = f"Compile trainings of more than {format_point(estimate_of(until), 's')}."
    words = f"{VALUE} of training until compiling pays ({layer})"
    return answered(words, (case.fullname,), until, "s", rule, f"; {compiling}")


def _steps(cases: Cases) -> Iterator[Plot]:
    """Draw the time of a step by how it is launched."""
    ways: list[tuple[str, Point]] = []
    others = cases_of(cases.run, "transformer")
    for device in cases.devices():
        case, ratio, layer = _step(cases, device)
        label, took = f"{cases.title(device)}, {layer}", cases.one(case=case.fullname)
        replayed = others.names(function=f"{TRAINING.function}{GRAPH}", **case.params)
        ways += [
            (label, point("launched from Python", took / ratio, case.fullname)),
            *((label, point("replayed", others.one(case=name), name)) for name in replayed),
            (label, point("compiled", took, case.fullname)),
        ]
    yield Plot("step", "A training step", "dots", Axis("step"), TIME, dots(ways))


PASSES = {"bench_step": "training", "bench_forward": "the forward pass"}
LAYOUTS = {"channels_last": "channels last", "contiguous": "contiguous"}


def _convolutions(cases: Cases) -> Iterator[Finding]:
    step, forward = (partial(_images, function=name) for name in PASSES)
    return ask_on(
        cases,
        cases.devices(),
        ("step", "How fast does a residual block train on {}?", step),
        ("forward", "How fast do images pass a residual block on {}?", forward),
        ("layout", "Which layout of images is faster on {}?", _layout),
    )


def _images(cases: Cases, device: str, function: str) -> Finding:
    rates = _layouts(cases, device, function)
    best = max(rates, key=lambda layout: estimate_of(rates[layout][1]).value)
    case, rate = rates[best]
    shape = f"{size(peaks.number(case, 'channels'))} channels, {case.params['dtype']}"
    words = f"{VALUE} per block in {PASSES[function]} ({LAYOUTS[best]}, {shape})"
    return _beside_limit(cases, answered(words, (case.fullname,), rate, "images/s"), limits.COMPUTE)


def _layout(cases: Cases, device: str) -> Finding:
    """Compare the layouts in the first pass that was measured with both."""
    for function, done in PASSES.items():
        with suppress(NotMeasuredError):
            rates = _layouts(cases, device, function)
            if len(rates) == len(LAYOUTS):
                (last, fast), (plain, slow) = rates.values()
                gain = (fast / slow).dropna()
                rule = "Keep images with channels last." if is_above(gain) else ""
                rule = "Keep images contiguous." if is_below(gain) else rule
                words = f"{VALUE} as fast with channels last, in {done}"
                return answered(words, (last.fullname, plain.fullname), gain, RATIO, rule)
    raise NotMeasuredError(cases.reason(function="bench_step", device=device))


def _blocks(cases: Cases) -> Iterator[Plot]:
    """Draw the images per second by work and layout."""
    rates = measured(lambda place: _layouts(cases, *place), product(cases.devices(), PASSES))
    speeds = dots(
        (f"{cases.title(device)}, {LAYOUTS[layout]}", point(PASSES[function], rate, case.fullname))
        for (device, function), layouts in rates.items()
        for layout, (case, rate) in layouts.items()
    )
    title, speed = "Images per second and residual block", Axis("Rate per block", "images/s")
    yield Plot("images", title, "dots", Axis("work"), speed, speeds)


def _layouts(cases: Cases, device: str, function: str) -> dict[str, tuple[Case, pd.Series]]:
    """Return the cases of the block with most channels by layout, and their images per second."""
    channels = max(cases.values("channels", device=device), default=None)
    where = {"function": function, "device": device, "channels": channels}
    known = {str(case.params["layout"]): case for case in cases.where(**where)}
    if not known:
        raise NotMeasuredError(cases.reason(function=function, device=device))
    return {
        layout: (known[layout], 1 / cases.one("item_seconds", case=known[layout].fullname))
        for layout in LAYOUTS
        if layout in known
    }


RULES = {
    "transformer": (_transformer, _tokens),
    "long_context": (_long_context, _lengths),
    "small_weights": (_small_weights, _weights),
    "compiled_training": (_compiling, _steps),
    "convolutions": (_convolutions, _blocks),
}
