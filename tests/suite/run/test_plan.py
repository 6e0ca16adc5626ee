# SPDX-License-Identifier: MIT
"""How long a launch should take, which cases fit the budget, and the time that each gets."""

import time
from collections.abc import Mapping
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from frobench.suite.errors import CannotRunError
from frobench.suite.journal import Begun, Collected, Measured, Refused, Surroundings
from frobench.suite.machine.cpu_time import Accounts
from frobench.suite.plan import CaseIdentity, Plan
from frobench.suite.profiles import AS_BEFORE, PROFILES, headline_times, settings_for
from frobench.suite.run.planning import (
    WARM_UP_CALLS,
    admit,
    choices,
    choose_case_seconds,
    freeze,
    is_disturbed,
    launch_seconds,
    launch_share,
    outcome,
    too_long,
)
from frobench.suite.run.runner import Request, _announce, settle
from frobench.suite.stored.store import most_launches
from frobench.suite.stored.types import Outcome, Search, Work
from tests.instruments.devices.piloted import Delay, MadeUp, Pilot
from tests.instruments.runs import factory, made_up_records
from tests.instruments.runs.factory_machine import environment
from tests.instruments.runs.made_up_records import measured

STANDARD = settings_for("standard", ["cpu"])
LEAST = PROFILES["standard"].least_case_seconds


def seen(call: float = 1e-3, **more: Any) -> Measured:  # noqa: ANN401 - fields of all types
    """Return what a pilot journals of a case of five calls."""
    facts: dict[str, Any] = {
        "samples": [call] * 5,
        "warmup": call,
        "sampled": 5 * call,
        "wall_seconds": 6 * call,
    }
    return made_up_records.measured(more.pop("case", "a"), **facts | more)


def said(**settings: Any) -> list[str]:  # noqa: ANN401 - as `settings_for` takes them
    """Return what is said of a plan of 40 s whose launches take 60 s each."""
    lines: list[str] = []
    plan = made_up_records.plan(
        settings_for("standard", ["cpu"], **settings), plan_seconds=40.0, launch_seconds=60.0
    )
    reporter: Any = SimpleNamespace(say=lines.append, verbose=False)
    _announce(plan, reporter)
    return lines


def test_it_is_said_at_once_if_the_fewest_launches_take_more_than_the_budget() -> None:
    first, more = said()
    assert first == "0 cases in 6 launches of about 1:00 each"
    assert more.startswith("6 launches and this pilot take about 6:40, more than the budget")
    assert "of 4:48;" in more
    assert said(budget=401.0) == said(launches=6) == [first]


def test_a_launch_starts_up_sets_up_warms_up_and_samples() -> None:
    case = seen(wall_seconds=0.1 + 6e-3)
    warm_up = (1 + WARM_UP_CALLS) * 1e-3
    assert launch_seconds([case] * 2, 3.0, 0.5) == pytest.approx(3.0 + 2 * (0.1 + warm_up + 0.5))


def test_what_six_launches_have_no_time_for_is_left_out_the_longest_first() -> None:
    pairs = cases(headline=(1.0,), others=(0.1, 3.0, 2.0, 0.1))
    share = (450 - 50) / 6
    startup = share - launch_seconds([one for _, one in pairs], 0.0, LEAST)
    assert not too_long(pairs, STANDARD, startup, 50.0)
    assert {*too_long(pairs, STANDARD, startup + 1.0, 50.0)} == {"other 1"}
    found = too_long(pairs, STANDARD, startup + 20.0, 50.0)
    assert [*found] == ["other 1", "other 2"]
    assert found["other 1"].status == "skipped"
    assert found["other 1"].reason.startswith("it takes 15 s of each launch")
    assert "--budget" in found["other 1"].reason


