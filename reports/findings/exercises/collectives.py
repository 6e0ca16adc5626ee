# SPDX-License-Identifier: MIT
"""Groups of processes: collectives by operation, the slowest link, how training scales.

A step without any exchange, and an exchange of its gradients alone, together take what a step with
DistributedDataParallel would take if it hid nothing.
"""

from collections.abc import Iterator
from contextlib import suppress
from itertools import product

import pandas as pd
from msgspec import UNSET

from frobench.reports.findings.answers import answered, ask, ask_either, at
from frobench.reports.findings.finding import RATIO, Axis, Finding, Plot
from frobench.reports.findings.fit import fit
from frobench.reports.findings.plots import bound, exact, lines
from frobench.reports.findings.select import Cases, Curve, NotMeasuredError
from frobench.reports.findings.values import VALUE, behind, estimate_of, is_above, text
from frobench.suite.stored.machine_identity import is_cpu, nodes_of, ranks_of
from frobench.suite.stored.types import Run
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

STEP, PIPELINE = "bench_step", "bench_pipeline"
WAYS = {"ddp": "DistributedDataParallel", "fsdp": "fully_shard"}
SCALINGS = {"weak": "as many tokens on each", "strong": "the tokens of a step shared among them"}
HIDDEN = 0.95
"""Part of the communication from which it counts as hidden."""
TOKENS = 1024
"""Tokens of the steps that show how training scales, at all widths."""
WIDTH, EFFICIENCY = Axis("Width of the layer"), Axis("Scaling efficiency", "1")


def findings(cases: Cases) -> Iterator[Finding]:
    """Answer for each operation on each group, the largest group first, then for trainings."""
    for group in groups(cases):
        where = cases.the(group)
        for function, operation in OPERATIONS.items():
            if cases.names(function=function, device=group):
                question = f"How fast is {operation} between {where}?"
                end = f"{operation.replace(' ', '-')}-{group}"
                ways = {f"bandwidth-{end}": _bandwidth, f"rate-{end}": _rate}
                yield ask_either(question, ways, cases, function, group)
        if nodes_in(group) > 1 and cases.names(function=NEIGHBOURS, device=group):
            question = f"Which link is the slowest of {where}?"
            yield ask(f"slowest-{group}", question, _slowest, cases, group)
    if sum(nodes_in(group) > 1 for group in groups(cases)) > 1:
        question = "How does all-reduce scale with the number of nodes?"
        yield ask("scaling-all-reduce", question, _scaling, cases)
    yield from _training_findings(cases)


def _bandwidth(cases: Cases, function: str, group: str) -> Finding:
    times = _times(cases, function, group)
    line, messages = fit(times), _messages(function)
    # A link carries the moved bytes at the least.
    bus = line.carries(cases.curve("size", "bytes", function=function, device=group))
    more = f"; a latency of {text(line.latency / messages, 's')}"
    words = f"{VALUE} of bus bandwidth{_part_of_link(cases, group, bus)}"
    rule = f"Join messages below {_bytes(estimate_of(line.half).value)}."
    label = f"bus bandwidth of {OPERATIONS[function]}"
    return answered(words, behind(times), bus, RATE.unit, rule, more, label)


def _rate(cases: Cases, function: str, group: str) -> Finding:
    times, bus = _times(cases, function, group), _bus(cases, function, group)
    small, large, more = times.smallest, times.largest, ""
    if small < large:
        one_way = text(times.at(small) / _messages(function), "s")
        more = f"; {one_way} for {_bytes(small)}"
    part = _part_of_link(cases, group, bus.at(large))
    words = f"{VALUE} of bus bandwidth at {_bytes(large)}{part}"
    label = f"bus bandwidth of {OPERATIONS[function]} at {_bytes(large)}"
    return answered(words, behind(times.ends()), bus.at(large), RATE.unit, "", more, label)


def _slowest(cases: Cases, group: str) -> Finding:
    where = {"function": NEIGHBOURS, "device": group}
    size = max(cases.values("size", **where))
    names = cases.names(size=size, **where)
    links = _links(cases, group, size)
    seconds = {link: estimate_of(times).value for link, times in links.items()}
    slow, fast = max(links, key=seconds.__getitem__), min(links, key=seconds.__getitem__)
    speed = f"{text(size / links[slow], 'B/s')} from {_link(*slow)}"
    all_slow = [link for link in links if is_above(links[link] / links[fast], SLOWER)]
    if slow not in all_slow:
        sentence = f"No link is slower than the others by a quarter: {speed}, the slowest of "
        return answered(f"{sentence}{counted(len(links), 'link')}", names)
    sentence = f"{_culprit(all_slow, links)}: {VALUE} as long as from {_link(*fast)}; {speed}"
    label = "as long over the slowest link as over the fastest"
    rule = "Look at that link before you tune the training."
    return answered(sentence, names, links[slow] / links[fast], RATIO, rule, label=label)


