# SPDX-License-Identifier: MIT
"""Data parallelism: how many times as fast several devices train, which way is best, and why."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from frobench.reports.findings.answers import Answer, ask, at, largest, sizes_in_common, threshold
from frobench.reports.findings.finding import RATIO, Axis, Finding, Plot
from frobench.reports.findings.select import Cases, Curve, NotMeasuredError, lines, stack
from frobench.reports.findings.values import SIZE, VALUE, behind, is_above, is_below, size, text
from frobench.suite.stored.machine_identity import is_cpu

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

FORWARD, IN_PARTS = "bench_forward", "bench_forward_parts"
PARTS = ("replicate", "scatter", "parallel_apply", "gather")
WHOLE = "all at once"
BATCH = f"a batch of {SIZE}"


@dataclass(frozen=True)
class Setting:
    """A network, called by its size, on a group of devices, which is compared with one of them."""

    cases: Cases
    network: str
    group: str

    @property
    def count(self) -> int:
        """How many devices there are."""
        return len(self.group.split("+"))

    @property
    def first(self) -> "Setting":
        """The same network on the first of the devices."""
        return replace(self, group=self.group.partition("+")[0])

    @property
    def where(self) -> str:
        """The devices in a sentence."""
        return self.cases.the(self.group)

    @property
    def one(self) -> str:
        """The one device in a sentence."""
        if is_cpu(self.group):
            return "one half"
        return f"one {self.first.where.removeprefix('the ')}"

    def times(self, function: str, **where: str) -> Curve:
        """Return by batch the time of one step or forward pass: a call may be several."""
        where |= {"function": function, "device": self.group, "size": self.network}
        return self.cases.curve("batch", "item_seconds", **where).by_size()

    def forward(self) -> tuple[dict[str, Curve], Curve, Curve]:
        """Return the parts of a forward pass, all of them at once, and that of one device."""
        parts = {part: self.times(IN_PARTS, part=part) for part in PARTS}
        return parts, self.times(IN_PARTS, part="whole"), self.first.times(FORWARD)


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
        yield ask(f"loss-{end}", asked, _loss, setting)
        asked = f"Do its four parts add up for {network} on {where}?"
        yield ask(f"sum-{end}", asked, _total, setting)


def _gain(setting: Setting, way: str) -> Answer:
    curve = _speed_up(setting, way)
    large, small = curve.sizes[-1], curve.sizes[0]
    speed, batch = curve.at(large), size(large, BATCH)
    rate = text(large / setting.times(way).at(large), "samples/s")
    more = f"; {rate}, {text(speed / setting.count, '1')} of perfect scaling"
    if small < large:
        more += f"; {text(curve.at(small), RATIO)} with {size(small, BATCH)}"
    rule = f"Do not expect a gain from splitting batches of {size(large)}."
    if is_above(speed, 1.0):
        rule = f"Split batches of {size(large)}."
    elif is_below(speed, 1.0):
        rule = f"Do not split batches of {size(large)} or fewer."
    words = f"{VALUE} the speed of {setting.one} {WAYS[way]}, {batch}"
    return Answer(words, behind(curve.ends()), speed, RATIO, rule, more)


def _worth(setting: Setting, way: str) -> Answer:
    curve = _speed_up(setting, way)
    crossing = threshold(curve, 1.0, setting.times(way), power=1, pattern=BATCH)
    return crossing.answer(curve, f"samples in a batch that {setting.count} devices need")


def _best(setting: Setting) -> Answer:
    ways = {way: setting.times(way) for way in _ways(setting)}
    if len(ways) == 1:
        raise NotMeasuredError(f"{WAYS[next(iter(ways))]} is the only way that was measured")
    batch = sizes_in_common(ways.values(), "the ways have no batch in common")[-1]
    first, second, *_ = sorted(ways, key=lambda way: ways[way].point(batch).y.value)
    ratio = ways[second] / ways[first]
    words = f"as fast {WAYS[first]} as {WAYS[second]}, {size(batch, BATCH)}"
    rule = f"Train {WAYS[first]}." if is_above(ratio.at(batch), 1.0) else ""
    return at(ratio, batch, RATIO, words, rule)


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
            yield _stack(setting)


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


def _loss(setting: Setting) -> Answer:
    """Say what part of a forward pass is lost, against an equal share of what one device takes."""
    parts, whole, alone = setting.forward()
    curves = (alone, whole, *parts.values())
    batch = sizes_in_common(curves, "the forward passes have no batch in common")[-1]
    lost = 1 - alone.at(batch) / setting.count / whole.at(batch)
    cases = behind(*(curve.on([batch]) for curve in curves))
    return Answer(f"{VALUE} of a forward pass, with {size(batch, BATCH)}", cases, lost, "1")


def _total(setting: Setting) -> Answer:
    """Compare the four parts, each measured by itself, with all of them at once."""
    parts, whole, _ = setting.forward()
    ratio = _sum(parts) / whole
    return largest(ratio, "1", f"of the whole, each measured by itself, {BATCH}")


def _stack(setting: Setting) -> Plot:
    """Return the parts of a forward pass by batch, beside the whole."""
    parts, whole, _ = setting.forward()
    shown = {**parts, WHOLE: whole}
    bars = {
        size(batch, f"{SIZE} samples"): {part: (curve, batch) for part, curve in shown.items()}
        for batch in (_sum(parts) / whole).sizes
    }
    network = f"the {setting.network} network with nn.DataParallel on {setting.where}"
    name, axes = f"parts-{setting.group}-{setting.network}", (Axis("batch"), Axis("Time", "s"))
    return stack(name, f"A forward pass of {network}", axes, bars, PARTS, WHOLE)


def _sum(parts: dict[str, Curve]) -> Curve:
    first, *others = parts.values()
    for other in others:
        first = first + other
    return first
