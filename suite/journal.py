# SPDX-License-Identifier: MIT
"""What runner and launches write for each other: the plan of a run, and its journal."""

import os
import random
from errno import ENOENT
from pathlib import Path
from typing import ClassVar, Literal, Self

import msgspec
from msgspec import UNSET, Struct, field

from frobench.suite.errors import CannotRunError
from frobench.suite.files import JsonLines, UnusableFileError, content_of, encoded, keep
from frobench.suite.kit.search_strategy import Try
from frobench.suite.machine.accounts import Accounts
from frobench.suite.machine.sensors.cpu import CPU
from frobench.suite.profiles import launches_within
from frobench.suite.project.imports import Foreign
from frobench.suite.stored.differences import nodes_of
from frobench.suite.stored.types import (
    Check,
    CommitInfo,
    Conclusion,
    Environment,
    Exercise,
    Launch,
    NodeFacts,
    Outcome,
    Project,
    Scalar,
    Search,
    Settings,
    Work,
)

OPTION = "--frobench-launch"
"""The option of pytest that names the file of a launch's specification."""
DEVICE_LOST, DISK_REFUSES = 70, 71
"""Exit codes of a process that ended itself so that a fresh one goes on, since a device no longer
works or a case has changed the process; and of a launch that could not write its journal."""


class Identity(Struct, frozen=True, kw_only=True):
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
    search_seconds: float = 0.0
    searched: dict[str, Search] = {}
    budget_asked: bool = False
    project_folder: str | None = None
    project: Project | None = None
    paths: list[str] = []
    label: str | None = None
    environment: Environment = UNSET  # type: ignore[assignment] # nothing reads it before the pilot
    exercises: dict[str, Exercise] = {}
    cases: list[Identity] = []
    outcomes: list[Outcome] = []
    plan_seconds: float = 0.0
    body_seconds: float = 0.0
    launch_seconds: float = 0.0
    deadlines: dict[str, float] = {}
    brief: list[str] = []
    energy: list[str] = []
    without_energy: dict[str, str] = {}
    sustained: list[str] = []
    troubles: list[Conclusion] = []
    disturbed: bool = False
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


def _kind(case: Identity) -> str:
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
    runner: int = 0
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


class Collected(Struct, tag="collected", kw_only=True):
    """What collection found: every selected case, and the questions they answer.

    The last three fields are for `frobench list` alone.

    near : names like those of an expression that no case matches
    machine, machine_id : the machine's name and, without a label, its identity
    absent : by full name why no device here can run a case
    """

    cases: list[Identity]
    exercises: dict[str, Exercise]
    near: list[str] = []
    machine: str = ""
    machine_id: str = ""
    absent: dict[str, str] = {}


class Begun(Struct, tag="begun", kw_only=True):
    """A case is in flight since `at`, seconds of the monotonic clock.

    settled : seconds in which accelerators were kept busy before, until their clocks had settled
    """

    launch: int
    case: str
    at: float
    settled: float = 0.0


class Tried(Struct, tag="tried", kw_only=True):
    """A case that searches for a shape has tried one."""

    case: str
    attempt: Try


class Measured(Struct, tag="measured", kw_only=True):
    """A case has its samples: the record of it from the loop that takes them to the stored file.

    Fields that are not named here are those of `CaseInfo`.

    samples : seconds of each host sample, divided by `iterations`; a pilot's also of calls with
        one thread
    against : as `samples`, of the other version of the body, each beside its sample of the body
    iterations : calls of the body inside a sample
    warmup : seconds of warming up and choosing the iterations
    sampled : seconds inside samples
    prepared : seconds between samples: of what comes before each, and of emptying the caches
    parts : the median of each part over the launch
    order : its place in the launch
    wall_seconds : of the whole case, set-up and check included, but not a search
    checked : seconds of comparing results with the truth
    in_a_row : whether nothing comes between two calls, so that energy can be measured
    undisturbed : seconds of a pilot's quickest call, what it waited for the processor taken off
    accounts : of the whole case in a pilot, where the system keeps them
    brief : whether launches call the case a few times only; set by the plan
    """

    launch: int = 0
    case: str = ""
    order: int = 0
    samples: list[float] = []
    iterations: int = 1
    warmup: float = 0.0
    sampled: float = 0.0
    work: Work = Work()
    check: Check | None = None
    parts: dict[str, float] = {}
    peak_bytes: int | None = None
    against: list[float] | None = None
    flushed_bytes: int | None = None
    commonest: float | None = None
    idle_devices: list[str] = []
    control: bool = False
    search: Search | None = None
    prepared: float = 0.0
    wall_seconds: float = 0.0
    checked: float = 0.0
    in_a_row: bool = True
    undisturbed: float | None = None
    accounts: Accounts | None = None
    brief: bool = False

    @property
    def quickest(self) -> float:
        """Seconds of the quickest call, undisturbed if that is known."""
        return min(self.samples) if self.undisturbed is None else self.undisturbed

    @property
    def overhead(self) -> float:
        """Seconds that went neither into samples, nor between them, nor into warm-up."""
        return max(0.0, self.wall_seconds - self.warmup - self.sampled - self.prepared)


