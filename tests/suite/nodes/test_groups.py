# SPDX-License-Identifier: MIT
"""A launch has one group at a time, and none any more once it lost a rank."""

import pytest

from frobench.suite.errors import LostRankError
from frobench.suite.journal import Refused
from frobench.suite.kit.workers import Worker
from frobench.suite.launch.case import refusal
from frobench.suite.nodes.groups import Groups
from frobench.suite.profiles import settings_for
from tests.instruments.processes.command import ROOT

HALVES = "cpu/0+cpu/1"


def test_a_launch_that_lost_a_rank_makes_no_further_group() -> None:
    asked: list[str] = []

    def workers(place: str) -> list[Worker]:
        asked.append(place)
        return []

    groups = Groups(0, settings_for("quick", ["cpu"]), workers)
    assert groups.find(HALVES) is groups.find(HALVES)
    groups.part()
    groups.find(HALVES)
    assert asked == [HALVES] * 2
    groups.drop()  # a case failed, and took nobody with it
    groups.find(HALVES)
    groups.drop("rank 1 ended")
    groups.drop("rank 2 ended, which was left alone")
    with pytest.raises(pytest.skip.Exception, match="the launch had lost its group: rank 1 ended"):
        groups.find(HALVES)
    assert len(asked) == 3
    assert groups.examine() == []  # no nodes measure together


def test_the_reason_of_a_loss_is_the_name_of_who_was_lost() -> None:
    reason = "rank 1 on node 1 ended with code -9"
    lost = refusal(0, "case", "failed", LostRankError(reason), ROOT)
    assert lost == Refused(launch=0, case="case", status="failed", reason=reason, lost=True)
    assert not refusal(0, "case", "failed", RuntimeError("else"), ROOT).lost
