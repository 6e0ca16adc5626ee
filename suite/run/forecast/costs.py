# SPDX-License-Identifier: MIT
"""What a launch should take, from what the pilot saw of its cases, and what fits into a run."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from frobench.suite.journal.records import Identity, Measured, Record, Refused, Tried
from frobench.suite.machine.accounts import DISTURBED
from frobench.suite.profiles import BRIEF_CALLS, LEAST_SAMPLES, PROFILES, limits_of
from frobench.suite.stored.names import nodes_of
from frobench.suite.stored.run import MOST_SAMPLES, Settings
from frobench.suite.units import format_seconds

CASE_SECONDS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0)
"""Times for a case in a launch; few, so that like runs choose the same."""
RESERVE = 0.92
"""The part of the budget that is planned; the rest is for what takes longer than expected."""
MORE_WHERE_DISTURBED = 1.5
"""The profile's limit is multiplied by it where other programs disturb the pilot."""
CALLS_A_SAMPLE = 3
"""Calls for each host sample on an accelerator, those for span samples included."""
LEAST_DEADLINE, DEADLINE_TIMES, DEADLINE_PART = 10.0, 10.0, 0.05
"""Seconds that a case may take in a launch at least, and relative to what it should take: other
programs come and go. It may take longer than that by this part of what is left of the budget."""
WARM_UP_CALLS = 10
"""Calls after which a body is steady, if it was so from the start."""


def too_long(
    ran: Sequence[tuple[Identity, Measured]], settings: Settings, startup: float, spent: float
) -> dict[str, Refused]:
    """Return the cases without which the fewest launches stay within the profile's limit.

    They are the longest of those that lead no answer, without what other programs took of the
    processor. A run with a given number of launches, or with a larger budget, has the time.
    """
    if settings.launches is not None:
        return {}
    limits = limits_of(settings.profile, settings.devices)
    most = limits.limit + max(0.0, settings.budget - limits.budget)
    if is_disturbed([record for _, record in ran]):
        most *= MORE_WHERE_DISTURBED
    ran = [(case, _undisturbed(record)) for case, record in ran]
    share = max(0.0, most - spent) / settings.least_launches
    least = limits.least_case_seconds
    over = launch_seconds((record for _, record in ran), startup, least) - share
    others = [record for case, record in ran if not case.headline]
    takes = {record.case: launch_seconds([record], 0.0, least) for record in others}
    refused = {}
    for name, seconds in sorted(takes.items(), key=lambda item: -item[1]):
        if over <= 0:
            break
        over -= seconds
        reason = (
            f"it takes {format_seconds(seconds)} of each launch, for which a {settings.profile} "
            "run of so many cases has no time; -k selects fewer, --budget SECONDS gives more"
        )
        refused[name] = Refused(launch=0, case=name, status="skipped", reason=reason)
    return refused


def body_seconds(records: Iterable[Record]) -> float:
    """Return the seconds of a pilot that went into bodies, their warm-up, and searches."""
    seconds = 0.0
    for record in records:
        if isinstance(record, Measured):
            seconds += record.sampled + record.warmup
        elif isinstance(record, Refused):
            seconds += record.sampled
        elif isinstance(record, Tried):
            seconds += record.attempt.spent
    return seconds


def is_disturbed(ran: Sequence[Measured]) -> bool:
    """Tell whether the pilot's cases had to wait for the processor."""
    waited = sum(record.accounts.waited for record in ran if record.accounts)
    return waited > DISTURBED * sum(record.wall_seconds for record in ran)


def _undisturbed(record: Measured) -> Measured:
    """Return the least that a pilot would have seen of a case, had nothing disturbed it."""
    if record.accounts is None:
        return record
    # Setting up and checking takes no longer than its processor time.
    prepared, overhead = (min(s, record.accounts.ran) for s in (record.prepared, record.overhead))
    return replace(
        record,
        samples=[record.quickest] * len(record.samples),
        prepared=prepared,
        wall_seconds=record.warmup + record.sampled + prepared + overhead,
    )


def choose_case_seconds(
    ran: Sequence[Measured], settings: Settings, startup: float, spent: float
) -> float:
    """Return the longest time for a case with which the profile's launches fit the budget."""
    limits = limits_of(settings.profile, settings.devices)
    # Up to `full_case_seconds`, only the fewest launches have to fit.
    shares = (
        (limits.full_case_seconds, launch_share(settings, spent, settings.least_launches)),
        (limits.case_seconds, launch_share(settings, spent)),
    )
    fitting = [
        seconds
        for most, share in shares
        for seconds in CASE_SECONDS
        if limits.least_case_seconds <= seconds <= most
        and launch_seconds(ran, startup, seconds) <= share
    ]
    return max(fitting, default=limits.least_case_seconds)


def launch_share(settings: Settings, spent: float, launches: int | None = None) -> float:
    """Return the seconds of the budget for each of so many launches, or of those planned for."""
    planned = settings.launches or launches or PROFILES[settings.profile].launches
    return (RESERVE * settings.budget - spent) / planned


def launch_seconds(ran: Iterable[Measured], startup: float, case_seconds: float) -> float:
    """Return how long a launch should take, from what the pilot saw of its cases."""
    return startup + sum(record.overhead + _seconds(record, case_seconds) for record in ran)


def deadlines(ran: Iterable[tuple[Identity, Measured]], case_seconds: float) -> dict[str, float]:
    """Return the seconds after which each case of one device hangs.

    Any of them may have to do what the first one does for all others, such as loading kernels. A
    group of processes waits for its ranks, by the deadline of the settings.
    """
    alone = [
        record for case, record in ran if len(case.devices) == 1 and not nodes_of(*case.devices)
    ]
    first = max((record.overhead for record in alone), default=0.0)
    return {
        record.case: max(
            LEAST_DEADLINE, first + DEADLINE_TIMES * launch_seconds([record], 0.0, case_seconds)
        )
        for record in alone
    }


def _seconds(record: Measured, case_seconds: float) -> float:
    """Return what warming up and sampling should take, the other version of a body included."""
    prepare = record.prepared / (1 + len(record.samples))  # the first call is no sample
    calls = [prepare + min(samples) for samples in (record.samples, record.against) if samples]
    if record.brief:
        return BRIEF_CALLS * sum(calls)
    warm_ups = (call + max(call, min(WARM_UP_CALLS * call, case_seconds / 2)) for call in calls)
    has_spans = record.parts.keys() - {"enqueue", "reading"}
    spans = (LEAST_SAMPLES if record.against else 1) if has_spans else 0
    least = LEAST_SAMPLES * sum(calls) + spans * calls[0]
    if "enqueue" in record.parts and not record.against:  # a sample is one call, however short
        case_seconds = min(case_seconds, CALLS_A_SAMPLE * MOST_SAMPLES * calls[0])
    return sum(warm_ups) + max(least, case_seconds)
