# SPDX-License-Identifier: MIT
"""Data parallelism: how many times as fast several devices train, which way is best, and why."""

from collections.abc import Iterator
from contextlib import suppress

from frobench.reports.findings.answers import Answer, ask, sizes_in_common, threshold
from frobench.reports.findings.exercises.parts.replication import BATCH, Setting, loss, stack, total
from frobench.reports.findings.finding import RATIO, Axis, Finding, Plot
from frobench.reports.findings.select import Cases, Curve, NotMeasuredError, lines
from frobench.reports.findings.values import VALUE, behind, capital, is_above, is_below, size, text
from frobench.suite.stored.differences import is_cpu

NETWORKS = ("large", "medium", "small")
"""From the one whose steps outlast their launches to the one whose steps do not."""
ONE_DEVICE, ONE_PROCESS = "bench_one_device", "bench_one_process"
BY_HAND, PROCESSES = "bench_by_hand", "bench_distributed"
WAYS = {
    BY_HAND: "by hand",
    "bench_data_parallel": "with nn.DataParallel",
    PROCESSES: "with DistributedDataParallel",
}
SAMPLES, SPEED = Axis("samples in a batch"), Axis("Speed", RATIO)


def findings(cases: Cases) -> Iterator[Finding]:
    """Answer for each network and group of devices, accelerators first."""
    settings = _settings(cases)
    for setting in settings:
        yield from _of(setting)
    if all(is_cpu(setting.group) for setting in settings):
        question = "How much faster do several accelerators train than one?"
        yield Finding.missing("speed-up-accelerators", question, cases.reason(function=BY_HAND))


def _of(setting: Setting) -> Iterator[Finding]:
    where, end = setting.where, f"{setting.group}-{setting.network}"
    network, of_cpu = f"the {setting.network} network", is_cpu(setting.group)
    for way, how in WAYS.items():
        name = f"{way.removeprefix('bench_')}-{end}"
        if way == PROCESSES or not of_cpu:
            asked = f"What do {where} gain, {how}, for {network}?"
            yield ask(f"speed-up-{name}", asked, _gain, setting, way)
            asked = f"From which batch are {where} faster, {how}, for {network}?"
            yield ask(f"threshold-{name}", asked, _worth, setting, way)
    if not of_cpu:
        asked = f"Which way trains {network} fastest on {where}?"
        yield ask(f"best-{end}", asked, _best, setting)
        asked = f"What does nn.DataParallel lose in a forward pass of {network} on {where}?"
        yield ask(f"loss-{end}", asked, loss, setting)
        asked = f"Do its four parts add up for {network} on {where}?"
        yield ask(f"sum-{end}", asked, total, setting)


def _gain(setting: Setting, way: str) -> Answer:
    curve = _speed_up(setting, way)
    large, small = curve.sizes[-1], curve.sizes[0]
    speed, batch = curve.at(large), size(large, BATCH)
    rate = text(large / setting.times(way).at(large), "samples/s")
    part = text(speed / setting.count, "1")
    tiny = f"; {text(curve.at(small), RATIO)} with {size(small, BATCH)}"
    rule = f"Do not expect a gain from splitting batches of {size(large)}."
    if is_above(speed, 1.0):
        rule = f"Split batches of {size(large)}."
    elif is_below(speed, 1.0):
        rule = f"Do not split batches of {size(large)} or fewer."
    return Answer(
        f"{VALUE} the speed of {setting.one} on {setting.where} {WAYS[way]}, training the "
        f"{setting.network} network with {batch} ({rate}, {part} of perfect scaling)"
        f"{tiny if small < large else ''}.",
        behind(curve.ends()),
        speed,
        RATIO,
        f"as fast as {setting.one}, {WAYS[way]}",
        rule_of_thumb=rule,
        brief=f"{VALUE} the speed of {setting.one} {WAYS[way]}, {batch}.",
    )


def _worth(setting: Setting, way: str) -> Answer:
    curve = _speed_up(setting, way)
    crossing = threshold(curve, 1.0, setting.times(way), power=1, pattern=BATCH)
    faster = f"{capital(WAYS[way])}, they are faster than {setting.one} from {crossing.words}."
    label = f"samples in a batch that {setting.count} devices are worth"
    return crossing.answer(faster, curve, label)


def _best(setting: Setting) -> Answer:
    ways = {way: setting.times(way) for way in _ways(setting)}
    if len(ways) == 1:
        raise NotMeasuredError(f"{WAYS[next(iter(ways))]} is the only way that was measured")
    batch = sizes_in_common(ways.values(), "the ways have no batch in common")[-1]
    first, second, *_ = sorted(ways, key=lambda way: ways[way].point(batch).y.value)
    ratio, at = ways[second] / ways[first], size(batch, BATCH)
    sentence = (
        f"No measurable difference between {WAYS[first]} and {WAYS[second]}: with {at} the first "
        f"is {VALUE} as fast."
    )
    if is_above(ratio.at(batch), 1.0):
        steps = f"{capital(WAYS[first])}: with {at} its steps are {VALUE} as fast"
        sentence = f"{steps} as {WAYS[second]}, which comes next."
    return Answer(sentence, ratio.cases[batch], ratio.at(batch), RATIO, f"as fast {WAYS[first]}")


def plots(cases: Cases) -> Iterator[Plot]:
    """Draw the gain by batch for each network and group, and the parts of the forward passes."""
    settings = _settings(cases)
    for setting in settings:
        title = f"Training the {setting.network} network on {setting.where}"
        gains = lines(_speed_up, ((WAYS[way], setting, way) for way in _ways(setting)))
        name = f"speed-up-{setting.group}-{setting.network}"
        axes, reference = (SAMPLES, SPEED), (1.0, f"as fast as {setting.one}")
        yield Plot(name, title, "curve", *axes, gains, *reference)
    for setting in settings:
        with suppress(NotMeasuredError):
            yield stack(setting)


def _settings(cases: Cases) -> list[Setting]:
    """Return the networks and groups of devices that were measured, CPU and small ones last."""
    groups = [str(group) for way in WAYS for group in cases.values("device", function=way)]
    ordered = sorted(dict.fromkeys(groups), key=lambda group: (is_cpu(group), group.count("+")))
    return [
        Setting(cases, network, group)
        for group in ordered
        for network in NETWORKS
        if network in cases.values("size", device=group)
    ]


def _ways(setting: Setting) -> list[str]:
    where = {"device": setting.group, "size": setting.network}
    return [way for way in WAYS if setting.cases.names(function=way, **where)]


def _speed_up(setting: Setting, way: str) -> Curve:
    """Return by batch how many times as fast a step is as on the one device."""
    if way == PROCESSES:
        return setting.times(ONE_PROCESS) / setting.times(way)
    return setting.first.times(ONE_DEVICE) / setting.times(way)
