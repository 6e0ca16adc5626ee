# SPDX-License-Identifier: MIT
"""How many times as fast one machine is as another under a workload, by the page's script."""

import msgspec
from msgspec import Struct

from reports.purchase import script
from reports.purchase.machines import compare_measured
from reports.purchase.measured import Measured
from suite.stored.run import Run

BASE, NEW = "base", "new"


class Speed(Struct, frozen=True):
    """A ratio of speeds; the ends of its 95% interval are ``None`` below six launches."""

    value: float
    low: float | None
    high: float | None


class ExerciseSpeed(Struct, frozen=True):
    """How fast a machine is in an exercise as far as one kind of device does it; as `Score`."""

    name: str
    speed: Speed | None
    cases: int
    every: int


class Score(Struct, frozen=True):
    """How fast a machine is under a workload.

    speed : times as fast as the base; ``None`` where both measured no case of the workload
    cases : that both measured
    every : that the base measured
    exercises : whatever the workload
    """

    speed: Speed | None
    cases: int
    every: int
    exercises: list[ExerciseSpeed]


def score(base: Run, new: Run, workload: str) -> Score:
    """Compare two machines under a workload of `reports.table.workloads`.

    Raises
    ------
    reports.purchase.script.MissingEngineError
        There is no engine for the page's script.
    """
    comparison = compare_measured({BASE: Measured.of(base), NEW: Measured.of(new)}, BASE)
    found = script.call("purchaseBuilt.score", comparison, NEW, workload)
    return msgspec.convert(found, Score)
