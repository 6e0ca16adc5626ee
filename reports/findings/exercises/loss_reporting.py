# SPDX-License-Identifier: MIT
"""Loss reporting: what reading losses back and loading data add to a training that is silent.

The ratios are those of pairs of samples that each launch took right beside each other, so they
are sharper than the times themselves.
"""

from collections.abc import Iterator
from contextlib import suppress

import pandas as pd

from reports.findings.answers import (
    SIZE,
    VALUE,
    Answer,
    ask,
    behind,
    estimate_of,
    is_above,
    is_below,
    saves_at_most,
    text,
    threshold,
)
from reports.findings.finding import RATIO, Axis, Finding, Plot, Point, Series
from reports.findings.select import Cases, Curve, NotMeasuredError
from reports.findings.trainings import (
    READING,
    beside,
    by_every,
    label,
    trained,
    training,
    where,
)
from suite.stored.names import is_cpu
from suite.stored.run import Estimate

LOADING = "bench_loading"
MEMORIES = {
    "pageable": "each batch from pageable memory",
    "pinned": "each batch from pinned memory",
    "prefetched": "each batch prefetched",
    "at_once": "all data in one copy",
}
DRIVERS = {"bench_one_thread": "driven by one thread", "bench_threads": "driven by a thread each"}
LITTLE = 1.05
"""A ratio of times below which reading back is not worth avoiding."""
LEVEL = 1.01
"""Reading back no longer matters when a training takes at most 1% longer."""
NO_READ_BACKS = Axis("Time, relative to no read-backs", RATIO)
ON_DEVICE = Axis("Time, relative to data on the device", RATIO)
ON_ACCELERATORS = (
    ("slow-down", "What does reading each loss back do to training on an accelerator?", READING),
    ("loading", "What does loading data do to training on an accelerator?", LOADING),
    ("others", "What does reading one device's losses cost other devices?", "bench_threads"),
)


def findings(cases: Cases) -> list[Finding]:
    """Answer for each device and network, accelerators first."""
    found = []
    for device, network, batch in trained(cases, READING):
        name, what = f"{network}-{batch}-{device}", training(cases, device, network, batch)
        question = f"What does reading each loss back do to training {what}?"
        found.append(ask(f"slow-down-{name}", question, slow_down, cases, device, network, batch))
        question = f"How rarely must losses be read back to cost less than 1% of training {what}?"
        found.append(ask(f"every-{name}", question, every, cases, device, network, batch))
    for device, network, batch in trained(cases, LOADING):
        question = (
            f"What does loading data do to training {training(cases, device, network, batch)}?"
        )
        name = f"loading-{network}-{batch}-{device}"
        found.append(ask(name, question, loading, cases, device, network, batch))
    for function, driver in DRIVERS.items():
        for group, network, batch in trained(cases, function):
            what = training(cases, group, network, batch)
            question = f"What does reading one device's losses cost the others, {driver}: {what}?"
            name = f"others-{function.removeprefix('bench_')}-{network}-{batch}-{group}"
            found.append(ask(name, question, others, cases, function, group, network, batch))
    for name, question, function in ON_ACCELERATORS:
        if all(is_cpu(device) for device, *_ in trained(cases, function)):
            found.append(ask(name, question, absent, cases, function))
    return found


def absent(cases: Cases, function: str) -> Answer:
    """Say why nothing was measured on an accelerator."""
    cases.accelerator()
    raise NotMeasuredError(cases.reason(function=function))


def slow_down(cases: Cases, device: str, network: str, batch: str) -> Answer:
    """Compare reading the loss of each step back with reading none."""
    slower, step = _from_each(cases, device, network, batch)
    more = step.at(1) * (1 - 1 / slower.at(1))
    ratio, rule = slower.at(1), ""
    what = f"training {training(cases, device, network, batch)}"
    longer = (
        f"{VALUE} as long as reading none ({text(more, 's')} a step of {text(step.at(1), 's')})"
    )
    sentence = f"Reading each loss back by .item() takes {longer}, {what}."
    brief = f"{VALUE} as long as reading none, for the {network} network."
    if is_above(ratio, 1.0):
        rule = "Read losses back together, every few steps." if is_above(ratio, LEVEL) else ""
    elif not is_below(ratio, 1.0) and estimate_of(ratio).low is not None:
        sentence = f"Reading each loss back by .item() costs nothing measurable: {longer}, {what}."
        brief = f"Nothing measurable: {VALUE}, for the {network} network."
        rule = "Read the loss at every step."
        if not is_below(ratio, LITTLE):
            rule = f"Reading losses less often {saves_at_most(ratio)}."
    return Answer(
        sentence,
        slower.cases[1],
        ratio,
        RATIO,
        "as long with each loss read back",
        rule_of_thumb=rule,
        brief=brief,
    )


