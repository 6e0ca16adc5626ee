# SPDX-License-Identifier: MIT
"""Collectives: latency and bus bandwidth of each operation, the slowest link, scaling by nodes."""

from collections.abc import Iterator
from contextlib import suppress

import pandas as pd

from frobench.reports.findings.answers import Answer, ask, ask_either
from frobench.reports.findings.finding import RATIO, Axis, Finding, Plot, bound
from frobench.reports.findings.fit import fit
from frobench.reports.findings.groups import all_reduce_model, training
from frobench.reports.findings.groups.members import groups, link_of, nodes_in, ranks_in
from frobench.reports.findings.select import Cases, Curve, NotMeasuredError
from frobench.reports.findings.values import VALUE, behind, estimate_of, is_above, text
from frobench.suite.units import counted, format_value

ALL_REDUCE, ROUND_TRIP, NEIGHBOURS = "bench_all_reduce", "bench_send_receive", "bench_neighbours"
OPERATIONS = {
    ALL_REDUCE: "all-reduce",
    ROUND_TRIP: "send and receive",
    "bench_all_gather": "all-gather",
    "bench_reduce_scatter": "reduce-scatter",
    "bench_broadcast": "broadcast",
    "bench_all_to_all": "all-to-all",
}
SIZE, RATE = Axis("Size", "B"), Axis("Bus bandwidth", "B/s")
SLOWER = 1.25
"""How many times as long as over the fastest link a message takes over one that is called slow."""


def findings(cases: Cases) -> list[Finding]:
    """Answer for each operation on each group, the largest group first."""
    answered = []
    for group in groups(cases):
        where = cases.the(group)
        for function, operation in OPERATIONS.items():
            if cases.names(function=function, device=group):
                question = f"How fast is {operation} between {where}?"
                end = f"{operation.replace(' ', '-')}-{group}"
                ways = {f"bandwidth-{end}": _bandwidth, f"rate-{end}": _rate}
                answered.append(ask_either(question, ways, cases, function, group))
        if nodes_in(group) > 1 and cases.names(function=NEIGHBOURS, device=group):
            question = f"Which link is the slowest of {where}?"
            answered.append(ask(f"slowest-{group}", question, _slowest, cases, group))
    if sum(nodes_in(group) > 1 for group in groups(cases)) > 1:
        question = "How does all-reduce scale with the number of nodes?"
        answered.append(ask("scaling-all-reduce", question, _scaling, cases))
    answered += training.findings(cases)
    if not answered:
        question = "How fast is all-reduce between several processes?"
        reason = cases.reason(function=ALL_REDUCE)
        answered.append(Finding.missing("bandwidth-all-reduce", question, reason))
    return answered


def _bandwidth(cases: Cases, function: str, group: str) -> Answer:
    times, operation = _times(cases, function, group), OPERATIONS[function]
    line, messages = fit(times), _messages(function)
    size = times.sizes[-1]  # of which a link carries the moved bytes at the least
    moved = cases.curve("size", "bytes", function=function, device=group).at(size)
    bus, speed = line.rate * (moved / size), line.rate * messages
    both = "" if (bus == speed).all() else f"; the algorithm bandwidth is {text(speed, RATE.unit)}"
    sentence = (
        f"{_named(cases, operation.capitalize(), group)} has a bus bandwidth of {VALUE}"
        f"{_part_of_link(cases, group, bus)} and a latency of "
        f"{text(line.latency / messages, 's')}{both}."
    )
    label = f"bus bandwidth of {operation}"
    rule = f"Join messages below {_bytes(estimate_of(line.half).value)}."
    return Answer(sentence, behind(times), bus, RATE.unit, label, rule_of_thumb=rule)


def _rate(cases: Cases, function: str, group: str) -> Answer:
    times, operation = _times(cases, function, group), OPERATIONS[function]
    small, large = times.sizes[0], times.sizes[-1]
    bus = _bus(cases, function, group).at(large)
    one_way = text(times.at(small) / _messages(function), "s")
    tiny = f"; {one_way} for {_bytes(small)}" if small < large else ""
    named = _named(cases, f"{operation.capitalize()} of {_bytes(large)}", group)
    part = _part_of_link(cases, group, bus)
    sentence = f"{named} has a bus bandwidth of {VALUE}{part}{tiny}."
    label = f"bus bandwidth of {operation} at {_bytes(large)}"
    return Answer(sentence, behind(times.ends()), bus, RATE.unit, label)


