# SPDX-License-Identifier: MIT
"""What rules look at: a case, launch by launch."""

from collections.abc import Iterable
from itertools import accumulate
from statistics import median
from typing import NamedTuple

from suite.model import Case, Launch, Run


class Seen(NamedTuple):
    """What one launch saw of a case, in seconds; the names are those of `CaseInfo`.

    number : of the launch, from 1
    seconds : median of the samples, which are of one call each
    place : in the launch, from 1
    parts : those that the launch has
    """

    number: int
    launch: Launch
    samples: list[float]
    seconds: float
    iterations: int
    warmup: float
    place: int
    parts: dict[str, float]

    @property
    def sample(self) -> float:
        """How long a sample took, of all its calls."""
        return self.seconds * self.iterations


def by_launch(run: Run, case: Case) -> list[Seen]:
    """Return what each launch that measured a case saw of it."""
    info = case.extra_info
    return [
        Seen(
            number=number + 1,
            launch=launch,
            samples=(samples := case.stats.data[end - count : end]),
            seconds=median(samples),
            iterations=info.iterations[number],
            warmup=info.warmup[number],
            place=info.order[number],
            parts={
                name: value
                for name, values in info.parts.items()
                if (value := values[number]) is not None
            },
        )
        for number, (launch, count, end) in enumerate(
            zip(run.frobench.launches, info.launches, accumulate(info.launches), strict=True)
        )
        if count
    ]


def accelerators(case: Case) -> list[str]:
    """Return the devices of a case that work by themselves; a worker on the CPU is none."""
    return [device for device in case.extra_info.devices if not device.startswith("cpu")]


def mostly(signs: Iterable[bool], part: float = 0.5) -> bool:
    """Tell whether there are signs, and more than `part` of them say yes."""
    said = list(signs)
    return sum(said) > part * len(said)
