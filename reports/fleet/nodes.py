# SPDX-License-Identifier: MIT
"""A stored run as the fleet page needs it: launches of each subject, and what may explain them.

A subject is what nodes are compared in: an exercise, as far as one kind of device does it, or an
axis of the device.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest

import numpy as np
from msgspec import UNSET, Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from frobench.reports.findings.exercises.attainable_peak import SUSTAINED
from frobench.reports.summary.device_axes import DeviceAxes
from frobench.reports.table.estimates import CaseEstimate
from frobench.reports.table.facts import kind_title
from frobench.suite.compare.pairs import failures, faults
from frobench.suite.stored.differences import facts, is_cpu, matters
from frobench.suite.stored.types import Case, Run, Scalar

Times = dict[int, Sequence[float | None]]
"""Seconds of cases in each launch, by a number that stands for the case."""
AXIS, ON_CPU = "axis:", ".cpu"
"""Before the name of an axis, and behind that of an exercise as far as the CPU does it."""
FURTHER = ("cpu.memory_bytes", "software.kernel", "software.os")
"""Facts that a node's peers should share although no comparison is refused for them."""


class Launches(Struct, frozen=True):
    """Times of a subject's cases, of which a cache reads those of a thousand nodes in no time.

    numbers : that stand for the cases
    launches : of the case that has most
    packed : logarithms of seconds, cases x launches, as float64; NaN where a launch has none
    """

    numbers: list[int]
    launches: int
    packed: bytes

    @property
    def logs(self) -> NDArray[np.float64]:
        """The logarithms of seconds, cases x launches."""
        return np.frombuffer(self.packed).reshape(len(self.numbers), self.launches)

    @classmethod
    def of(cls, seconds: Mapping[int, Sequence[float | None]]) -> "Launches":
        """Pack the times of each case in each launch, by the number of the case."""
        by_launch = [*zip_longest(*seconds.values())]
        values = np.array(by_launch, float).reshape(len(by_launch), len(seconds)).T
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.where(values > 0, np.log(values), np.nan)
        return cls([*seconds], len(by_launch), logs.tobytes())


class Node(Struct, frozen=True, kw_only=True):
    """A run of one node.

    label : of the node, see `suite.stored.types.Environment`
    kind : equal for nodes that are peers: the same accelerators, processor, number of cores and
        torch
    title, torch : what it computes with and its torch, for people
    datetime : when the run ended, ISO 8601
    unfit : why it cannot be compared; empty where it can
    subjects : the launches of the cases of each
    facts : of the environment, by dotted path, which should be equal for all nodes of a kind
    troubles : messages of the doctor, by code
    """

    label: str
    kind: str
    title: str
    torch: str
    datetime: str
    unfit: str
    subjects: dict[str, Launches]
    facts: dict[str, Scalar]
    troubles: dict[str, str]


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
    anonymous, title = replace(environment, label=UNSET), kind_title(environment)
    unfit = failures(run, "")
    fit = [estimate for estimate in estimated if estimate.case not in unfit]
    known = facts(anonymous)
    by_name = {case.fullname: case for case in run.benchmarks}
    troubles = run.frobench.troubles
    return Node(
        label=environment.label,
        kind=repr((environment.machine, title, environment.software.torch)),
        title=title,
        torch=environment.software.torch or "not imported",
        datetime=run.datetime,
        unfit=_unfit(run),
        subjects={
            subject: Launches.of(seconds)
            for subject, seconds in {**_axes(axes, fit, by_name), **_exercises(fit)}.items()
        },
        facts={fact: value for fact, value in known.items() if matters(fact) or fact in FURTHER},
        troubles={}
        if troubles is UNSET
        else {trouble.code: trouble.message for trouble in troubles},
    )


def _unfit(run: Run) -> str:
    """Say why no number of a run counts here, if none does."""
    wrong = faults(run, "")
    if wrong:
        return wrong[0]
    return "" if run.frobench.complete else "its run did not end"


def subject_of(estimate: CaseEstimate) -> str:
    """Return the exercise that a case belongs to, as far as its kind of device does it."""
    return f"{estimate.exercise}{ON_CPU}" if is_cpu(estimate.device) else estimate.exercise


def _exercises(fit: Iterable[CaseEstimate]) -> dict[str, Times]:
    times: dict[str, Times] = {}
    for estimate in fit:
        times.setdefault(subject_of(estimate), {})[_number(estimate)] = estimate.medians
    return times


def _axes(
    axes: DeviceAxes, fit: Iterable[CaseEstimate], cases: Mapping[str, Case]
) -> dict[str, Times]:
    """Return the times of the cases behind each axis, of compute the leading one."""
    estimates = {estimate.case: estimate for estimate in fit}
    times: dict[str, Times] = {}
    for axis in axes.axes:
        if f"{AXIS}{axis.name}" in times:
            continue
        for name in axis.cases:
            if (estimate := estimates.get(name)) is not None:
                parts = cases[name].extra_info.parts
                medians = parts["sustained"] if axis.basis == SUSTAINED else estimate.medians
                mine = times.setdefault(f"{AXIS}{axis.name}", {})
                mine[_number(estimate, axis.basis)] = medians
    return times


def _number(estimate: CaseEstimate, basis: str = "") -> int:
    """Return a number of 64 bits that is equal for cases that are the same."""
    text = repr((estimate.case, estimate.version, basis))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
