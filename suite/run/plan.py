# SPDX-License-Identifier: MIT
"""The plan of a run: what a pilot found measurable, frozen for every launch."""

import random
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar, Self

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import replace

from frobench.suite.errors import CannotRunError
from frobench.suite.files import UnusableFileError, content_of, keep
from frobench.suite.journal.records import (
    Begun,
    Collected,
    Identity,
    Journal,
    Measured,
    NodesSeen,
    Refused,
    Surroundings,
)
from frobench.suite.machine.sensors.cpu import CPU
from frobench.suite.profiles import WINDOW_SECONDS, launches_within, settings_on, settling_seconds
from frobench.suite.run.forecast import costs
from frobench.suite.run.forecast.admission import admit
from frobench.suite.run.forecast.windows import Choice, choose_windows
from frobench.suite.stored import bounds
from frobench.suite.stored.names import nodes_of
from frobench.suite.stored.run import (
    CommitInfo,
    Conclusion,
    Environment,
    Exercise,
    NodeFacts,
    Outcome,
    Project,
    Search,
    Settings,
)


class _Kept(Struct):
    """A file of a run's folder, for the next sitting."""

    FILE: ClassVar[str]

    def write(self, folder: Path) -> None:
        keep(folder / self.FILE, msgspec.json.encode(self))

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """Return what a run's folder holds, if it does; raises `CannotRunError` if damaged."""
        path = folder / cls.FILE
        if not path.exists():
            return None
        try:
            return msgspec.json.decode(content_of(path), type=cls)
        except (UnusableFileError, msgspec.DecodeError, UnicodeDecodeError) as error:
            raise CannotRunError(
                f"{path} is damaged, or another version of Frobench wrote it ({error}); "
                f"this run cannot be resumed: remove {folder}, and measure anew"
            ) from error


class Draft(_Kept, kw_only=True):
    """What is settled about a run before its pilot."""

    FILE: ClassVar[str] = "draft.json"

    run: str  # its name
    started: str  # UTC, ISO 8601
    seed: int
    settings: Settings
    commit: CommitInfo
    benchmarks: str
    like: list[Outcome] = []  # of the run to repeat, for cases not found here; its settings hold
    search_seconds: float = 0.0  # for all searches together
    searched: dict[str, Search] = {}  # what the searches of the run to repeat found
    budget_asked: bool = False  # whether the budget is the user's, and not the profile's
    project_folder: str | None = None  # the working tree of the project that is measured
    project: Project | None = None
    paths: list[str] = []  # folders of the project that modules are imported from first
    kept_out: str = ""  # another working tree of it, from which nothing may be imported
    label: str | None = None  # see `suite.stored.run.Environment`


class Plan(_Kept, kw_only=True):
    """A run before its first launch; nothing in it changes afterwards."""

    FILE: ClassVar[str] = "plan.json"

    draft: Draft
    settings: Settings  # the draft's, with the devices found, their budget, and the time for a case
    environment: Environment
    exercises: dict[str, Exercise]
    cases: list[Identity]
    outcomes: list[Outcome]  # of selected cases that are not measured
    plan_seconds: float  # that the pilot took
    launch_seconds: float  # that a launch is expected to take
    deadlines: dict[str, float] = {}  # see `costs.deadlines`
    brief: list[str] = []  # headline cases with long calls
    searched: dict[str, Search] = {}
    counters: list[str] = []  # devices that count their energy
    energy: Choice = Choice([], {})
    sustained: list[str] = []  # cases of an accelerator whose sustained rate every launch measures
    troubles: list[Conclusion] = []  # of the machine, before anything ran
    disturbed: bool = False  # whether the pilot's cases had to wait for the processor
    body_seconds: float = 0.0  # of the pilot; see `costs.body_seconds`
    nodes: list[NodeFacts] = []  # that measure together; none if the machine measures by itself

    @property
    def seconds_at_least(self) -> float:
        """Seconds that the run should take with the fewest launches that say anything."""
        return self.plan_seconds + self.settings.least_launches * self.launch_seconds

    def launches(self, spent: float, launch_seconds: float, done: int = 0) -> int:
        """Return how many launches the run makes; see `launches_within`."""
        return launches_within(self.settings, len(self.cases), spent, launch_seconds, done)

    def deadline(self, case: str, left: float) -> float:
        """Return the seconds that a case may take where so many of the budget are left."""
        most = self.settings.deadline
        return min(most, max(self.deadlines.get(case, most), costs.DEADLINE_PART * left))

    def order(self, launch: int) -> list[str]:
        """Return the full names of the cases in this launch's order, random but repeatable.

        Cases of one kind of device come in one block, so that no accelerator measures right
        after the CPU has: it would have rested, and its clock would not be steady.
        """
        kinds = {case.fullname: _kind(case) for case in self.cases}
        chance, names = self._chance(launch), [*kinds]
        chance.shuffle(names)
        blocks = sorted(set(kinds.values()))
        chance.shuffle(blocks)
        return sorted(names, key=lambda name: blocks.index(kinds[name]))

    def any_on_halves(self, names: Collection[str]) -> bool:
        """Tell whether any of these cases runs on halves of the CPU, a process each."""
        devices = (name for case in self.cases if case.fullname in names for name in case.devices)
        return any(name.startswith(f"{CPU}/") and not nodes_of(name) for name in devices)

    def windows(self, launch: int) -> list[str]:
        """Return the cases that are repeated behind all others, in this launch's order."""
        names = [*dict.fromkeys([*self.sustained, *self.energy.cases])]
        self._chance(launch).shuffle(names)
        return names

    def _chance(self, launch: int) -> random.Random:
        return random.Random(f"{self.draft.seed}/{launch}")  # noqa: S311 - not for secrets


