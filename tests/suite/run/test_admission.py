# SPDX-License-Identifier: MIT
"""Two runs of one machine have the same cases, and those that answers need are among them."""

from collections.abc import Mapping
from random import Random

import pytest

from frobench.suite.journal import Refused
from frobench.suite.plan import CaseIdentity
from frobench.suite.profiles import AS_BEFORE, headline_times, settings_for
from frobench.suite.run.planning import admit, choices, outcome
from frobench.suite.stored.types import Outcome, Work
from tests.instruments.devices.piloted import Delay, MadeUp, Pilot
from tests.instruments.runs import made_up_records
from tests.instruments.runs.made_up_records import measured

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


@pytest.mark.parametrize(
    ("seconds", "before", "measured_now"),
    [
        (1.2 * LIMIT, {}, True),
        (1.3 * LIMIT, {}, False),
        (1.9 * LIMIT, {"other 0": True}, True),
        (2.1 * LIMIT, {"other 0": True}, False),
        (0.6 * LIMIT, {"other 0": False}, False),
        (0.4 * LIMIT, {"other 0": False}, True),
    ],
)
def test_within_a_factor_of_two_of_the_limit_the_last_run_decides(
    seconds: float, before: dict[str, bool], *, measured_now: bool
) -> None:
    pairs = [(OTHERS[0], measured("other 0", samples=[seconds]))]
    admitted, refused = admit(pairs, QUICK, before)
    assert bool(admitted) is measured_now
    assert bool(refused) is not measured_now


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
