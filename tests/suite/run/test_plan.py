# SPDX-License-Identifier: MIT
"""How many launches fit the budget, how long they take, their cases, blocks and windows."""

import re
import time
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from frobench.suite import profiles
from frobench.suite.errors import CannotRunError
from frobench.suite.journal import Begun, Collected, Measured, Refused, Surroundings, Tried
from frobench.suite.kit.search_strategy import Shape, Try
from frobench.suite.machine.cpu_time import Accounts
from frobench.suite.plan import CaseIdentity, Plan, launches_within
from frobench.suite.profiles import PROFILES, limits_of, settings_for
from frobench.suite.run import planning
from frobench.suite.run.planning import choose_case_seconds, launch_seconds, too_long
from frobench.suite.run.runner import Request, _announce, settle
from frobench.suite.stored.types import Outcome, ProfileName, Search, Work
from frobench.suite.units import format_seconds
from tests.instruments.processes.command import ROOT
from tests.instruments.runs import factory, made_up_records
from tests.instruments.runs.factory_machine import environment
from tests.instruments.runs.made_up_records import identity

QUICK, STANDARD, RIGOROUS = (settings_for(profile, ["cpu"]) for profile in PROFILES)
LEAST = PROFILES["standard"].least_case_seconds
GPU = "cuda:0"
Pair = tuple[CaseIdentity, Measured]


def pair(name: str, device: str, call: float, *, headline: bool = False, **more: Any) -> Pair:  # noqa: ANN401 - any fact
    """Return a case, and what a pilot journals of five calls of it."""
    function, params = more.pop("function", "bench"), {"device": device}
    params["dtype"] = more.pop("dtype", None)
    case = identity(name, *device.split("+"), function=function, params=params, headline=headline)
    facts = {"samples": [call] * 5, "warmup": call, "sampled": 5 * call, "wall_seconds": 6 * call}
    return case, made_up_records.measured(name, **facts | more)


def seen(call: float = 1e-3, **more: Any) -> Measured:  # noqa: ANN401 - any fact
    """Return what a pilot journals of a case of the CPU."""
    return pair("a", "cpu", call, **more)[1]


def skipped(case: str, reason: str) -> Refused:
    return Refused(launch=0, case=case, status="skipped", reason=reason)


def cases(headline: tuple[float, ...], others: tuple[float, ...]) -> list[Pair]:
    """Return cases of the CPU with the seconds that a call of each takes."""
    leads = [pair(f"lead {n}", "cpu", call, headline=True) for n, call in enumerate(headline)]
    return leads + [pair(f"other {n}", "cpu", call) for n, call in enumerate(others)]


def piloted(pairs: list[Pair], accelerators: int = 0, ago: float = 0.0) -> Any:  # noqa: ANN401 - stands for a journal
    """Return the journal of a pilot that began so many seconds ago."""
    devices = ["cpu", GPU][: accelerators + 1]
    tried = Try(Shape(1, 2, 3), 1.0, 7.0)
    return [
        Surroundings(devices=devices, environment=environment("one", accelerators)),
        Collected(cases=[case for case, _ in pairs], exercises={}),
        Begun(launch=0, case=pairs[0][0].fullname, at=time.monotonic() - ago, settled=0.0),
        Tried(case="a search", attempt=tried),
        *(record for _, record in pairs),
    ]


def said(*left_out: Outcome, verbose: bool = False, **settings: Any) -> list[str]:  # noqa: ANN401 - as `settings_for` takes them
    """Return what is said of a plan of 40 s whose launches take 60 s each."""
    lines: list[str] = []
    known: dict[str, Any] = {"plan_seconds": 40.0, "launch_seconds": 60.0, "disturbed": verbose}
    asked = settings_for("standard", ["cpu"], **settings)
    plan = made_up_records.plan(asked, outcomes=[*left_out], **known)
    reporter: Any = SimpleNamespace(say=lines.append, verbose=verbose)
    _announce(plan, reporter)
    return lines


def test_it_is_said_at_once_if_the_fewest_launches_take_more_than_the_budget() -> None:
    first, more = said()
    assert first == "0 cases in 6 launches of about 1:00 each"
    assert more == (
        "6 launches and this pilot take about 6:40, more than the budget of 4:48; -k selects fewer "
        "cases"
    )
    assert said(budget=400.0) == said(budget=401.0) == said(launches=6) == [first]
    it: Any = {"fullname": "b.py::bench_one", "group": "", "params": {}, "reason": "no card"}
    left_out = [Outcome(status="skipped", **it), Outcome(status="failed", **it)]
    brief = "1 case left out: no card"
    assert said(*left_out, launches=6) == [first, f"{brief} (--verbose names them)"]
    more += ", and takes less time where no other program keeps the processor busy"
    named = [first, f"{brief}:", "  skipped: bench_one: no card", more]
    assert said(*left_out, verbose=True) == named


