# SPDX-License-Identifier: MIT
"""Data parallelism: how many times as fast several devices train, which way is best, and why."""

from collections.abc import Iterator
from contextlib import suppress

import pandas as pd

from reports.findings.answers import (
    VALUE,
    Answer,
    ask,
    behind,
    capital,
    estimate_of,
    is_above,
    is_below,
    size,
    text,
    threshold,
)
from reports.findings.exercises.parts.replication import BATCH, Setting, loss, stack, total
from reports.findings.finding import RATIO, Axis, Finding, Plot
from reports.findings.select import Cases, Curve, NotMeasuredError, the_device
from reports.findings.trainings import NETWORKS
from suite.stored.names import is_cpu

ONE_DEVICE, ONE_PROCESS = "bench_one_device", "bench_one_process"
BY_HAND, PROCESSES = "bench_by_hand", "bench_distributed"
WAYS = {
    BY_HAND: "by hand",
    "bench_data_parallel": "with nn.DataParallel",
    PROCESSES: "with DistributedDataParallel",
}
SAMPLES, SPEED = Axis("samples in a batch"), Axis("Speed", RATIO)
RATE = "samples/s"


def findings(cases: Cases) -> list[Finding]:
    """Answer for each network and group of devices, accelerators first."""
    found = [finding for setting in _settings(cases) for finding in _of(cases, setting)]
    groups = {setting.group for setting in _settings(cases)}
    if all(is_cpu(group) for group in groups):
        question = "How much faster do several accelerators train than one?"
        found.append(ask("speed-up-accelerators", question, no_accelerators, cases))
    return found


def no_accelerators(cases: Cases) -> Answer:
    """Say why nothing was measured on several accelerators."""
    raise NotMeasuredError(cases.reason(function=BY_HAND))


def _of(cases: Cases, setting: Setting) -> Iterator[Finding]:
    both = setting.network, setting.group
    where, place = the_device(cases.run, setting.group), "-".join(reversed(both))
    network = f"the {setting.network} network"
    for way, how in WAYS.items():
        name = f"{way.removeprefix('bench_')}-{place}"
        if way == PROCESSES or not is_cpu(setting.group):
            asked = f"What do {where} gain, {how}, for {network}?"
            yield ask(f"speed-up-{name}", asked, gain, cases, *both, way)
            asked = f"From which batch are {where} faster, {how}, for {network}?"
            yield ask(f"threshold-{name}", asked, worth, cases, *both, way)
    if not is_cpu(setting.group):
        asked = f"Which way trains {network} fastest on {where}?"
        yield ask(f"best-{place}", asked, best, cases, *both)
        asked = f"What does nn.DataParallel lose in a forward pass of {network} on {where}?"
        yield ask(f"loss-{place}", asked, loss, cases, *both)
        asked = f"Do its four parts add up for {network} on {where}?"
        yield ask(f"sum-{place}", asked, total, cases, *both)


def gain(cases: Cases, network: str, group: str, way: str) -> Answer:
    """Compare a step on several devices with one on a single device."""
    setting = Setting(network, group)
    curve = _speed_up(cases, setting, way)
    large, small = curve.sizes[-1], curve.sizes[0]
    rate = large / setting.times(cases, way).at(large)
    part = text(curve.at(large) / setting.count, "1")
    tiny = f"; {text(curve.at(small), RATIO)} with {size(small, BATCH)}"
    return Answer(
        f"{VALUE} the speed of {setting.one(cases)} on {the_device(cases.run, group)} "
        f"{WAYS[way]}, training the {network} network with {size(large, BATCH)} "
        f"({text(rate, RATE)}, {part} of perfect scaling){tiny if small < large else ''}.",
        behind(curve.ends()),
        curve.at(large),
        RATIO,
        f"as fast as {setting.one(cases)}, {WAYS[way]}",
        rule_of_thumb=_split(curve.at(large), size(large)),
        brief=f"{VALUE} the speed of {setting.one(cases)} {WAYS[way]}, {size(large, BATCH)}.",
    )


