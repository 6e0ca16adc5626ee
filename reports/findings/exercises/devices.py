# SPDX-License-Identifier: MIT
"""Work on several devices: products side by side, and models that are split."""

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import Any

from frobench.reports.findings.answers import answered, ask, ask_on, at, largest, threshold
from frobench.reports.findings.finding import RATIO, Axis, Finding, Plot, Point, Series
from frobench.reports.findings.plots import exact, few_first, lines, stack
from frobench.reports.findings.select import Cases, Curve, NotMeasuredError, common_sizes, measured
from frobench.reports.findings.values import SIZE, VALUE, N, behind, is_above, is_below, size
from frobench.suite.stored.machine_identity import is_cpu, ranks_of
from frobench.suite.units import format_value

SEQUENCE, STREAMS, ONE_THREAD = "bench_sequence", "bench_two_streams", "bench_one_thread"
PROCESSES, PROCESS_SEQUENCE = "bench_processes", "bench_process_sequence"
BEGUN = {
    ONE_THREAD: "begun by one thread",
    "bench_threads": "begun by a thread each",
    PROCESSES: "begun by a process each",
}
WIDTH, EFFICIENCY = Axis("size n"), Axis("Scaling efficiency", "1")
LEVEL = 0.95
SERIES = 3
"""Fewest groups of devices (two, four ... all) for a chart over the number of devices."""


def _parallel_matmul(cases: Cases) -> Iterator[Finding]:
    """Answer for each group of devices and each way to use them, accelerators first."""
    for function, groups in _growing(cases).items():
        question = f"How well do more and more devices work together, {BEGUN[function]}?"
        name = f"scaling-{function.removeprefix('bench_')}"
        yield ask(name, question, _scaling, groups)
    ways = _ways(cases)
    for group, function in ways:
        end = f"{function.removeprefix('bench_')}-{group}"
        where = f"on {cases.the(group)}, {BEGUN[function]}"
        for kind, question, compute in (
            ("efficiency", f"How well do products scale {where}?", _answer_efficiency),
            ("threshold", f"From which size is scaling nearly perfect {where}?", _nearly),
            ("overlap", f"How much of the products' time is shared {where}?", _shared),
        ):
            yield ask(f"{kind}-{end}", question, compute, cases, group, function)
    if all(is_cpu(group) for group, _ in ways):
        question = "How well do two products scale over two accelerators?"
        reason = cases.reason(function=ONE_THREAD)
        yield Finding.missing("efficiency-accelerators", question, reason)
    yield ask("streams", "What do two streams gain on a single accelerator?", _streams, cases)
    question = "How much of two streams' time is shared on a single accelerator?"
    yield ask("overlap-streams", question, _shared, cases, "", STREAMS)


def _scaling(groups: dict[str, Curve]) -> Finding:
    *_, most = groups
    return largest(groups[most], EFFICIENCY.unit, f"of {_as_many(most)} as fast as one, {N}")


def _answer_efficiency(cases: Cases, group: str, function: str) -> Finding:
    curve = _part_of_perfect(cases, group, function)
    large = curve.largest
    rule = _worth_splitting(curve, 1 / ranks_of(group))
    return at(curve, large, EFFICIENCY.unit, f"of perfect scaling at {size(large, N)}", rule)


def _worth_splitting(curve: Curve, even: float) -> str:
    """Say from which measured size several devices are faster than one, in all larger ones too.

    even : the efficiency with which several devices are as fast as one
    """
    without = [n for n in curve.sizes if not is_above(curve.at(n), even)]
    worth = [n for n in curve.sizes if not without or n > without[-1]]
    if worth:
        return f"Split products from {size(worth[0], N)} on."
    slower = is_below(curve.at(curve.largest), even)
    return f"Do not split products up to {size(curve.largest, N)}." if slower else ""


def _nearly(cases: Cases, group: str, function: str) -> Finding:
    curve = _part_of_perfect(cases, group, function)
    at_once = cases.curve("n", function=function, device=group)
    return threshold(curve, at_once, power=3, level=LEVEL).answer(curve, "n of 95% efficiency")


def _shared(cases: Cases, group: str, function: str) -> Finding:
    group = group or cases.accelerator()
    proved, *_ = cases.proof("n", function=function, device=group)
    return largest(proved, "1", f"of the time that they can share, at {N}")


def _streams(cases: Cases) -> Finding:
    device = cases.accelerator()
    curve = _item(cases, SEQUENCE, device, "seconds") / _item(cases, STREAMS, device, "seconds")
    return largest(curve, RATIO, f"as fast in two streams as in sequence, {N}")


