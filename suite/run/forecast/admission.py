# SPDX-License-Identifier: MIT
"""Which cases are measured whose calls take about as long as the profile allows, or longer.

Near the limit the state of the moment would decide, so that two runs had different cases: there
the machine's last run decides. Headline cases may take longer, since answers need them. They are
then called a few times only, and all of them together have a part of the budget.
"""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from frobench.suite.journal.records import Identity, Measured, Refused
from frobench.suite.measure.climb import AS_BEFORE, LEEWAY, OVER
from frobench.suite.profiles import BRIEF_CALLS, HEADLINE_PART, headline_seconds, headline_times
from frobench.suite.stored.run import Outcome, Settings
from frobench.suite.units import format_seconds

FACTORS = {None: 1.0, True: AS_BEFORE, False: 1 / AS_BEFORE}
"""What limits are multiplied by, by what the machine's last run did with a case."""
Pairs = list[tuple[Identity, Measured]]


def choices(outcomes: Iterable[Outcome]) -> dict[str, bool]:
    """Return by case whether a run measured it or left it out because a call takes too long."""
    return {
        outcome.fullname: outcome.status == "passed"
        for outcome in outcomes
        if outcome.status == "passed" or OVER in (outcome.reason or "")
    }


def longest_call(settings: Settings, case: Identity, known: bool | None) -> float:  # noqa: FBT001 - one of three
    """Return the seconds that a call of a case may take.

    known : whether the machine's last run measured the case; `None` if it did not try
    """
    often = headline_times(settings) if case.headline else 1.0
    return settings.longest_sample * often * (LEEWAY if known is None else FACTORS[known])


def is_brief(settings: Settings, case: Identity, record: Measured) -> bool:
    """Tell whether a case is called a few times only, since answers need it and it takes long."""
    return case.headline and record.quickest > settings.longest_sample


def admit(
    ran: Pairs, settings: Settings, before: Mapping[str, bool]
) -> tuple[Pairs, dict[str, Refused]]:
    """Return the cases that launches measure, and why not the others.

    ran : what a pilot saw of each case that it could call
    before : what the machine's last run did with cases; see `choices`
    """
    room, used = headline_seconds(settings), 0.0
    admitted: dict[str, Measured] = {}
    refused: dict[str, Refused] = {}

    def measured_then_short(pair: tuple[Identity, Measured]) -> tuple[bool, float]:
        return not before.get(pair[0].fullname), pair[1].quickest

    for case, record in sorted(ran, key=measured_then_short):
        call, known = record.quickest, before.get(case.fullname)
        brief = is_brief(settings, case, record)
        share = BRIEF_CALLS * call if brief else 0.0
        if call > longest_call(settings, case, known):
            why = " when this machine's last run left it out" if known is False else ""
        elif used + share > FACTORS[known] * room:
            why = f", and all such headline cases have {HEADLINE_PART:.0%} of the budget"
        else:
            used += share
            admitted[case.fullname] = replace(record, brief=brief)
            continue
        limit = format_seconds(settings.longest_sample)
        reason = f"takes {format_seconds(call)} a call, {OVER} {limit}{why}"
        refused[case.fullname] = Refused(
            launch=0, case=case.fullname, status="skipped", reason=reason
        )
    return [
        (case, admitted[case.fullname]) for case, _ in ran if case.fullname in admitted
    ], refused
