# SPDX-License-Identifier: MIT
"""Stored runs whose truth is known exactly, and the answers that the report makes of them."""

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from frobench.reports.findings import Section, sections
from frobench.suite.stored.types import Case, Exercise, Outcome, Run, Work
from tests.instruments.runs import factory
from tests.instruments.runs.evidence import of_launches

LAUNCHES = 8
WOBBLE = [1.0, 1.3, 0.8, 1.1, 0.9, 1.2, 1.0, 0.85]
"""What a launch does to all its cases alike."""


def case(  # noqa: PLR0913 - a keyword for each thing that few tests need
    function: str,
    seconds: float | list[float],
    device: str = "cpu",
    *,
    work: Work | None = None,
    concurrency: float | None = None,
    busy: float | None = None,
    **params: Any,  # noqa: ANN401 - whatever a benchmark takes
) -> Case:
    """Build a case that takes `seconds` a call, in each launch or launch by launch.

    concurrency : of its lanes, with what proves it
    busy : seconds in which its lanes work, of a launch of average speed
    """
    by_launch = seconds if isinstance(seconds, list) else [seconds * factor for factor in WOBBLE]
    parts: dict[str, list[float | None]] = {}
    if concurrency is not None:
        parts |= of_launches(by_launch, concurrency)
    if busy is not None:
        parts["busy"] = [busy * factor for factor in WOBBLE]
    made = factory.case(
        "",
        function,
        {"device": device, **params},
        [[took] for took in by_launch],
        version="1",
        title=f"Do {function}.",
        device=device.split("+", maxsplit=1)[0],
        warmup=[0.0] * LAUNCHES,
        work=work or Work(),
        parts=parts,
        order=list(range(1, LAUNCHES + 1)),
    )
    return replace(made, fullname=f"bench.py::{made.name}", param=None)


def left_out(function: str, status: Any, reason: str, **params: Any) -> Outcome:  # noqa: ANN401
    """Build the outcome of a case that has no answer to give."""
    name = f"bench.py::{function}[{'-'.join(str(value) for value in params.values())}]"
    return Outcome(fullname=name, group="", params=params, status=status, reason=reason)


def answer(exercise: str, cases: Iterable[Case], *rest: Iterable[Outcome], **more: Any) -> Any:  # noqa: ANN401 - see below
    """Return the section that answers the exercise, from what `run_of` takes.

    It has no type of its own: a test knows what is there.
    """
    return sections(run_of(exercise, cases, *rest, **more))[0]


def run_of(  # noqa: PLR0913 - a keyword for each thing that few tests need
    exercise: str,
    cases: Iterable[Case],
    outcomes: Iterable[Outcome] = (),
    *,
    accelerators: int = 0,
    devices: list[str] | None = None,
    beside: Iterable[Case] = (),
) -> Run:
    """Return a run of these cases.

    beside : cases of other exercises of the run, named by their groups
    """
    cases = [*(replace(one, group=exercise) for one in cases), *beside]
    base = factory.run(accelerators=accelerators, launches=LAUNCHES)
    settings = base.frobench.settings
    base.frobench.settings = replace(settings, devices=devices or settings.devices)
    without = [replace(one, group=exercise) for one in outcomes]
    return with_cases(base, cases, without, exercises=[exercise])


def with_cases(
    base: Run,
    cases: Iterable[Case],
    without: Iterable[Outcome] = (),
    exercises: Iterable[str] | None = None,
) -> Run:
    """Return a run with these cases instead of its own, which all passed.

    without : outcomes of cases that were left out or failed
    exercises : of the run; by default the groups of its cases
    """
    cases = [*cases]
    names = [*exercises] if exercises is not None else [one.group for one in cases]
    passed = [
        Outcome(fullname=one.fullname, group=one.group, params=one.params, status="passed")
        for one in cases
    ]
    part = replace(
        base.frobench,
        exercises={one: Exercise(question="What?", explanation="That.") for one in names},
        outcomes=[*passed, *without],
    )
    return replace(base, benchmarks=cases, frobench=part)


def by_name(section: Section) -> dict[str, Any]:
    """Return the findings of a section, of which a test knows which have a value."""
    return {finding.name: finding for finding in section.findings}
