# SPDX-License-Identifier: MIT
"""What the fleet page says of nodes that were compared, in words and rows."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from frobench.reports.fleet.peers import Left, Peers, subject_title
from frobench.reports.fleet.reasons import Usual, by_accelerator
from frobench.reports.fleet.spread_chart import FEW, drawing, ends, room
from frobench.reports.fleet.unlike import LEAST_NODES
from frobench.reports.table.facts import spelled
from frobench.suite.statistics import LEAST_LAUNCHES
from frobench.suite.stored.types import Estimate
from frobench.suite.units import counted, format_estimate, format_range, format_value

_INTERVAL = re.compile(r"(?P<value>.*)% \[(?P<low>.*), (?P<high>.*)\]")
LABELS = 5
"""Nodes that are named one by one, at most, where a fact differs."""


@dataclass(frozen=True)
class Named:
    """A node that is unlike its peers in a subject.

    Parameters
    ----------
    slower
        Whether its time is longer.
    change
        By how much, with the interval.
    size
        The same as a logarithm, without its sign.
    reasons
        What else differs at the node.
    """

    label: str
    href: str
    subject: str
    slower: bool
    change: str
    size: float
    reasons: list[str]


@dataclass(frozen=True)
class Row:
    """A subject with what the page would have found in it.

    Parameters
    ----------
    smallest, between, scatter
        The smallest slow-down that would have been found, how far equal nodes differ, and how far
        the launches of a node do.
    """

    title: str
    spread: Markup
    nodes: int
    named: int
    smallest: str
    between: str
    scatter: str


@dataclass(frozen=True)
class NodeRow:
    """A node with the subject in which it is farthest from its peers."""

    label: str
    href: str
    subject: str
    change: str
    named: int


@dataclass(frozen=True)
class Kind:
    """Nodes of one kind, as the page shows them.

    Parameters
    ----------
    number
        From 1, for addresses within the page.
    answer
        What was found, in a sentence.
    edges, bands
        What the edges of the drawings stand for, and whether the nodes are drawn as bands.
    differing
        Facts in which some nodes differ, each with the values and their nodes.
    """

    number: int
    title: str
    torch: str
    answer: str
    nodes: int
    comparisons: int
    named: list[Named]
    rows: list[Row]
    edges: tuple[str, str]
    bands: bool
    every: list[NodeRow]
    differing: list[str]


def kinds(groups: Sequence[Peers]) -> list[Kind]:
    """Return what the page shows of each kind of nodes."""
    return [_kind(number, peers) for number, peers in enumerate(groups, start=1)]


def _kind(number: int, peers: Peers) -> Kind:
    first, usual = peers.nodes[0].node, Usual([placed.node for placed in peers.nodes])
    named = sorted(_named(peers, usual), key=lambda node: (-node.size, node.label, node.subject))
    return Kind(
        number=number,
        title=first.title,
        torch=first.torch,
        answer=_answer(peers, named),
        nodes=len(peers.nodes),
        comparisons=peers.unlike.comparisons,
        named=named,
        rows=[*_rows(peers)],
        edges=ends(room(peers.unlike.reach)),
        bands=len(peers.nodes) > FEW,
        every=[*_every(peers)],
        differing=_differing(peers),
    )


def _answer(peers: Peers, named: Sequence[Named]) -> str:
    """Say which nodes are unlike the others, or which slow-down would have been found."""
    nodes, subjects = len(peers.nodes), Counter(node.label for node in named)
    smallest = peers.unlike.smallest[~np.isnan(peers.unlike.smallest)]
    if not len(smallest):
        return (
            f"No exercise has {counted(LEAST_LAUNCHES, 'launch')} on {LEAST_NODES} of "
            f"{counted(nodes, 'node')}, so nothing is compared."
        )
    if not named:
        limits = format_range(float(smallest.min()), float(smallest.max()), "1", digits=2)
        each = "" if len(smallest) == 1 else ", depending on the exercise"
        return (
            f"None of {counted(nodes, 'node')} is unlike its peers. The smallest detectable "
            f"slow-down is {limits}{each}."
        )
    first = named[0]
    leading = f"calls on node {first.label} are {first.change} in {first.subject}"
    if others := subjects[first.label] - 1:
        where = "exercise or axis" if others == 1 else "exercises or axes"
        leading += f", and differ in {others} other {where}"
    if len(subjects) == 1:
        return f"1 of {counted(nodes, 'node')} is unlike its peers: {leading}."
    many = f"{len(subjects)} of {counted(nodes, 'node')} are unlike their peers"
    return f"{many}. Farthest off: {leading}."


def _named(peers: Peers, usual: Usual) -> Iterator[Named]:
    unlike = peers.unlike
    for row, column in np.argwhere(unlike.named):
        placed, deviation = peers.nodes[row], float(unlike.deviation[row, column])
        yield Named(
            label=placed.node.label,
            href=placed.href,
            subject=subject_title(peers.subjects[column], peers.subjects),
            slower=deviation > 0,
            change=change(deviation, float(unlike.reach[row, column])),
            size=abs(deviation),
            reasons=usual.reasons(placed.node, peers.subjects[column]),
        )


def change(deviation: float, reach: float) -> str:
    """Return by how much a time differs, such as "21% longer (19 to 23%)".

    Parameters
    ----------
    deviation, reach
        Its logarithm beside the peers', and the half-width of the interval.
    """
    ends_of = (deviation - reach, deviation + reach)
    value, low, high = (float(np.expm1(log)) for log in (deviation, *ends_of))
    if deviation < 0:
        value, low, high = -value, -high, -low
    text = format_estimate(Estimate(value, low, high, LEAST_LAUNCHES), "1")
    interval = _INTERVAL.fullmatch(text)
    word = "longer" if deviation >= 0 else "shorter"
    if interval is None:  # beyond all numbers
        return f"{text} {word}"
    unbroken = f"({interval['low']} to {interval['high']}%)".replace(" ", "\N{NO-BREAK SPACE}")
    return f"{interval['value']}% {word} {unbroken}"


def _rows(peers: Peers) -> Iterator[Row]:
    unlike, width = peers.unlike, room(peers.unlike.reach)
    named = unlike.named
    for column, subject in enumerate(peers.subjects):
        title = subject_title(subject, peers.subjects)
        if np.isnan(unlike.smallest[column]):
            continue
        nodes = int(np.sum(~np.isnan(unlike.deviation[:, column])))
        odd = int(np.sum(named[:, column]))
        label = f"{title}: {counted(nodes, 'node')} around their median, {odd} unlike the others"
        yield Row(
            title=title,
            spread=drawing(unlike.deviation[:, column], named[:, column], width, label),
            nodes=nodes,
            named=odd,
            smallest=_percent(unlike.smallest[column]),
            between=_percent(unlike.between[column]),
            scatter=_percent(unlike.scatter[column]),
        )


def _percent(value: float) -> str:
    return format_value(float(value), "1", digits=2)


def _every(peers: Peers) -> Iterator[NodeRow]:
    unlike = peers.unlike
    beyond = np.nan_to_num(np.abs(unlike.deviation) / unlike.reach, nan=-1.0)
    for row, placed in enumerate(peers.nodes):
        column = int(np.argmax(beyond[row])) if peers.subjects else 0
        if not peers.subjects or beyond[row, column] < 0:
            yield NodeRow(placed.node.label, placed.href, "", "", 0)
            continue
        yield NodeRow(
            label=placed.node.label,
            href=placed.href,
            subject=subject_title(peers.subjects[column], peers.subjects),
            change=change(float(unlike.deviation[row, column]), float(unlike.reach[row, column])),
            named=int(np.sum(unlike.named[row])),
        )


def _differing(peers: Peers) -> list[str]:
    """Say which facts are not the same on all nodes, and where."""
    values: dict[str, dict[str, list[str]]] = {}
    for placed in peers.nodes:
        for fact, value in placed.node.facts.items():
            text = spelled(fact, value)
            values.setdefault(fact, {}).setdefault(text, []).append(placed.node.label)
    lines = {
        fact: "; ".join(
            f"{text}: {_nodes(labels)}"
            for text, labels in sorted(by_text.items(), key=lambda item: -len(item[1]))
        )
        for fact, by_text in sorted(values.items())
        if len(by_text) > 1
    }
    return [*by_accelerator(lines, values)]


def _nodes(labels: Sequence[str]) -> str:
    if len(labels) > LABELS:
        return counted(len(labels), "node")
    return f"{'node' if len(labels) == 1 else 'nodes'} {', '.join(labels)}"


def left_out(left: Sequence[Left]) -> list[str]:
    """Say which nodes are compared with no others, and why."""
    return [f"{_nodes(group.labels)}: {group.reason}" for group in left]
