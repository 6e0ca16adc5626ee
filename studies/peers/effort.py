# SPDX-License-Identifier: MIT
"""What an honest +-1% takes: from recorded processes, by drawing runs from them.

A run of n processes is drawn with replacement from all that were recorded, so what its interval
should hold is known: the number that all of them give. The number of processes is chosen before
a run is drawn, never by the width that it shows.
"""

import random
from collections.abc import Sequence
from statistics import fmean, median, stdev

from studies.peers.figures import Effort
from studies.peers.tool import Interval, Measurement, Process, Rules

WITHIN = 0.01
HONEST = 0.93
DRAWN = 1000
MOST = 1024
"""Processes beyond which nobody would wait for +-1%."""


def effort(tool: str, rules: Rules, measurements: Sequence[Measurement]) -> Effort:
    """Return what a tool takes for a body.

    Parameters
    ----------
    measurements
        All of the body by the tool, at least two processes in all.
    """
    pool = [process for each in measurements for process in each.processes]
    value = rules.estimand([process.samples for process in pool])
    numbers = [rules.number(process.samples) for process in pool]
    found = _of_runs(rules, numbers, value) if rules.replicates else _of_one(rules, pool, value)
    processes, half_width, coverage = found
    return Effort(
        tool=tool,
        body=measurements[0].body,
        value=value,
        spread=stdev(numbers) / fmean(numbers),
        pool=len(pool),
        processes=processes,
        half_width=half_width,
        coverage=coverage,
        honest=processes is not None and coverage is not None and coverage >= HONEST,
        alone=processes
        and median(each.alone for each in measurements)
        + processes * median(process.alone for process in pool),
        shared=processes
        and median(each.shared for each in measurements)
        + processes * median(process.shared for process in pool),
    )


Found = tuple[int | None, float | None, float | None]
"""Processes, half-width and coverage."""


def _of_one(rules: Rules, pool: Sequence[Process], value: float) -> Found:
    """Judge the intervals that each process offers."""
    half_width, coverage = _judge([rules.interval(process.samples) for process in pool], value)
    return (1, half_width, coverage) if half_width <= WITHIN else (None, half_width, coverage)


def _of_runs(rules: Rules, numbers: Sequence[float], value: float) -> Found:
    """Find the fewest processes that are enough; a run that is only narrow if none is."""
    draw = random.Random(0)  # noqa: S311 - not for secrets

    def judge(count: int) -> tuple[float, float]:
        runs = (draw.choices(numbers, k=count) for _ in range(DRAWN))
        return _judge([rules.interval(run) for run in runs], value)

    def enough(half_width: float, coverage: float) -> bool:
        return half_width <= WITHIN and coverage >= HONEST

    few, many, seen = rules.least - 1, rules.least, judge(rules.least)
    while not enough(*seen):
        if 2 * many > MOST:
            return (many, *seen) if seen[0] <= WITHIN else (None, None, None)
        few, many = many, 2 * many
        seen = judge(many)
    while many - few > 1:
        between = (few + many) // 2
        tried = judge(between)
        if enough(*tried):
            many, seen = between, tried
        else:
            few = between
    return many, *seen


def _judge(intervals: Sequence[Interval], value: float) -> tuple[float, float]:
    """Return the typical half-width, relative to the value, and how many intervals hold it."""
    half_width = median((high - low) / 2 for low, high in intervals) / value
    return half_width, sum(low <= value <= high for low, high in intervals) / len(intervals)