def _slowest(cases: Cases, group: str) -> Answer:
    where = {"function": NEIGHBOURS, "device": group}
    size = max(cases.values("size", **where))
    names = cases.names(size=size, **where)
    links = _links(cases, group, size)
    seconds = {link: estimate_of(times).value for link, times in links.items()}
    slow, fast = max(links, key=seconds.__getitem__), min(links, key=seconds.__getitem__)
    speed = f"{text(size / links[slow], 'B/s')} from {_link(*slow)}"
    all_slow = [link for link in links if is_above(links[link] / links[fast], SLOWER)]
    if slow == fast or slow not in all_slow:
        sentence = f"No link is slower than the others by a quarter: {speed}, the slowest of "
        return Answer(f"{sentence}{counted(len(links), 'link')}.", names)
    sentence = (
        f"{_culprit(all_slow, links)}: {speed}, where a message takes {VALUE} as long as from "
        f"{_link(*fast)}."
    )
    label = "as long over the slowest link as over the fastest"
    rule = "Look at that link before you tune the training."
    return Answer(sentence, names, links[slow] / links[fast], RATIO, label, rule_of_thumb=rule)


def _links(cases: Cases, group: str, size: int) -> dict[tuple[int, int], pd.Series]:
    """Return the seconds by launch of a message over each link between nodes, both ends named."""
    nodes = nodes_in(group)
    each = ranks_in(group) // nodes
    parts = {((node - 1) % nodes, node): f"part_to_rank_{node * each}" for node in range(nodes)}
    return {
        link: cases.one(part, function=NEIGHBOURS, device=group, size=size)
        for link, part in parts.items()
    }


def _culprit(slow: list[tuple[int, int]], links: dict[tuple[int, int], pd.Series]) -> str:
    """Name what is slow: a node, if its links are slow and no others, or links."""
    for node in {end for link in links for end in link}:
        if len(slow) < len(links) and set(slow) == {link for link in links if node in link}:
            return f"The link of node {node} is slow"
    if len(slow) == 1:
        return "One link is slow"
    return f"{len(slow)} of {counted(len(links), 'link')} are slow"


def _link(begin: int, end: int) -> str:
    return f"node {begin} to node {end}"


def _scaling(cases: Cases) -> Answer:
    many, *_, few = [group for group in groups(cases) if nodes_in(group) > 1]
    kept = _bus(cases, ALL_REDUCE, many) / _bus(cases, ALL_REDUCE, few)
    size, fewest, most = kept.sizes[-1], nodes_in(few), nodes_in(many)
    sentence = (
        f"From {fewest} to {most} nodes, all-reduce of {_bytes(size)} keeps {VALUE} of its bus "
        "bandwidth."
    )
    label = f"of the bus bandwidth of {fewest} nodes with {most}"
    return Answer(sentence, kept.cases[size], kept.at(size), "1", label)


def plots(cases: Cases) -> Iterator[Plot]:
    """Draw the bus bandwidth of each group by size, and the model of all-reduce by nodes."""
    for group in groups(cases):
        lines = tuple(
            _bus(cases, function, group).series(operation)
            for function, operation in OPERATIONS.items()
            if cases.names(function=function, device=group)
        )
        title = f"Bus bandwidth: {cases.title(group)}"
        link = bound("link", link_of(cases.run, group), RATE.unit, lines)
        yield Plot(f"bandwidth-{group}", title, "curve", SIZE, RATE, lines, lines=link)
    yield from training.plots(cases)
    with suppress(NotMeasuredError):
        yield all_reduce_model.plot(cases, ALL_REDUCE, ROUND_TRIP)


def _messages(function: str) -> int:
    """Return how many messages a call takes one after the other."""
    return 2 if function == ROUND_TRIP else 1


def _times(cases: Cases, function: str, group: str) -> Curve:
    return cases.curve("size", function=function, device=group)


def _bus(cases: Cases, function: str, group: str) -> Curve:
    return cases.curve("size", "byte_rate", function=function, device=group)


def _part_of_link(cases: Cases, group: str, bus: pd.Series) -> str:
    link = link_of(cases.run, group)
    if link is None:
        return ""
    return f", {text(bus / link, '1')} of the link ({format_value(link, RATE.unit)})"


def _named(cases: Cases, operation: str, group: str) -> str:
    return f"{operation} between {cases.the(group)}"


def _bytes(size: float) -> str:
    return format_value(size, SIZE.unit)