def _product_plots(cases: Cases) -> Iterator[Plot]:
    """Draw the efficiency by number of devices, and by size for each group of them."""
    numbers = tuple(_by_number(*growing) for growing in _growing(cases).items())
    title, axis = "Scaling efficiency by number of devices", Axis("devices")
    yield Plot("scaling", title, "curve", axis, EFFICIENCY, numbers, "no loss")
    ways = _ways(cases)
    for group in dict.fromkeys(group for group, _ in ways):
        asked = [(BEGUN[way], cases, members, way) for members, way in ways if members == group]
        title = f"Scaling efficiency on {cases.the(group)}"
        axes, perfect = (WIDTH, EFFICIENCY), f"{_as_many(group)} as fast as one"
        efficiency = lines(_part_of_perfect, asked)
        yield Plot(f"efficiency-{group}", title, "curve", *axes, efficiency, perfect)


def _ways(cases: Cases) -> list[tuple[str, str]]:
    """Return each group of devices with each way to use its devices that was measured."""
    return [
        (group, function)
        for group in sorted(cases.values("device"), key=few_first)
        for function in BEGUN
        if cases.names(function=function, device=group)
    ]


def _growing(cases: Cases) -> dict[str, dict[str, Curve]]:
    """Return the ways to use devices for which at least `SERIES` groups were measured.

    Each has the efficiency of the groups of accelerators, at the largest size that all have.
    """
    growing: dict[str, dict[str, Curve]] = {}
    for function in BEGUN:
        groups = [group for group, way in _ways(cases) if way == function and not is_cpu(group)]
        curves = measured(partial(_part_of_perfect, cases, function=function), groups)
        with suppress(NotMeasuredError):
            n = max(common_sizes(curves.values(), ""))
            if len(curves) >= SERIES:
                growing[function] = {group: curve.on([n]) for group, curve in curves.items()}
    return growing


def _by_number(function: str, groups: dict[str, Curve]) -> Series:
    (n,) = {curve.smallest for curve in groups.values()}
    points = (
        Point(ranks_of(group), curve.point(n).y, curve.cases[n]) for group, curve in groups.items()
    )
    return Series(f"{BEGUN[function]}, {size(n, N)}", tuple(points))


def _part_of_perfect(cases: Cases, group: str, function: str) -> Curve:
    """Return the time of one product in sequence over that of the products side by side."""
    at_once = cases.curve("n", function=function, device=group)
    if function == PROCESSES:
        return _item(cases, PROCESS_SEQUENCE, group) / at_once
    return _item(cases, SEQUENCE, group.partition("+")[0]) / at_once


def _item(cases: Cases, function: str, device: str, what: str = "item_seconds") -> Curve:
    return cases.curve("n", what, function=function, device=device)


def _as_many(group: str) -> str:
    count = ranks_of(group)
    return "twice" if count == 2 else f"{count} times"  # noqa: PLR2004 - as people say it


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


def _split_model(cases: Cases) -> Iterator[Finding]:
    """Answer for a model in two parts, for pipelines, and for independent models."""
    yield ask("placement", "Where is a model best run?", _placement, cases)
    yield ask("boundary", "What does the boundary between CPU and GPU cost?", _boundary, cases)
    yield ask("training", "What does the boundary cost in training?", _training, cases)
    embedding = "embedding", "How much of the model is its embedding on {}?", _embedding
    devices = reversed(cases.values("device", function=FORWARD))
    yield from ask_on(cases, devices, embedding)
    yield from _pipeline_findings(cases)
    groups = cases.values("device", function=AT_ONCE)
    tasks = "tasks", "How fast are independent models at once on {}?", _tasks
    yield from ask_on(cases, groups, tasks)
    if not groups:
        question = "How fast are independent models at once on several devices?"
        yield Finding.missing("tasks", question, cases.reason(function=AT_ONCE))


def _placement(cases: Cases) -> Finding:
    times = _placements(cases)
    reason = "no two placements have a number of words in common"
    if len(times) == 1:
        raise NotMeasuredError(reason)
    most = max(common_sizes(times.values(), reason))
    best, *others = sorted(times, key=lambda name: times[name].point(most).y.value)
    tied = any(not is_above((times[name] / times[best]).at(most)) for name in others)
    return answered(
        f"{VALUE} for a forward pass of {size(most)} words {best}",
        behind(*(curve.on([most]) for curve in times.values())),
        times[best].at(most),
        TIME.unit,
        "" if tied else f"With {size(most)} words run it {best}.",
    )


def _boundary(cases: Cases) -> Finding:
    device = cases.accelerator()
    extra = _times(cases, SPLIT, device) - _times(cases, FORWARD, device)
    return largest(extra, TIME.unit, f"more for a forward pass of {SIZE} words")


def _training(cases: Cases) -> Finding:
    device = cases.accelerator()
    ratio = _times(cases, SPLIT_STEP, device) / _times(cases, STEP, device)
    return largest(ratio, RATIO, f"as long in training when split, {SIZE} words")


