# SPDX-License-Identifier: MIT
"""The page that answers which node is not like the others, and its table for programs."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from math import log
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from frobench.reports.files import downloads
from frobench.reports.fleet.peers import Peers, Placed, compared, subject_title
from frobench.reports.fleet.unlike import EQUAL_NODES, LEAST_NODES
from frobench.reports.table.facts import fact_name, spelled
from frobench.reports.web.render import moment, render
from frobench.suite import personal_data
from frobench.suite.printable import printable
from frobench.suite.statistics import CONFIDENCE, LEAST_LAUNCHES
from frobench.suite.stored.asked_nodes import AskedNodes
from frobench.suite.stored.types import Estimate
from frobench.suite.units import counted, format_estimate, format_range, format_value

NAME = "fleet"
PAGE = f"{NAME}.html"
DIGITS = 6
"""Decimal places of a ratio in the table."""
LEADING = 2
"""Kinds of nodes that the first sentences of the page are about, at most."""
TITLE = "Which node is not like the others?"
LABELS = 5
"""Nodes that a sentence names one by one, at most."""
MAJORITY = 0.5
"""Part of the nodes that must share a value so that another one differs."""
MOST = 8
"""Most differences that are listed for a node."""
SCHEMA = pa.schema(
    {
        **dict.fromkeys(("kind", "torch", "node", "subject"), pa.string()),
        **dict.fromkeys(("ratio", "low", "high"), pa.float64()),
        "unlike": pa.bool_(),
        "slower_group": pa.bool_(),
        "group_ratio": pa.float64(),
        "href": pa.string(),
    }
)
"""Columns of the table: the node's time by the median of its group, with the interval that holds
for all nodes and subjects of its kind together. Where nodes are in two groups, `group_ratio` is the
time of the slower one by that of the other."""


class Row(NamedTuple):
    """A node with the subject in which it is farthest from its peers.

    change : by how much its time differs there, with the interval; empty where nothing is compared
    unlike : subjects in which it is unlike them
    differs : what else differs at the node
    size : how far it is off where it is unlike them, as a logarithm
    """

    label: str
    href: str
    subject: str
    change: str
    unlike: int
    differs: list[str]
    size: float


class Kind(NamedTuple):
    """Nodes of one kind, as the page shows them.

    answer : what was found, in a sentence
    rows : of the nodes that are unlike their peers, the farthest first, and of the others
    """

    title: str
    torch: str
    answer: str
    nodes: int
    rows: tuple[list[Row], list[Row]]


def files(placed: Sequence[Placed], asked: AskedNodes | None = None) -> dict[str, bytes]:
    """Return the page of nodes and its downloads by their names; nothing for fewer than three.

    placed : nodes with the pages of their runs, in whatever order
    asked : which nodes the newest fleet asked; those that it lost count as nodes
    """
    labels = {one.node.label for one in placed}
    if len(labels | set(asked.lost if asked else ())) < LEAST_NODES:
        return {}
    groups, left = compared(placed)
    shown = [_kind(peers) for peers in groups]
    table = pa.concat_tables([SCHEMA.empty_table(), *map(_table, groups)])
    page = render(
        "fleet.html",
        styles=["fleet.css"],
        title=TITLE,
        description=_description(shown),
        home="index.html",
        kinds=shown,
        left=[f"{_nodes(labels)}: {reason}" for reason, labels in left.items()],
        asked=_asked(asked) if asked else "",
        lost=[*_lost(asked, labels)] if asked else [],
        needed=LEAST_NODES,
        alarms=format_value(1 - CONFIDENCE, "1"),
        assumed=format_value(EQUAL_NODES, "1"),
        downloads=[f"{NAME}.csv", f"{NAME}.parquet"],
    )
    return {PAGE: page.encode(), **downloads.both(NAME, table)}


def unlike(site: Path) -> dict[str, dict[str, float]]:
    """Return from the table beside a page in what nodes are unlike others: the farthest first.

    By label and by what people call the subject, the node's time by that of its peers.
    """
    table = pd.read_csv(site / f"{NAME}.csv", keep_default_na=False)
    if table.empty:  # no node can be compared, and a column without rows has no type
        return {}
    subjects = table["subject"].tolist()
    table["subject"] = [subject_title(subject, subjects) for subject in subjects]
    named = table[table["unlike"]].sort_values("ratio", key=lambda ratio: -abs(np.log(ratio)))
    by_node = named.groupby("node", sort=False)
    return {str(label): dict(zip(of["subject"], of["ratio"], strict=True)) for label, of in by_node}


def groups_of(site: Path) -> list[str]:
    """Say from the table beside a page which nodes are in two groups, and in what."""
    table = pd.read_csv(site / f"{NAME}.csv")
    subjects = table["subject"].tolist()
    grouped = table.dropna(subset="group_ratio").groupby(["kind", "torch", "subject"])
    return [
        _of_groups(
            int(each["slower_group"].sum()),
            len(each),
            log(each["group_ratio"].iloc[0]),
            subject_title(str(subject), subjects),
        )
        for (*_, subject), each in grouped
    ]


def _of_groups(slower: int, nodes: int, split: float, subject: str) -> str:
    longer = format_value(float(np.expm1(split)), "1", 2)
    return (
        f"{slower:,} of {counted(nodes, 'node')} are {longer} slower than the others in {subject}; "
        "the page cannot know which of the two groups is normal."
    )


def _description(shown: Sequence[Kind]) -> str:
    """Return what the page says in short."""
    if not shown:
        return f"No {counted(LEAST_NODES, 'node')} of one kind can be compared."
    if len(shown) == 1:
        return shown[0].answer
    leading = sorted(shown, key=lambda kind: not kind.rows[0])[:LEADING]
    answers = [f"{kind.title}, torch {kind.torch}: {kind.answer}" for kind in leading]
    if more := len(shown) - LEADING:
        answers.append(f"{counted(more, 'other kind')} of nodes: below.")
    return " ".join(answers)


def _asked(asked: AskedNodes) -> str:
    """Say how many nodes the newest fleet asked, and how many stored a whole run."""
    when = moment(f"{asked.fleet[:8]}T{asked.fleet[9:15]}Z")
    every, lost = len(asked.nodes), len(asked.lost)
    stored = f"{every - lost:,} stored a whole run" if lost else "all stored a whole run"
    return f"Asked on {when}: {counted(every, 'node')}; {stored}."


def _lost(asked: AskedNodes, measured: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield each node that stored no whole run, and why; it may have one of an earlier fleet."""
    for label, reason in sorted(asked.lost.items()):
        another = " (another run of this node is stored)" if label in measured else ""
        yield label, f"{personal_data.hide(printable(reason))}{another}"


