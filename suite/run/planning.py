# SPDX-License-Identifier: MIT
"""The plan of a run: what a pilot found measurable and what fits, frozen for every launch.

Near the longest call that a profile allows, the state of the moment would decide what is measured,
so that two runs had different cases: there the machine's last run decides. Headline cases may take
longer, since answers need them. They are then called a few times only, and all of them together
have a part of the budget.

Windows, in which a case is repeated for seconds for its energy and for the rate that a GPU
sustains, follow all other cases of a launch as far as it has room for them.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from msgspec import UNSET
from msgspec.structs import replace

from frobench.suite import journal, profiles
from frobench.suite.errors import CannotRunError
from frobench.suite.journal import Journal, Measured, Record, Refused
from frobench.suite.machine.cpu_time import DISTURBED
from frobench.suite.machine.sensors.cpu import CPU
from frobench.suite.plan import CaseIdentity, Plan
from frobench.suite.profiles import BRIEF_CALLS, LEAST_SAMPLES, OVER, WINDOW_SECONDS, limits_of
from frobench.suite.run.energy import energy_devices
from frobench.suite.stored import store
from frobench.suite.stored.machine_identity import nodes_of
from frobench.suite.stored.types import MOST_SAMPLES, Outcome, Settings
from frobench.suite.units import format_seconds

Pairs = list[tuple[CaseIdentity, Measured]]
"""Cases, each with what the pilot saw of it."""
CASE_SECONDS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0)
"""Times for a case in a launch; few, so that like runs choose the same."""
RESERVE = 0.92
"""The part of the budget that is planned; the rest is for what takes longer than expected."""
MORE_WHERE_DISTURBED = 1.5
"""The profile's limit is multiplied by it where other programs disturb the pilot."""
CALLS_A_SAMPLE = 3
"""Calls for each host sample on an accelerator, those for span samples included."""
LEAST_DEADLINE, DEADLINE_TIMES = 10.0, 10.0
"""Seconds that a case may take in a launch at least, and relative to what it should take: other
programs come and go."""
WARM_UP_CALLS = 10
"""Calls after which a body is steady, if it was so from the start."""


def too_long(ran: Pairs, settings: Settings, startup: float, spent: float) -> dict[str, Refused]:
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
    share = (most - spent) / settings.least_launches
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
        refused[name] = skipped(name, reason)
    return refused


def skipped(case: str, reason: str) -> Refused:
    """Return that a run does without a case."""
    return Refused(launch=0, case=case, status="skipped", reason=reason)


def body_seconds(records: Sequence[Record]) -> float:
    """Return the seconds of a pilot that went into bodies, their warm-up, and searches."""
    spent = [record.attempt.spent for record in records if isinstance(record, journal.Tried)]
    measured = (record for record in records if isinstance(record, Measured))
    return sum(spent) + sum(record.sampled + record.warmup for record in measured)


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
        if seconds <= most and launch_seconds(ran, startup, seconds) <= share
    ]
    return max([limits.least_case_seconds, *fitting])


def launch_share(settings: Settings, spent: float, launches: int | None = None) -> float:
    """Return the seconds of the budget for each of so many launches, or of those planned for."""
    planned = settings.launches or launches or profiles.PROFILES[settings.profile].launches
    return (RESERVE * settings.budget - spent) / planned


def launch_seconds(ran: Iterable[Measured], startup: float, case_seconds: float) -> float:
    """Return how long a launch should take, from what the pilot saw of its cases."""
    return startup + sum(record.overhead + _seconds(record, case_seconds) for record in ran)


def deadlines(ran: Pairs, case_seconds: float) -> dict[str, float]:
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


PART, SUSTAINED_PART = 0.2, 0.1
"""The part of the budget for windows, and the part of a launch for those of sustained rates."""
NO_TIME = f"cases with more work take the {PART:.0%} of the budget that is for it"
PAUSED = "something is done between two calls of it"
"""Why a case's calls have no energy."""