def _embedding(cases: Cases, device: str) -> Finding:
    curve = _times(cases, EMBEDDING, device) / _times(cases, FORWARD, device)
    most, rule = curve.largest, ""
    if is_below(curve.at(most), SMALL_SHARE):
        rule = "Leave the embedding where it is."
    elif is_above(curve.at(most), LARGE_SHARE):
        rule = "Make the embedding faster before the layers."
    return at(curve, most, "1", f"of a forward pass of {size(most)} words", rule)


def _tasks(cases: Cases, group: str) -> Finding:
    first, count = group.partition("+")[0], ranks_of(group)
    alone = cases.curve("n", "item_seconds", function=IN_SEQUENCE, device=first)
    speed = alone / cases.curve("n", "item_seconds", function=AT_ONCE, device=group)
    words = f"as fast as {count} models in turn on one of them, width {SIZE}"
    return largest(speed, RATIO, words)


def _split_plots(cases: Cases) -> Iterator[Plot]:
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
    words = max(common_sizes((curve for bar in bars.values() for curve in bar.values()), ""))
    sized = {name: {part: (bar[part], words) for part in bar} for name, bar in bars.items()}
    title = f"Where a forward pass of {size(words)} words spends its time"
    return stack("parts", title, (Axis("placement"), TIME), sized, PARTS.values(), WHOLE)


def _pipeline_findings(cases: Cases) -> Iterator[Finding]:
    """Answer for each group of devices."""
    groups = cases.values("device", function=PIPELINE)
    if not groups:
        question = "What does a pipeline on several devices gain?"
        yield Finding.missing("pipeline", question, cases.reason(function=PIPELINE))
    questions = (
        ("pipeline", "What does a pipeline on {} gain?", _gain),
        ("bubble", "How long do stages on {} not compute?", _bubble),
        ("overlap", "How much of their time do stages on {} share?", _overlap),
    )
    yield from ask_on(cases, groups, *questions)


def _gain(cases: Cases, group: str) -> Finding:
    _, _, speed = _pipeline(cases, group)
    best = speed.highest
    return at(speed, best, RATIO, f"as fast as one device, in {_pieces(best)}")


def _bubble(cases: Cases, group: str) -> Finding:
    """Compare the time in which the stages do not compute with what equal stages must wait."""
    where, times, _ = _pipeline(cases, group)
    working = cases.busy("micro", **where)
    share = working / times
    micro = share.largest
    theory = format_value(_waiting(group, micro), "1")
    words = f"{VALUE} of the time, in {_pieces(micro)}; equal stages must wait for {theory}"
    return answered(words, times.cases[micro], 1 - share.at(micro) / ranks_of(group), "1")


def _overlap(cases: Cases, group: str) -> Finding:
    """Say what the stages share of their time; a batch in one piece is the control."""
    where, _, _ = _pipeline(cases, group)
    proved, *_ = cases.proof("micro", **where)
    if ONE_PIECE not in proved.cases or len(proved.sizes) == 1:
        raise NotMeasuredError("there is no batch in one piece beside one in several")
    micro = proved.largest
    return at(proved, micro, "1", f"of the time that they can share, in {_pieces(micro)}")


def _pipeline_plots(cases: Cases) -> Iterator[Plot]:
    """Draw for each group of devices how fast it is by micro-batches, beside theory."""
    for group in cases.values("device", function=PIPELINE):
        with suppress(NotMeasuredError):
            where, _, speed = _pipeline(cases, group)
            theory = {m: ranks_of(group) * (1 - _waiting(group, m)) for m in speed.sizes}
            lines = speed.series("measured"), exact("equal stages, nothing else", theory)
            title = f"A pipeline on {cases.title(group)}, {size(float(where['n']), N)}"
            axes = Axis("micro-batches"), Axis("Speed", RATIO)
            yield Plot(f"pipeline-{group}", title, "curve", *axes, lines, "one device")


def _pipeline(cases: Cases, group: str) -> tuple[dict[str, Any], Curve, Curve]:
    """Return the largest pipeline that one device ran too: its parameters, times, and speed.

    The speed is relative to the first device, which has the batch in one piece; by micro-batches.
    """
    first = group.partition("+")[0]
    for n in sorted(cases.values("n", function=PIPELINE, device=group), reverse=True):
        with suppress(NotMeasuredError):
            where = {"function": PIPELINE, "device": group, "n": n}
            times = cases.curve("micro", **where)
            alone = cases.curve("micro", function=ONE, device=first, n=n)
            whole = alone.at(ONE_PIECE)
            return where, times, times.level(whole, *alone.cases[ONE_PIECE]) / times
    raise NotMeasuredError(cases.reason(function=ONE))


def _waiting(group: str, micro: float) -> float:
    """Return the part of the time in which equal stages must wait for each other."""
    return (ranks_of(group) - 1) / (micro + ranks_of(group) - 1)


def _pieces(micro: float) -> str:
    return "one piece" if micro == ONE_PIECE else f"{size(micro)} micro-batches"


RULES = {
    "parallel_matmul": (_parallel_matmul, _product_plots),
    "split_model": (_split_model, _split_plots),
}
