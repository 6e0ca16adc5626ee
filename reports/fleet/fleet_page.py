# SPDX-License-Identifier: MIT
"""The page that answers which node is not like the others, and its table for programs.

Nodes of a kind are compared by their newest runs, in every subject that peers share: an exercise,
as far as one kind of device does it, or an axis of the device.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from msgspec import UNSET, Struct
from msgspec.structs import replace

from frobench.reports.files import downloads
from frobench.reports.findings.exercises.products import SUSTAINED
from frobench.reports.findings.finding import exercise_title
from frobench.reports.fleet.unlike import EQUAL_NODES, LEAST_NODES, Unlike
from frobench.reports.summary.model import TITLES, DeviceAxes
from frobench.reports.table.facts import fact_name, kind_title, spelled
from frobench.reports.table.launches import CaseEstimate
from frobench.reports.web.render import moment, render
from frobench.suite import personal_data
from frobench.suite.compare.matching import failures, faults
from frobench.suite.printable import printable
from frobench.suite.statistics import CONFIDENCE, LEAST_LAUNCHES
from frobench.suite.stored.asked_nodes import AskedNodes
from frobench.suite.stored.differences import facts, matters
from frobench.suite.stored.machine_identity import is_cpu
from frobench.suite.stored.types import Case, Estimate, Run, Scalar
from frobench.suite.units import counted, format_estimate, format_range, format_value

Times = dict[int, Sequence[float | None]]
"""Seconds of cases in each launch, by a number that stands for the case."""
AXIS, ON_CPU = "axis:", ".cpu"
"""Before the name of an axis, and behind that of an exercise as far as the CPU does it."""
FURTHER = ("cpu.memory_bytes", "software.kernel", "software.os")
"""Facts that a node's peers should share although no comparison is refused for them."""
AXES = {f"{AXIS}{name}": title for name, title in TITLES.items()}
COMMON = 0.5
"""Part of a subject's cases that a node must have measured to be compared in it."""


class Node(Struct, frozen=True, kw_only=True):
    """A run of one node.

    label : of the node, see `suite.stored.types.Environment`
    kind : equal for nodes that are peers: the same accelerators, processor, number of cores and
        torch
    title, torch : what it computes with and its torch, for people
    datetime : when the run ended, ISO 8601
    unfit : why it cannot be compared; empty where it can
    subjects : the times of the cases of each
    facts : of the environment, by dotted path, which should be equal for all nodes of a kind
    troubles : messages of the doctor, by code
    href : the page of the run, seen from the index; empty until the site gave it one
    """

    label: str
    kind: str
    title: str
    torch: str
    datetime: str
    unfit: str
    subjects: dict[str, Times]
    facts: dict[str, Scalar]
    troubles: dict[str, str]
    href: str = ""


class Peers:
    """Nodes of one kind, sorted by label, and what they are compared in.

    subjects : names, the axes first; they are the columns of `unlike`
    unlike : what the comparison says; the nodes are its rows
    """

    def __init__(self, nodes: list[Node], kinds: int) -> None:
        """Compare the nodes of one of several kinds."""
        off = _off(nodes)
        known = off.index.unique("subject")
        exercises = sorted(name for name in known if not name.startswith(AXIS))
        self.nodes, self.subjects = nodes, [*(axis for axis in AXES if axis in known), *exercises]
        every = pd.MultiIndex.from_product([range(len(nodes)), self.subjects])
        shape = len(nodes), len(self.subjects), off.shape[1]
        self.unlike = Unlike(off.reindex(every).to_numpy().reshape(shape), kinds)


def node(run: Run, axes: DeviceAxes, estimated: Sequence[CaseEstimate]) -> Node | None:
    """Return what is needed of a run; nothing of one without a label.

    Parameters
    ----------
    axes
        Of its device.
    estimated
        The estimates of its cases.
    """
    environment = run.frobench.environment
    if environment.label is UNSET:
        return None
    title, known = kind_title(environment), facts(replace(environment, label=UNSET))
    failed = failures(run, "")
    fit = [estimate for estimate in estimated if estimate.case not in failed]
    return Node(
        label=environment.label,
        kind=repr((environment.machine, title, environment.software.torch)),
        title=title,
        torch=environment.software.torch or "not imported",
        datetime=run.datetime,
        unfit=next(iter(faults(run, "")), "" if run.frobench.complete else "its run did not end"),
        subjects=_subjects(axes, fit, {case.fullname: case for case in run.benchmarks}),
        facts={fact: value for fact, value in known.items() if matters(fact) or fact in FURTHER},
        troubles={trouble.code: trouble.message for trouble in run.frobench.troubles or ()},
    )