EVENTS = {"parts": {"enqueue": 1e-6, "span": 1e-6}}


@pytest.mark.parametrize(
    ("call", "more", "warm_up", "samples"),
    [
        (1e-3, {}, 11e-3, 0.5),
        (0.1, {}, 0.35, 0.5),
        (1.0, {"brief": True}, 0.0, 3.0),
        (1e-3, {"parts": {"enqueue": 1e-6}}, 11e-3, 0.09),  # a sample is one call
        (1.0, {"parts": {"enqueue": 1e-6, "reading": 1e-6}}, 2.0, 3.0),
        (1.0, EVENTS, 2.0, 4.0),
        (1.0, {"against": [2.0]}, 6.0, 9.0),
        (1e-3, EVENTS | {"against": [2e-3]}, 33e-3, 0.5),
        (1.0, EVENTS | {"against": [2.0]}, 6.0, 12.0),
        (1.0, {"prepared": 3.0}, 3.0, 4.5),
    ],
)
def test_a_launch_starts_up_sets_up_warms_up_and_samples(
    call: float, more: dict[str, Any], warm_up: float, samples: float
) -> None:
    case = seen(call, **more | {"wall_seconds": 0.1 + 6 * call + more.get("prepared", 0.0)})
    assert launch_seconds([case], 3.0, 0.5) == pytest.approx(3.1 + warm_up + samples)


def test_what_six_launches_have_no_time_for_is_left_out_the_longest_first() -> None:
    pairs = cases(headline=(1.0,), others=(0.1, 3.0, 2.0, 0.1))
    share = (450 - 50) / 6
    startup = share - launch_seconds([one for _, one in pairs], 0.0, LEAST)
    for settings in (STANDARD, settings_for("standard", ["cpu"], budget=100.0)):
        assert not too_long(pairs, settings, startup - 0.01, 50.0)
        assert {*too_long(pairs, settings, startup + 0.01, 50.0)} == {"other 1"}
    found = too_long(pairs, STANDARD, startup + 20.0, 50.0)
    assert [*found] == ["other 1", "other 2"]
    assert found["other 1"] == skipped(
        "other 1",
        "it takes 15 s of each launch, for which a standard run of so many cases has no time; "
        "-k selects fewer, --budget SECONDS gives more",
    )


def test_a_run_on_a_busy_processor_may_take_longer_rather_than_lose_cases() -> None:
    pairs = cases(headline=(1.0,), others=(0.1, 3.0))
    startup = (1.5 * 450 - 50) / 6 - launch_seconds([one for _, one in pairs], 0.2, LEAST)
    busy = []
    for case, record in pairs:  # what a pilot sees of them where others have the processor
        more: dict[str, Any] = {"undisturbed": record.quickest, "accounts": Accounts(0.1, 4.3)}
        wall, twice = 30.0 + record.wall_seconds, [2 * call for call in record.samples]
        more |= {"prepared": 10.0, "wall_seconds": wall, "samples": twice}
        busy.append((case, replace(record, **more)))
    assert not planning.is_disturbed([record for _, record in pairs])
    for waited, disturbed in ((9.9, False), (10.1, True)):  # of 100 s, other cases included
        found = [seen(accounts=Accounts(1.0, waited), wall_seconds=40.0), seen(wall_seconds=60.0)]
        assert planning.is_disturbed(found) is disturbed
    assert not too_long(busy, STANDARD, startup - 0.5, 50.0)
    assert {*too_long(busy, STANDARD, startup, 50.0)} == {"other 1"}


def test_no_case_that_leads_an_answer_is_left_out_nor_any_that_was_asked_for() -> None:
    pairs = cases(headline=(1.0, 5.0), others=(0.1, 0.1))
    assert {*too_long(pairs, STANDARD, 1000.0, 50.0)} == {"other 0", "other 1"}
    for asked in ({"launches": 6}, {"budget": 288 + 5700.0}):
        assert not too_long(pairs, settings_for("standard", ["cpu"], **asked), 980.0, 50.0)


