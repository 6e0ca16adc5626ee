# SPDX-License-Identifier: MIT
"""The time of each case of a run, by what tells the case from others on whatever machine.

A case is the same in two runs if its function, its version and its parameters are, its devices are
of the same kinds, and so are the shape that it found and the precision of its results
(`suite.compare.alike.other_thing`).
"""

import hashlib
from collections.abc import Mapping
from functools import lru_cache

from reports.table.exercise_names import ON_CPU, exercise
from reports.table.workloads import kind_of, on_cpu, part_of
from suite.compare.alike import failures, faults, kind
from suite.compare.machines import Key, by_key
from suite.statistics import LEAST_LAUNCHES
from suite.stored.run import Case, Run
from suite.units import counted

Times = dict[str, dict[int, float]]
"""Logarithms of seconds by case, a number of 64 bits, by exercise as far as one kind of device
does it."""


Scored = dict[str, dict[str, list[int]]]
"""Cases, by their numbers, of each part of the workloads as far as one kind of device does it, by
kind."""


def left_out(run: Run, launches: Mapping[str, int]) -> dict[str, str]:
    """Return why cases can stand in no ratio with another run's, by full name.

    A case that failed or has an error cannot, nor any of a run with an error; nor, where others
    have the six launches of an interval, one that has fewer.

    Parameters
    ----------
    launches
        By full name, how many measured the case. Cases that are not named are passed over.
    """
    whole = next(iter(faults(run, "")), None)
    failed = failures(run, "")
    least = LEAST_LAUNCHES if max(launches.values(), default=0) >= LEAST_LAUNCHES else 1
    return {
        name: reason
        for name, known in launches.items()
        if (reason := whole or failed.get(name) or _too_few(known, least))
    }


def _too_few(known: int, least: int) -> str | None:
    return f"measured in {counted(known, 'launch')}" if known < least else None


def numbered(run: Run) -> dict[int, Case]:
    """Return the cases by their numbers, the first where several equal devices did one."""
    return {_number(key, case): case for key, case in by_key(run).items()}


def times(cases: Mapping[int, Case], logs: Mapping[str, float | None]) -> Times:
    """Return the times of cases that can stand in a ratio.

    Parameters
    ----------
    cases
        Those of a run (`numbered`).
    logs
        The logarithms of times (`reports.table.centres`), by full name, of cases that can stand in
        a ratio.
    """
    by_exercise: Times = {}
    for own, case in cases.items():
        if (log := logs.get(case.fullname)) is not None:
            by_exercise.setdefault(exercise(case), {})[own] = log
    return by_exercise


def scored(cases: Mapping[int, Case], parts: Mapping[str, str]) -> Scored:
    """Return the cases that scores are made of.

    Parameters
    ----------
    cases
        Those of a run (`numbered`).
    parts
        The parts of the workloads that cases belong to (`part_name`), by full name.
    """
    by_part: Scored = {}
    for own, case in cases.items():
        if name := parts.get(case.fullname):
            by_part.setdefault(name, {}).setdefault(kind_of(case), []).append(own)
    return by_part


def _number(key: Key, case: Case) -> int:
    """Return what is equal for cases of two runs that are the same."""
    (function, params), info = key, case.extra_info
    shape = tuple(info.search.shape) if info.search else None
    precision = info.check.precision if info.check else None
    devices = (*map(kind, info.devices),)
    return number(repr((function, info.version, params, devices, shape, precision)))


def part_name(case: Case) -> str | None:
    """Return the part of the workloads that a case belongs to, marked where the CPU does it."""
    part = part_of(case)
    return part.name + ON_CPU * on_cpu(case) if part else None


@lru_cache(maxsize=2**14)
def number(text: str) -> int:
    """Return a number of 64 bits in place of a text, which a thousand runs tell again."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
