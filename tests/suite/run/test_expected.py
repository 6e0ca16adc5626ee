# SPDX-License-Identifier: MIT
"""What calls, cases and runs should take, from a run whose times are known, or from none."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import asdict, astuple, replace

from frobench.suite.journal import Collected
from frobench.suite.plan import CaseIdentity
from frobench.suite.profiles import PROFILES, settings_for
from frobench.suite.run.expected import Expected, ExpectedCase, expect, newest, run_before
from frobench.suite.stored import store
from frobench.suite.stored.machine_identity import machine_id
from frobench.suite.stored.types import Case, Exercise, ProfileName, Run, Settings, Work
from tests.instruments.runs import factory, made_up_records
from tests.instruments.runs.exact_runs import LAUNCHES, case

RATE = 1e10
SETTINGS, RIGOROUS = settings_for("standard", ["cpu"]), settings_for("rigorous", ["cpu"])
EXERCISES = {"matmul": Exercise(question="How fast?", explanation="So.")}


def product(n: int) -> Work:
    return Work(flops=2.0 * n**3)


def square(n: int, seconds: float | None = None, device: str = "cpu") -> Case:
    """Build a stored product that takes its launch and the time of its rate."""
    seconds = 20e-6 + 2 * n**3 / RATE if seconds is None else seconds
    made = case("bench_square", [seconds] * LAUNCHES, device, work=product(n), n=n)
    return replace(made, group="matmul")


def before(*cases: Case) -> Run:
    return replace(factory.run(launches=LAUNCHES), benchmarks=list(cases))


def identity(n: int, function: str = "bench_square", **more: Any) -> CaseIdentity:  # noqa: ANN401
    """Build a case as it is collected."""
    device = more.pop("device", "cpu")
    name, params = f"{function}[{device}-{n}]", {"device": device, "n": n}
    known = {"fullname": f"bench.py::{name}", "params": params, "param": f"{device}-{n}"}
    return made_up_records.identity(name, *device.split("+"), **known | more)


def expected(
    *cases: CaseIdentity, run: Run | None = None, settings: Settings = SETTINGS, absent: str = ""
) -> Expected:
    why = {case.fullname: absent for case in cases if absent}
    found = Collected(cases=list(cases), exercises=EXERCISES, machine="here", absent=why)
    return expect(found, settings, run)


NOTHING = (None, None, None)


@pytest.mark.parametrize(
    ("case", "known"),
    [
        (identity(64), (product(64), 3e-3, None)),
        (identity(64, version="2"), NOTHING),
        (identity(64, device="cuda:0"), NOTHING),
        (identity(128), NOTHING),
    ],
)
def test_a_case_that_was_measured_takes_as_long_again_and_of_another_nothing_is_known(
    case: CaseIdentity, known: tuple[object, ...]
) -> None:
    (found,) = expected(case, run=before(square(64, 3e-3))).cases
    assert (found.work, found.call_seconds, found.left_out) == known


@pytest.mark.parametrize(("device", "budget"), [("cpu/0+cpu/1", 288), ("cuda:0", 440)])
def test_without_a_run_nothing_is_known_but_the_budget(device: str, budget: float) -> None:
    case = identity(64, device=device)
    cases = [ExpectedCase(**asdict(case), work=None, call_seconds=None, left_out=None)]
    told = astuple(expected(case))
    assert told == ("standard", "here", None, 0.2, budget, None, None, EXERCISES, cases)


def test_what_takes_too_long_for_the_profile_is_left_out() -> None:
    run = before(square(1024, 0.19), square(2048, 5.0))
    quick, slow = expected(identity(1024), identity(2048), run=run).cases
    assert quick.left_out is None
    assert slow.left_out == "takes about 5 s a call, over this profile's 200 ms"
    assert expected(identity(2048), run=run, absent="no card").cases[0].left_out == "no card"


def test_the_same_profile_leaves_out_what_it_left_out_before() -> None:
    run = factory.run(launches=LAUNCHES)
    skipped = next(one for one in run.frobench.outcomes if one.status == "skipped")
    again = identity(64, fullname=skipped.fullname)
    for settings, reason in ((SETTINGS, skipped.reason), (RIGOROUS, None)):
        assert expected(again, run=run, settings=settings).cases[0].left_out == reason


def test_launches_are_expected_to_take_as_long_as_those_of_the_last_run() -> None:
    run = before(*(square(n) for n in range(1, 101)))
    for number, launch in enumerate(run.frobench.launches):
        launch.seconds = 27.5 if number else 100.0  # which was disturbed
    whole = expected(*(identity(n) for n in range(1, 101)), run=run)
    assert (whole.launches, whole.run_seconds) == pytest.approx((9, 10 * 27.5))
    half = expected(*(identity(n) for n in range(1, 51)), run=run)
    assert (half.launches, half.run_seconds) == pytest.approx((18, 19 * 15.0))


def test_how_long_a_run_takes_is_unknown_where_a_case_or_the_profile_is_new() -> None:
    run = before(square(64))
    assert expected(identity(64), run=run).run_seconds is not None
    assert expected(identity(64), identity(128), run=run).run_seconds is None
    assert expected(identity(64), run=run, settings=RIGOROUS).run_seconds is None


def test_the_newest_complete_run_of_this_machine_is_asked(tmp_path: Path) -> None:
    paths = []
    for number, (partial, model) in enumerate([(False, 17), (False, 17), (False, 1), (True, 17)]):
        run = factory.run(partial=partial)
        run.frobench.run = f"2026010{number}T000000Z-abc"
        run.frobench.environment.cpu.model_number = model
        run.frobench.environment.label = "0123456789"
        paths.append(store.write(run, tmp_path))
    for day in range(1, 10):
        paths[1].with_name(f"2027010{day}T000000Z-abc.json").write_text("{")
    here = store.read(paths[1]).frobench.environment
    machine = machine_id(here.cpu, here.accelerators, here.label)
    found: Any = newest(paths[0].parent, machine)
    assert found.frobench.run == paths[1].stem
    paths[1].with_name("20280101T000000Z-abc.json").write_text("{")  # the twelfth that is no use
    assert newest(paths[0].parent, machine) is None
    assert newest(tmp_path / "nowhere", "") is None


def test_the_newest_run_of_all_cases_or_else_the_newest_one_is_asked(tmp_path: Path) -> None:
    kinds: list[tuple[ProfileName, int]] = [("standard", 0), ("standard", 1), ("quick", 0)]
    for day, (profile, lacking) in enumerate(kinds):
        run = factory.run()
        run.frobench.run, run.frobench.profile = f"2026010{day}T000000Z-abc", profile
        run.frobench.environment.label = "0123456789"
        del run.frobench.outcomes[:lacking]
        store.write(run, tmp_path)
    here = run.frobench.environment
    cases = [identity(1, fullname=outcome.fullname) for outcome in run.frobench.outcomes]
    where = machine_id(here.cpu, here.accelerators)
    found = Collected(cases=cases, exercises={}, machine=here.machine, machine_id=where)
    for asked, day in zip(PROFILES, (2, 0, 2), strict=True):  # no run is rigorous
        last: Any = run_before(tmp_path, found, asked)
        assert last.frobench.run.startswith(f"2026010{day}")