def test_a_plan_says_what_it_left_out_and_keeps_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: 6.0)
    pairs = cases(headline=(1.0,), others=(0.1, 0.1))
    pairs[-1] = pairs[-1][0], replace(pairs[-1][1], wall_seconds=100.0)
    pilot, asked = piloted(pairs, ago=4.0), made_up_records.plan(STANDARD)
    plan = planning.freeze(asked, pilot, 10.0, {})
    assert [case.fullname for case in plan.cases] == ["lead 0", "other 0"]
    (left_out,) = plan.outcomes
    assert (left_out.fullname, left_out.status) == ("other 1", "skipped")
    assert plan.launch_seconds == pytest.approx((10 - 4) + (2.0 + 3.0) + (0.35 + 0.5) - 2.0)
    assert plan.body_seconds == pytest.approx(7.0 + 6 * (1.0 + 0.1 + 0.1))
    assert plan.deadlines == pytest.approx({"lead 0": 30.0, "other 0": 10.0})
    like = planning.freeze(replace(asked, like=[left_out]), pilot, 10.0, {})
    assert len(like.cases) == len(pairs)
    as_many, more = (replace(asked, settings=replace(STANDARD, launches=n)) for n in (5555, 5556))
    assert planning.freeze(as_many, pilot, 10.0, {}).launches(10.0, 1e-6) == 5555
    with pytest.raises(CannotRunError, match="a stored file holds 5,555 launches of 3 cases"):
        planning.freeze(more, pilot, 10.0, {})
    assert plan.launches(10.0, 1e-6) == 24
    assert replace(plan, cases=plan.cases * 5_000).launches(10.0, 1e-6) == 1


def test_the_time_for_a_case_is_the_longest_that_fits() -> None:
    share = (0.92 * 1800 - 60.0) / 12
    for seconds in (0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0):
        startup = share - launch_seconds([seen()], 1e-6, seconds)
        assert choose_case_seconds([seen()], RIGOROUS, startup, 60.0) == seconds
    for settings, most in ((QUICK, 0.2), (STANDARD, 0.5)):
        assert choose_case_seconds([seen()], settings, 2.0, 10.0) == most
    assert choose_case_seconds([seen(call=0.1)] * 4000, STANDARD, 2.0, 10.0) == LEAST


def test_the_fewest_launches_have_full_time_for_a_case_before_there_are_more_of_them() -> None:
    gpu = settings_for("standard", [GPU], budget=STANDARD.budget)
    for number, full, less in ((147, 0.07, 0.05), (300, 0.05, 0.02)):
        records = [seen()] * number
        assert choose_case_seconds(records, STANDARD, startup=16.0, spent=52.0) == full
        for settings in (replace(STANDARD, launches=8), gpu):
            assert choose_case_seconds(records, settings, startup=16.0, spent=52.0) == less


def test_the_part_of_a_run_in_bodies_is_that_of_its_pilot_and_its_launches() -> None:
    whole = factory.run(launches=2).frobench
    whole.seconds, whole.plan_seconds, whole.plan_body_seconds = 100.0, 20.0, 10.0
    for launch in whole.launches:
        launch.body_seconds, launch.warmup_seconds = 15.0, 5.0
    assert whole.part_in_bodies == pytest.approx(0.5)
    whole.plan_body_seconds = UNSET
    assert whole.part_in_bodies == pytest.approx(0.4)


def test_a_case_has_ten_times_as_long_as_it_should_take_and_a_group_the_whole_deadline() -> None:
    more: dict[str, Any] = {"samples": [0.5], "warmup": 0.0, "sampled": 1.0, "wall_seconds": 4.0}
    pairs = [pair(name, name, 0.0, **more) for name in ("cpu", "cpu/2x1")]
    planned = made_up_records.plan(QUICK, deadlines=planning.deadlines(pairs, 0.02))
    # The first case does for all what it did in the pilot: 3 s. Ten times 5.5 s are on top of it.
    assert planned.deadlines == {"cpu": 58.0}
    found = [planned.deadline("cpu", left) for left in (0.0, 1180.0, 1300.0)]
    assert found == [58.0, 59.0, 60.0]
    assert planned.deadline("cpu/2x1", left=0.0) == planned.settings.deadline == 60.0
    quick = [pair("cpu", "cpu", 1e-3)]
    assert planning.deadlines(quick, 0.02) == {"cpu": 10.0}  # at least


# How many launches a run makes: stated beforehand, and few for few cases


