# SPDX-License-Identifier: MIT
"""What the comparison with other tools concludes: honest intervals, false alarms, goals, leads."""

import dataclasses
import random

import msgspec
import pytest

from studies.peers import effort
from studies.peers.adapters import OURS, tools
from studies.peers.alarms import alarms
from studies.peers.figures import Alarms, Effort, Empty, Lead, OnDevice, Wait
from studies.peers.goals import goals, leads
from studies.peers.rules import normal_interval, t_interval, upper_bound
from studies.peers.tool import Measurement, Process, Rules

BY_NAME = {tool.name: tool for tool in tools()}
REPLICATING = BY_NAME["pyperf"].rules
ONE_PROCESS = BY_NAME["torch.utils.benchmark"].rules


def use(*samples: list[float], seconds: float = 2.0, beyond: float = 3.0) -> Measurement:
    """Build a measurement with a process for each list of samples."""
    processes = [Process(samples=each, alone=seconds, shared=seconds / 4) for each in samples]
    return Measurement(body="add", processes=processes, alone=beyond, shared=beyond / 4)


def drawn(count: int, between: float, within: float, samples: int = 9) -> list[list[float]]:
    """Draw the samples of processes that differ so much from each other, and inside."""
    draw = random.Random(3)  # noqa: S311 - not for secrets
    centres = [draw.gauss(1.0, between) for _ in range(count)]
    return [[draw.gauss(centre, within) for _ in range(samples)] for centre in centres]


@pytest.mark.parametrize("rules", [BY_NAME[OURS].rules, REPLICATING], ids=[OURS, "pyperf"])
def test_an_honest_interval_takes_as_many_processes_as_the_spread_demands(rules: Rules) -> None:
    quiet = effort.effort("it", rules, [use(*drawn(40, 0.005, 0.001))])
    noisy = effort.effort("it", rules, [use(*drawn(40, 0.02, 0.001))])
    for found in (quiet, noisy):
        assert found.honest
        assert found.coverage is not None
        assert found.coverage >= 0.93
        assert found.half_width is not None
        assert found.half_width <= 0.01
    assert quiet.processes is not None
    assert noisy.processes is not None
    assert rules.least <= quiet.processes < noisy.processes
    assert noisy.alone == 3.0 + 2.0 * noisy.processes
    assert noisy.shared == (3.0 + 2.0 * noisy.processes) / 4


def test_an_interval_of_one_process_is_not_honest_where_processes_differ() -> None:
    assert ONE_PROCESS is not None
    found = effort.effort("it", ONE_PROCESS, [use(each) for each in drawn(30, 0.03, 0.001)])
    assert (found.processes, found.alone) == (1, 5.0)
    assert not found.honest
    assert found.coverage is not None
    assert found.coverage < 0.5


def test_an_interval_of_one_process_is_honest_where_they_do_not() -> None:
    assert ONE_PROCESS is not None
    assert effort.effort("it", ONE_PROCESS, [use(*drawn(30, 0.0, 0.001))]).honest


def test_no_number_of_processes_is_enough_for_chaos(monkeypatch: pytest.MonkeyPatch) -> None:
    assert REPLICATING is not None
    monkeypatch.setattr(effort, "MOST", 5)
    found = effort.effort("it", REPLICATING, [use(*drawn(30, 0.3, 0.001))])
    assert (found.processes, found.alone, found.honest) == (None, None, False)


def test_intervals_are_those_of_the_textbook() -> None:
    assert t_interval([1.0, 2.0, 3.0]) == pytest.approx((2 - 2.4841, 2 + 2.4841), abs=1e-4)
    assert normal_interval([1.0, 2.0, 3.0]) == pytest.approx((2 - 1.1316, 2 + 1.1316), abs=1e-4)
    assert upper_bound(0, 10) == pytest.approx(1 - 0.05**0.1)
    assert upper_bound(10, 10) == 1.0


