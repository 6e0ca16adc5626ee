# SPDX-License-Identifier: MIT
"""A run gives its searches a tenth of its budget, or three minutes more, and none what is known."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from frobench.suite.plan import Plan
from frobench.suite.run.runner import Request, settle
from frobench.suite.stored.types import Search
from tests.instruments.runs import factory


def plan(folder: Path, **wanted: object) -> Plan:
    request = replace(Request(results=folder, benchmarks=folder), **wanted)
    return settle(request)


def test_searches_have_a_tenth_of_the_budget(tmp_path: Path) -> None:
    made = plan(tmp_path, budget=100.0)
    assert made.search_seconds == pytest.approx(10.0)
    assert made.settings.budget == 100.0


def test_with_peak_they_have_three_minutes_that_the_launches_do_not_lose(tmp_path: Path) -> None:
    made = plan(tmp_path, budget=100.0, peak=True)
    assert (made.search_seconds, made.settings.budget) == (180.0, 280.0)


def test_a_run_that_repeats_another_measures_the_shapes_found_then(tmp_path: Path) -> None:
    run = factory.run()
    first = run.benchmarks[0]
    found = Search(shape=[64, 128, 256], shapes=9, seconds=1.0, runner_up=0.9)
    first.extra_info.search = found
    assert plan(tmp_path, like=run).searched == {first.fullname: found}