def choose_windows(
    ran: Pairs,
    why_no_counter: Mapping[str, str | None],
    settings: Settings,
    startup: float,
    spent: float,
) -> tuple[list[str], list[str], dict[str, str]]:
    """Choose cases for sustained rates and energy; return why other headline cases have no energy.

    For energy these are cases with a sustained rate, then those with most work. Windows are chosen
    as far as the launches have room.

    why_no_counter : by device why it does not count its energy, `None` if it does
    startup, spent : seconds before a launch's first case, and of the run so far
    """
    limits = limits_of(settings.profile, settings.devices)
    least = launch_seconds((record for _, record in ran), startup, limits.least_case_seconds)
    room = max(0, int((launch_share(settings, spent) - least) / WINDOW_SECONDS))
    part = launch_share(settings, 0.0) / WINDOW_SECONDS
    sustained = _by_rate(ran)[: min(room, int(SUSTAINED_PART * part))]
    able, left_out = {}, {}
    for case, record in ran:
        if not case.headline:
            continue
        devices = energy_devices(case.devices)
        why = {name: why_no_counter.get(name, "nothing reads it") for name in devices}
        if reasons := [f"{name} counts no energy: {why[name]}" for name in why if why[name]]:
            left_out[case.fullname] = reasons[0]
        elif not record.in_a_row:
            left_out[case.fullname] = PAUSED
        else:
            name, work = case.fullname, record.work
            able[name] = name in sustained, work.flops or 0.0, work.bytes or 0.0, name
    names, most = sorted(able, key=able.__getitem__, reverse=True), min(room, int(PART * part))
    return sustained, names[:most], left_out | dict.fromkeys(names[most:], NO_TIME)


def _by_rate(ran: Pairs) -> list[str]:
    """Return the largest headline product of each kind on an accelerator, the fastest first."""
    largest: dict[tuple[str, object], tuple[float, float, str]] = {}
    for case, record in ran:
        work, (first, *others) = record.work, case.devices
        if not case.headline or others or first.startswith(CPU) or not record.in_a_row:
            continue
        if work.flops and work.bytes and not work.items:
            kind = case.function, case.params.get("dtype")
            candidate = (work.flops, work.flops / min(record.samples), case.fullname)
            largest[kind] = max(largest.get(kind, candidate), candidate)
    return [name for *_, name in sorted(largest.values(), key=lambda entry: -entry[1])]


FACTORS = {None: 1.0, True: profiles.AS_BEFORE, False: 1 / profiles.AS_BEFORE}
"""What limits are multiplied by, by what the machine's last run did with a case."""


def choices(outcomes: Iterable[Outcome]) -> dict[str, bool]:
    """Return by case whether a run measured it or left it out because a call takes too long."""
    return {
        outcome.fullname: outcome.status == "passed"
        for outcome in outcomes
        if outcome.status == "passed" or OVER in (outcome.reason or "")
    }


def admit(
    ran: Pairs, settings: Settings, before: Mapping[str, bool]
) -> tuple[Pairs, dict[str, Refused]]:
    """Return the cases that launches measure, and why not the others.

    before : what the machine's last run did with cases; see `choices`
    """
    room, used = profiles.headline_seconds(settings), 0.0
    admitted: dict[str, Measured] = {}
    refused: dict[str, Refused] = {}
    # Those that the last run measured come first, then the short ones.
    for case, record in sorted(
        ran, key=lambda pair: (not before.get(pair[0].fullname), pair[1].quickest)
    ):
        name, call, known = case.fullname, record.quickest, before.get(case.fullname)
        brief = case.headline and call > settings.longest_sample
        share = BRIEF_CALLS * call if brief else 0.0
        if call > profiles.longest_call(settings, headline=case.headline, before=known):
            why = " when this machine's last run left it out" if known is False else ""
        elif brief and used + share > FACTORS[known] * room:
            why = f", and all such headline cases have {profiles.HEADLINE_PART:.0%} of the budget"
        else:
            used += share
            admitted[name] = replace(record, brief=brief)
            continue
        limit = format_seconds(settings.longest_sample)
        reason = f"takes {format_seconds(call)} a call, {OVER} {limit}{why}"
        refused[name] = skipped(name, reason)
    return [(c, admitted[c.fullname]) for c, _ in ran if c.fullname in admitted], refused


