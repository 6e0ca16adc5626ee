# SPDX-License-Identifier: MIT
"""How many launches a run makes: stated beforehand, and few for few cases."""

import re

import pytest

from frobench.suite.plan import launches_within
from frobench.suite.profiles import PROFILES, limits_of, settings_for
from frobench.suite.stored.types import ProfileName
from frobench.suite.units import format_seconds
from tests.instruments.processes.command import ROOT


@pytest.mark.parametrize("profile", PROFILES)
def test_few_cases_end_after_the_profiles_most_launches(profile: ProfileName) -> None:
    settings = settings_for(profile, [])
    most = PROFILES[profile].most_launches
    assert launches_within(settings, 1, spent=5.0, launch_seconds=1e-3) == most
    assert launches_within(settings, 1, spent=5.0, launch_seconds=1e-3, done=most) == most
    assert most * 2 < PROFILES[profile].budget  # launches of two seconds leave some of it


def test_a_launch_that_takes_longer_than_planned_leaves_time_for_fewer_never_below_six() -> None:
    settings = settings_for("quick", [])
    assert launches_within(settings, 1, spent=8.0, launch_seconds=5.0) == 8
    assert launches_within(settings, 1, spent=30.0, launch_seconds=20.0, done=2) == 6
    assert launches_within(settings, 1, spent=100.0, launch_seconds=5.0, done=7) == 7


def test_a_larger_budget_has_time_for_as_many_more_launches() -> None:
    settings = settings_for("quick", [], budget=480)
    assert launches_within(settings, 1, 5.0, 1.0) == 10 * PROFILES["quick"].most_launches


def test_a_number_that_was_asked_for_holds() -> None:
    assert launches_within(settings_for("quick", [], launches=3), 1, 1000.0, 1.0) == 3


def test_the_limits_of_each_profile_are_those_of_the_methodology() -> None:
    text = (ROOT / "docs" / "methodology.md").read_text("utf-8")
    rows = re.findall(r"^\| (quick|standard|rigorous)(.*?) \|(.*)\|$", text, re.MULTILINE)
    assert len(rows) >= 4
    for profile, where, cells in rows:
        limits = limits_of(profile, ["cuda:0"] if "accelerator" in where else ["cpu"])
        *told, launches = (cell.strip() for cell in cells.split("|"))
        seconds = limits.budget, limits.limit, limits.longest_sample
        assert [cell.replace(",", "") for cell in told] == [
            format_seconds(one).replace(",", "") for one in seconds
        ]
        assert launches.removesuffix(", at least") == str(limits.launches)
        assert ("least" in launches) == (limits.least_launches == limits.launches > 6)
