# SPDX-License-Identifier: MIT
"""Trainings: what reading losses and loading data add, and what several devices gain."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import pandas as pd

from frobench.reports.findings.answers import answered, ask, at, penalty, threshold
from frobench.reports.findings.finding import RATIO, Axis, Finding, Plot
from frobench.reports.findings.plots import dots, few_first, lines, point, stack
from frobench.reports.findings.select import Cases, Curve, NotMeasuredError, common_sizes, measured
from frobench.reports.findings.values import SIZE, VALUE, behind, is_above, is_below, size
from frobench.suite.stored.machine_identity import is_cpu, ranks_of
from frobench.suite.stored.types import Scalar

READING, LOADING = "bench_reading", "bench_loading"
ONE_THREAD, THREADS = "bench_one_thread", "bench_threads"
MEMORIES = {
    "pageable": "each batch from pageable memory",
    "pinned": "each batch from pinned memory",
    "prefetched": "each batch prefetched",
    "at_once": "all data in one copy",
}
DRIVERS = {ONE_THREAD: "driven by one thread", THREADS: "driven by a thread each"}
LEVEL = 1.01
"""Reading back no longer matters when a training takes at most 1% longer."""
NO_READ_BACKS = Axis("Time, relative to no read-backs", RATIO)
ON_DEVICE = Axis("Time, relative to data on the device", RATIO)
ON_ACCELERATORS = (
    ("slow-down", "What does reading each loss back do to training on an accelerator?", READING),
    ("loading", "What does loading data do to training on an accelerator?", LOADING),
    ("others", "What does reading one device's losses cost other devices?", THREADS),
)


class _Training(NamedTuple):
    """A training of a network on a device, or on several, which is compared with a silent one."""

    cases: Cases
    function: str
    device: str
    network: str
    batch: int

    @property
    def where(self) -> dict[str, Any]:
        return {name: value for name, value in self._asdict().items() if name != "cases"}

    @property
    def words(self) -> str:
        where = self.cases.the(self.device)
        return f"the {self.network} network on {where}, in batches of {self.batch}"

    @property
    def label(self) -> str:
        title = self.cases.title(self.device)
        return f"{title}: {self.network}, batches of {self.batch}"

    def beside(self, **more: Scalar) -> pd.Series:
        """Return what it takes beside its silent twin, by launch."""
        return self.cases.beside(**self.where, **more)

    def by_every(self) -> tuple[Curve, Curve]:
        """Return, by the steps between two read-backs, a ratio of times and the time of a step.

        The ratio is that of a training to one that never reads. The silent one reads once, at its
        end: so in the difference of the two one read-back is missing, and in the silent one's time
        there is one.
        """
        ratios, steps, names = {}, {}, {}
        for every in sorted(self.cases.values("every", **self.where), key=int):
            k, chosen = float(every), {**self.where, "every": every}
            ratio, item = self.beside(every=every), self.cases.one("item_seconds", **chosen)
            part = k * self.batch * item / self.cases.one(**chosen)  # of all the training's steps
            added = (ratio - 1) / (1 - part)  # by each read-back of k steps, to a silent training
            ratios[k], steps[k] = 1 + added / (1 - added * part), item * self.batch
            names[k] = self.cases.names(**chosen)
        if not names:
            raise NotMeasuredError(self.cases.reason(**self.where))
        return Curve.of(pd.DataFrame(ratios), names), Curve.of(pd.DataFrame(steps), names)

    def from_each(self) -> tuple[Curve, Curve]:
        """Return what `by_every` does, if each loss was read in one of the trainings."""
        slower, step = self.by_every()
        if 1 not in slower.cases:
            raise NotMeasuredError(self.cases.reason(every="1", **self.where))
        return slower, step

    def by_memory(self) -> dict[str, pd.Series]:
        """Return what each way to load data takes beside data that are on the device."""
        return measured(lambda memory: self.beside(memory=memory), MEMORIES)


def _trained(cases: Cases, function: str) -> list[_Training]:
    """Return the trainings that a function was measured with, accelerators first."""
    trainings = [
        _Training(cases, function, str(device), str(network), int(batch))
        for device in cases.values("device", function=function)
        for network in cases.values("network", function=function, device=device)
        for batch in cases.values("batch", function=function, device=device, network=network)
    ]
    return sorted(trainings, key=lambda it: (few_first(it.device), it.batch))


def _loss_reporting(cases: Cases) -> Iterator[Finding]:
    """Answer for each device and network, accelerators first."""
    for function, questions in QUESTIONS.items():
        for training in _trained(cases, function):
            for name, question, compute in questions:
                name_of_it = f"{name}-{training.network}-{training.batch}-{training.device}"
                yield ask(name_of_it, f"{question} {training.words}?", compute, training)
    for name, question, function in ON_ACCELERATORS:
        if all(is_cpu(training.device) for training in _trained(cases, function)):
            yield ask(name, question, cases.no_accelerator, function)


def _slow_down(training: _Training) -> Finding:
    slower, _ = training.from_each()
    rules = "Read losses back together, every few steps.", "Read the loss at every step."
    words = f"{VALUE} as long as reading none, for the {training.network} network"
    return penalty(slower, 1, words, rules, LEVEL)


def _every(training: _Training) -> Finding:
    slower, step = training.from_each()
    faster = Curve.of(1 / slower.table, slower.cases)
    crossing = threshold(faster, step.by_size(), level=1 / LEVEL, pattern=f"once in {SIZE}")
    return crossing.answer(slower, "steps between two read-backs")


def _loading(training: _Training) -> Finding:
    ways = training.by_memory()
    if not ways:
        raise NotMeasuredError("no way to load data was measured beside data on the device")
    first, names = next(iter(ways)), training.cases.names(**training.where)
    words = f"{VALUE} as long with {MEMORIES[first]} as with the data on the device already"
    return answered(words, names, ways[first], RATIO)


def _others(training: _Training) -> Finding:
    names = training.cases.names(**training.where)
    words = f"{VALUE} as long for the others as if no loss is read, {DRIVERS[training.function]}"
    read, silent = (
        training.cases.one("part_span", reading=reading, **training.where)
        for reading in ("first", "nobody")
    )
    return answered(words, names, read / silent, RATIO)


_OTHERS = "What does reading one device's losses cost the others,"
QUESTIONS = {
    READING: [
        ("slow-down", "What does reading each loss back do to training", _slow_down),
        ("every", "How rarely must losses be read back to cost less than 1% of training", _every),
    ],
    LOADING: [("loading", "What does loading data do to training", _loading)],
    ONE_THREAD: [("others-one_thread", f"{_OTHERS} {DRIVERS[ONE_THREAD]}:", _others)],
    THREADS: [("others-threads", f"{_OTHERS} {DRIVERS[THREADS]}:", _others)],
}
"""What is asked of the trainings that each function measures; their names end the questions."""


def _loss_plots(cases: Cases) -> Iterator[Plot]:
    """Draw the time by how rarely losses are read, and by way to load data."""
    title, reference = "Training by how rarely losses are read back", ("1% longer", LEVEL)
    asked = ((training.label, training) for training in _trained(cases, READING))
    curves = lines(lambda training: training.by_every()[0], asked)
    x = Axis("steps between two read-backs")
    yield Plot("every", title, "curve", x, NO_READ_BACKS, curves, *reference)
    ways = (
        (training.label, point(MEMORIES[way], ratio, *cases.names(memory=way, **training.where)))
        for training in _trained(cases, LOADING)
        for way, ratio in training.by_memory().items()
    )
    yield Plot("loading", "Ways to load data", "dots", Axis("way"), ON_DEVICE, dots(ways))


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


def _data_parallel(cases: Cases) -> Iterator[Finding]:
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


def _gain(setting: Setting, way: str) -> Finding:
    curve = _speed_up(setting, way)
    large = curve.largest
    speed = curve.at(large)
    rule = f"Do not expect a gain from splitting batches of {size(large)}."
    if is_above(speed):
        rule = f"Split batches of {size(large)}."
    elif is_below(speed):
        rule = f"Do not split batches of {size(large)} or fewer."
    words = f"the speed of {setting.one} {WAYS[way]}, {size(large, BATCH)}"
    return at(curve, large, RATIO, words, rule)


def _worth(setting: Setting, way: str) -> Finding:
    curve = _speed_up(setting, way)
    crossing = threshold(curve, setting.times(way), pattern=BATCH)
    return crossing.answer(curve, f"samples in a batch that {ranks_of(setting.group)} devices need")


def _best(setting: Setting) -> Finding:
    ways = {way: setting.times(way) for way in _ways(setting)}
    if len(ways) == 1:
        raise NotMeasuredError(f"{WAYS[next(iter(ways))]} is the only way that was measured")
    batch = max(common_sizes(ways.values(), "the ways have no batch in common"))
    first, second, *_ = sorted(ways, key=lambda way: ways[way].point(batch).y.value)
    ratio = ways[second] / ways[first]
    words = f"as fast {WAYS[first]} as {WAYS[second]}, {size(batch, BATCH)}"
    rule = f"Train {WAYS[first]}." if is_above(ratio.at(batch)) else ""
    return at(ratio, batch, RATIO, words, rule)


def _parallel_plots(cases: Cases) -> Iterator[Plot]:
    """Draw the gain by batch for each network and group, and the parts of the forward passes."""
    settings = _settings(cases)
    for setting in settings:
        title = f"Training the {setting.network} network on {setting.where}"
        gains = lines(_speed_up, ((WAYS[way], setting, way) for way in _ways(setting)))
        name = f"speed-up-{setting.group}-{setting.network}"
        as_fast = f"as fast as {setting.one}"
        yield Plot(name, title, "curve", SAMPLES, SPEED, gains, as_fast)
    for setting in settings:
        with suppress(NotMeasuredError):
            yield _stack(setting)


def _settings(cases: Cases) -> list[Setting]:
    """Return the networks and groups of devices that were measured, CPU and small ones last."""
    groups = [str(group) for way in WAYS for group in cases.values("device", function=way)]
    ordered = sorted(dict.fromkeys(groups), key=few_first)
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


def _loss(setting: Setting) -> Finding:
    """Say what part of a forward pass is lost, against an equal share of what one device takes."""
    parts, whole, alone = setting.forward()
    curves = (alone, whole, *parts.values())
    batch = max(common_sizes(curves, "the forward passes have no batch in common"))
    lost = 1 - alone.at(batch) / ranks_of(setting.group) / whole.at(batch)
    cases = behind(*(curve.on([batch]) for curve in curves))
    return answered(f"{VALUE} of a forward pass, with {size(batch, BATCH)}", cases, lost, "1")


def _stack(setting: Setting) -> Plot:
    """Return the parts of a forward pass by batch, beside the whole."""
    parts, whole, _ = setting.forward()
    shown = {**parts, WHOLE: whole}
    bars = {
        size(batch, f"{SIZE} samples"): {part: (curve, batch) for part, curve in shown.items()}
        for batch in common_sizes(shown.values(), "")
    }
    network = f"the {setting.network} network with nn.DataParallel on {setting.where}"
    name, axes = f"parts-{setting.group}-{setting.network}", (Axis("batch"), Axis("Time", "s"))
    return stack(name, f"A forward pass of {network}", axes, bars, PARTS, WHOLE)


RULES = {
    "loss_reporting": (_loss_reporting, _loss_plots),
    "data_parallel": (_data_parallel, _parallel_plots),
}