def test_a_run_on_a_busy_processor_may_take_longer_rather_than_lose_cases() -> None:
    pairs = cases(headline=(1.0,), others=(0.1, 3.0))
    late = (450 - 50) / 6
    assert too_long(pairs, STANDARD, late, 50.0)
    accounts = [Accounts(record.wall_seconds, record.wall_seconds / 2) for _, record in pairs]
    busy = [
        (case, replace(record, undisturbed=record.quickest, accounts=its))
        for (case, record), its in zip(pairs, accounts, strict=True)
    ]
    assert is_disturbed([record for _, record in busy])
    assert not is_disturbed([record for _, record in pairs])
    assert not too_long(busy, STANDARD, late, 50.0)
    assert too_long(busy, STANDARD, 1.5 * late + 10.0, 50.0)


def test_no_case_that_leads_an_answer_is_left_out_nor_any_that_was_asked_for() -> None:
    pairs = cases(headline=(1.0, 5.0), others=(0.1, 0.1))
    assert {*too_long(pairs, STANDARD, 1000.0, 50.0)} == {"other 0", "other 1"}
    assert not too_long(pairs, settings_for("standard", ["cpu"], launches=6), 1000.0, 50.0)
    assert not too_long(pairs, settings_for("standard", ["cpu"], budget=9000.0), 1000.0, 50.0)


def test_a_plan_says_what_it_left_out_and_measures_the_rest() -> None:
    pairs = cases(headline=(1.0,), others=(0.1, 0.1))
    pairs[-1] = pairs[-1][0], replace(pairs[-1][1], wall_seconds=100.0)
    pilot: Any = [
        Surroundings(devices=["cpu"], environment=environment("one", 0)),
        Collected(cases=[case for case, _ in pairs], exercises={}),
        Begun(launch=0, case="lead 0", at=time.monotonic()),
        *(record for _, record in pairs),
    ]
    asked = made_up_records.plan(STANDARD)
    plan = freeze(asked, pilot, 10.0, {})
    assert [case.fullname for case in plan.cases] == ["lead 0", "other 0"]
    (left_out,) = plan.outcomes
    assert (left_out.fullname, left_out.status) == ("other 1", "skipped")
    assert plan.seconds_at_least < 450 < 6 * 100.0
    like = freeze(replace(asked, like=[left_out]), pilot, 10.0, {})
    assert len(like.cases) == len(pairs)
    most = most_launches(len(plan.cases), STANDARD.most_samples)
    many = replace(asked, settings=replace(STANDARD, launches=most + 1))
    with pytest.raises(CannotRunError, match="a stored file holds 5,555 launches of 3 cases"):
        freeze(many, pilot, 10.0, {})
    assert plan.launches(10.0, 1e-6) < most
    assert replace(plan, cases=plan.cases * 5_000).launches(10.0, 1e-6) == 1


def cases(
    headline: tuple[float, ...], others: tuple[float, ...]
) -> list[tuple[CaseIdentity, Measured]]:
    """Return cases with the seconds that a call of each takes."""
    made = [(f"lead {place}", call, True) for place, call in enumerate(headline)]
    made += [(f"other {place}", call, False) for place, call in enumerate(others)]
    return [
        (made_up_records.identity(name, headline=leads), seen(call, case=name))
        for name, call, leads in made
    ]


def test_the_time_for_a_case_is_the_longest_that_fits() -> None:
    few = choose_case_seconds([seen()] * 20, STANDARD, 2.0, 10.0)
    many = choose_case_seconds([seen()] * 400, STANDARD, 2.0, 10.0)
    assert few == 0.5
    assert few > many > LEAST
    assert choose_case_seconds([seen(call=0.1)] * 4000, STANDARD, 2.0, 10.0) == LEAST


def test_the_fewest_launches_have_full_time_for_a_case_before_there_are_more_of_them() -> None:
    full = PROFILES["standard"].full_case_seconds
    cases = [seen()] * 147
    chosen = choose_case_seconds(cases, STANDARD, startup=16.0, spent=52.0)
    assert chosen == full > LEAST
    share = launch_share(STANDARD, 52.0)
    assert launch_seconds(cases, 16.0, LEAST) < share < launch_seconds(cases, 16.0, full)
    asked = replace(STANDARD, launches=8)
    assert LEAST < choose_case_seconds(cases, asked, startup=16.0, spent=52.0) < full
    gpu = settings_for("standard", ["cuda:0"], budget=STANDARD.budget)
    assert LEAST < choose_case_seconds(cases, gpu, startup=16.0, spent=52.0) < full