@pytest.mark.parametrize(("profile", "most"), [("quick", 10), ("standard", 24), ("rigorous", 48)])
def test_few_cases_end_after_the_profiles_most_launches(profile: ProfileName, most: int) -> None:
    settings = settings_for(profile, [])
    for asked, done in ((settings, 0), (settings, most), (replace(settings, budget=40), 0)):
        assert launches_within(asked, 1, spent=5.0, launch_seconds=1e-3, done=done) == most


def test_a_launch_that_takes_longer_than_planned_leaves_time_for_fewer_never_below_six() -> None:
    settings = settings_for("quick", [])
    assert launches_within(settings, 1, spent=8.0, launch_seconds=5.0) == 8
    assert launches_within(settings, 1, spent=30.0, launch_seconds=20.0, done=2) == 6
    assert launches_within(settings, 1, spent=100.0, launch_seconds=0.5, done=7) == 7


def test_a_larger_budget_has_time_for_more_launches_and_a_number_that_was_asked_for_holds() -> None:
    larger = settings_for("quick", [], budget=480)
    assert launches_within(larger, 1, 5.0, 1.0) == 10 * PROFILES["quick"].most_launches
    assert launches_within(settings_for("quick", [], budget=50), 1, 5.0, 1.0) == 11
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


def test_accelerators_settle_again_behind_the_cpu_in_half_of_the_launches() -> None:
    for profile, seconds in zip(PROFILES, (1.0, 3.0, 3.0), strict=True):
        for devices, times in ((["cpu"], 0.0), ([GPU], 1.0), (["cpu", GPU], 1.5)):
            assert profiles.settling_seconds(settings_for(profile, devices)) == times * seconds


# Calls that take about as long as the limit

LIMIT = QUICK.longest_sample


def test_three_calls_of_a_headline_case_take_a_tenth_of_a_launch_at_most() -> None:
    short = replace(QUICK, budget=1)
    for settings, times in ((QUICK, 10), (STANDARD, 6), (RIGOROUS, 2.5), (short, 1)):
        longest = 1.25 * settings.longest_sample
        assert profiles.longest_call(settings, headline=False) == pytest.approx(longest)
        assert profiles.longest_call(settings, headline=True) == pytest.approx(times * longest)


@pytest.mark.parametrize(
    ("before", "most", "why"),
    [(None, 1.25, ""), (True, 2, ""), (False, 0.5, " when this machine's last run left it out")],
)
def test_a_case_that_the_last_run_measured_may_take_longer_and_one_that_it_left_out_must_not(
    *, before: bool | None, most: float, why: str
) -> None:
    known = {} if before is None else {"other 0": before, "other 1": before}
    pairs = cases((), (0.999 * most * LIMIT, 1.001 * most * LIMIT))
    admitted, refused = planning.admit(pairs, QUICK, known)
    assert [case.name for case, _ in admitted] == ["other 0"]
    call = format_seconds(1.001 * most * LIMIT)
    told = f"takes {call} a call, over this profile's 20 ms{why}"
    assert refused == {"other 1": skipped("other 1", told)}
    found = [planning.outcome(case, refused.get(case.name)) for case, _ in pairs]
    assert planning.choices(found) == {"other 0": True, "other 1": False}


def test_headline_cases_with_long_calls_are_brief_and_have_a_tenth_of_the_budget() -> None:
    pairs = cases(headline=(0.5 * LIMIT, 9 * LIMIT, 5 * LIMIT, 14 * LIMIT), others=())
    admitted, refused = planning.admit(pairs, QUICK, {})
    measured = [("lead 0", False), ("lead 2", True)]
    assert [(case.name, one.brief) for case, one in admitted] == measured
    assert refused["lead 1"].reason == (
        "takes 180 ms a call, over this profile's 20 ms, and all such headline cases have 10% of "
        "the budget"
    )
    assert refused["lead 3"].reason == "takes 280 ms a call, over this profile's 20 ms"
    for known, was in (("lead 1", True), ("lead 3", True), ("lead 2", False)):
        again, _ = planning.admit(pairs, QUICK, {known: was})  # what was comes first
        assert [case.name for case, _ in again] == ["lead 0", known]


def test_a_run_that_repeats_another_measures_the_shapes_found_then(tmp_path: Path) -> None:
    run = factory.run()
    first = run.benchmarks[0]
    found = Search(shape=[64, 128, 256], shapes=9, seconds=1.0, runner_up=0.9)
    first.extra_info.search = found
    request = Request(results=tmp_path, benchmarks=tmp_path, like=run)
    assert settle(request).searched == {first.fullname: found}


