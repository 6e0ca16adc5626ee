# SPDX-License-Identifier: MIT
"""The comparison with other tools: what they say is read rightly, and shown as it is."""

import random
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from studies.peers import page, plan
from studies.peers.adapters import OURS, cuda_bench, pyperf_runner, tools
from studies.peers.bodies import EMPTY, MAIN, MORE, WAITS, make
from studies.peers.figures import Figures
from studies.peers.rules import student
from studies.peers.single import Timed, measurements
from studies.peers.tool import ROOT, Measurement, Order, Process, Tool, alone, grouped
from studies.peers.waits import Recorded, Wait, write_down

PAGE, FIGURES = ROOT / "docs" / "peers.md", ROOT / "docs" / "peers.json"
BY_NAME = {tool.name: tool for tool in tools()}


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
    least = 500e-6 - 1e-9  # readings of a clock are rounded
    assert all(sample >= recorded >= least for sample, recorded in pairs)
    assert process.alone > sum(process.samples)


def test_a_wait_records_every_call_and_lasts_no_less_than_it_should() -> None:
    wait = Wait(1e-4)
    for _ in range(7):
        wait.body()
    seen = wait.finish()
    assert len(seen.lengths) == 7
    assert min(seen.lengths) >= 1e-4 - 1e-9  # readings of a clock are rounded
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
    written = {"benchmarks": [{"name": "product", "states": [{"summaries": summaries}]}]}
    assert cuda_bench.means_in(written) == {"product": 2.5e-05}


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
    fine = Tool(**{**vars(good), "measure": lambda _: [Measurement(body="add", processes=[])]})
    planned = [plan.Use(study=plan.REAL, tool=one, bodies=(), processes=1) for one in (bad, fine)]
    said: list[str] = []
    taken, failed = plan.carry_out(planned, tmp_path, said.append)
    assert failed == ["bad: real bodies"]
    assert len(taken[plan.REAL]["pyperf", "add"]) == 1
    assert len(said) == 3