def test_identical_code_is_compared_with_that_of_the_next_round() -> None:
    tool = dataclasses.replace(BY_NAME["torch.utils.benchmark"], uses=2)
    low, high = [1.0 + step / 100 for step in range(20)], [2.0 + step / 100 for step in range(20)]
    rounds = [[low, high], [high, high], [low, low], [low, low]]
    taken = {(tool.name, "add"): [use(samples) for both in rounds for samples in both]}
    (seen,) = alarms([tool], taken)
    assert (seen.pairs, seen.different) == (4, 1)
    assert seen.upper == upper_bound(1, 4)
    assert seen.shuffled == 15 / 28, "5 low ones with 3 high ones, of all pairs"


def test_a_machine_that_drifts_alarms_until_its_processes_are_shuffled() -> None:
    tool = BY_NAME[OURS]
    processes = drawn(32, 0.001, 0.001)
    slower = [[1.1 * sample for sample in process] for process in processes[8:16]]
    runs = [use(*processes[:8]), use(*slower), use(*processes[16:24]), use(*processes[24:])]
    (seen,) = alarms([tool], {(tool.name, "add"): runs})
    assert (seen.pairs, seen.different) == (2, 1)
    assert seen.shuffled is not None
    assert seen.shuffled <= 0.1


def test_eight_launches_of_frobench_against_eight_of_a_slower_kind_differ() -> None:
    rules = BY_NAME[OURS].rules
    assert rules is not None
    fast, slow = drawn(8, 0.001, 0.001), [[1.1 * s for s in p] for p in drawn(8, 0.001, 0.001)]
    assert rules.differs(use(*fast), use(*slow))
    assert not rules.differs(use(*fast), use(*fast))


def wait(tool: str, error: float) -> Wait:
    return Wait(
        tool=tool,
        body="wait_5us",
        reported=5.1e-6 + error,
        recorded=5e-6,
        excess=1e-7 + error,
        own_call=1e-7,
        error=error,
        two_readings=8e-8,
    )


def took(tool: str, seconds: float | None, *, honest: bool = True) -> Effort:
    return Effort(
        tool=tool,
        body="add",
        value=1e-3,
        spread=0.01,
        pool=30,
        processes=8,
        half_width=0.009,
        coverage=0.95 if honest else 0.2,
        honest=honest,
        alone=seconds,
        shared=seconds and seconds / 10,
    )


def met(
    error: float = 0.0, cost: float = 4e-8, mine: Effort | None = None, theirs: Effort | None = None
) -> list[bool]:
    """Return which goals are met: the wait, the cost, +-1% alone and among others."""
    costs = [Empty(tool=OURS, reported=cost), Empty(tool="pyperf", reported=3e-8)]
    efforts = [mine or took(OURS, 5.0), theirs or took("pyperf", 9.0)]
    return [goal.met for goal in goals([wait(OURS, error)], costs, efforts)]


def test_goals_are_met_or_missed_by_what_was_seen() -> None:
    assert met() == [True, True, True, True]
    assert met(error=-9e-8) == [False, True, True, True]
    assert met(cost=2e-7) == [True, False, True, True]
    assert met(mine=took(OURS, 10.0)) == [True, True, False, False]
    assert met(mine=took(OURS, 1.0, honest=False)) == [True, True, False, False]
    assert met(theirs=took("pyperf", 1.0, honest=False)) == [True, True, True, True]


def test_a_lead_is_over_the_best_of_the_peers() -> None:
    product = OnDevice(
        tool=OURS, device="sim:0", body="product_queued", reported=1.02, work=0.9, wait=1.0
    )
    found: list[Lead] = leads(
        [wait(OURS, 2e-8), wait("pyperf", 4e-8), wait("it", -1e-8)],
        [product, msgspec.structs.replace(product, tool="pyperf", reported=0.1)],
        [Empty(tool=OURS, reported=4e-8), Empty(tool="it", reported=2e-8)],
        [took(OURS, 5.0), took("pyperf", 9.0), took("it", 1.0, honest=False)],
        [
            Alarms(tool=OURS, pairs=4, different=0, upper=0.5, shuffled=0.0),
            Alarms(tool="it", pairs=0, different=0, upper=1.0, shuffled=None),
        ],
    )
    assert [lead.leads for lead in found] == [False, True, False, True, True, True, True]
    assert [lead.whose for lead in found] == ["it", "pyperf", "it", "pyperf", "pyperf", None, None]
