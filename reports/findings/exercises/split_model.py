# SPDX-License-Identifier: MIT
"""Split models: where one runs fastest, what its boundary costs, what several devices give."""

from collections.abc import Iterator
from contextlib import suppress

from frobench.reports.findings.answers import Answer, ask, ask_on, sizes_in_common
from frobench.reports.findings.exercises.parts import pipelines
from frobench.reports.findings.finding import RATIO, Axis, Finding, Plot, Series
from frobench.reports.findings.select import Cases, Curve, NotMeasuredError, measured
from frobench.reports.findings.values import VALUE, behind, is_above, is_below, size, smallest, text

FORWARD, SPLIT = "bench_forward", "bench_split_forward"
STEP, SPLIT_STEP = "bench_step", "bench_split_step"
EMBEDDING, BOUNDARY, LAYERS = "bench_embedding", "bench_boundary", "bench_layers"
AT_ONCE, IN_SEQUENCE = "bench_tasks_at_once", "bench_tasks_in_sequence"
SMALL_SHARE, LARGE_SHARE = 0.1, 0.5
"""Parts of a forward pass below which its embedding is not worth a change, and above which it is
the first to be changed."""
TIME = Axis("Time", "s")


def findings(cases: Cases) -> Iterator[Finding]:
    """Answer for a model in two parts, for pipelines, and for independent models."""
    yield ask("placement", "Where is a model best run?", _placement, cases)
    yield ask("boundary", "What does the boundary between CPU and GPU cost?", _boundary, cases)
    yield ask("training", "What does the boundary cost in training?", _training, cases)
    question = "How much of the model is its embedding on {}?"
    for device in reversed(cases.values("device", function=FORWARD)):
        yield from ask_on(cases, device, ("embedding", question, _embedding))
    yield from pipelines.findings(cases)
    groups = cases.values("device", function=AT_ONCE)
    for group in groups:
        question = "How fast are independent models at once on {}?"
        yield from ask_on(cases, group, ("tasks", question, _tasks))
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
    words = [f"{text(ratio, RATIO)} as long {name}" for name, ratio in slower.items()]
    if ties := [name for name, ratio in slower.items() if not is_above(ratio, 1.0)]:
        words.append(f"no measurable difference: {', '.join(ties)}")
    if fewest < most:
        few = min(times, key=lambda name: times[name].point(fewest).y.value)
        words.append(f"with {size(fewest)} words the fastest is {few}")
    return Answer(
        f"{VALUE} for a forward pass of {size(most)} words {best}; {'; '.join(words)}.",
        behind(*(curve.on([most]) for curve in times.values())),
        times[best].at(most),
        TIME.unit,
        f"for {size(most)} words, {best}",
        rule_of_thumb="" if ties else f"With {size(most)} words run it {best}.",
    )


def _boundary(cases: Cases) -> Answer:
    device = cases.accelerator()
    split, whole = _times(cases, SPLIT, device), _times(cases, FORWARD, device)
    extra, where, rest = split - whole, cases.the(device), ""
    most, fewest = extra.sizes[-1], extra.sizes[0]
    with suppress(NotMeasuredError):
        copy = _times(cases, BOUNDARY, device).at(most)
        rest = f"; the copy across takes {text(copy, TIME.unit)} by itself"
    if fewest < most:
        rest += f"; for {size(fewest)} words it is {text(extra.at(fewest), TIME.unit)}"
    sentence = (
        f"Split between the CPU and {where}, a forward pass of {size(most)} words takes "
        f"{text((split / whole).at(most), RATIO)} as long as all on {where}, a difference of "
        f"{VALUE}{rest}."
    )
    label = f"longer when split, {size(most)} words"
    return Answer(sentence, behind(extra.ends()), extra.at(most), TIME.unit, label)


def _training(cases: Cases) -> Answer:
    device = cases.accelerator()
    ratio = _times(cases, SPLIT_STEP, device) / _times(cases, STEP, device)
    most, where = ratio.sizes[-1], cases.the(device)
    sentence = (
        f"Forward and backward, {size(most)} words take {VALUE} as long split between the CPU and "
        f"{where} as all on {where}."
    )
    label = f"as long in training when split, {size(most)} words"
    return Answer(sentence, ratio.cases[most], ratio.at(most), RATIO, label)


def _embedding(cases: Cases, device: str) -> Answer:
    part, whole = _times(cases, EMBEDDING, device), _times(cases, FORWARD, device)
    curve = part / whole
    most, rule = curve.sizes[-1], ""
    share, looked_up = curve.at(most), f"Looking up {size(most)} words takes {VALUE}"
    if is_below(share, SMALL_SHARE):
        rule = "Leave the embedding where it is."
    elif is_above(share, LARGE_SHARE):
        rule = "Make the embedding faster before the layers."
    sentence = (
        f"{looked_up} of a forward pass of {text(whole.at(most), TIME.unit)} on "
        f"{cases.the(device)}."
    )
    label = f"of the forward pass is the embedding, {size(most)} words"
    brief = f"{looked_up} of a forward pass."
    return Answer(sentence, curve.cases[most], share, "1", label, rule_of_thumb=rule, brief=brief)


def _tasks(cases: Cases, group: str) -> Answer:
    first, count = group.partition("+")[0], group.count("+") + 1
    alone = cases.curve("n", "item_seconds", function=IN_SEQUENCE, device=first)
    speed = alone / cases.curve("n", "item_seconds", function=AT_ONCE, device=group)
    most, tiny = speed.sizes[-1], smallest(speed, RATIO, ", and {value} as fast at {size}")
    sentence = (
        f"{count} independent models at once on {cases.the(group)} are {VALUE} as fast "
        f"as one after the other on one of them, at layers of width {size(most)}{tiny}."
    )
    label = f"as fast as on one device, width {size(most)}"
    return Answer(sentence, behind(speed.ends()), speed.at(most), RATIO, label)


def plots(cases: Cases) -> Iterator[Plot]:
    """Draw the placements by words, where their time goes, and the pipelines."""
    with suppress(NotMeasuredError):
        shown = tuple(curve.series(name) for name, curve in _placements(cases).items())
        yield Plot("placements", "A forward pass", "curve", Axis("words"), TIME, shown)
    with suppress(NotMeasuredError):
        yield _parts(cases)
    yield from pipelines.plots(cases)


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
                    function: _times(cases, function, other or device)
                    for function, other in {whole: "", **others}.items()
                }
    words = sizes_in_common((curve for bar in bars.values() for curve in bar.values()), "")[-1]

    def series(label: str, *functions: str) -> Series:
        points = (
            bar[function].point(words, name)
            for name, bar in bars.items()
            for function in functions
            if function in bar
        )
        return Series(label, tuple(points))

    labels = {"embedding": EMBEDDING, "boundary": BOUNDARY, "layers": LAYERS}
    drawn = (series(label, function) for label, function in labels.items())
    shown = tuple(line for line in drawn if line.points)
    title = f"Where a forward pass of {size(words)} words spends its time"
    passes = series("the whole pass", FORWARD, SPLIT)
    return Plot("parts", title, "stack", Axis("placement"), TIME, shown, whole=passes)