def test_the_part_of_a_run_in_bodies_is_that_of_its_pilot_and_its_launches() -> None:
    run = factory.run(launches=2)
    whole = run.frobench
    whole.seconds, whole.plan_seconds, whole.plan_body_seconds = 100.0, 20.0, 10.0
    for launch in whole.launches:
        launch.body_seconds, launch.warmup_seconds = 15.0, 5.0
    assert run.frobench.part_in_bodies == pytest.approx(0.5)
    whole.plan_body_seconds = UNSET
    assert run.frobench.part_in_bodies == pytest.approx(0.4)


QUICK = settings_for("quick", ["cpu"])
LIMIT = QUICK.longest_sample


def case(name: str, *, headline: bool) -> CaseIdentity:
    """Return a case of the CPU."""
    return made_up_records.identity(name, headline=headline)


HEADLINES = [case(f"lead {n}", headline=True) for n in range(5)]
OTHERS = [case(f"other {n}", headline=False) for n in range(30)]
CASES = [*HEADLINES, *OTHERS]


def outcomes(seconds: Mapping[str, float], before: Mapping[str, bool]) -> list[Outcome]:
    """Return what becomes of the cases whose calls take so long."""
    pilot = Pilot(QUICK, lambda _: Delay(), keeps_accounts=True)
    most = {True: AS_BEFORE * headline_times(QUICK), False: AS_BEFORE}
    pilot.explore(
        MadeUp(one.fullname, one.params, Work(items=1), seconds[one.fullname], most[one.headline])
        for one in CASES
    )
    refused = {
        CASES[place].fullname: Refused(
            launch=0, case=CASES[place].fullname, status="skipped", reason=reason
        )
        for place, reason in pilot.left_out.items()
    }
    seen = [
        (one, measured(one.fullname, samples=[seconds[one.fullname]]))
        for one in CASES
        if one.fullname not in refused
    ]
    _, too_slow = admit(seen, QUICK, before)
    refused |= too_slow
    return [outcome(one, refused.get(one.fullname)) for one in CASES]


def passed(found: list[Outcome]) -> set[str]:
    return {one.fullname for one in found if one.status == "passed"}


@pytest.mark.parametrize("seed", range(10))
def test_a_second_run_has_the_cases_of_the_first_though_calls_take_about_the_limit(
    seed: int,
) -> None:
    rng = Random(seed)  # noqa: S311 - no secret

    def drawn() -> dict[str, float]:
        return {one.fullname: rng.uniform(0.6, 1.5) * LIMIT for one in CASES}

    first = outcomes(drawn(), {})
    second = outcomes(drawn(), choices(first))
    third = outcomes(drawn(), choices(second))
    assert passed(first) == passed(second) == passed(third)
    assert passed(first) >= {one.fullname for one in HEADLINES}


def test_headline_cases_with_long_calls_are_brief_and_have_a_tenth_of_the_budget() -> None:
    calls = [0.5 * LIMIT, 9 * LIMIT, 5 * LIMIT, 14 * LIMIT]
    pairs = [
        (one, measured(one.fullname, samples=[call]))
        for one, call in zip(HEADLINES, calls, strict=False)
    ]
    admitted, refused = admit(pairs, QUICK, {})
    assert [record.brief for _, record in admitted] == [False, True]
    assert refused["lead 1"].reason == (
        "takes 180 ms a call, over this profile's 20 ms, and all such headline cases have 10% of "
        "the budget"
    )
    assert refused["lead 3"].reason == "takes 280 ms a call, over this profile's 20 ms"


def plan(folder: Path, **wanted: object) -> Plan:
    request = replace(Request(results=folder, benchmarks=folder), **wanted)
    return settle(request)


def test_a_run_that_repeats_another_measures_the_shapes_found_then(tmp_path: Path) -> None:
    run = factory.run()
    first = run.benchmarks[0]
    found = Search(shape=[64, 128, 256], shapes=9, seconds=1.0, runner_up=0.9)
    first.extra_info.search = found
    assert plan(tmp_path, like=run).searched == {first.fullname: found}