def _links(cases: Cases, group: str, size: int) -> dict[tuple[int, int], pd.Series]:
    """Return the seconds by launch of a message over each link between nodes, both ends named."""
    nodes = nodes_in(group)
    each = ranks_of(group) // nodes
    parts = {((node - 1) % nodes, node): f"part_to_rank_{node * each}" for node in range(nodes)}
    return {
        link: cases.one(part, function=NEIGHBOURS, device=group, size=size)
        for link, part in parts.items()
    }


def _culprit(slow: list[tuple[int, int]], links: dict[tuple[int, int], pd.Series]) -> str:
    """Name what is slow: a node, if its links are slow and no others, or links."""
    for node in {end for link in links for end in link}:
        if set(slow) == {link for link in links if node in link}:
            return f"The link of node {node} is slow"
    if len(slow) == 1:
        return "One link is slow"
    return f"{len(slow)} of {counted(len(links), 'link')} are slow"


def _link(begin: int, end: int) -> str:
    return f"node {begin} to node {end}"


def _scaling(cases: Cases) -> Finding:
    many, *_, few = [group for group in groups(cases) if nodes_in(group) > 1]
    kept = _bus(cases, ALL_REDUCE, many) / _bus(cases, ALL_REDUCE, few)
    size, fewest, most = kept.largest, nodes_in(few), nodes_in(many)
    words = f"of the bus bandwidth of {fewest} nodes with {most}, {_bytes(size)}"
    return at(kept, size, "1", words)


def plots(cases: Cases) -> Iterator[Plot]:
    """Draw the bus bandwidth of each group by size, and what training on groups gains."""
    for group in groups(cases):
        lines = tuple(
            _bus(cases, function, group).series(operation)
            for function, operation in OPERATIONS.items()
            if cases.names(function=function, device=group)
        )
        title = f"Bus bandwidth: {cases.title(group)}"
        link = bound("link", link_of(cases.run, group), RATE.unit, lines)
        yield Plot(f"bandwidth-{group}", title, "curve", SIZE, RATE, lines, lines=link)
    yield from _training_plots(cases)


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


def _bytes(size: float) -> str:
    return format_value(size, SIZE.unit)


def groups(cases: Cases) -> list[str]:
    """Return the groups that were measured, those of most ranks first, the CPU's last."""
    return sorted(cases.devices(), key=lambda group: (is_cpu(group), -ranks_of(group)))


def nodes_in(group: str) -> int:
    """Return how many nodes a group spans."""
    nodes = nodes_of(group)
    return nodes[0] if nodes else 1


def link_of(run: Run, group: str) -> float | None:
    """Return the rate of the slowest link of a group's nodes, in bytes a second.

    `None` where the system does not tell, or where there is no network between the ranks.
    """
    count, nodes = nodes_in(group), run.frobench.nodes
    if count < 2 or nodes is UNSET:  # noqa: PLR2004 - one node has no network
        return None
    links = [node.link for node in nodes[:count]]
    known = [link for link in links if link is not None]
    return min(known) if len(known) == count else None


def _training_findings(cases: Cases) -> Iterator[Finding]:
    """Answer for each group, the largest first."""
    for group in groups(cases):
        where = cases.the(group)
        for way, scaling in product(WAYS, SCALINGS):
            if cases.names(function=STEP, device=group, way=way, scaling=scaling):
                question = f"How well does a step with {WAYS[way]} scale over {where} ({scaling})?"
                name = f"scaling-{way}-{scaling}-{group}"
                yield ask(name, question, _answer_efficiency, cases, group, way, scaling)
        if cases.names(function=STEP, device=group):
            question = f"How many tokens hide the communication of training over {where}?"
            yield ask(f"hidden-{group}", question, _hidden, cases, group)
        if cases.names(function=PIPELINE, device=group):
            question = f"How much faster is a pipeline over {where}?"
            yield ask(f"pipeline-{group}", question, _fastest, cases, group)


def _answer_efficiency(cases: Cases, group: str, way: str, scaling: str) -> Finding:
    curve = _efficiency(cases, group, way, scaling)
    width = curve.largest
    # Six matrices and two normalisations of a decoder layer.
    parameters = f"a layer of {format_value(12 * width**2 + 2 * width, 'n')} parameters"
    return at(curve, width, "1", f"of perfect scaling with {SCALINGS[scaling]}, {parameters}")


