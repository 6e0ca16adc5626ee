# SPDX-License-Identifier: MIT
"""The comparison with other tools: their numbers are read rightly, and judged without favour."""

import random
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from tests.peers import effort, page, plan
from tests.peers.adapters import OURS, cuda_bench, pyperf_runner, tools
from tests.peers.bodies import EMPTY, MAIN, MORE, WAITS, make
from tests.peers.figures import Alarms, Effort, Empty, Figures, Lead, OnDevice, Wait
from tests.peers.goals import goals, leads
from tests.peers.rules import normal_interval, student, t_interval, upper_bound
from tests.peers.single import Timed, measurements
from tests.peers.studies import alarms
from tests.peers.tool import ROOT, Measurement, Order, Process, Rules, Tool, alone, grouped
from tests.peers.waits import Recorded, write_down
from tests.peers.waits import Wait as BusyWait

PAGE, FIGURES = ROOT / "docs" / "peers.md", ROOT / "docs" / "peers.json"
BY_NAME = {tool.name: tool for tool in tools()}
REPLICATING = BY_NAME["pyperf"].rules
ONE_PROCESS = BY_NAME["torch.utils.benchmark"].rules


def test_the_page_shows_the_figures_that_are_stored() -> None:
    figures = msgspec.json.decode(FIGURES.read_bytes(), type=Figures)
    written = PAGE.read_text(encoding="utf-8")
    assert page.fill(written, figures) == written


def test_the_page_shows_every_table() -> None:
    written = PAGE.read_text(encoding="utf-8")
    assert [name for name in page.TABLES if f"<!-- {name} -->" not in written] == []


@pytest.mark.parametrize("name", [tool.name for tool in tools() if tool.rules])
def test_a_tool_sees_at_least_what_a_wait_recorded_in_each_sample(
    name: str, tmp_path: Path
) -> None:
    order = Order(bodies=("wait_500us",), folder=tmp_path, processes=1, budget=1.0)
    (seen,) = BY_NAME[name].measure(order)
    (process,) = seen.processes
    assert seen.body == "wait_500us"
    assert len(process.samples) == len(process.recorded) > 0
    pairs = zip(process.samples, process.recorded, strict=True)
    assert all(sample >= recorded >= 500e-6 for sample, recorded in pairs)
    assert process.alone > sum(process.samples)


def test_a_wait_records_every_call_and_lasts_no_less_than_it_should() -> None:
    wait = BusyWait(1e-4)
    for _ in range(7):
        wait.body()
    seen = wait.finish()
    assert len(seen.lengths) == 7
    assert min(seen.lengths) >= 1e-4
    assert seen.two_readings > 0


def test_bodies_return_the_same_each_time() -> None:
    for name in (EMPTY, *MAIN, *MORE):
        body = make(name)
        first, second = body(), body()
        assert str(first) == str(second), name


def test_a_process_is_timed_for_each_body_as_if_it_had_been_alone() -> None:
    assert alone(10.0, [1.0, 3.0]) == [7.0, 9.0]


def test_calls_are_put_together_as_the_samples_were() -> None:
    lengths = [9.0, 9.0, 1.0, 2.0, 3.0, 4.0, 7.0]
    assert grouped(lengths, iterations=2, samples=2, after=1) == [1.5, 3.5]
    with pytest.raises(ValueError, match="4 samples of 2 calls, but 7 calls"):
        grouped(lengths, iterations=2, samples=4)


def test_one_process_hands_over_its_bodies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEERS_FOLDER", str(tmp_path))
    write_down("wait_5us", Recorded(lengths=[8.0, 5.0, 7.0], own_call=0.1, two_readings=0.2))
    timed = [
        Timed(body="wait_5us", samples=[6.5], iterations=2, seconds=2.0),
        Timed(body="add", samples=[1.0, 2.0], iterations=1, seconds=3.0),
    ]
    wait, add = measurements(timed, 10.0, tmp_path)
    assert wait.processes == [
        Process(
            samples=[6.5], recorded=[6.0], own_call=0.1, two_readings=0.2, alone=7.0, shared=5.0
        )
    ]
    assert add.processes == [Process(samples=[1.0, 2.0], alone=8.0, shared=5.0)]