def freeze(
    draft: Draft,
    pilot: Journal,
    seconds: float,
    why_no_counter: Mapping[str, str | None],
    before: Mapping[str, bool] = MappingProxyType({}),
) -> Plan:
    """Make the plan from the pilot's journal, `seconds` after the run began.

    why_no_counter : by device why it does not count its energy, `None` if it does
    before : what the machine's last run did with cases; see `choices` in `admission`

    Raises `CannotRunError` where more launches are asked for than a stored file may hold.
    """
    records = list(pilot)
    surroundings = next(r for r in records if isinstance(r, Surroundings))
    collected = next(r for r in records if isinstance(r, Collected))
    measured = {r.case: r for r in records if isinstance(r, Measured)}
    refused = {r.case: r for r in records if isinstance(r, Refused)}
    begun = min(record.at for record in records if isinstance(record, Begun))
    settings = settings_on(draft.settings, surroundings.devices)
    if draft.like or draft.budget_asked:
        settings = replace(draft.settings, devices=surroundings.devices)
    startup = max(0.0, seconds - (time.monotonic() - begun)) + settling_seconds(settings)
    able = measured.keys() - refused.keys()
    pairs = [(case, measured[case.fullname]) for case in collected.cases if case.fullname in able]
    if not draft.like:
        pairs, too_slow = admit(pairs, settings, before)
        refused |= too_slow
        refused |= costs.too_long(pairs, settings, startup, seconds)
        pairs = [pair for pair in pairs if pair[0].fullname not in refused]
    ran = [record for _, record in pairs]
    sustained, energy = choose_windows(pairs, why_no_counter, settings, startup, seconds)
    startup += WINDOW_SECONDS * len({*sustained, *energy.cases})
    if not draft.like:
        case_seconds = costs.choose_case_seconds(ran, settings, startup, seconds)
        settings = replace(settings, case_seconds=case_seconds)
    names = {case.fullname for case in collected.cases}
    most = bounds.most_launches(len(pairs), settings.most_samples)
    if settings.launches and settings.launches > most:
        raise CannotRunError(
            f"a stored file holds {most:,} launches of {len(pairs):,} cases at most: "
            "ask for fewer, or for fewer cases (-k)"
        )
    return Plan(
        draft=draft,
        settings=settings,
        environment=replace(surroundings.environment, label=draft.label or UNSET),
        exercises=collected.exercises,
        cases=[case for case, _ in pairs],
        outcomes=[
            *(outcome(c, refused[c.fullname]) for c in collected.cases if c.fullname in refused),
            *(absent for absent in draft.like if absent.fullname not in names),
        ],
        plan_seconds=seconds,
        launch_seconds=costs.launch_seconds(ran, startup, settings.case_seconds),
        deadlines=costs.deadlines(pairs, settings.case_seconds),
        brief=[record.case for record in ran if record.brief],
        searched={record.case: record.search for record in ran if record.search is not None},
        counters=[device for device, reason in why_no_counter.items() if reason is None],
        energy=energy,
        sustained=sustained,
        troubles=surroundings.troubles,
        disturbed=costs.is_disturbed(ran),
        body_seconds=costs.body_seconds(records),
        nodes=next((record.nodes for record in records if isinstance(record, NodesSeen)), []),
    )


def outcome(case: Identity, refused: Refused | None) -> Outcome:
    """Return what became of a case, which was refused unless it passed."""
    return Outcome(
        fullname=case.fullname,
        group=case.group,
        params=case.params,
        status=refused.status if refused else "passed",
        reason=refused.reason if refused else None,
        check=UNSET if refused is None or refused.check is None else refused.check,
    )


def _kind(case: Identity) -> str:
    """Return the kind of device that a case measures: the accelerator's where one takes part."""
    if any(map(nodes_of, case.devices)):  # its ranks meet once for all its cases
        return str(case.params["device"])
    kinds = (name.partition("/")[0].partition(":")[0] for name in case.devices)
    return next((kind for kind in kinds if kind != CPU), CPU)