def _hidden(cases: Cases, group: str) -> Finding:
    """Find the fewest tokens of a process with which a step hides its communication.

    Of the layer that was tried with most numbers of tokens, the widest if there are several.
    Hidden is the part of an exchange's time by which a step is shorter than both.
    """
    where = {"function": STEP, "device": group, "scaling": "weak"}
    widths: list[int] = cases.values("width", **where, way="exchange")
    if not widths:
        raise NotMeasuredError(cases.reason(**where, way="exchange"))

    def tried(width: int) -> tuple[int, int]:
        return len(cases.values("tokens", **where, way="ddp", width=width)), width

    width = max(widths, key=tried)
    took = cases.one(**where, way="exchange", width=width)
    names = cases.names(**where, way="exchange", width=width)
    ddp, alone = (cases.curve("tokens", **where, way=way, width=width) for way in ("ddp", "alone"))
    longer = ddp - alone
    hidden = 1 - longer.table.div(took, axis=0).dropna(how="all")
    part = Curve.of(hidden.clip(0, 1), {x: (*longer.cases[x], *names) for x in longer.sizes})
    first = next((tokens for tokens in part.sizes if is_above(part.at(tokens), HIDDEN)), None)
    tokens = first or part.largest
    few = f"{tokens:,.0f} tokens a process"
    words = f"From {few} on, {VALUE}" if first else f"With {few}, the most measured, {VALUE}"
    label = f"of the communication hidden with {few}"
    words = f"{words} of the communication is hidden"
    return answered(words, part.cases[tokens], part.at(tokens), "1", label=label)


def _fastest(cases: Cases, group: str) -> Finding:
    curve = _speedup(cases, group)
    micro = int(curve.highest)
    parts, limit = counted(micro, "micro-batch"), format_value(_best(ranks_of(group), micro), RATIO)
    words = f"as fast as one process, with {parts}; filling and emptying would leave {limit}"
    rule = "Do not split a batch." if micro == 1 else f"Split a batch into {parts}."
    return at(curve, micro, RATIO, words, rule)


def _best(ranks: int, micro: float) -> float:
    """Return the speedup of a pipeline that loses only the time to fill it and to empty it."""
    return ranks * micro / (micro + ranks - 1)


def _training_plots(cases: Cases) -> Iterator[Plot]:
    """Draw the scaling of each group by width, and its pipeline below what it could gain."""
    for group in groups(cases):
        asked = (
            (f"{WAYS[way]}, {scaling}", cases, group, way, scaling)
            for way, scaling in product(WAYS, SCALINGS)
        )
        title = f"Scaling of a training step over {cases.the(group)}"
        axes, shown = (WIDTH, EFFICIENCY), lines(_efficiency, asked)
        yield Plot(f"scaling-{group}", title, "curve", *axes, shown, "perfect")
    for group in groups(cases):
        with suppress(NotMeasuredError):
            curve = _speedup(cases, group)
            limits = {micro: _best(ranks_of(group), micro) for micro in curve.sizes}
            title = f"Speedup of a pipeline over {cases.the(group)}"
            measured, limit = curve.series("measured"), exact("filling and emptying alone", limits)
            axes = Axis("Micro-batches"), Axis("Speedup over one process", RATIO)
            yield Plot(f"pipeline-{group}", title, "curve", *axes, (measured,), lines=(limit,))


def _steps(cases: Cases, group: str, way: str, scaling: str = "weak") -> Curve:
    where = {"function": STEP, "device": group, "way": way, "scaling": scaling}
    return cases.curve("width", **where, tokens=TOKENS)


def _efficiency(cases: Cases, group: str, way: str, scaling: str) -> Curve:
    """Return by width what a step without exchange takes, relative to one that all take part in."""
    ratio = _steps(cases, group, "alone") / _steps(cases, group, way, scaling)
    parts = ranks_of(group) if scaling == "strong" else 1
    return Curve.of(ratio.table / parts, ratio.cases)


def _speedup(cases: Cases, group: str) -> Curve:
    """Return by micro-batches how many times as fast a pipeline is, for the widest layers."""
    where = {"function": PIPELINE, "device": group}
    widths = cases.values("width", **where)
    if not widths:
        raise NotMeasuredError(cases.reason(**where))
    alone, taken = (
        cases.curve("micro", **where, width=max(widths), way=way) for way in ("alone", "pipeline")
    )
    return alone / taken


RULES = {"collectives": (findings, plots)}
