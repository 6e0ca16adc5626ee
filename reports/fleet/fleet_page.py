# SPDX-License-Identifier: MIT
"""The page that answers which node is not like the others, and its table for programs."""

import csv
from collections.abc import Sequence
from math import log
from pathlib import Path

import numpy as np
import pyarrow as pa

from frobench.reports.files import downloads
from frobench.reports.fleet.absent_nodes import Absent, absent
from frobench.reports.fleet.fleet_view import Kind, kinds, left_out
from frobench.reports.fleet.peers import Left, Peers, Placed, compared, subject_title
from frobench.reports.fleet.unlike import EQUAL_NODES, LEAST_NODES
from frobench.reports.web.render import render
from frobench.suite.statistics import CONFIDENCE
from frobench.suite.stored.asked_nodes import AskedNodes
from frobench.suite.units import counted, format_value

NAME = "fleet"
PAGE = f"{NAME}.html"
STYLE = "fleet.css"
DIGITS = 6
"""Decimal places of a ratio in the table."""
LEADING = 2
"""Kinds of nodes that the first sentences of the page are about, at most."""
TITLE = "Which node is not like the others?"
SCHEMA = pa.schema(
    {
        **dict.fromkeys(("kind", "torch", "node", "subject"), pa.string()),
        **dict.fromkeys(("ratio", "low", "high"), pa.float64()),
        "unlike": pa.bool_(),
        "href": pa.string(),
    }
)
"""Columns of the table: the node's time by the median of all nodes', with the interval that holds
for all nodes and subjects of its kind together."""


def files(placed: Sequence[Placed], asked: AskedNodes | None = None) -> dict[str, bytes]:
    """Return the page of nodes and its downloads by their names; nothing for fewer than three.

    Parameters
    ----------
    placed
        Nodes with the pages of their runs, in whatever order.
    asked
        Which nodes the newest fleet asked. Those that it lost count as nodes.
    """
    labels = {one.node.label for one in placed}
    if len(labels | set(asked.lost if asked else ())) < LEAST_NODES:
        return {}
    groups, left = compared(placed)
    table = rows(groups)
    return {
        PAGE: page(groups, left, absent(asked, labels) if asked else None).encode(),
        f"{NAME}.csv": downloads.as_csv(table),
        f"{NAME}.parquet": downloads.as_parquet(table),
    }


def page(groups: Sequence[Peers], left: Sequence[Left], missing: Absent | None) -> str:
    """Return the page of kinds of nodes, and of nodes that are left out or lost."""
    shown = kinds(groups)
    return render(
        "fleet.html",
        styles=(STYLE,),
        title=TITLE,
        description=description(shown),
        home="index.html",
        kinds=shown,
        left=left_out(left),
        absent=missing,
        needed=LEAST_NODES,
        confidence=format_value(CONFIDENCE, "1"),
        alarms=format_value(1 - CONFIDENCE, "1"),
        assumed=format_value(EQUAL_NODES, "1"),
        downloads=[f"{NAME}.csv", f"{NAME}.parquet"],
    )


def description(shown: Sequence[Kind]) -> str:
    """Return what the page says in short."""
    if not shown:
        return f"No {counted(LEAST_NODES, 'node')} of one kind can be compared."
    if len(shown) == 1:
        return shown[0].answer
    leading = sorted(shown, key=lambda kind: not kind.named)[:LEADING]
    answers = [f"{kind.title}, torch {kind.torch}: {kind.answer}" for kind in leading]
    if more := len(shown) - LEADING:
        answers.append(f"{counted(more, 'other kind')} of nodes: below.")
    return " ".join(answers)


def rows(groups: Sequence[Peers]) -> pa.Table:
    """Return the table beside the page: a row for each node and subject that was compared."""
    return pa.concat_tables([SCHEMA.empty_table(), *map(_rows, groups)])


def unlike(site: Path) -> dict[str, dict[str, float]]:
    """Return from the table beside a page in what nodes are unlike others: the farthest first.

    By label and by what people call the subject, the node's time by that of its peers.
    """
    with (site / f"{NAME}.csv").open(encoding="utf-8", newline="") as file:
        table = [*csv.DictReader(file)]
    subjects = [row["subject"] for row in table]
    found: dict[str, dict[str, float]] = {}
    for row in sorted(table, key=lambda row: -abs(log(float(row["ratio"])))):
        if row["unlike"] == "true":
            title = subject_title(row["subject"], subjects)
            found.setdefault(row["node"], {})[title] = float(row["ratio"])
    return found


def _rows(peers: Peers) -> pa.Table:
    unlike = peers.unlike
    compared_in = ~np.isnan(unlike.deviation)
    nodes, subjects = np.nonzero(compared_in)
    ratio, low, high = (
        np.exp(unlike.deviation + side * unlike.reach)[compared_in].round(DIGITS)
        for side in (0, -1, 1)
    )
    placed = [peers.nodes[row] for row in nodes]
    columns = [
        [node.node.title for node in placed],
        [node.node.torch for node in placed],
        [node.node.label for node in placed],
        [peers.subjects[column] for column in subjects],
        ratio,
        low,
        high,
        unlike.named[compared_in],
        [node.href for node in placed],
    ]
    return pa.table(columns, schema=SCHEMA)
