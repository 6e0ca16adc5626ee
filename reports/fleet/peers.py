# SPDX-License-Identifier: MIT
"""Nodes of a kind beside each other: each node's newest run, in every subject that peers share."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from frobench.reports.findings.finding import exercise_title
from frobench.reports.fleet.nodes import AXIS, ON_CPU, Launches, Node
from frobench.reports.fleet.unlike import LEAST_NODES, Unlike, Values, unlike
from frobench.reports.summary.axis_words import TITLES
from frobench.suite.units import counted

NONE = Launches.of({})
"""Of a node that has no case of a subject."""
AXES = {f"{name}": title for name, title in TITLES.items()}
COMMON = 0.5
"""Part of a subject's cases that a node must have measured to be compared in it."""


class Placed(NamedTuple):
    """A node, and the page of its run, seen from the index."""

    node: Node
    href: str


class Peers(NamedTuple):
    """Nodes of one kind, sorted by label.

    subjects : names, the axes first; they are the columns of `found`
    unlike : what the comparison says; the nodes are its rows
    """

    nodes: list[Placed]
    subjects: list[str]
    unlike: Unlike


class Left(NamedTuple):
    """Nodes that are compared with no others, and why."""

    labels: list[str]
    reason: str


def compared(placed: Iterable[Placed]) -> tuple[list[Peers], list[Left]]:
    """Compare the newest runs of all nodes with their peers.

    Returns
    -------
    The kinds of nodes with enough peers, the most numerous first, and what is left out.
    """
    newest: dict[tuple[str, str], Placed] = {}
    for run in sorted(placed, key=lambda run: (run.node.datetime, run.href)):
        newest[run.node.kind, run.node.label] = run
    left: dict[str, list[str]] = {}
    kinds: dict[str, list[Placed]] = {}
    for run in sorted(newest.values(), key=lambda run: run.node.label):
        if run.node.unfit:
            left.setdefault(run.node.unfit, []).append(run.node.label)
        else:
            kinds.setdefault(run.node.kind, []).append(run)
    groups = []
    for nodes in sorted(kinds.values(), key=lambda nodes: (-len(nodes), nodes[0].node.kind)):
        if len(nodes) < LEAST_NODES:
            reason = _too_few(nodes)
            left.setdefault(reason, []).extend(run.node.label for run in nodes)
        else:
            groups.append(nodes)
    peers = [_peers(nodes, len(groups)) for nodes in groups]
    return peers, [Left(labels, reason) for reason, labels in left.items()]


def subject_title(subject: str, subjects: Sequence[str]) -> str:
    """Return what people call a subject among others."""
    if subject.startswith(AXIS):
        return AXES[subject.removeprefix(AXIS)]
    title = exercise_title(subject.removesuffix(ON_CPU))
    beside = any(not name.startswith(AXIS) and not name.endswith(ON_CPU) for name in subjects)
    return f"{title}, on the CPU" if subject.endswith(ON_CPU) and beside else title


def _too_few(nodes: Sequence[Placed]) -> str:
    """Say why nodes of a kind have too few peers."""
    node = nodes[0].node
    return (
        f"{counted(len(nodes), 'node')} with {node.title} and torch {node.torch}: a comparison "
        f"needs {LEAST_NODES}"
    )


def _peers(nodes: list[Placed], kinds: int) -> Peers:
    """Compare the nodes of one of several kinds."""
    names = {name for run in nodes for name in run.node.subjects}
    axes = [f"{AXIS}{axis}" for axis in AXES if f"{AXIS}{axis}" in names]
    exercises = sorted(name for name in names if not name.startswith(AXIS))
    columns = {name: _column([run.node for run in nodes], name) for name in [*axes, *exercises]}
    shared = [name for name, column in columns.items() if not np.isnan(column).all()]
    launches = max((columns[name].shape[1] for name in shared), default=0)
    values = np.full((len(nodes), len(shared), launches), np.nan)
    for index, name in enumerate(shared):
        values[:, index, : columns[name].shape[1]] = columns[name]
    return Peers(nodes, shared, unlike(values, kinds))


def _column(nodes: Sequence[Node], subject: str) -> Values:
    """Return how far off each launch of each node is in a subject: nodes x launches.

    It is the mean over the subject's cases, each beside the median of all nodes in it, so that a
    node without some of the cases can be compared in the others.
    """
    measured = [node.subjects.get(subject, NONE) for node in nodes]
    blocks = [launches.logs for launches in measured]
    numbers = np.fromiter(chain.from_iterable(each.numbers for each in measured), np.uint64)
    _, columns, nodes_with = np.unique(numbers, return_inverse=True, return_counts=True)
    launches = max(block.shape[1] for block in blocks)
    logs = np.full((len(nodes), len(nodes_with), launches), np.nan)
    first = 0
    for row, block in enumerate(blocks):
        cases, here = block.shape
        logs[row, columns[first : first + cases], :here] = block
        first += cases
    shared = nodes_with >= LEAST_NODES
    if not shared.any():
        return np.full((len(nodes), launches), np.nan)
    logs = logs[:, shared]
    off = logs - np.nanmedian(_mean(logs, axis=2), axis=0)[None, :, None]
    values = _mean(off, axis=1)
    values[np.mean(~np.isnan(logs).all(axis=2), axis=1) < COMMON] = np.nan
    return values


def _mean(values: Values, axis: int) -> Values:
    """Return means over what there is, NaN where there is nothing."""
    there = ~np.isnan(values)
    count = there.sum(axis=axis)
    total = np.where(there, values, 0.0).sum(axis=axis)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