def every(cases: Cases, device: str, network: str, batch: str) -> Answer:
    """Find the number of steps between read-backs from which they cost less than 1%."""
    slower, step = _from_each(cases, device, network, batch)
    each, most = slower.at(1), slower.sizes[-1]
    if (each <= LEVEL).all() or _is_below(estimate_of(each)):
        sentence = (
            f"Reading each loss back already costs less: it takes {text(each, RATIO)} as long."
        )
        return Answer(sentence, behind(slower))
    rarest = estimate_of(slower.at(most))
    still = (
        f"with one read-back in {most:.0f} steps it takes {text(slower.at(most), RATIO)} as long"
    )
    if not _is_below(rarest) and rarest.low is not None and rarest.low < LEVEL:
        return Answer(f"Launches differ too much to tell: {still}.", behind(slower))
    if (slower.at(most) > LEVEL).all():
        return Answer(f"More rarely than was measured: {still}.", behind(slower))
    if each.median() <= LEVEL:
        sentence = (
            f"In most launches reading each loss back costs less: {text(each, RATIO)} as long."
        )
        return Answer(sentence, behind(slower))
    faster = Curve.of(1 / slower.table, slower.cases)
    between = Curve.of(step.table.mul(step.sizes, axis="columns"), step.cases)
    rarely, by_launch, bracket = threshold(faster, 1 / LEVEL, between, power=1, pattern=SIZE)
    return Answer(
        f"Reading losses back together costs 1% if done once every so many steps, {rarely}; "
        "less often it costs less.",
        behind(slower),
        by_launch,
        "n",
        "steps between two read-backs",
        bracket,
    )


def loading(cases: Cases, device: str, network: str, batch: str) -> Answer:
    """Compare the ways to load data with data that are on the device."""
    ways = _ways(cases, device, network, batch)
    first, *rest = ways
    spelled = [f"{text(ways[way], RATIO)} with {MEMORIES[way]}" for way in rest]
    return Answer(
        f"Training {training(cases, device, network, batch)}, takes {VALUE} as long with "
        f"{', '.join([MEMORIES[first], *spelled])}, as with the data on the device already.",
        cases.names(**where(LOADING, device, network, batch)),
        ways[first],
        RATIO,
        f"as long with {MEMORIES[first]}",
    )


def others(cases: Cases, function: str, group: str, network: str, batch: str) -> Answer:
    """Compare what other devices take when one's losses are read with when nobody's are."""
    read, silent = (
        cases.one("part_span", reading=reading, **where(function, group, network, batch))
        for reading in ("first", "nobody")
    )
    other = "the other takes" if group.count("+") == 1 else "the others take"
    return Answer(
        f"When devices train {training(cases, group, network, batch)}, {DRIVERS[function]}, "
        f"{other} {VALUE} as long if each loss of the first is read back as if none is.",
        cases.names(**where(function, group, network, batch)),
        read / silent,
        RATIO,
        f"as long for the others, {DRIVERS[function]}",
    )


def plots(cases: Cases) -> Iterator[Plot]:
    """Draw the time by how rarely losses are read, by way to load, and what others pay."""
    lines = tuple(
        by_every(cases, *what)[0].series(label(cases, *what)) for what in trained(cases, READING)
    )
    if lines:
        title, reference = "Training by how rarely losses are read back", (LEVEL, "1% longer")
        x = Axis("steps between two read-backs")
        yield Plot("every", title, "curve", x, NO_READ_BACKS, lines, *reference)
    dots = tuple(
        Series(label(cases, *what), _loading_points(cases, *what))
        for what in trained(cases, LOADING)
    )
    if dots:
        yield Plot("loading", "Ways to load data", "dots", Axis("way"), ON_DEVICE, dots)
    drivers = tuple(
        Series(driver, points)
        for function, driver in DRIVERS.items()
        if (points := _others_points(cases, function))
    )
    if drivers:
        title = "What reading one device's losses costs the others"
        y = Axis("time of the others", RATIO)
        yield Plot("others", title, "dots", Axis("devices"), y, drivers, 1.0, "none read back")


def _from_each(cases: Cases, device: str, network: str, batch: str) -> tuple[Curve, Curve]:
    """Return what `by_every` does, if each loss was read in one of the trainings."""
    slower, step = by_every(cases, device, network, batch)
    if 1 not in slower.cases:
        raise NotMeasuredError(cases.reason(every="1", **where(READING, device, network, batch)))
    return slower, step


def _ways(cases: Cases, device: str, network: str, batch: str) -> dict[str, pd.Series]:
    """Return what each way to load data takes beside data that are on the device."""
    ways = {}
    for memory in MEMORIES:
        with suppress(NotMeasuredError):
            here = where(LOADING, device, network, batch)
            ways[memory] = beside(cases, memory=memory, **here)
    return ways


def _loading_points(cases: Cases, device: str, network: str, batch: str) -> tuple[Point, ...]:
    here = where(LOADING, device, network, batch)
    return tuple(
        Point(MEMORIES[way], estimate_of(ratios), cases.names(memory=way, **here))
        for way, ratios in _ways(cases, device, network, batch).items()
    )


def _others_points(cases: Cases, function: str) -> tuple[Point, ...]:
    points = []
    for what in trained(cases, function):
        with suppress(NotMeasuredError):
            answer = others(cases, function, *what)
            if answer.by_launch is not None:
                value = estimate_of(answer.by_launch)
                points.append(Point(label(cases, *what), value, answer.cases))
    return tuple(points)


def _is_below(estimate: Estimate) -> bool:
    return estimate.high is not None and estimate.high < LEVEL
