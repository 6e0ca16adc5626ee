# SPDX-License-Identifier: MIT
"""The plan of a run: what a pilot found measurable, frozen for every launch."""

import random
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Self

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import replace

from suite.model import CommitInfo, Conclusion, Environment, Exercise, Outcome, Search, Settings
from suite.profiles import LEAST_SAMPLES, PROFILES, SETTLE_SECONDS
from suite.running.energy import Choice, choose
from suite.running.journal import (
    Begun,
    Collected,
    Identity,
    Journal,
    Measured,
    Refused,
    Surroundings,
)
from suite.running.keep import keep
from suite.units import format_seconds
from suite.windows import SECONDS

CASE_SECONDS = (0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0)
"""Times for a case in a launch to choose from; a few, so that like runs choose alike."""
RESERVE = 0.92
"""The part of the budget that is planned; the rest is for what takes longer than thought."""
DISTURBED = 0.1
"""Part of a pilot's time that its cases wait for the processor above which others disturb it."""
MORE_WHERE_DISTURBED = 1.5
"""Times the profile's limit that a run may take on such a machine, rather than lose cases."""
WARM_UP_CALLS = 10
"""Calls after which a body is steady, if it was so from the start."""


class _Kept(Struct):
    """Something that a run's folder holds, for the next sitting."""

    FILE: ClassVar[str]

    def write(self, folder: Path) -> None:
        """Keep it in the run's folder."""
        keep(folder / self.FILE, msgspec.json.encode(self))

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """Return what a run's folder holds of it, if it came to that."""
        path = folder / cls.FILE
        return msgspec.json.decode(path.read_bytes(), type=cls) if path.exists() else None


class Draft(_Kept, kw_only=True):
    """What is settled about a run before its pilot.

    run : the run's name
    started : UTC, ISO 8601
    benchmarks : the folder of benchmarks
    like : for a run that repeats another one, what becomes of each of its cases if it is not
        found here; these cases are measured, and the settings are taken as they stand
    search_seconds : for all searches together
    searched : what that other run found
    """

    FILE: ClassVar[str] = "draft.json"

    run: str
    started: str
    seed: int
    settings: Settings
    commit: CommitInfo
    benchmarks: str
    like: list[Outcome] = []
    search_seconds: float = 0.0
    searched: dict[str, Search] = {}


class Plan(_Kept, kw_only=True):
    """A run before its first launch; nothing in it changes afterwards.

    settings : the draft's, with the devices found and the time for a case that fits
    cases : what every launch measures
    outcomes : what was selected and is not measured, with the reasons
    plan_seconds : what the pilot took
    launch_seconds : what a launch is expected to take
    searched : what was found, by case
    counters : devices that count their energy
    energy : cases whose energy every launch measures, and why not others
    troubles : what was wrong with the machine before anything ran
    disturbed : whether the pilot's cases had to wait for the processor
    """

    FILE: ClassVar[str] = "plan.json"

    draft: Draft
    settings: Settings
    environment: Environment
    exercises: dict[str, Exercise]
    cases: list[Identity]
    outcomes: list[Outcome]
    plan_seconds: float
    launch_seconds: float
    searched: dict[str, Search] = {}
    counters: list[str] = []
    energy: Choice = Choice([], {})
    troubles: list[Conclusion] = []
    disturbed: bool = False

    @property
    def seconds_at_least(self) -> float:
        """Seconds that the run should take with the fewest launches that say anything."""
        return self.plan_seconds + self.settings.least_launches * self.launch_seconds

    def order(self, launch: int) -> list[str]:
        """Return the full names of the cases in this launch's order, random but repeatable."""
        names = [case.fullname for case in self.cases]
        random.Random(f"{self.draft.seed}/{launch}").shuffle(names)  # noqa: S311 - not for secrets
        return names