def _subjects(
    axes: DeviceAxes, fit: Iterable[CaseEstimate], cases: Mapping[str, Case]
) -> dict[str, Times]:
    """Return the times of the cases behind each axis, of compute the leading one, and exercise."""
    estimates = {estimate.case: estimate for estimate in fit}
    subjects: dict[str, Times] = {}
    for axis in axes.axes[::-1]:
        times: Times = {
            _number(one, axis.basis): cases[one.case].extra_info.parts[SUSTAINED]
            if axis.basis == SUSTAINED
            else one.medians
            for one in filter(None, map(estimates.get, axis.cases))
        }
        if times:
            subjects[f"{AXIS}{axis.name}"] = times
    for estimate in estimates.values():
        subject = f"{estimate.exercise}{ON_CPU if is_cpu(estimate.device) else ''}"
        subjects.setdefault(subject, {})[_number(estimate)] = estimate.medians
    return subjects


def _number(estimate: CaseEstimate, basis: str = "") -> int:
    """Return a number of 64 bits that is equal for cases that are the same."""
    text = repr((estimate.case, estimate.version, basis))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())


def compared(nodes: Iterable[Node]) -> tuple[list[Peers], dict[str, list[str]]]:
    """Compare the newest runs of all nodes with their peers.

    Returns
    -------
    The kinds of nodes with enough peers, the most numerous first, and the labels of those that are
    left out, by the reason.
    """
    oldest_first = sorted(nodes, key=lambda node: (node.datetime, node.href))
    newest = {(node.kind, node.label): node for node in oldest_first}
    left: dict[str, list[str]] = {}
    kinds: dict[str, list[Node]] = {}
    for node in sorted(newest.values(), key=lambda node: node.label):
        if node.unfit:
            left.setdefault(node.unfit, []).append(node.label)
        else:
            kinds.setdefault(node.kind, []).append(node)
    ordered = [kinds[kind] for kind in sorted(kinds, key=lambda kind: (-len(kinds[kind]), kind))]
    groups = [peers for peers in ordered if len(peers) >= LEAST_NODES]
    for few in ordered[len(groups) :]:
        count, first = counted(len(few), "node"), few[0]
        why = f"{count} with {first.title} and torch {first.torch}"
        reason = f"{why}: a comparison needs {LEAST_NODES}"
        left.setdefault(reason, []).extend(node.label for node in few)
    return [Peers(peers, len(groups)) for peers in groups], left


def subject_title(subject: str, subjects: Sequence[str]) -> str:
    """Return what people call a subject among others."""
    if subject.startswith(AXIS):
        return AXES[subject]
    title = exercise_title(subject.removesuffix(ON_CPU))
    beside = any(not name.startswith(AXIS) and not name.endswith(ON_CPU) for name in subjects)
    return f"{title}, on the CPU" if subject.endswith(ON_CPU) and beside else title


def _off(nodes: Sequence[Node]) -> pd.DataFrame:
    """Return how far off each launch of each node is in a subject, as a logarithm.

    It is the mean over the subject's cases, each beside the median of all nodes in it, so that a
    node without some of the cases can be compared in the others.
    """
    rows = {
        (number, subject, case): seconds
        for number, one in enumerate(nodes)
        for subject, times in one.subjects.items()
        for case, seconds in times.items()
    }
    index = pd.MultiIndex.from_tuples(rows, names=["node", "subject", "case"])
    seconds = pd.DataFrame(np.array([*zip_longest(*rows.values())], float).T, index)
    logs = seconds.where(seconds > 0).apply(np.log)
    of_case = logs.mean(axis="columns").groupby(["subject", "case"])
    logs = logs.sub(of_case.transform("median"), axis="index")
    logs = logs[of_case.transform("size") >= LEAST_NODES]
    cases = logs.groupby(["subject", "case"]).size().groupby("subject").size()
    by_node = logs.groupby(["node", "subject"])
    measured = logs.notna().any(axis="columns").groupby(["node", "subject"]).mean()
    share = by_node.size() * measured / cases
    return by_node.mean()[share >= COMMON].dropna(how="all")


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
COLUMNS = (
    *("kind", "torch", "node", "subject", "ratio", "low", "high"),
    *("unlike", "slower_group", "group_ratio", "href"),
)
"""Columns of the table: the node's time by the median of its group, with the interval that holds
for all nodes and subjects of its kind together. Where nodes are in two groups, `group_ratio` is the
time of the slower one by that of the other."""