def _kind(peers: Peers) -> Kind:
    first = peers.nodes[0].node
    facts = pd.DataFrame(
        [
            {fact: spelled(fact, value) for fact, value in one.node.facts.items()}
            for one in peers.nodes
        ]
    )
    rows = sorted(_rows(peers, facts), key=lambda row: -row.size)
    both = [row for row in rows if row.unlike], [row for row in rows if not row.unlike]
    answer = _answer(peers, both[0])
    if groups := " ".join(_groups(peers, facts)):
        answer = f"{groups} Within such groups: {answer[0].lower()}{answer[1:]}"
    return Kind(first.title, first.torch, answer, len(peers.nodes), both)


def _rows(peers: Peers, facts: pd.DataFrame) -> Iterator[Row]:
    found, usual = peers.unlike, _usual(facts)
    seen = Counter(code for one in peers.nodes for code in one.node.troubles)
    sizes, beyond = (
        np.nan_to_num(np.abs(values), nan=-1.0)
        for values in (found.deviation, found.deviation / found.reach)
    )
    for row, (node, href) in enumerate(peers.nodes):
        number = int(found.named[row].sum())
        among = np.where(found.named[row], sizes[row], -1.0) if number else beyond[row]
        column = int(np.argmax(among)) if peers.subjects else -1
        change, subject = "", ""
        if column >= 0 and beyond[row, column] >= 0:
            change = _change(found.deviation[row, column], found.reach[row, column])
            subject = subject_title(peers.subjects[column], peers.subjects)
        few = (code for code in node.troubles if seen[code] <= MAJORITY * len(peers.nodes))
        groups = (
            f"in the slower group in {subject_title(peers.subjects[at], peers.subjects)}"
            for at in np.flatnonzero(found.slower[row])
        )
        troubles = map(node.troubles.__getitem__, few)
        own = (*groups, *_differing(facts.iloc[row], usual, "peers"), *troubles)
        differs = [*dict.fromkeys(own)]
        if more := max(0, len(differs) - MOST):
            differs[MOST:] = [f"{more} more on the page of its run"]
        size = float(among[column]) if number else 0.0
        yield Row(node.label, href, subject, change, number, differs, size)


