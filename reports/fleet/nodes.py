# SPDX-License-Identifier: MIT
"""A stored run as the fleet page needs it: launches of each subject, and what may explain them.

A subject is what nodes are compared in: an exercise, as far as one kind of device does it, or an
axis of the device.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean

from msgspec import UNSET, Struct
from msgspec.structs import replace

from reports.summary.device_axes import SUSTAINED, DeviceAxes
from reports.table.estimates import CaseEstimate
from reports.table.facts import kind_title
from reports.table.times import number
from suite.compare.alike import failures, faults
from suite.stored.differences import facts, matters
from suite.stored.names import is_cpu
from suite.stored.run import Case, Run, Scalar

Launches = list[float]
"""The logarithm of a case's time in each launch; NaN where the launch has none."""
AXIS, ON_CPU = "axis:", ".cpu"
"""Before the name of an axis, and behind that of an exercise as far as the CPU does it."""
FURTHER = ("cpu.memory_bytes", "software.kernel", "software.os")
"""Facts that a node's peers should share although no comparison is refused for them."""
CLOCKS = ("sm_clock_hz", "memory_clock_hz", "clock_hz", "power_watts", "temperature_celsius")
"""Readings of sensors that may explain a time."""
HELD_BACK = "held_back."


class Node(Struct, frozen=True, kw_only=True):
    """A run of one node.

    label : of the node, see `suite.stored.run.Environment`
    kind : equal for nodes that are peers: the same accelerators, processor, number of cores and
        torch
    title, torch : what it computes with and its torch, for people
    datetime : when the run ended, ISO 8601
    unfit : why it cannot be compared; empty where it can
    subjects : by subject, the launches of each case, by a number that stands for the case
    facts : of the environment, by dotted path, which should be equal for all nodes of a kind
    troubles : messages of the doctor, by code
    readings : by subject, the mean over its cases of what sensors said, such as
        ``cuda:0.sm_clock_hz``, and parts of the time, such as ``cuda:0.held_back.power cap``
    """

    label: str
    kind: str
    title: str
    torch: str
    datetime: str
    unfit: str
    subjects: dict[str, dict[int, Launches]]
    facts: dict[str, Scalar]
    troubles: dict[str, str]
    readings: dict[str, dict[str, float]]


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
        torch=environment.software.torch,
        datetime=run.datetime,
        unfit=_unfit(run),
        subjects={**_axes(axes, fit, by_name), **_exercises(fit)},
        facts={fact: value for fact, value in known.items() if matters(fact) or fact in FURTHER},
        troubles={}
        if troubles is UNSET
        else {trouble.code: trouble.message for trouble in troubles},
        readings=dict(_readings(fit, by_name)),
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


def _exercises(fit: Iterable[CaseEstimate]) -> dict[str, dict[int, Launches]]:
    launches: dict[str, dict[int, Launches]] = {}
    for estimate in fit:
        logs = _logs(estimate.medians)
        launches.setdefault(subject_of(estimate), {})[_number(estimate)] = logs
    return launches


def _axes(
    axes: DeviceAxes, fit: Iterable[CaseEstimate], cases: Mapping[str, Case]
) -> dict[str, dict[int, Launches]]:
    """Return the launches of the cases behind each axis, of compute the leading one."""
    estimates = {estimate.case: estimate for estimate in fit}
    launches: dict[str, dict[int, Launches]] = {}
    for axis in axes.axes:
        if f"{AXIS}{axis.name}" in launches:
            continue
        for name in axis.cases:
            if (estimate := estimates.get(name)) is not None:
                parts = cases[name].extra_info.parts
                medians = parts["sustained"] if axis.basis == SUSTAINED else estimate.medians
                mine = launches.setdefault(f"{AXIS}{axis.name}", {})
                mine[_number(estimate, axis.basis)] = _logs(medians)
    return launches


def _number(estimate: CaseEstimate, basis: str = "") -> int:
    return number(repr((estimate.case, estimate.version, basis)))


def _logs(seconds: Iterable[float | None]) -> Launches:
    return [math.log(value) if value is not None and value > 0 else math.nan for value in seconds]


def _readings(
    fit: Iterable[CaseEstimate], cases: Mapping[str, Case]
) -> Iterator[tuple[str, dict[str, float]]]:
    by_subject: dict[str, list[Case]] = {}
    for estimate in fit:
        by_subject.setdefault(subject_of(estimate), []).append(cases[estimate.case])
    for subject, mine in by_subject.items():
        read: dict[str, list[float]] = {}
        for case in mine:
            for device, sensed in case.extra_info.telemetry.items():
                for name in CLOCKS:
                    if name in sensed.values:
                        read.setdefault(f"{device}.{name}", []).append(sensed.values[name][1])
                for reason, part in (sensed.held_back or {}).items():
                    read.setdefault(f"{device}.{HELD_BACK}{reason}", []).append(part)
        if read:
            yield subject, {name: fmean(values) for name, values in read.items()}
