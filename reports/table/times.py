# SPDX-License-Identifier: MIT
"""The time of each case of a run, by what tells the case from others on whatever machine.

A case is the same in two runs if its function, its version and its parameters are, and its device
is of the same kind.
"""

import hashlib
from collections.abc import Container, Mapping

from reports.table.exercise_names import ON_CPU, exercise
from reports.table.workloads import kind_of, on_cpu, part_of
from suite.compare.pairing import by_key
from suite.stored.run import Case, Run

Times = dict[str, dict[int, float]]
"""Logarithms of seconds by case, a number of 64 bits, by exercise as far as one kind of device
does it."""


Scored = dict[str, dict[str, list[int]]]
"""Cases, by their numbers, of each part of the workloads as far as one kind of device does it, by
kind."""


def times(run: Run, logs: Mapping[str, float | None], unfit: Container[str]) -> Times:
    """Return the cases that can stand in a ratio, the first where several equal devices did one.

    Parameters
    ----------
    logs
        The mean of the logarithms of launch medians by full name, ``None`` where there is none:
        what ratios are made of.
    unfit
        Full names of the cases that count for nothing.
    """
    found: Times = {}
    for (function, params), case in by_key(run).items():
        log = logs[case.fullname]
        if log is not None and case.fullname not in unfit:
            name = number(repr((function, case.extra_info.version, params)))
            found.setdefault(exercise(case), {})[name] = log
    return found


def scored(run: Run) -> Scored:
    """Return the cases that scores are made of."""
    found: Scored = {}
    for (function, params), case in by_key(run).items():
        if name := part_name(case):
            mine = number(repr((function, case.extra_info.version, params)))
            found.setdefault(name, {}).setdefault(kind_of(case), []).append(mine)
    return found


def part_name(case: Case) -> str | None:
    """Return the part of the workloads that a case belongs to, marked where the CPU does it."""
    part = part_of(case)
    return part.name + ON_CPU * on_cpu(case) if part else None


def number(text: str) -> int:
    """Return a number of 64 bits in place of a text, which a thousand runs tell again."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