def test_pyperfs_processes_last_from_the_end_of_the_one_before() -> None:
    def written(second: int, **values: list[float]) -> dict[str, Any]:
        return {"metadata": {"date": f"2026-11-20 08:00:{second:02}", "loops": 2}, **values}

    recorded = [
        Recorded(lengths=[1.0, *lengths], own_call=0.1, two_readings=0.2)
        for lengths in ([9.0], [4.0, 6.0], [6.0, 8.0])
    ]
    runs = [written(10, warmups=[1.0]), written(12, values=[5.5]), written(17, values=[7.5])]
    first, second = pyperf_runner.timed_processes(runs, recorded)
    assert (first.samples, first.recorded, first.alone) == ([5.5], [5.0], 2.0)
    assert (second.samples, second.recorded, second.shared) == ([7.5], [7.0], 5.0)


def test_pyperfs_verdict_is_its_own() -> None:
    pyperf = pytest.importorskip("pyperf._utils")
    draw = random.Random(1)  # noqa: S311 - not for secrets
    words = set()
    for shift in (0.0, 0.3, 0.6, 0.9):
        base = [draw.gauss(10, 1) for _ in range(30)]
        new = [draw.gauss(10 + shift, 1) for _ in range(30)]
        words.add(student(base, new))
        assert student(base, new) == pyperf.is_significant(base, new)[0]
    assert words == {True, False}


def test_cuda_benchs_mean_is_found() -> None:
    data = [{"name": "value", "type": "float64", "value": "2.5e-05"}]
    summaries = [{"tag": "nv/cold/sample_size", "data": []}, {"tag": cuda_bench.MEAN, "data": data}]
    assert cuda_bench.mean_in({"benchmarks": [{"states": [{"summaries": summaries}]}]}) == 2.5e-05


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


def test_identical_code_is_compared_in_disjoint_pairs() -> None:
    tool = BY_NAME["torch.utils.benchmark"]
    low, high = [1.0 + step / 100 for step in range(20)], [2.0 + step / 100 for step in range(20)]
    taken: plan.Taken = {(tool.name, "add"): [use(low), use(high), use(low), use(low), use(high)]}
    (seen,) = alarms([tool], taken)
    assert (seen.pairs, seen.different) == (2, 1)
    assert seen.upper == upper_bound(1, 2)


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
        [product, replace(product, tool="pyperf", reported=0.1)],
        [Empty(tool=OURS, reported=4e-8), Empty(tool="it", reported=2e-8)],
        [took(OURS, 5.0), took("pyperf", 9.0), took("it", 1.0, honest=False)],
        [
            Alarms(tool=OURS, pairs=4, different=0, upper=0.5),
            Alarms(tool="it", pairs=0, different=0, upper=1.0),
        ],
    )
    assert [lead.leads for lead in found] == [False, True, False, True, True, True]
    assert [lead.whose for lead in found] == ["it", "pyperf", "it", "pyperf", "pyperf", None]


def test_every_tool_takes_part_in_each_round_in_an_order_of_its_own() -> None:
    here = [tool for tool in BY_NAME.values() if tool.rules]
    planned = list(plan.uses(here, ["sim:0"], plan.FULL))
    seen = Counter((use.tool.name, body) for use in planned for body in use.bodies)
    for tool in here:
        assert all((tool.name, body) in seen for body in (*WAITS, EMPTY, *MAIN))
        assert all(seen[tool.name, body] % 2 == 0 for body in MAIN), "pairs of identical code"
    size = len(planned) // plan.FULL.rounds
    orders = [[use.tool.name for use in planned[at : at + size]] for at in (0, size)]
    assert orders[0] != orders[1]


def test_a_tool_is_missing_with_its_reason_and_frobench_is_first() -> None:
    assert next(iter(BY_NAME)) == OURS
    assert {BY_NAME[name].missing() for name in ("cuda-bench", "triton do_bench")} <= {
        "needs a CUDA GPU",
        "not installed",
        None,
    }


def test_a_use_that_fails_does_not_end_the_others(tmp_path: Path) -> None:
    def fail(order: Order) -> list[Measurement]:
        raise RuntimeError(order.device)

    good = BY_NAME["pyperf"]
    bad = Tool(**{**vars(good), "name": "bad", "measure": fail})
    fine = Tool(**{**vars(good), "measure": lambda _: [use([1.0])]})
    planned = [plan.Use(study=plan.REAL, tool=one, bodies=(), processes=1) for one in (bad, fine)]
    said: list[str] = []
    taken, failed = plan.carry_out(planned, tmp_path, said.append)
    assert failed == ["bad: real bodies"]
    assert len(taken[plan.REAL]["pyperf", "add"]) == 1
    assert len(said) == 3