class Row(NamedTuple):
    """A node with the subject in which it is farthest from its peers.

    change : by how much its time differs there, with the interval; empty where nothing is compared
    unlike : subjects in which it is unlike them
    differs : what else differs at the node
    """

    label: str
    href: str
    subject: str
    change: str
    unlike: int
    differs: list[str]


class Kind:
    """Nodes of one kind, as the page shows them.

    answer : what was found, in a sentence
    rows : of the nodes that are unlike their peers, the farthest first, and of the others
    """

    def __init__(self, peers: Peers, table: pd.DataFrame) -> None:
        first = peers.nodes[0]
        self.title, self.torch, self.nodes = first.title, first.torch, len(peers.nodes)
        words = [
            {fact: spelled(fact, value) for fact, value in one.facts.items()} for one in peers.nodes
        ]
        fact_words = pd.DataFrame(words, [one.label for one in peers.nodes])
        table = table.assign(title=_titles(table))
        rows = [*_rows(peers, table, fact_words)]
        self.rows = [row for row in rows if row.unlike], [row for row in rows if not row.unlike]
        self.answer = _answer(peers, self.rows[0])
        if groups := _groups(table, fact_words):
            self.answer = f"{groups} Within such groups: {self.answer[0].lower()}{self.answer[1:]}"


def files(nodes: Sequence[Node], asked: AskedNodes | None = None) -> dict[str, bytes]:
    """Return the page of nodes and its downloads by their names; nothing for fewer than three.

    nodes : in whatever order, several runs of one among them
    asked : which nodes the newest fleet asked; those that it lost count as nodes
    """
    labels = {one.label for one in nodes}
    if len(labels | set(asked.lost if asked else ())) < LEAST_NODES:
        return {}
    groups, left = compared(nodes)
    tables = [_table(peers) for peers in groups]
    shown = [Kind(peers, table) for peers, table in zip(groups, tables, strict=True)]
    table = pd.concat(tables) if tables else pd.DataFrame(columns=[*COLUMNS])
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
    return {PAGE: page.encode(), **downloads.both(NAME, downloads.table_of(table))}


def unlike_nodes(site: Path) -> dict[str, dict[str, float]]:
    """Return from the table beside a page in what nodes are unlike others: the farthest first.

    By label and by what people call the subject, the node's time by that of its peers.
    """
    table = pd.read_csv(site / f"{NAME}.csv", keep_default_na=False)
    if table.empty:  # no node can be compared, and a column without rows has no type
        return {}
    table["title"] = _titles(table)
    named = table[table["unlike"]].sort_values("ratio", key=lambda ratio: -abs(np.log(ratio)))
    by_node = named.groupby("node", sort=False)
    return {str(label): dict(zip(of["title"], of["ratio"], strict=True)) for label, of in by_node}


def groups_of(site: Path) -> list[str]:
    """Say from the table beside a page which nodes are in two groups, and in what."""
    table = pd.read_csv(site / f"{NAME}.csv")
    table["title"] = _titles(table)
    grouped = table.dropna(subset="group_ratio").groupby(["kind", "torch", "title"])
    return [_of_groups(each) for _, each in grouped]


def _titles(table: pd.DataFrame) -> "pd.Series[str]":
    """Return what people call the subjects of a table."""
    subjects = table["subject"].tolist()
    return table["subject"].map(lambda subject: subject_title(subject, subjects))


