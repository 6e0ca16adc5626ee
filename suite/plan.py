# SPDX-License-Identifier: MIT
"""The plan of a run, which its launches get, and what one process is to do with it."""

import math
import os
import random
from errno import ENOENT
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import msgspec
from msgspec import UNSET, Struct, field

from frobench.suite.errors import CannotRunError
from frobench.suite.files import UnusableFileError, content_of, keep
from frobench.suite.machine.sensors.cpu import CPU
from frobench.suite.profiles import limits_of
from frobench.suite.stored import store
from frobench.suite.stored.machine_identity import nodes_of
from frobench.suite.stored.types import (
    CommitInfo,
    Conclusion,
    Environment,
    Exercise,
    NodeFacts,
    Outcome,
    Project,
    Scalar,
    Search,
    Settings,
)

OPTION = "--frobench-launch"
"""The option of pytest that names the file of a launch's specification."""
UNREAD: Any = UNSET
"""The default of a field that somebody sets before anything reads it."""


class CaseIdentity(Struct, frozen=True, kw_only=True):
    """A case as collection finds it, before anything is run."""

    fullname: str
    name: str
    group: str
    function: str
    params: dict[str, Scalar]
    param: str | None
    title: str
    headline: bool
    devices: list[str]
    version: str


DEADLINE_PART = 0.05
"""Part of the remaining budget that a case may take, if its own deadline is shorter."""


class Plan(Struct, kw_only=True):
    """What a run measures, and how.

    Fields down to `label` follow from the user's request. The pilot adds the other fields and
    replaces `settings` and `searched`; from then on nothing changes.

    settings : once frozen, with the devices found, their budget, and the time for a case
    benchmarks : the folder of benchmarks; cases are named from the folder that holds it
    like : cases of the run to repeat, for those not found here; its settings hold
    search_seconds : for all searches of the pilot together
    searched : shapes that searches have found, by case
    budget_asked : whether the budget is the user's, and not the profile's
    project_folder : the working tree of the project that is measured
    paths : folders of the project that modules are imported from first
    label : see `suite.stored.types.Environment`
    environment : as the pilot found it; unset before
    cases : that every launch measures; none before the pilot
    outcomes : of selected cases that are not measured
    plan_seconds, body_seconds : that the pilot took, and those of them in bodies and searches
    launch_seconds : that a launch is expected to take
    deadlines : seconds after which a case hangs, where it is not the settings' deadline
    brief : headline cases with long calls, which are called a few times
    energy : cases whose energy every launch measures
    without_energy : why the energy of other headline cases is not measured
    sustained : cases of an accelerator whose sustained rate every launch measures
    troubles : of the machine, before anything ran
    disturbed : whether the pilot's cases had to wait for the processor
    nodes : that measure together; none if the machine measures by itself
    """

    FILE: ClassVar[str] = "plan.json"

    run: str
    started: str  # UTC, ISO 8601
    seed: int
    settings: Settings
    benchmarks: str
    commit: CommitInfo = field(default_factory=CommitInfo)
    like: list[Outcome] = []
    search_seconds: float = UNREAD  # only a pilot searches
    searched: dict[str, Search] = {}
    budget_asked: bool = False
    project_folder: str | None = None
    project: Project | None = None
    paths: list[str] = []
    label: str | None = None
    environment: Environment = UNREAD
    exercises: dict[str, Exercise] = {}
    cases: list[CaseIdentity] = []
    outcomes: list[Outcome] = []
    plan_seconds: float = UNREAD
    body_seconds: float = UNREAD
    launch_seconds: float = UNREAD
    deadlines: dict[str, float] = {}
    brief: list[str] = []
    energy: list[str] = []
    without_energy: dict[str, str] = {}
    sustained: list[str] = []
    troubles: list[Conclusion] = []
    disturbed: bool = UNREAD
    nodes: list[NodeFacts] = []

    def write(self, folder: Path) -> None:
        """Keep the plan in a run's folder, for the next sitting."""
        keep(folder / self.FILE, msgspec.json.encode(self))

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Return the plan in a run's folder.

        Raises `CannotRunError` if it is damaged, and `FileNotFoundError` if it was removed.
        """
        path = folder / cls.FILE
        if not path.exists():
            raise FileNotFoundError(ENOENT, os.strerror(ENOENT), str(path))
        try:
            return msgspec.json.decode(content_of(path), type=cls)
        except (UnusableFileError, msgspec.DecodeError, UnicodeDecodeError) as error:
            raise CannotRunError(
                f"{path} is damaged, or another version of Frobench wrote it ({error}); "
                f"this run cannot be resumed: remove {folder}, and measure anew"
            ) from error

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
        return min(most, max(self.deadlines.get(case, most), DEADLINE_PART * left))

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

    def windows(self, launch: int) -> list[str]:
        """Return the cases that are repeated behind all others, in this launch's order."""
        names = [*dict.fromkeys([*self.sustained, *self.energy])]
        self._chance(launch).shuffle(names)
        return names

    def _chance(self, launch: int) -> random.Random:
        return random.Random(f"{self.seed}/{launch}")  # noqa: S311 - not for secrets


def _kind(case: CaseIdentity) -> str:
    """Return the kind of device that a case measures: the accelerator's where one takes part."""
    if any(map(nodes_of, case.devices)):  # its ranks meet once for all its cases
        return str(case.params["device"])
    kinds = (name.partition("/")[0].partition(":")[0] for name in case.devices)
    return next((kind for kind in kinds if kind != CPU), CPU)


class LaunchSpec(Struct, kw_only=True):
    """What a process is to do with a plan.

    mode : ``collect`` lists the cases, ``pilot`` calls each a few times, ``measure`` samples,
        ``once`` calls one body for a profiler; ``alone`` is a session that no runner started
    order : full names of the cases in the order to measure them; empty takes all
    runner : the process that watches; a launch that outlives it ends itself
    trace : the file for a trace of the one call, if one is wanted
    """

    plan: Plan
    mode: Literal["collect", "pilot", "measure", "once", "alone"]
    launch: int = 0
    journal: str
    order: list[str] = []
    runner: int = UNREAD
    trace: str | None = None

    @property
    def settings(self) -> Settings:
        """The settings of the plan."""
        return self.plan.settings

    @property
    def seed(self) -> int:
        """The seed of this launch's inputs."""
        return self.plan.seed + self.launch


def read_spec(path: str) -> LaunchSpec:
    """Return what a file asks of a launch."""
    return msgspec.json.decode(Path(path).read_bytes(), type=LaunchSpec)


def launches_within(
    settings: Settings, cases: int, spent: float, launch_seconds: float, done: int = 0
) -> int:
    """Return how many launches a run makes: those asked for, or what the budget has time for.

    Never fewer than an interval needs, nor more than a file holds. A larger budget allows more.

    spent : seconds since the run began
    launch_seconds : what a launch takes
    done : launches that ended already
    """
    held = store.most_launches(cases, settings.most_samples)
    if settings.launches is not None:
        return min(settings.launches, held)
    limits = limits_of(settings.profile, settings.devices)
    most = math.ceil(limits.most_launches * max(1.0, settings.budget / limits.budget))
    fitting = done + int(max(0.0, settings.budget - spent) / launch_seconds)
    return min(max(settings.least_launches, min(most, fitting)), held)