def _split(speed: pd.Series, batch: str) -> str:
    """Say whether to split batches, where the speed of several devices is conclusive."""
    if is_above(speed, 1.0):
        return f"Split batches of {batch}."
    if is_below(speed, 1.0):
        return f"Do not split batches of {batch} or fewer."
    return f"Do not expect a gain from splitting batches of {batch}."


def worth(cases: Cases, network: str, group: str, way: str) -> Answer:
    """Find the batch from which on several devices are faster than one."""
    setting = Setting(network, group)
    curve = _speed_up(cases, setting, way)
    where, by_launch, bracket = threshold(
        curve, 1.0, setting.times(cases, way), power=1, pattern=BATCH
    )
    return Answer(
        f"{capital(WAYS[way])}, they are faster than {setting.one(cases)} from {where}.",
        behind(curve),
        by_launch,
        "n",
        f"samples in a batch that {setting.count} devices are worth",
        bracket,
    )


def best(cases: Cases, network: str, group: str) -> Answer:
    """Name the fastest way at the largest batch that all were measured with, if one stands out."""
    setting = Setting(network, group)
    ways = {way: setting.times(cases, way) for way in _ways(cases, setting)}
    common = set.intersection(*(set(times.sizes) for times in ways.values()))
    if len(ways) == 1:
        raise NotMeasuredError(f"{WAYS[next(iter(ways))]} is the only way that was measured")
    if not common:
        raise NotMeasuredError("the ways have no batch in common")
    batch = max(common)
    first, second, *_ = sorted(ways, key=lambda way: ways[way].point(batch).y.value)
    ratio = ways[second] / ways[first]
    leads = estimate_of(ratio.at(batch))
    is_faster = leads.low is not None and leads.low > 1
    sentence = (
        f"{capital(WAYS[first])}: with {size(batch, BATCH)} its steps are {VALUE} as fast "
        f"as {WAYS[second]}, which comes next"
        if is_faster
        else f"No measurable difference between {WAYS[first]} and {WAYS[second]}: with "
        f"{size(batch, BATCH)} the first is {VALUE} as fast"
    )
    return Answer(
        f"{sentence}.", ratio.cases[batch], ratio.at(batch), RATIO, f"as fast {WAYS[first]}"
    )


def plots(cases: Cases) -> Iterator[Plot]:
    """Draw the gain by batch for each network and group, and the parts of the forward passes."""
    for setting in _settings(cases):
        lines = []
        for way in _ways(cases, setting):
            with suppress(NotMeasuredError):
                lines.append(_speed_up(cases, setting, way).series(WAYS[way]))
        if lines:
            where = the_device(cases.run, setting.group)
            title = f"Training the {setting.network} network on {where}"
            axes, reference = (SAMPLES, SPEED), (1.0, f"as fast as {setting.one(cases)}")
            name = f"speed-up-{setting.group}-{setting.network}"
            yield Plot(name, title, "curve", *axes, tuple(lines), *reference)
    for setting in _settings(cases):
        with suppress(NotMeasuredError):
            yield stack(cases, setting)


def _settings(cases: Cases) -> list[Setting]:
    """Return the networks and groups of devices that were measured, CPU and small ones last."""
    groups = [str(group) for way in WAYS for group in cases.values("device", function=way)]
    ordered = sorted(dict.fromkeys(groups), key=lambda group: (is_cpu(group), group.count("+")))
    return [
        Setting(network, group)
        for group in ordered
        for network in NETWORKS
        if network in cases.values("size", device=group)
    ]


def _ways(cases: Cases, setting: Setting) -> list[str]:
    """Return the ways that were measured."""
    where = {"device": setting.group, "size": setting.network}
    return [way for way in WAYS if cases.names(function=way, **where)]


def _speed_up(cases: Cases, setting: Setting, way: str) -> Curve:
    """Return by batch how many times as fast a step is as on the one device."""
    alone = (setting, ONE_PROCESS) if way == PROCESSES else (setting.first, ONE_DEVICE)
    return alone[0].times(cases, alone[1]) / setting.times(cases, way)