def _of_groups(table: pd.DataFrame) -> str:
    """Say which nodes are in two groups in a subject."""
    first = table.iloc[0]
    longer = format_value(first["group_ratio"] - 1, "1", 2)
    return (
        f"{table['slower_group'].sum():,} of {counted(len(table), 'node')} are {longer} slower "
        f"than the others in {first['title']}; "
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


def _rows(peers: Peers, table: pd.DataFrame, fact_words: pd.DataFrame) -> Iterator[Row]:
    """Yield a row for each node, those that are farthest off first, each where it is so."""
    usual = _usual(fact_words)
    seen = Counter(code for one in peers.nodes for code in one.troubles)
    off = abs(np.log(table["ratio"]))
    reach = np.log(table["high"] / table["ratio"])
    table = table.assign(off=off.where(table["unlike"], off / reach)).sort_values(
        ["unlike", "off"], ascending=False, kind="stable"
    )
    farthest = table.groupby("node", sort=False).first()
    farthest["subjects"] = table.groupby("node")["unlike"].sum()
    slower = table[table["slower_group"]].groupby("node")["title"].agg(list)
    nodes = {one.label: one for one in peers.nodes}
    for label in dict.fromkeys([*farthest.index[farthest["unlike"]], *nodes]):
        node = nodes[label]
        groups = (f"in the slower group in {title}" for title in slower.get(label, []))
        few = (code for code in node.troubles if seen[code] <= MAJORITY * len(nodes))
        troubles = map(node.troubles.__getitem__, few)
        own = (*groups, *_differing(fact_words.loc[label], usual, "peers"), *troubles)
        differs = [*dict.fromkeys(own)]
        if (more := len(differs) - MOST) > 0:
            differs[MOST:] = [f"{more} more on the page of its run"]
        if label in farthest.index:
            there = farthest.loc[label]
            change = _change(*there[["ratio", "low", "high"]])
            yield Row(label, node.href, there["title"], change, int(there["subjects"]), differs)
        else:
            yield Row(label, node.href, "", "", 0, differs)


def _usual(fact_words: pd.DataFrame) -> "pd.Series[str]":
    """Return the facts whose value most nodes share, as it is spelled."""
    if fact_words.empty:
        return pd.Series(dtype=str)
    values = fact_words.mode().iloc[0]
    return values[(fact_words == values).sum() > MAJORITY * fact_words.notna().sum()]


def _differing(own: "pd.Series[str]", usual: "pd.Series[str]", others: str) -> Iterator[str]:
    """Say which facts differ from the usual ones; equal ones of several accelerators once."""
    for fact, value in usual.items():
        if pd.notna(mine := own.get(fact)) and mine != value:
            yield f"{fact_name(str(fact))} {mine} ({others} {value})"


def _groups(table: pd.DataFrame, fact_words: pd.DataFrame) -> str:
    """Say which nodes are in two groups in the subject where the groups differ most, and how."""
    most = table[table["group_ratio"] == table["group_ratio"].max()]
    if most.empty:
        return ""
    labels, text = [*most["node"][most["slower_group"]]], _of_groups(most)
    if len(labels) <= LABELS:
        text += f" Slower: {_nodes(labels)}."
    there = _differing(
        _usual(fact_words.loc[labels]), _usual(fact_words.drop(labels)), "the others"
    )
    if differs := [*dict.fromkeys(there)]:
        text += f" The slower ones have {'; '.join(differs)}."
    if more := table["subject"][table["group_ratio"].notna()].nunique() - 1:
        text += f" There are two groups in {counted(more, 'other')} of the exercises and axes."
    return text


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


def _change(ratio: float, low: float, high: float) -> str:
    """Return by how much a time differs from the peers', such as "21% [19, 23] longer"."""
    sign = 1 if ratio >= 1 else -1
    value, *ends = (sign * (one - 1) for one in (ratio, low, high))
    estimate = Estimate(value, min(ends), max(ends), LEAST_LAUNCHES)
    return f"{format_estimate(estimate, '1')} {'longer' if ratio >= 1 else 'shorter'}"


def _nodes(labels: Sequence[str]) -> str:
    if len(labels) > LABELS:
        return counted(len(labels), "node")
    return f"{'node' if len(labels) == 1 else 'nodes'} {', '.join(labels)}"


def _table(peers: Peers) -> pd.DataFrame:
    """Return a row for each node and subject that was compared."""
    found = peers.unlike
    nodes, subjects = at = np.nonzero(~np.isnan(found.deviation))
    ratio, low, high = (
        np.exp(found.deviation + side * found.reach)[at].round(DIGITS) for side in (0, -1, 1)
    )
    return pd.DataFrame(
        {
            "kind": [peers.nodes[row].title for row in nodes],
            "torch": [peers.nodes[row].torch for row in nodes],
            "node": [peers.nodes[row].label for row in nodes],
            "subject": [peers.subjects[column] for column in subjects],
            "ratio": ratio,
            "low": low,
            "high": high,
            "unlike": found.named[at],
            "slower_group": found.slower[at],
            "group_ratio": np.exp(found.split)[subjects].round(DIGITS),
            "href": [peers.nodes[row].href for row in nodes],
        }
    )