def test_searches_have_a_tenth_of_the_budget_or_three_minutes_beyond_it(tmp_path: Path) -> None:
    request = Request(results=tmp_path, benchmarks=tmp_path, budget=200, seed=5)
    plans = settle(request), settle(replace(request, peak=True, budget=None, seed=None))
    told = [(one.settings.budget, one.search_seconds, one.budget_asked) for one in plans]
    assert told == [(200, 20, True), (288 + 180, 180, False)]
    assert [one.seed == 5 for one in plans] == [True, False]


# A machine with an accelerator

STARTUP = 10.0
"""Seconds that a process takes until its first case may begin, clocks settled."""
SETUP = 0.02
"""Seconds of a case beside its calls: what it sets up, and what its check takes."""
SHORTEST, LONGEST = 12e-6, 8e-3
"""Seconds of a call; in the standard profile some are longer."""
IN_STANDARD, HEADLINES_THERE, IN_QUICK = 321, 65, 80
"""Cases of the suite on one GPU, those of them that lead an answer, and those of `quick`."""


def beside(call: float) -> dict[str, Any]:
    """Return what a pilot sees of a case beside the times of its calls."""
    parts = {"enqueue": call, "span": call}
    return {"work": Work(items=1), "parts": parts, "wall_seconds": SETUP + 6 * call}


def suite_on_cuda(cases: int, headlines: int, longest: float = LONGEST) -> list[Pair]:
    """Return as many cases as the suite has on one GPU, from tiny products to large ones."""
    calls = [SHORTEST * (longest / SHORTEST) ** (number / cases) for number in range(cases - 2)]
    found = [
        pair(f"case {n}", GPU if n % 20 != 7 else "cpu", it, headline=n < headlines, **beside(it))
        for n, it in enumerate(calls)
    ]
    for dtype, call in (("float32", 2.8e-3), ("bfloat16", 1.5e-3)):
        more = beside(call) | {"function": "bench_square", "work": Work(flops=1e12, bytes=1e8)}
        found.append(pair(f"square {dtype}", GPU, call, headline=True, dtype=dtype, **more))
    return found


def frozen(pairs: list[Pair], profile: ProfileName, why_no_counter: dict[str, str | None]) -> Plan:
    """Return the plan that a pilot of these cases leads to, and when it is made."""
    calls = sum(record.wall_seconds for _, record in pairs)
    asked = made_up_records.plan(settings_for(profile, []))
    spent = STARTUP - (1.0 if profile == "quick" else 3.0) + calls
    return planning.freeze(asked, piloted(pairs, 1, calls), spent, why_no_counter)


@pytest.mark.parametrize("counts", [True, False])
def test_the_standard_profile_makes_eight_launches_in_eight_minutes(*, counts: bool) -> None:
    pairs = suite_on_cuda(IN_STANDARD, HEADLINES_THERE, longest=0.05)
    plan = frozen(pairs, "standard", {GPU: None if counts else "lost", "cpu": "only root"})
    assert len(plan.cases) == IN_STANDARD
    assert plan.settings.case_seconds >= 0.05
    assert plan.settings.least_launches == 8
    launches = plan.launches(plan.plan_seconds, plan.launch_seconds)
    assert launches >= 8
    assert plan.plan_seconds + launches * plan.launch_seconds <= 480
    assert plan.sustained == ["square bfloat16", "square float32"]
    assert sorted(plan.windows(1)) == sorted({*plan.sustained, *plan.energy})


def test_the_quick_profile_ends_within_a_minute_and_a_half() -> None:
    plan = frozen(suite_on_cuda(IN_QUICK, IN_QUICK), "quick", {GPU: None})
    assert len(plan.cases) == IN_QUICK
    assert plan.seconds_at_least <= 90
    assert plan.settings.case_seconds == 0.01
    assert plan.launches(plan.plan_seconds, plan.launch_seconds) == plan.settings.least_launches
    assert plan.windows(0) == []


def test_cases_of_one_kind_of_device_come_together_and_blocks_in_random_order() -> None:
    plan = frozen(suite_on_cuda(60, 10), "standard", {})
    devices = {case.fullname: case.devices[0] for case in plan.cases}
    orders = [plan.order(launch) for launch in range(20)]
    assert all(sorted(order) == sorted(devices) for order in orders)
    blocks = {tuple(kind for kind, _ in groupby(one, key=devices.__getitem__)) for one in orders}
    assert blocks == {("cpu", GPU), (GPU, "cpu")}
    assert len({tuple(order) for order in orders}) == len(orders)
    assert plan.order(3) == plan.order(3)


