# SPDX-License-Identifier: MIT
"""What calls, cases and runs should take, from runs whose times are known, or from none."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from frobench.suite.journal import Collected, Declared, Identity
from frobench.suite.profiles import PROFILES, settings_for
from frobench.suite.run.expected import (
    ACCELERATOR,
    CPU,
    Expected,
    ExpectedCase,
    expect,
    newest,
)
from frobench.suite.stored import store
from frobench.suite.stored.differences import machine_id
from frobench.suite.stored.store import most_launches
from frobench.suite.stored.types import Case, Exercise, Run, Settings, Work
from frobench.suite.terminal.listing import lines
from tests.instruments.runs import factory
from tests.instruments.runs.exact_runs import LAUNCHES, case

RATE = 1e10
SETTINGS = settings_for("standard", ["cpu"])
EXERCISES = {"matmul": Exercise(question="How fast?", explanation="So.")}


def product(n: int) -> Work:
    return Work(flops=2.0 * n**3)


def square(n: int, seconds: float | None = None, device: str = "cpu") -> Case:
    """Build a stored product that takes its launch and the time of its rate."""
    seconds = 20e-6 + 2 * n**3 / RATE if seconds is None else seconds
    return replace(
        case("bench_square", [seconds] * LAUNCHES, device, work=product(n), n=n), group="matmul"
    )


def before(*cases: Case) -> Run:
    return replace(factory.run(launches=LAUNCHES), benchmarks=list(cases))


def identity(n: int, function: str = "bench_square", **more: Any) -> Identity:  # noqa: ANN401
    """Build a case as it is collected."""
    device = more.pop("device", "cpu")
    facts = {
        "fullname": f"bench.py::{function}[{device}-{n}]",
        "name": f"{function}[{device}-{n}]",
        "group": "matmul",
        "function": function,
        "params": {"device": device, "n": n},
        "param": f"{device}-{n}",
        "title": "Multiply.",
        "headline": True,
        "devices": device.split("+"),
        "version": "1",
    }
    return Identity(**facts | more)


def expected(
    *cases: Identity,
    run: Run | None = None,
    works: dict[str, Work] | None = None,
    settings: Settings = SETTINGS,
) -> Expected:
    found = Collected(cases=list(cases), exercises=EXERCISES)
    sizes = {one.fullname: one.params["n"] for one in cases}
    known = {name: product(n) for name, n in sizes.items() if isinstance(n, int)}
    works = known if works is None else works
    return expect(
        found, Declared(machine="here", machine_id="", works=works, absent={}), settings, run
    )


def only(**how: Any) -> ExpectedCase:  # noqa: ANN401 - see `expected`
    (found,) = expected(how.pop("case"), **how).cases
    return found


def test_a_case_that_was_measured_takes_as_long_again() -> None:
    found = only(case=identity(64), run=before(square(64, 3e-3)))
    assert (found.call_seconds, found.basis) == (3e-3, "measured")


def test_another_version_of_a_case_was_not_measured() -> None:
    found = only(case=identity(64, version="2"), run=before(square(64, 3e-3)))
    assert found.basis == "rates"


def test_a_larger_case_is_continued_from_the_smaller_ones() -> None:
    found = only(case=identity(512), run=before(square(64), square(256)))
    assert found.basis == "sizes"
    assert found.call_seconds == pytest.approx(20e-6 + 2 * 512**3 / RATE)


def test_another_benchmark_goes_at_the_rate_of_the_nearest_work_on_its_device() -> None:
    run = before(square(64), square(512, 1.0), square(256, 9.0, device="cuda:0"))
    found = only(case=identity(256, "bench_other"), run=run)
    assert found.basis == "rates"
    assert found.call_seconds == pytest.approx(1 / 8)


def test_what_is_smaller_than_anything_measured_takes_as_long_as_the_quickest() -> None:
    found = only(case=identity(1, "bench_other"), run=before(square(64)))
    assert found.call_seconds == pytest.approx(20e-6 + 2 * 64**3 / RATE)


def test_without_a_run_there_are_nominal_rates() -> None:
    found = only(case=identity(1000))
    assert found.basis == "nominal"
    assert found.call_seconds == pytest.approx(CPU.call + 2e9 / CPU.flops)
    there = only(case=identity(1000, device="cuda:0+cuda:1"))
    assert there.call_seconds == pytest.approx(ACCELERATOR.call + 2e9 / ACCELERATOR.flops)


@pytest.mark.parametrize(
    ("work", "seconds"),
    [
        (Work(items=100), 100 * CPU.item),
        (Work(bytes=5e6, items=1e6), 5e6 / CPU.bytes),
        (Work(flops=2e9, bytes=5e9), 2e9 / CPU.flops + 5e9 / CPU.bytes),
    ],
)
def test_items_count_where_nothing_else_is_declared(work: Work, seconds: float) -> None:
    case = identity(8)
    found = only(case=case, works={case.fullname: work})
    assert found.call_seconds == pytest.approx(CPU.call + seconds)


def test_a_call_that_declares_no_work_has_no_expected_time() -> None:
    case = identity(8)
    found = only(case=case, works={case.fullname: Work()})
    assert (found.call_seconds, found.basis) == (None, None)


@pytest.mark.parametrize(
    ("parameters", "work", "seconds"),
    [
        ({"batch": 64}, Work(flops=1e6, items=100 * 64), 100 * CPU.item),
        ({"batch": 64}, Work(flops=2e11, items=100 * 64), 2e11 / CPU.flops),
        ({"tokens": 4096}, Work(flops=2e9, items=4096), 2e9 / CPU.flops),
        ({}, Work(flops=1e6, items=30), 30 * CPU.item),
    ],
)
def test_steps_take_their_launches_and_a_batch_takes_one(
    parameters: dict[str, int], work: Work, seconds: float
) -> None:
    case = identity(8, params={"device": "cpu", "n": 8, **parameters})
    found = expected(case, works={case.fullname: work}).cases[0]
    assert found.call_seconds == pytest.approx(CPU.call + seconds)


def test_work_that_nobody_knows_is_that_of_the_same_case_on_another_device() -> None:
    there = identity(64, device="cuda:0")
    found = only(case=there, run=before(square(64)), works={})
    assert found.work == product(64)
    unknown = only(case=identity(65, device="cuda:0"), run=before(square(64)), works={})
    assert (unknown.work, unknown.call_seconds, unknown.basis) == (None, None, None)
    assert unknown.run_seconds is not None


def test_what_would_take_too_long_is_left_out_and_on_a_guess_may_be() -> None:
    run = before(square(1024, 0.19), square(2048, 5.0))
    cases = expected(identity(1024), identity(2048), identity(4096), run=run).cases
    assert [one.left_out is None for one in cases] == [True, False, False]
    assert cases[1].left_out == "takes about 5 s a call, over this profile's 200 ms"
    assert [one.run_seconds is None for one in cases] == [False, True, True]
    assert (only(case=identity(10_000)).left_out or "").startswith("may take about 100 s a call")


def test_the_same_profile_leaves_out_what_it_left_out_before() -> None:
    run = factory.run(launches=LAUNCHES)
    skipped = next(one for one in run.frobench.outcomes if one.status == "skipped")
    again = identity(64, fullname=skipped.fullname)
    assert only(case=again, run=run).left_out == skipped.reason
    other = settings_for("rigorous", ["cpu"])
    assert only(case=again, run=run, settings=other).left_out is None


def test_launches_fill_the_budget_and_cases_add_up_to_them() -> None:
    found = expected(*(identity(n) for n in range(100)))
    assert found.launches >= SETTINGS.least_launches
    assert 0.8 * SETTINGS.budget < found.run_seconds <= SETTINGS.budget
    cases = sum(one.run_seconds or 0 for one in found.cases)
    assert 0 < found.launches * found.launch_seconds - cases < 0.2 * found.run_seconds


def test_too_many_cases_overrun_the_budget_and_it_says_so() -> None:
    found = expected(*(identity(n) for n in range(2000)))
    assert found.launches == SETTINGS.least_launches
    assert found.run_seconds > PROFILES["standard"].budget


def test_launches_that_are_asked_for_are_made() -> None:
    settings = settings_for("standard", ["cpu"], launches=3)
    assert expected(identity(64), settings=settings).launches == 3


def test_no_more_launches_are_expected_than_a_stored_file_holds() -> None:
    settings = settings_for("standard", ["cpu"], launches=50)
    cases = [identity(n, f"bench_{number}") for n in range(64) for number in range(10)]
    listed = expected(*cases, settings=settings)
    assert {case.left_out for case in listed.cases} == {None}
    assert listed.launches == most_launches(len(cases), settings.most_samples) < 50


def test_the_newest_complete_run_of_this_machine_is_asked(tmp_path: Path) -> None:
    paths = []
    for number, (partial, model) in enumerate([(False, 17), (False, 17), (False, 1), (True, 17)]):
        run = factory.run(partial=partial)
        run.frobench.run = f"2026010{number}T000000Z-abc"
        run.frobench.environment.cpu.model_number = model
        paths.append(store.write(run, tmp_path))
    paths[1].with_name("20270101T000000Z-abc.json").write_text("{")
    here = store.read(paths[1]).frobench.environment
    found = newest(paths[0].parent, machine_id(here.cpu, here.accelerators))
    assert found is not None
    assert found.frobench.run == paths[1].stem
    assert newest(tmp_path / "nowhere", "") is None


def test_list_asks_runs_of_this_machine_with_any_label(tmp_path: Path) -> None:
    run = factory.run()
    here = run.frobench.environment
    here.label = "0123456789"
    folder, unlabelled = store.write(run, tmp_path).parent, machine_id(here.cpu, here.accelerators)
    assert newest(folder, unlabelled, labelled=False) is not None
    assert newest(folder, unlabelled) is None


def listed() -> Expected:
    """Return cases of each kind that a list marks."""
    eight = "+".join(f"cuda:{index}" for index in range(8))
    cases = [
        identity(64),
        identity(128, headline=False),
        identity(4096),
        identity(4096, "bench_other"),
        identity(64, "bench_all_of_them_together_at_once", device=eight),
    ]
    return expected(*cases, run=before(square(64), square(128, 0.5)))


@pytest.mark.parametrize("width", [200, 100, 80, 70, 60, 40])
def test_the_list_keeps_to_the_width_of_the_terminal(width: int) -> None:
    shown = list(lines(listed(), width))
    assert all(len(line) <= width for line in shown if " " in line.strip())  # names stay whole
    text = " ".join(" ".join(shown).split())
    assert "square[cpu-64]" in text
    assert "524 kFLOP" in text
    assert "72.4 µs" in text
    assert text.count("left out?") == 1


def test_a_narrow_list_has_a_sentence_for_each_case() -> None:
    text = " ".join(" ".join(lines(listed(), 40)).split())
    assert "square[cpu-64]: work of a call 524 kFLOP, a call 72.4 µs, in the run " in text
    longest = "work of a call 137 GFLOP, a call about 273 min, r, in the run left out?"
    assert f"other[cpu-4096]: {longest}" in text


def test_the_table_marks_what_is_not_measured() -> None:
    shown = list(lines(listed(), 100))
    text = "\n".join(shown)
    assert "matmul: How fast?" in text
    (measured,) = (line for line in shown if " square[cpu-64]" in line)
    assert measured.split()[1:5] == ["524", "kFLOP", "72.4", "µs"]
    (larger,) = (line for line in shown if "square[cpu-4096]" in line)
    assert larger.split()[-3:] == ["s", "left", "out"]
    (measured,) = (line for line in shown if " square[cpu-128]" in line)
    assert measured.split()[-4:] == ["500", "ms", "left", "out"]
    assert "together_at_once[cuda:0+...+cuda:7-64]" in text
    (guessed,) = (line for line in shown if "other[cpu-4096]" in line)
    assert guessed.split()[-3:] == ["r", "left", "out?"]
    assert "standard: about " in text
    marks, _, table = text.partition("\n\n")
    assert '"n" from declared work at nominal rates' in marks
    assert "matmul: How fast?" in table
