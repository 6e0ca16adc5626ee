# SPDX-License-Identifier: MIT
"""Nodes of a kind beside each other: each node's newest run, in every subject that peers share.

A subject is what nodes are compared in: an exercise, as far as one kind of device does it, or an
axis of the device.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

import numpy as np
import pandas as pd
from msgspec import UNSET, Struct
from msgspec.structs import replace

from frobench.reports.findings.exercises.products import SUSTAINED
from frobench.reports.findings.finding import exercise_title
from frobench.reports.fleet.unlike import LEAST_NODES, Unlike, unlike
from frobench.reports.summary.device_axes import TITLES, DeviceAxes
from frobench.reports.table.facts import kind_title
from frobench.reports.table.launches import CaseEstimate
from frobench.suite.compare.matching import failures, faults
from frobench.suite.stored.differences import facts, matters
from frobench.suite.stored.machine_identity import is_cpu
from frobench.suite.stored.types import Case, Run, Scalar
from frobench.suite.units import counted

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


def compared(placed: Iterable[Placed]) -> tuple[list[Peers], dict[str, list[str]]]:
    """Compare the newest runs of all nodes with their peers.

    Returns
    -------
    The kinds of nodes with enough peers, the most numerous first, and the labels of those that are
    left out, by the reason.
    """
    oldest_first = sorted(placed, key=lambda run: (run.node.datetime, run.href))
    newest = {(run.node.kind, run.node.label): run for run in oldest_first}
    left: dict[str, list[str]] = {}
    kinds: dict[str, list[Placed]] = {}
    for run in sorted(newest.values(), key=lambda run: run.node.label):
        if run.node.unfit:
            left.setdefault(run.node.unfit, []).append(run.node.label)
        else:
            kinds.setdefault(run.node.kind, []).append(run)
    ordered = sorted(kinds.values(), key=lambda nodes: (-len(nodes), nodes[0].node.kind))
    groups = [nodes for nodes in ordered if len(nodes) >= LEAST_NODES]
    for nodes in ordered[len(groups) :]:
        title, torch = nodes[0].node.title, nodes[0].node.torch
        count = counted(len(nodes), "node")
        why = f"{count} with {title} and torch {torch}: a comparison needs {LEAST_NODES}"
        left.setdefault(why, []).extend(run.node.label for run in nodes)
    return [_peers(nodes, len(groups)) for nodes in groups], left


def subject_title(subject: str, subjects: Sequence[str]) -> str:
    """Return what people call a subject among others."""
    if subject.startswith(AXIS):
        return AXES[subject]
    title = exercise_title(subject.removesuffix(ON_CPU))
    beside = any(not name.startswith(AXIS) and not name.endswith(ON_CPU) for name in subjects)
    return f"{title}, on the CPU" if subject.endswith(ON_CPU) and beside else title


def _peers(nodes: list[Placed], kinds: int) -> Peers:
    """Compare the nodes of one of several kinds."""
    off = _off([run.node for run in nodes])
    known = off.index.unique("subject")
    exercises = sorted(name for name in known if not name.startswith(AXIS))
    shared = [*(axis for axis in AXES if axis in known), *exercises]
    every = pd.MultiIndex.from_product([range(len(nodes)), shared])
    values = off.reindex(every).to_numpy().reshape(len(nodes), len(shared), off.shape[1])
    return Peers(nodes, shared, unlike(values, kinds))


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
