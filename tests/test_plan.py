# SPDX-License-Identifier: MIT
"""How long a launch should take, and the time for a case that fits the budget."""

from types import SimpleNamespace
from typing import Any

import pytest

from suite.model import Work
from suite.profiles import LEAST_SAMPLES, settings_for
from suite.runner import _tell
from suite.running.journal import Measured
from suite.running.plan import (
    CASE_SECONDS,
    WARM_UP_CALLS,
    Plan,
    choose_case_seconds,
    launch_seconds,
)

STANDARD = settings_for("standard", ["cpu"])


def seen(call: float = 1e-3, **more: Any) -> Measured:  # noqa: ANN401 - fields of all types
    """Return what a pilot journals of a case of five calls."""
    facts: dict[str, Any] = {
        "launch": 0,
        "case": "a",
        "order": 1,
        "samples": [call] * 5,
        "iterations": 1,
        "warmup": call,
        "sampled": 5 * call,
        "work": Work(),
        "check": None,
        "parts": {},
        "peak_bytes": None,
        "wall_seconds": 6 * call,
    }
    return Measured(**facts | more)


def said(**settings: Any) -> list[str]:  # noqa: ANN401 - as `settings_for` takes them
    """Return what is said of a plan of 40 s whose launches take 60 s each."""
    lines: list[str] = []
    anything: Any = None
    plan = Plan(
        draft=anything,
        settings=settings_for("standard", ["cpu"], **settings),
        environment=anything,
        exercises={},
        cases=[],
        outcomes=[],
        plan_seconds=40.0,
        launch_seconds=60.0,
    )
    reporter: Any = SimpleNamespace(say=lines.append)
    _tell(plan, reporter)
    return lines


def test_it_is_said_at_once_if_the_fewest_launches_take_more_than_the_budget() -> None:
    first, energy, more = said()
    assert energy.startswith("no energy is measured: ")
    assert first.endswith("a launch takes about 1:00")
    assert more.startswith("6 launches and this pilot take about 6:40, more than the budget")
    assert "of 4:10;" in more
    assert said(budget=401.0) == said(launches=6) == [first, energy]


def test_a_launch_starts_up_sets_up_warms_up_and_samples() -> None:
    case = seen(wall_seconds=0.1 + 6e-3)
    warm_up = (1 + WARM_UP_CALLS) * 1e-3
    assert launch_seconds([case] * 2, 3.0, 0.5) == pytest.approx(3.0 + 2 * (0.1 + warm_up + 0.5))


def test_what_comes_before_samples_is_planned_as_often_as_there_are_samples() -> None:
    case = seen(prepared=6 * 0.1, wall_seconds=6 * 0.101)
    warm_up = 0.101 + 0.101  # as soon as its time is over
    assert launch_seconds([case], 0.0, 0.02) == pytest.approx(warm_up + LEAST_SAMPLES * 0.101)


def test_the_time_for_a_case_is_the_longest_that_fits() -> None:
    few = choose_case_seconds([seen()] * 20, STANDARD, 2.0, 10.0)
    many = choose_case_seconds([seen()] * 400, STANDARD, 2.0, 10.0)
    assert few == 0.5
    assert few > many > CASE_SECONDS[0]
    assert choose_case_seconds([seen(call=0.1)] * 4000, STANDARD, 2.0, 10.0) == CASE_SECONDS[0]