class Busy(Struct, tag="busy", kw_only=True):
    """A case was repeated without a pause, behind all other cases of the launch.

    begun, ended : seconds of the monotonic clock; `seconds` are of the clock of the samples
    """

    begun: float
    ended: float
    calls: int
    seconds: float = 0.0
    launch: int = 0
    case: str = ""


class Rested(Struct, tag="rested", kw_only=True):
    """Nothing ran between these seconds of the monotonic clock; written by the runner."""

    begun: float
    ended: float


class Refused(Struct, tag="refused", kw_only=True):
    """A case has no samples in this launch, for a reason.

    check : the comparison with the truth, where that is the reason
    details : what others wrote of it, and a traceback, for the terminal only
    fatal : it took its process down with it, or hung; larger ones are not tried
    lost : the launch lost a process of a group, which says nothing of the case in other launches
    """

    launch: int
    case: str
    status: Literal["failed", "skipped"]
    reason: str
    fatal: bool = False
    check: Check | None = None
    details: str = ""
    lost: bool = False


class NodesSeen(Struct, tag="nodes", kw_only=True):
    """What the nodes are like that measure together; written by a pilot."""

    nodes: list[NodeFacts]


class Stopped(Struct, tag="stopped", kw_only=True):
    """The machine cannot do what was asked; the message says why and what helps."""

    message: str


class Surroundings(Struct, tag="surroundings", kw_only=True):
    """The devices chosen, and everything that moves a number.

    seals, addresses : by which the runner finds the sensors of accelerators
    troubles : with devices that torch sees, and that were left out
    refusals : what torch says of these devices and no trouble does, for the terminal only
    """

    devices: list[str]
    environment: Environment
    seals: dict[str, str | None] = {}
    addresses: dict[str, str] = {}
    troubles: list[Conclusion] = []
    refusals: dict[str, str] = {}


def no_facts() -> Launch:
    """Return what is stored of a launch that said nothing about itself."""
    return Launch(
        started="", seconds=0.0, body_seconds=0.0, warmup_seconds=0.0, empty_body={}, timer_step=0.0
    )


class Harness(Struct, tag="harness", kw_only=True):
    """What a launch says of the harness itself once its devices are ready."""

    launch: int
    environment: Environment
    facts: Launch


class Gauged(Struct, tag="gauged", kw_only=True):
    """What the gauge of a launch's process read; see `Launch.gauge`."""

    launch: int
    seconds: dict[str, float]


class Imported(Struct, tag="imported", kw_only=True):
    """Where a process has imported the project's code from; see `suite.project.imports`."""

    launch: int
    inside: int
    foreign: Foreign | None = None


class Ended(Struct, tag="ended", kw_only=True):
    """A launch has measured all it was given; written by the runner; see `Launch`."""

    launch: int
    started: str
    begun: float
    seconds: float
    others: float | None = None
    runner_cores: float | None = None


_OfPilot = Stopped | Surroundings | NodesSeen | Collected | Tried
_OfLaunch = Harness | Gauged | Begun | Measured | Refused | Busy | Imported
_OfRunner = Rested | Refused | Ended
Record = _OfPilot | _OfLaunch | _OfRunner
"""A line of the journal."""


class Journal(JsonLines[Record]):
    """The journal's file, to which launches append while the runner reads.

    `Begun` does not wait for the disk (4 ms on a virtual one): the runner reads it from the
    system's memory, and a machine that loses its power has lost the case anyway.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, Record, unsynced=(Begun,))

    def begin_again(self) -> None:
        """Forget everything but what searches have tried."""
        if self.path.exists():
            keep(self.path, b"".join(encoded(line) for line in self if isinstance(line, Tried)))
