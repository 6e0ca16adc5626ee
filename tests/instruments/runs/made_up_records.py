# SPDX-License-Identifier: MIT
"""Plans of runs, collected cases and records of a journal, made up."""

from typing import Any

from msgspec.structs import replace

from frobench.suite.journal import Measured
from frobench.suite.plan import CaseIdentity, LaunchSpec, Plan
from frobench.suite.stored.types import Settings, Work

_MEASURED = Measured(
    launch=0,
    order=1,
    samples=[1.0],
    sampled=1.0,
    work=Work(),
    control=False,
    wall_seconds=0.0,
    in_a_row=True,
)


def identity(name: str, *devices: str, **changed: Any) -> CaseIdentity:  # noqa: ANN401 - as the case has them
    """Return a headline case as it is collected, on the CPU unless told otherwise."""
    made = CaseIdentity(
        fullname=name,
        name=name,
        group="matmul",
        function=name.partition("[")[0],
        params={"device": "+".join(devices) or "cpu"},
        param=None,
        title="",
        headline=True,
        devices=[*devices] or ["cpu"],
        version="1",
    )
    return replace(made, **changed)


def measured(case: str, **changed: Any) -> Measured:  # noqa: ANN401 - as the record has them
    """Return the record of a case that took a second in the first launch, with some changes."""
    return replace(_MEASURED, case=case, **changed)


def plan(settings: Settings, **changed: Any) -> Plan:  # noqa: ANN401 - as the plan has them
    """Return the plan of a run before its pilot, or with what a pilot adds."""
    given: dict[str, Any] = {
        "run": "r",
        "started": "2026-01-01T00:00:00+00:00",
        "seed": 1,
        "benchmarks": "",
        "disturbed": False,
        **dict.fromkeys(("plan_seconds", "body_seconds", "launch_seconds"), 0.0),
    }
    return Plan(**given | changed, settings=settings)


def spec(mode: Any, settings: Settings, launch: int = 0, **changed: Any) -> LaunchSpec:  # noqa: ANN401 - as above
    """Return what a process is told that writes no journal."""
    return LaunchSpec(plan=plan(settings, **changed), mode=mode, launch=launch, journal="")