def test_cases_of_several_accelerators_belong_to_the_accelerators_block() -> None:
    places = {"both": "cpu+cuda:0", "halves": "cpu/0+cpu/1", "two": "cuda:0+cuda:1", "cpu": "cpu"}
    pairs = [pair(name, devices, 1e-3) for name, devices in places.items()]
    order = frozen(pairs, "standard", {}).order(0)
    assert {*order[:2]} in ({"both", "two"}, {"halves", "cpu"})
    nodes = [pair(f"{name}{n}", name, 1e-3) for n in range(9) for name in ("cpu/2x1", "cpu/4x1")]
    blocks = [name[:-1] for name in frozen(nodes, "standard", {}).order(0)]
    assert blocks in (sorted(blocks), sorted(blocks, reverse=True))


def test_windows_for_sustained_rates_take_a_tenth_of_the_budget_and_the_room_at_most() -> None:
    pairs = suite_on_cuda(IN_STANDARD, HEADLINES_THERE)
    settings = settings_for("standard", ["cpu", GPU], budget=440)
    both = ["square bfloat16", "square float32"]
    counts, headlines = {GPU: None, "cpu": None}, {case.name for case, _ in pairs if case.headline}
    for startup, room in ((5.0, 4), (29.4, 2), (29.6, 1), (31.7, 1), (31.8, 0), (99.0, 0)):
        names, energy, without = planning.choose_windows(pairs, counts, settings, startup, 30.0)
        assert (names, len(energy)) == (both[:room], room)
        assert without == dict.fromkeys(headlines - {*energy}, planning.NO_TIME)


def test_only_the_largest_headline_product_of_each_precision_has_a_window() -> None:
    work, large = Work(flops=1e9, bytes=1e6), Work(flops=1e12, bytes=1e6)
    more: dict[str, Any] = {"headline": True, "dtype": "float32", "function": "bench_square"}
    pairs = [
        pair("small", GPU, 1e-4, work=work, **more),
        pair("large", GPU, 1e-2, work=large, **more),
        pair("on the CPU", "cpu", 1e-1, work=large, **more),
        pair("on two", "cuda:0+cuda:1", 1e-2, work=large, **more),
        pair("paused", GPU, 1e-3, work=large, in_a_row=False, **more | {"dtype": "int8"}),
        pair("a training", GPU, 1e-2, headline=True, work=Work(flops=1e12, items=64)),
        pair("no headline", GPU, 1e-3, work=large, dtype="bfloat16"),
    ]
    settings = settings_for("rigorous", ["cpu", GPU])
    names, energy, without = planning.choose_windows(pairs, {GPU: None}, settings, 30.0, 30.0)
    assert (names, energy) == (["large"], ["large", "a training", "small"])
    assert without == {
        "on the CPU": "cpu counts no energy: nothing reads it",
        "on two": "cuda:1 counts no energy: nothing reads it",
        "paused": "something is done between two calls of it",
    }


def test_only_headline_cases_whose_devices_count_are_chosen_and_others_have_a_reason() -> None:
    ran = [
        pair(name, device, 1e-3, headline=name != "more", work=work)
        for name, device, work in (
            ("more", GPU, Work(flops=9.0)),
            ("other", "cuda:1", Work(flops=8.0)),
            ("half", "cpu/0+cpu/1", Work(flops=1.0)),
            ("copy", "cuda:0+cpu", Work(bytes=7.0)),
            ("a larger copy", "cuda:0+cpu", Work(bytes=8.0)),
            ("strange", "xpu:0", Work(bytes=7.0)),
        )
    ]
    settings = settings_for("standard", [GPU])
    why_not: dict[str, str | None] = {"cpu": "only root", GPU: None, "cuda:1": "lost"}
    _, found, left_out = planning.choose_windows(ran, why_not, settings, 0.0, 0.0)
    assert found == ["a larger copy", "copy"]
    assert left_out == {
        "other": "cuda:1 counts no energy: lost",
        "half": "cpu counts no energy: only root",
        "strange": "xpu:0 counts no energy: nothing reads it",
    }
    assert planning.choose_windows(ran, {"cpu": None}, settings, 0.0, 0.0)[1] == ["half"]