def _usual(facts: pd.DataFrame) -> "pd.Series[str]":
    """Return the facts whose value most nodes share, as it is spelled."""
    if facts.empty:
        return pd.Series(dtype=str)
    values = facts.mode().iloc[0]
    return values[(facts == values).sum() > MAJORITY * facts.notna().sum()]


def _differing(own: "pd.Series[str]", usual: "pd.Series[str]", others: str) -> Iterator[str]:
    """Say which facts differ from the usual ones; equal ones of several accelerators once."""
    for fact, value in usual.items():
        if pd.notna(mine := own.get(fact)) and mine != value:
            yield f"{fact_name(str(fact))} {mine} ({others} {value})"


def _groups(peers: Peers, facts: pd.DataFrame) -> Iterator[str]:
    """Say which nodes are in two groups in the subject where the groups differ most, and how."""
    split = np.nan_to_num(peers.unlike.split, nan=0.0)
    if not split.any():
        return
    column = int(np.argmax(split))
    slower = peers.unlike.slower[:, column]
    nodes = int(np.sum(~np.isnan(peers.unlike.deviation[:, column])))
    subject = subject_title(peers.subjects[column], peers.subjects)
    text = _of_groups(int(slower.sum()), nodes, split[column], subject)
    labels = [one.node.label for one, slow in zip(peers.nodes, slower, strict=True) if slow]
    if len(labels) <= LABELS:
        text += f" Slower: {_nodes(labels)}."
    there = _differing(_usual(facts[slower]), _usual(facts[~slower]), "the others")
    if differs := [*dict.fromkeys(there)]:
        text += f" The slower ones have {'; '.join(differs)}."
    if more := int(np.count_nonzero(split)) - 1:
        text += f" There are two groups in {counted(more, 'other')} of the exercises and axes."
    yield text


def _answer(peers: Peers, named: Sequence[Row]) -> str:
    """Say which nodes are unlike the others, or which slow-down would have been found."""
    nodes = len(peers.nodes)
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
    if others := first.unlike - 1:
        where = "exercise or axis" if others == 1 else "exercises or axes"
        leading += f", and differ in {others} other {where}"
    if len(named) == 1:
        return f"1 of {counted(nodes, 'node')} is unlike its peers: {leading}."
    return (
        f"{len(named)} of {counted(nodes, 'node')} are unlike their peers. Farthest off: {leading}."
    )


def _change(deviation: float, reach: float) -> str:
    """Return by how much a time differs, such as "21% [19, 23] longer".

    deviation, reach : its logarithm beside the peers', and the half-width of the interval
    """
    sign = 1 if deviation >= 0 else -1
    value, *ends = (sign * float(np.expm1(deviation + side * reach)) for side in (0, -1, 1))
    estimate = Estimate(value, min(ends), max(ends), LEAST_LAUNCHES)
    return f"{format_estimate(estimate, '1')} {'longer' if deviation >= 0 else 'shorter'}"


def _nodes(labels: Sequence[str]) -> str:
    if len(labels) > LABELS:
        return counted(len(labels), "node")
    return f"{'node' if len(labels) == 1 else 'nodes'} {', '.join(labels)}"


def _table(peers: Peers) -> pa.Table:
    """Return a row for each node and subject that was compared."""
    found = peers.unlike
    compared_in = ~np.isnan(found.deviation)
    nodes, subjects = np.nonzero(compared_in)
    ratio, low, high = (
        np.exp(found.deviation + side * found.reach)[compared_in].round(DIGITS)
        for side in (0, -1, 1)
    )
    placed = [peers.nodes[row] for row in nodes]
    columns = [
        [one.node.title for one in placed],
        [one.node.torch for one in placed],
        [one.node.label for one in placed],
        [peers.subjects[column] for column in subjects],
        *(ratio, low, high),
        found.named[compared_in],
        found.slower[compared_in],
        pa.array(np.exp(found.split)[subjects].round(DIGITS), from_pandas=True),
        [one.href for one in placed],
    ]
    return pa.table(columns, schema=SCHEMA)
