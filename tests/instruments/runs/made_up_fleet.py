# SPDX-License-Identifier: MIT
"""Nodes of one kind, as a seed chooses: equal but for noise, with slow ones planted.

Launches differ by 1% (standard deviation) and equal nodes by 0.5% in an exercise.
"""

import hashlib
import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from random import Random

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from frobench.reports.fleet.fleet_page import Node
from frobench.suite.stored.machine_identity import is_cpu
from frobench.suite.stored.types import LABEL_DIGITS, Run
from tests.instruments.faults.judging import add_up, keep, samples, set_samples
from tests.instruments.runs import factory
from tests.instruments.runs.factory_machine import environment
from tests.instruments.runs.factory_plans import RATES

LAUNCHES, SCATTER, EQUAL = 6, 0.01, 0.005
EXERCISES = (
    *("matmul", "copies", "norm_logging", "parallel_matmul", "parameters", "placement"),
    *("pipelines", "split_model", "data_parallel", "loss_reporting", "many_or_one"),
    *("transformer", "collectives"),
)
"""Thirteen exercises, as a fleet of GPUs measures."""
BEGUN = datetime(2026, 1, 1, 12, tzinfo=UTC)
CASES = 2
"""Cases of an exercise and a kind of device that a made-up run keeps."""
Slow = Mapping[int, tuple[str, float]]
"""By the number of a node, the exercise in which it is slow and its time by that of the others."""


def label(number: int) -> str:
    """Return the label of a node."""
    return hashlib.sha256(f"node {number}".encode()).hexdigest()[:LABEL_DIGITS]


def runs(count: int, slow: Slow | None = None, accelerators: int = 0) -> list[Run]:
    """Return a stored run of each of so many nodes."""
    return [run(number, (slow or {}).get(number), accelerators) for number in range(count)]


def run(number: int, slow: tuple[str, float] | None = None, accelerators: int = 0) -> Run:
    """Return the run of one node.

    slow : an exercise, and the node's time in it by that of the others
    """
    told = replace(environment(None, accelerators), label=label(number))
    wanted = factory.Wanted(
        seed=number, launches=LAUNCHES, noise=SCATTER, started=BEGUN + timedelta(minutes=number)
    )
    found = factory.of_machine(wanted, told, RATES)
    _shorten(found)
    chance = Random(number)  # noqa: S311 - no secret
    off = {name: math.exp(chance.gauss(0, EQUAL)) for name in found.frobench.exercises}
    if slow is not None:
        off[slow[0]] *= slow[1]
    for case in found.benchmarks:
        scaled = [[off[case.group] * one for one in launch] for launch in samples(case)]
        set_samples(case, scaled)
    add_up(found)
    return found


def _shorten(found: Run) -> None:
    """Leave a few cases of each exercise, on each kind of device."""
    by_kind: dict[tuple[str, bool], list[str]] = {}
    for case in found.benchmarks:
        kind = case.group, is_cpu(case.extra_info.device)
        by_kind.setdefault(kind, []).append(case.fullname)
    kept = {name for names in by_kind.values() for name in names[:CASES]}
    keep(found, lambda case: case.fullname in kept)
    found.frobench.exercises = {
        name: one
        for name, one in found.frobench.exercises.items()
        if any(name == group for group, _ in by_kind)
    }


def placed(
    count: int, slow: Slow | None = None, seed: int = 0, exercises: Iterable[str] = EXERCISES
) -> list[Node]:
    """Return nodes as the fleet page takes them, without runs: a case an exercise."""
    chance = np.random.default_rng(seed)
    subjects = [*exercises]
    logs = chance.normal(0, SCATTER, (count, len(subjects), LAUNCHES))
    logs += chance.normal(0, EQUAL, (count, len(subjects), 1))
    for number, (exercise, factor) in (slow or {}).items():
        logs[number, subjects.index(exercise)] += np.log(factor)
    return [
        replace(_node(number, subjects, rows), href=_href(number))
        for number, rows in enumerate(logs)
    ]


def _href(number: int) -> str:
    return f"nvidia-h100-80gb-hbm3/20260101t120000z-0a1b2c3-{label(number)}.html"


def _node(number: int, subjects: list[str], rows: NDArray[np.float64]) -> Node:
    by_subject = {name: {1: row.tolist()} for name, row in zip(subjects, np.exp(rows), strict=True)}
    return Node(
        label=label(number),
        kind="nvidia-h100 2.13.0+cu130",
        title="8\N{MULTIPLICATION SIGN} NVIDIA H100 80GB HBM3 + Intel Xeon 8480C, 104 cores",
        torch="2.13.0+cu130",
        datetime="2026-01-01T12:00:00+00:00",
        unfit="",
        subjects=by_subject,
        facts={"accelerators.0.driver": "580.95.05", "accelerators.0.power_limit_watts": 700.0},
        troubles={},
    )