def freeze(
    plan: Plan,
    pilot: Journal,
    seconds: float,
    why_no_counter: Mapping[str, str | None],
    before: Mapping[str, bool] = MappingProxyType({}),
) -> Plan:
    """Complete a plan by the pilot's journal, `seconds` after the run began.

    why_no_counter : by device why it does not count its energy, `None` if it does
    before : what the machine's last run did with cases; see `choices`

    Raises `CannotRunError` where more launches are asked for than a stored file may hold.
    """
    records = list(pilot)
    surroundings = next(r for r in records if isinstance(r, journal.Surroundings))
    collected = next(r for r in records if isinstance(r, journal.Collected))
    nodes = next((r.nodes for r in records if isinstance(r, journal.NodesSeen)), [])
    measured = {r.case: r for r in records if isinstance(r, Measured)}
    refused = {r.case: r for r in records if isinstance(r, Refused)}
    begun = min(record.at for record in records if isinstance(record, journal.Begun))
    settings = profiles.settings_on(plan.settings, surroundings.devices)
    if plan.like or plan.budget_asked:
        settings = replace(plan.settings, devices=surroundings.devices)
    startup = seconds - (time.monotonic() - begun) + profiles.settling_seconds(settings)
    able = measured.keys() - refused.keys()
    pairs = [(case, measured[case.fullname]) for case in collected.cases if case.fullname in able]
    if not plan.like:
        pairs, too_slow = admit(pairs, settings, before)
        refused |= too_slow
        refused |= too_long(pairs, settings, startup, seconds)
        pairs = [pair for pair in pairs if pair[0].fullname not in refused]
    ran = [record for _, record in pairs]
    sustained, energy, without_energy = choose_windows(
        pairs, why_no_counter, settings, startup, seconds
    )
    startup += WINDOW_SECONDS * len({*sustained, *energy})
    if not plan.like:
        case_seconds = choose_case_seconds(ran, settings, startup, seconds)
        settings = replace(settings, case_seconds=case_seconds)
    names = {case.fullname for case in collected.cases}
    most = store.most_launches(len(pairs), settings.most_samples)
    if settings.launches and settings.launches > most:
        raise CannotRunError(
            f"a stored file holds {most:,} launches of {len(pairs):,} cases at most: "
            "ask for fewer, or for fewer cases (-k)"
        )
    return replace(
        plan,
        settings=settings,
        environment=replace(surroundings.environment, label=plan.label or UNSET),
        exercises=collected.exercises,
        cases=[case for case, _ in pairs],
        outcomes=[
            *(outcome(c, refused[c.fullname]) for c in collected.cases if c.fullname in refused),
            *(absent for absent in plan.like if absent.fullname not in names),
        ],
        plan_seconds=seconds,
        body_seconds=body_seconds(records),
        launch_seconds=launch_seconds(ran, startup, settings.case_seconds),
        deadlines=deadlines(pairs, settings.case_seconds),
        brief=[record.case for record in ran if record.brief],
        searched={record.case: record.search for record in ran if record.search is not None},
        energy=energy,
        without_energy=without_energy,
        sustained=sustained,
        troubles=surroundings.troubles,
        disturbed=is_disturbed(ran),
        nodes=nodes,
    )


def outcome(case: CaseIdentity, refused: Refused | None) -> Outcome:
    """Return what became of a case, which was refused unless it passed."""
    return Outcome(
        fullname=case.fullname,
        group=case.group,
        params=case.params,
        status=refused.status if refused else "passed",
        reason=refused.reason if refused else None,
        check=UNSET if refused is None or refused.check is None else refused.check,
    )