def freeze(
    draft: Draft, pilot: Journal, seconds: float, counters: Mapping[str, str | None]
) -> Plan:
    """Make the plan from the pilot's journal, `seconds` after the run began.

    counters : by device `None`, or why it does not count its energy
    """
    records = list(pilot)
    surroundings = next(r for r in records if isinstance(r, Surroundings))
    found = next(r for r in records if isinstance(r, Collected))
    measured = {r.case: r for r in records if isinstance(r, Measured)}
    refused = {r.case: r for r in records if isinstance(r, Refused)}
    begun = min(record.at for record in records if isinstance(record, Begun))
    startup = max(0.0, seconds - (time.monotonic() - begun))
    if any(name != "cpu" for name in surroundings.devices):
        startup += SETTLE_SECONDS
    pairs = [
        (case, measured[case.fullname])
        for case in found.cases
        if case.fullname in measured and case.fullname not in refused
    ]
    energy = choose(pairs, counters, draft.settings)
    startup += SECONDS * len(energy.cases)
    late = {} if draft.like else too_long(pairs, draft.settings, startup, seconds)
    refused |= late
    cases = [case for case, _ in pairs if case.fullname not in late]
    ran = [record for case, record in pairs if case.fullname not in late]
    case_seconds = draft.settings.case_seconds
    if not draft.like:
        case_seconds = choose_case_seconds(ran, draft.settings, startup, seconds)
    names = {case.fullname for case in found.cases}
    return Plan(
        draft=draft,
        settings=replace(draft.settings, devices=surroundings.devices, case_seconds=case_seconds),
        environment=surroundings.environment,
        exercises=found.exercises,
        cases=cases,
        outcomes=[
            *(outcome(c, refused[c.fullname]) for c in found.cases if c.fullname in refused),
            *(absent for absent in draft.like if absent.fullname not in names),
        ],
        plan_seconds=seconds,
        launch_seconds=launch_seconds(ran, startup, case_seconds),
        searched={record.case: record.search for record in ran if record.search is not None},
        counters=[device for device, reason in counters.items() if reason is None],
        energy=energy,
        troubles=surroundings.troubles,
        disturbed=is_disturbed(ran),
    )


def outcome(case: Identity, refused: Refused | None) -> Outcome:
    """Return what became of a case."""
    return Outcome(
        fullname=case.fullname,
        group=case.group,
        params=case.params,
        status=refused.status if refused else "passed",
        reason=refused.reason if refused else None,
        check=UNSET if refused is None or refused.check is None else refused.check,
    )


def too_long(
    ran: Sequence[tuple[Identity, Measured]], settings: Settings, startup: float, spent: float
) -> dict[str, Refused]:
    """Return the cases without which the fewest launches stay within the profile's limit.

    They are those that take longest of the ones that lead no answer. Whoever asks for a number of
    launches, or for a larger budget, has the time. What other programs took of the processor is no
    reason to leave a case out.
    """
    if settings.launches is not None:
        return {}
    profile = PROFILES[settings.profile]
    most = profile.limit + max(0.0, settings.budget - profile.budget)
    if is_disturbed([record for _, record in ran]):
        most *= MORE_WHERE_DISTURBED
    ran = [(case, _undisturbed(record)) for case, record in ran]
    share = max(0.0, most - spent) / settings.least_launches
    over = launch_seconds((record for _, record in ran), startup, CASE_SECONDS[0]) - share
    takes = {
        record.case: launch_seconds([record], 0.0, CASE_SECONDS[0])
        for case, record in ran
        if not case.headline
    }
    found = {}
    for name, seconds in sorted(takes.items(), key=lambda item: -item[1]):
        if over <= 0:
            break
        over -= seconds
        reason = (
            f"it takes {format_seconds(seconds)} of each launch, for which a {settings.profile} "
            "run of so many cases has no time; -k selects fewer, --budget SECONDS gives more"
        )
        found[name] = Refused(launch=0, case=name, status="skipped", reason=reason)
    return found


def is_disturbed(ran: Sequence[Measured]) -> bool:
    """Tell whether the pilot's cases had to wait for the processor while others had it."""
    waited = sum(record.accounts.waited for record in ran if record.accounts)
    return waited > DISTURBED * sum(record.wall_seconds for record in ran)


def _undisturbed(record: Measured) -> Measured:
    """Return what the pilot would have seen of a case at the least, had nothing disturbed it.

    Setting up and checking takes no longer than its processor time.
    """
    if record.accounts is None:
        return record
    prepared = min(record.prepared, record.accounts.ran)
    overhead = min(record.overhead, record.accounts.ran)
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
    profile = PROFILES[settings.profile]
    share = (RESERVE * settings.budget - spent) / (settings.launches or profile.launches)
    fitting = [
        seconds
        for seconds in CASE_SECONDS
        if seconds <= profile.case_seconds and launch_seconds(ran, startup, seconds) <= share
    ]
    return max(fitting, default=CASE_SECONDS[0])


def launch_seconds(ran: Iterable[Measured], startup: float, case_seconds: float) -> float:
    """Return how long a launch should take, from what the pilot saw of its cases."""
    return startup + sum(record.overhead + _seconds(record, case_seconds) for record in ran)


def _seconds(record: Measured, case_seconds: float) -> float:
    """Return what warming up and sampling should take, the other version of a body included."""
    prepare = record.prepared / (1 + len(record.samples))  # the first call is no sample
    calls = [prepare + min(samples) for samples in (record.samples, record.against) if samples]
    warm_ups = (call + max(call, min(WARM_UP_CALLS * call, case_seconds / 2)) for call in calls)
    has_spans = record.parts.keys() - {"enqueue", "reading"}
    spans = (LEAST_SAMPLES if record.against else 1) if has_spans else 0
    least = LEAST_SAMPLES * sum(calls) + spans * calls[0]
    return sum(warm_ups) + max(least, case_seconds)
