# SPDX-License-Identifier: MIT
"""What the profiles mean: how long a run, a case and a single call may take."""

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from frobench.suite.statistics import LEAST_LAUNCHES
from frobench.suite.stored.types import ProfileName, Settings

STEPS_ON_CPU, STEPS_ON_ACCELERATOR = 100, 20
"""Steps of the clock that a sample lasts, at least, on the CPU and on an accelerator. On the
latter, a second call in a sample overlaps with launching the first, which changes far more than a
step does. What seems to be a step is most often the time to read the clock: 150 ns in some virtual
machines. A hundred such readings take longer than to launch a small operation and wait for it."""
BARRIERS = 20
"""Times the barrier of a group that its samples last, at least: the one that ends a sample makes a
call seem longer, by a twentieth at most."""
LEAST_SAMPLES = 3
"""Samples of a case in a launch, however long they take: the fewest that have a median."""
TIMES_THE_CACHE = 2
"""Sizes of a cache that are read to leave nothing else in it."""
SETTLE_SECONDS = 3.0
"""How long the clock of an accelerator swings after it was idle, as seen on an H200."""
LEAD, WINDOW = 0.25, 2.0
"""Seconds for which a body is repeated: until the power, and the clock that it limits, are steady;
and then in the window in which its energy is measured."""
WINDOW_SECONDS = LEAD + WINDOW
LARGEST_LOAD = 0.05
"""Part of the usable cores that others may keep busy before a launch counts as disturbed."""
HEADLINE_TIMES, HEADLINE_PART = 10.0, 0.1
"""How much longer than others a call of a headline case may take, and the part of the budget for
all headline cases together whose calls are longer than others may be."""
BRIEF_CALLS, BRIEF_SAMPLES = 3, 2
"""Calls of such a case in a launch, and those of them that are samples."""
LEEWAY = 1.25
"""Times the permitted call beyond which a case is left out: nearer to the limit the machine's state
of the moment would decide."""
AS_BEFORE = 2.0
"""A case that the machine's last run measured may take so many times the permitted call, and one
that it left out must take less by this factor: two runs should have the same cases."""
OVER = "over this profile's"
"""What every reason says of a case that takes too long."""
SEARCH_PART, PEAK_SECONDS = 0.1, 180.0
"""What all searches of a run may take together: a part of the budget, or what `--peak` adds."""


class Profile(Struct, frozen=True):
    """Limits of a profile, in seconds.

    budget : the whole run, planning included
    limit : the whole run where the budget is too small for six launches; beyond it, the costliest
        cases that lead no answer are left out
    longest_sample : one call of a body
    case_seconds : sampling a case in a launch, at most; less where the budget needs it
    launches : for which the time of a case is chosen; more are added if they end early
    most_launches : after which a run of few cases ends, however much of the budget is left
    settle : keeping an accelerator busy before its first case, until its clock has settled
    least_case_seconds : sampling a case in a launch, at least
    full_case_seconds : the same, if the fewest launches fit the budget with it. It comes before
        more launches: on two cores a launch of the standard profile takes 11 s besides sampling
    least_launches : made whatever they take
    """

    budget: float
    limit: float
    longest_sample: float
    case_seconds: float
    launches: int
    most_launches: int
    settle: float = SETTLE_SECONDS
    least_case_seconds: float = 0.02
    full_case_seconds: float = 0.02
    least_launches: int = LEAST_LAUNCHES


PROFILES: dict[ProfileName, Profile] = {
    # budget, limit, longest_sample, case_seconds, launches, most_launches
    "quick": Profile(48, 90, 0.02, 0.2, LEAST_LAUNCHES, 10, settle=1.0),
    "standard": Profile(288, 450, 0.2, 0.5, 8, 24, full_case_seconds=0.07),
    "rigorous": Profile(1800, 3600, 2.0, 2.0, 12, 48),
}

WITH_ACCELERATOR: dict[ProfileName, Profile] = {
    "quick": replace(PROFILES["quick"], budget=85, limit=90, least_case_seconds=0.01),
    "standard": replace(
        PROFILES["standard"], budget=440, limit=480, least_launches=8, full_case_seconds=0.02
    ),
    "rigorous": PROFILES["rigorous"],
}
"""The same where an accelerator is measured: each process takes seconds to get it ready."""


def limits_of(profile: ProfileName, devices: Iterable[str]) -> Profile:
    """Return a profile's limits where these devices are measured."""
    return (PROFILES if set(devices) <= {"cpu"} else WITH_ACCELERATOR)[profile]


def settings_on(settings: Settings, devices: list[str]) -> Settings:
    """Return a profile's settings on these devices, with the budget and launches for them."""
    limits = limits_of(settings.profile, devices)
    budget = settings.budget + (limits.budget - PROFILES[settings.profile].budget)
    return replace(settings, devices=devices, budget=budget, least_launches=limits.least_launches)


def headline_times(settings: Settings) -> float:
    """Return how many times the longest call one of a headline case may take."""
    fitting = headline_seconds(settings) / BRIEF_CALLS
    return max(1.0, min(HEADLINE_TIMES, fitting / settings.longest_sample))


def longest_call(settings: Settings, *, headline: bool, before: bool | None = None) -> float:
    """Return the seconds that a call of a case may take.

    before : whether the machine's last run measured the case; `None` if it did not try
    """
    factor = LEEWAY if before is None else AS_BEFORE if before else 1 / AS_BEFORE
    return settings.longest_sample * factor * (headline_times(settings) if headline else 1.0)


def headline_seconds(settings: Settings) -> float:
    """Return the seconds of a launch for all headline cases with long calls."""
    return HEADLINE_PART * settings.budget / PROFILES[settings.profile].launches


def brief(settings: Settings) -> Settings:
    """Return the settings by which a launch measures a headline case with long calls."""
    return replace(settings, case_seconds=0.0, most_samples=BRIEF_SAMPLES)


def settling_seconds(settings: Settings) -> float:
    """Return the seconds in which a launch settles its devices' clocks: again after CPU cases."""
    if set(settings.devices) <= {"cpu"}:
        return 0.0
    times = 1.5 if "cpu" in settings.devices else 1.0  # in half of the launches the CPU comes first
    return times * PROFILES[settings.profile].settle


def settings_for(  # noqa: PLR0913 - one a choice that the user has
    profile: ProfileName,
    devices: list[str],
    *,
    budget: float | None = None,
    launches: int | None = None,
    deadline: float | None = None,
    expression: str = "",
) -> Settings:
    """Return a profile's settings with what the user asked for in their place."""
    chosen = PROFILES[profile]
    return Settings(
        profile=profile,
        devices=devices,
        expression=expression,
        longest_sample=chosen.longest_sample,
        case_seconds=chosen.case_seconds,
        budget=budget or chosen.budget,
        least_launches=chosen.least_launches,
        launches=launches,
        deadline=deadline or 60.0,
    )
