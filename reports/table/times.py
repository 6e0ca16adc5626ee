# SPDX-License-Identifier: MIT
"""The time of each case of a run, by what tells the case from others on whatever machine.

A case is the same in two runs if its function, its version and its parameters are, its devices are
of the same kinds, and so are the shape that it found and the precision of its results
(`suite.compare.pairs.other_thing`). What the CPU alone does of an exercise is an exercise of its
own.
"""

import hashlib
from collections.abc import Mapping
from functools import lru_cache

from frobench.reports.table.frame import device_of
from frobench.reports.table.workloads import kind_of, on_cpu, part_of
from frobench.suite.compare.pairs import Key, by_key, failures, faults, kind
from frobench.suite.statistics import LEAST_LAUNCHES, Medians
from frobench.suite.stored.differences import is_cpu
from frobench.suite.stored.types import Case, Run
from frobench.suite.units import counted

ON_CPU = ".cpu"
"""Behind the name of an exercise, or of a part of the workloads, as far as the CPU does it."""
Times = dict[str, dict[int, float]]
"""By exercise and by case, a number of 64 bits, the logarithm of seconds."""
Scored = dict[str, dict[str, list[int]]]
"""By part of the workloads and by kind, the numbers of cases."""


def exercise_of(group: str, device: str) -> str:
    """Name an exercise as far as the CPU alone, or another device, does it."""
    return f"{group}{ON_CPU}" if is_cpu(device) else group


def exercise(case: Case) -> str:
    """Return the exercise of a comparison that a case belongs to."""
    return exercise_of(case.group, device_of(case))


def left_out(run: Run, medians: Medians) -> dict[str, str]:
    """Return why cases can stand in no ratio with another run's, by full name.

    A case that failed or has an error cannot, nor any of a run with an error; nor, where others
    have the six launches of an interval, one that has fewer.

    medians : of launches, by full name; other cases are passed over
    """
    launches = {
        name: sum(median is not None and median > 0 for median in each)
        for name, each in medians.items()
    }
    whole = next(iter(faults(run, "")), None)
    failed = failures(run, "")
    least = LEAST_LAUNCHES if max(launches.values(), default=0) >= LEAST_LAUNCHES else 1
    few = {
        name: f"measured in {counted(known, 'launch')}"
        for name, known in launches.items()
        if known < least
    }
    return {
        name: reason for name in launches if (reason := whole or failed.get(name) or few.get(name))
    }


def numbered(run: Run) -> dict[int, Case]:
    """Return the cases by their numbers, the first where several equal devices did one."""
    return {_number(key, case): case for key, case in by_key(run).items()}


def times(cases: Mapping[int, Case], logs: Mapping[str, float | None]) -> Times:
    """Return the times of the `numbered` cases of a run that can stand in a ratio.

    logs : the logarithms of times, by full name, of cases that can stand in a ratio
    """
    by_exercise: Times = {}
    for own, case in cases.items():
        if (log := logs.get(case.fullname)) is not None:
            by_exercise.setdefault(exercise(case), {})[own] = log
    return by_exercise


def scored(cases: Mapping[int, Case], parts: Mapping[str, tuple[str, str]]) -> Scored:
    """Return those of the `numbered` cases of a run that scores are made of; parts: `parts_of`."""
    by_part: Scored = {}
    for own, case in cases.items():
        if case.fullname in parts:
            part, work = parts[case.fullname]
            by_part.setdefault(part, {}).setdefault(work, []).append(own)
    return by_part


def parts_of(run: Run) -> dict[str, tuple[str, str]]:
    """Return the part of the workloads that a case belongs to, and its kind, by full name."""
    return {
        case.fullname: (part.name + ON_CPU * on_cpu(case), kind_of(case))
        for case in run.benchmarks
        if (part := part_of(case))
    }


def _number(key: Key, case: Case) -> int:
    """Return what is equal for cases of two runs that are the same."""
    (function, params), info = key, case.extra_info
    shape = tuple(info.search.shape) if info.search else None
    precision = info.check.precision if info.check else None
    devices = (*map(kind, info.devices),)
    return number(repr((function, info.version, params, devices, shape, precision)))


@lru_cache(maxsize=2**14)
def number(text: str) -> int:
    """Return a number of 64 bits in place of a text, which a thousand runs tell again."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
