# SPDX-License-Identifier: MIT
"""A machine in a comparison of which nothing is known, for tests to say what they need."""

from collections.abc import Sequence

from msgspec.structs import replace

from frobench.reports.purchase.comparison import (
    Comparison,
    Exercise,
    Machine,
    PartSpeeds,
    ScoredPart,
)
from frobench.reports.table.workloads import table

UNKNOWN = Machine(
    run="a",
    title="A",
    href="a.html",
    device="GPU",
    count=1,
    watts=None,
    watts_source=None,
    load=None,
    axes=[],
    memory_bytes=None,
    price=None,
    currency=None,
    price_date=None,
    price_kind=None,
    price_source=None,
    logs={},
    covariance=None,
    quantile=None,
    counts={},
    beyond={},
    best={},
    worst={},
    parts=PartSpeeds(logs={}, covariance=None, quantile=None, counts={}),
    energy=None,
    rates=[],
    differs=[],
    missing=[],
)


def compared(
    reference: str, exercises: Sequence[Exercise], machines: Sequence[Machine]
) -> Comparison:
    """Return a comparison in which training asks for every exercise with a weight, equally."""
    asked = [one for one in exercises if one.weight]
    parts = [
        ScoredPart(
            name=one.name, title=one.title, total=one.total, weights={"training": one.weight}
        )
        for one in asked
    ]
    return Comparison(
        approximate=False,
        reference=reference,
        exercises=[*exercises],
        workloads=table().workloads,
        parts=parts,
        machines=[_scored(machine, exercises, asked) for machine in machines],
    )


def _scored(machine: Machine, exercises: Sequence[Exercise], asked: Sequence[Exercise]) -> Machine:
    at = [exercises.index(one) for one in asked]
    spread = machine.covariance
    parts = PartSpeeds(
        logs={one.name: machine.logs[one.name] for one in asked if one.name in machine.logs},
        covariance=spread and [[spread[i][j] for j in at[: n + 1]] for n, i in enumerate(at)],
        quantile=machine.quantile,
        counts={one.name: machine.counts.get(one.name, 0) for one in asked},
    )
    return replace(machine, parts=parts)
