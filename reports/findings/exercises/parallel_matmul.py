# SPDX-License-Identifier: MIT
"""Parallel products: how near several devices at once are to as many times as fast as one."""

from collections.abc import Iterator
from contextlib import suppress
from functools import partial

from frobench.reports.findings.answers import Answer, ask, largest, sizes_in_common, threshold
from frobench.reports.findings.finding import RATIO, Axis, Finding, Plot, Point, Series
from frobench.reports.findings.select import (
    PROOF,
    Cases,
    Curve,
    NotMeasuredError,
    lanes,
    lines,
    measured,
)
from frobench.reports.findings.values import VALUE, N, behind, is_above, is_below, size, smallest
from frobench.suite.stored.machine_identity import is_cpu

SEQUENCE, STREAMS, ONE_THREAD = "bench_sequence", "bench_two_streams", "bench_one_thread"
PROCESSES, PROCESS_SEQUENCE = "bench_processes", "bench_process_sequence"
WAYS = {
    ONE_THREAD: "begun by one thread",
    "bench_threads": "begun by a thread each",
    PROCESSES: "begun by a process each",
}
SIZE, EFFICIENCY = Axis("size n"), Axis("Scaling efficiency", "1")
LEVEL = 0.95
SERIES = 3
"""Groups of devices, of two, four ... and all, from which on their number is an axis."""


def findings(cases: Cases) -> Iterator[Finding]:
    """Answer for each group of devices and each way to use them, accelerators first."""
    for function, groups in _growing(cases).items():
        question = f"How well do more and more devices work together, {WAYS[function]}?"
        name = f"scaling-{function.removeprefix('bench_')}"
        yield ask(name, question, _scaling, groups)
    ways = _ways(cases)
    for group, function in ways:
        end = f"{function.removeprefix('bench_')}-{group}"
        where = f"on {cases.the(group)}, {WAYS[function]}"
        for kind, question, compute in (
            ("efficiency", f"How well do products scale {where}?", _answer_efficiency),
            ("threshold", f"From which size is scaling nearly perfect {where}?", _nearly),
            ("overlap", f"How much of the products' time is shared {where}?", _overlap),
        ):
            yield ask(f"{kind}-{end}", question, compute, cases, group, function)
    if all(is_cpu(group) for group, _ in ways):
        question = "How well do two products scale over two accelerators?"
        reason = cases.reason(function=ONE_THREAD)
        yield Finding.missing("efficiency-accelerators", question, reason)
    yield ask("streams", "What do two streams gain on a single accelerator?", _streams, cases)
    question = "How much of two streams' time is shared on a single accelerator?"
    yield ask("overlap-streams", question, _overlap, cases, "", STREAMS)


def _scaling(groups: dict[str, Curve]) -> Answer:
    *_, most = groups
    return largest(groups[most], EFFICIENCY.unit, f"of {_times(most)} as fast as one, {N}")


def _answer_efficiency(cases: Cases, group: str, function: str) -> Answer:
    curve = _efficiency(cases, group, function)
    large = curve.sizes[-1]
    return Answer(
        f"{VALUE} of perfect scaling at {size(large, N)}",
        behind(curve.ends()),
        curve.at(large),
        EFFICIENCY.unit,
        _worth_splitting(curve, 1 / (group.count("+") + 1)),
        smallest(curve, EFFICIENCY.unit, "; {value} at {size}"),
    )


def _worth_splitting(curve: Curve, even: float) -> str:
    """Say from which measured size several devices are faster than one, in all larger ones too.

    even : the efficiency with which several devices are as fast as one
    """
    without = [n for n in curve.sizes if not is_above(curve.at(n), even)]
    worth = [n for n in curve.sizes if not without or n > without[-1]]
    if worth:
        return f"Split products from {size(worth[0], N)} on."
    slower = is_below(curve.at(curve.sizes[-1]), even)
    return f"Do not split products up to {size(curve.sizes[-1], N)}." if slower else ""


def _nearly(cases: Cases, group: str, function: str) -> Answer:
    curve = _efficiency(cases, group, function)
    at_once = cases.curve("n", function=function, device=group)
    return threshold(curve, LEVEL, at_once, power=3).answer(curve, "n of 95% efficiency")


def _overlap(cases: Cases, group: str, function: str) -> Answer:
    group = group or cases.accelerator()
    proved, *_ = lanes(cases, "n", *PROOF, function=function, device=group)
    return largest(proved, "1", f"of the time that they can share, at {N}")


def _streams(cases: Cases) -> Answer:
    device = cases.accelerator()
    curve = _item(cases, SEQUENCE, device, "seconds") / _item(cases, STREAMS, device, "seconds")
    return largest(curve, RATIO, f"as fast in two streams as in sequence, {N}")


def plots(cases: Cases) -> Iterator[Plot]:
    """Draw the efficiency by number of devices, and by size for each group of them."""
    numbers = tuple(_by_number(*growing) for growing in _growing(cases).items())
    title, axis = "Scaling efficiency by number of devices", Axis("devices")
    yield Plot("scaling", title, "curve", axis, EFFICIENCY, numbers, 1.0, "no loss")
    ways = _ways(cases)
    for group in dict.fromkeys(group for group, _ in ways):
        asked = [(WAYS[way], cases, members, way) for members, way in ways if members == group]
        title = f"Scaling efficiency on {cases.the(group)}"
        axes, reference = (SIZE, EFFICIENCY), (1.0, f"{_times(group)} as fast as one")
        efficiency = lines(_efficiency, asked)
        yield Plot(f"efficiency-{group}", title, "curve", *axes, efficiency, *reference)


def _ways(cases: Cases) -> list[tuple[str, str]]:
    """Return the groups of devices, and the ways to use each of them at once, as measured."""
    measured = [
        (str(group), function)
        for function in WAYS
        for group in cases.values("device", function=function)
    ]
    return sorted(measured, key=lambda way: (is_cpu(way[0]), way[0].count("+")))


def _growing(cases: Cases) -> dict[str, dict[str, Curve]]:
    """Return the ways that so many groups were measured in that their number is an axis.

    Each has the efficiency of the groups of accelerators, at the largest size that all have.
    """
    growing: dict[str, dict[str, Curve]] = {}
    for function in WAYS:
        groups = [group for group, way in _ways(cases) if way == function and not is_cpu(group)]
        curves = measured(partial(_efficiency, cases, function=function), groups)
        with suppress(NotMeasuredError):
            n = sizes_in_common(curves.values(), "")[-1]
            if len(curves) >= SERIES:
                growing[function] = {group: curve.on([n]) for group, curve in curves.items()}
    return growing


def _by_number(function: str, groups: dict[str, Curve]) -> Series:
    (n,) = {curve.sizes[0] for curve in groups.values()}
    points = (
        Point(group.count("+") + 1, curve.point(n).y, curve.cases[n])
        for group, curve in groups.items()
    )
    return Series(f"{WAYS[function]}, {size(n, N)}", tuple(points))


def _efficiency(cases: Cases, group: str, function: str) -> Curve:
    """Return the time of one product in sequence over the time of all at once."""
    at_once = cases.curve("n", function=function, device=group)
    if function == PROCESSES:
        return _item(cases, PROCESS_SEQUENCE, group) / at_once
    return _item(cases, SEQUENCE, group.partition("+")[0]) / at_once


def _item(cases: Cases, function: str, device: str, what: str = "item_seconds") -> Curve:
    return cases.curve("n", what, function=function, device=device)


def _times(group: str) -> str:
    count = len(group.split("+"))
    return "twice" if count in {1, 2} else f"{count} times"
