# SPDX-License-Identifier: MIT
"""What this machine's last run says of the cases that a run would have."""

from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from pathlib import Path
from statistics import median

from msgspec import UNSET, Struct
from msgspec.structs import asdict

from frobench.suite.journal import Collected
from frobench.suite.plan import CaseIdentity, launches_within
from frobench.suite.profiles import OVER, longest_call, settings_on
from frobench.suite.run.planning import choices
from frobench.suite.stored import store
from frobench.suite.stored.machine_identity import machine_id
from frobench.suite.stored.store import InvalidResult
from frobench.suite.stored.types import Exercise, ProfileName, Run, Settings, Work
from frobench.suite.units import format_seconds

STARTUP_SECONDS = 2.5
"""Of a launch before its first case, about."""
MOST_TRIED = 12
"""Stored runs that are read until one of them is complete and of this machine."""


class ExpectedCase(CaseIdentity, frozen=True, kw_only=True):
    """A case, and what the last run says of it: nothing of what it has not in this version."""

    work: Work | None  # of one call
    call_seconds: float | None
    left_out: str | None  # why it would not be measured here


class Expected(Struct, kw_only=True):
    """What a run with these settings should be like; `None` is unknown."""

    profile: ProfileName
    machine: str
    before: str | None  # the name of the stored run that tells it
    longest_sample: float
    budget: float
    launches: int | None
    run_seconds: float | None
    exercises: dict[str, Exercise]
    cases: list[ExpectedCase]


def newest(
    folder: Path,
    machine: str,
    is_like: Callable[[Run], bool] = lambda _: True,
    *,
    labelled: bool = True,
) -> Run | None:
    """Return the newest complete run of a machine in a folder, if one of the last few is its own.

    machine : its identity, see `suite.stored.machine_identity.machine_id`
    is_like : whether a run of the machine is one that is looked for
    labelled : whether the identity holds a label; else runs of any label count
    """
    for path in islice(sorted(folder.glob("*.json"), reverse=True), MOST_TRIED):
        with suppress(InvalidResult, OSError):
            run = store.read(path)
            here = run.frobench.environment
            label = here.label if labelled else UNSET
            same = machine == machine_id(here.cpu, here.accelerators, label)
            if run.frobench.complete and same and is_like(run):
                return run
    return None


def run_before(results: Path, collected: Collected, profile: ProfileName) -> Run | None:
    """Return the newest run of this machine that had all of these cases, else the newest one."""
    names = {case.fullname for case in collected.cases}

    def had_all(run: Run) -> bool:
        selected = {outcome.fullname for outcome in run.frobench.outcomes}
        return run.frobench.profile == profile and names <= selected

    folder, machine = results / collected.machine, collected.machine_id
    whole = newest(folder, machine, had_all, labelled=False)
    return whole or newest(folder, machine, labelled=False)


def expect(collected: Collected, settings: Settings, before: Run | None) -> Expected:
    """Return what a run of the collected cases should take, by a stored run of this machine."""
    devices = {name.partition("/")[0] for case in collected.cases for name in case.devices}
    settings = settings_on(settings, sorted(devices))
    known = {case.fullname: case for case in before.benchmarks} if before else {}
    outcomes = []
    if before and before.frobench.profile == settings.profile:
        outcomes = before.frobench.outcomes
    measured = choices(outcomes)
    reasons = {one.fullname: one.reason for one in outcomes if one.status == "skipped"}
    reasons |= collected.absent
    cases: list[ExpectedCase] = []
    for case in collected.cases:
        work = seconds = None
        left_out = reasons.get(case.fullname)
        same = known.get(case.fullname)
        if same and same.extra_info.version == case.version:
            work, seconds = same.extra_info.work, same.stats.median
            most = longest_call(
                settings, headline=case.headline, before=measured.get(case.fullname)
            )
            if seconds > most:
                limit = f"{OVER} {format_seconds(settings.longest_sample)}"
                left_out = left_out or f"takes about {format_seconds(seconds)} a call, {limit}"
        cases.append(
            ExpectedCase(**asdict(case), work=work, call_seconds=seconds, left_out=left_out)
        )
    launches = run_seconds = None
    ran = [case for case in cases if case.left_out is None]
    if before and outcomes and all(case.call_seconds is not None for case in ran):
        launch = median(launch.seconds for launch in before.frobench.launches)
        a_case = max(0.0, launch - STARTUP_SECONDS) / len(before.benchmarks)
        launch = STARTUP_SECONDS + len(ran) * a_case
        launches = launches_within(settings, len(ran), launch, launch)
        run_seconds = (1 + launches) * launch  # the pilot takes about one
    return Expected(
        profile=settings.profile,
        machine=collected.machine,
        before=before.frobench.run if before else None,
        longest_sample=settings.longest_sample,
        budget=settings.budget,
        launches=launches,
        run_seconds=run_seconds,
        exercises=collected.exercises,
        cases=cases,
    )
