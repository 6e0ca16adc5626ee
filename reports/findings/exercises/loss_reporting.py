# SPDX-License-Identifier: MIT
"""Loss reporting: what reading losses back and loading data add to a training that is silent.

The ratios are those of pairs of samples that each launch took right beside each other, so they
are sharper than the times themselves.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pandas as pd

from frobench.reports.findings.answers import (
    Answer,
    ask,
    cost,
    is_little,
    no_accelerator,
    threshold,
)
from frobench.reports.findings.finding import RATIO, Axis, Finding, Plot
from frobench.reports.findings.select import Cases, Curve, NotMeasuredError, dots, lines, measured
from frobench.reports.findings.values import SIZE, VALUE, is_above, point, text
from frobench.suite.stored.machine_identity import is_cpu
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
    return sorted(trainings, key=lambda it: (is_cpu(it.device), it.device.count("+"), it.batch))


def findings(cases: Cases) -> Iterator[Finding]:
    """Answer for each device and network, accelerators first."""
    for function, questions in QUESTIONS.items():
        for training in _trained(cases, function):
            for name, question, compute in questions:
                name_of_it = f"{name}-{training.network}-{training.batch}-{training.device}"
                yield ask(name_of_it, f"{question} {training.words}?", compute, training)
    for name, question, function in ON_ACCELERATORS:
        if all(is_cpu(training.device) for training in _trained(cases, function)):
            yield ask(name, question, no_accelerator, cases, function)


def _slow_down(training: _Training) -> Answer:
    slower, step = training.from_each()
    ratio, rule = slower.at(1), ""
    if is_above(ratio, LEVEL):
        rule = "Read losses back together, every few steps."
    elif is_little(ratio):
        rule = "Read the loss at every step."
    added = text(step.at(1) * (1 - 1 / ratio), "s")
    more = f"; {added} a step of {text(step.at(1), 's')}, in batches of {training.batch}"
    words = cost(ratio, f"{VALUE} as long as reading none, for the {training.network} network")
    return Answer(words, slower.cases[1], ratio, RATIO, rule, more)


def _every(training: _Training) -> Answer:
    slower, step = training.from_each()
    faster = Curve.of(1 / slower.table, slower.cases)
    crossing = threshold(faster, 1 / LEVEL, step.by_size(), power=1, pattern=f"once in {SIZE}")
    return crossing.answer(slower, "steps between two read-backs")


def _loading(training: _Training) -> Answer:
    ways = training.by_memory()
    if not ways:
        raise NotMeasuredError("no way to load data was measured beside data on the device")
    first, names = next(iter(ways)), training.cases.names(**training.where)
    words = f"{VALUE} as long with {MEMORIES[first]} as with the data on the device already"
    return Answer(words, names, ways[first], RATIO)


def _others(training: _Training) -> Answer:
    names = training.cases.names(**training.where)
    words = f"{VALUE} as long for the others as if no loss is read, {DRIVERS[training.function]}"
    return Answer(words, names, _of_others(training), RATIO)


def _of_others(training: _Training) -> pd.Series:
    read, silent = (
        training.cases.one("part_span", reading=reading, **training.where)
        for reading in ("first", "nobody")
    )
    return read / silent


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


def plots(cases: Cases) -> Iterator[Plot]:
    """Draw the time by how rarely losses are read, and by way to load data."""
    title, reference = "Training by how rarely losses are read back", (LEVEL, "1% longer")
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
