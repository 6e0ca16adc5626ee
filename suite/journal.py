# SPDX-License-Identifier: MIT
"""The journal of a run: what runner and launches write down as it happens."""

from pathlib import Path
from typing import Literal

from msgspec import Struct

from frobench.suite.files import JsonLines, encoded, keep
from frobench.suite.kit.search_strategy import Try
from frobench.suite.machine.cpu_time import Accounts
from frobench.suite.machine.vendors.vendor import Identity
from frobench.suite.plan import UNREAD, CaseIdentity
from frobench.suite.project.imports import Foreign
from frobench.suite.stored.types import (
    Check,
    Conclusion,
    Environment,
    Exercise,
    Launch,
    NodeFacts,
    Search,
    Work,
)

DEVICE_LOST, DISK_REFUSES = 70, 71
"""Exit codes of a process that ended itself so that a fresh one goes on, since a device no longer
works or a case has changed the process; and of a launch that could not write its journal."""


class Collected(Struct, tag="collected", kw_only=True):
    """What collection found: every selected case, and the questions they answer.

    The last three fields are for `frobench list` alone.

    near : names like those of an expression that no case matches
    machine, machine_id : the machine's name and, without a label, its identity
    absent : by full name why no device here can run a case
    """

    cases: list[CaseIdentity]
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
    settled: float


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
    in_a_row : whether nothing comes between two calls, so that energy can be measured
    undisturbed : seconds of a pilot's quickest call, what it waited for the processor taken off
    accounts : of the whole case in a pilot, where the system keeps them
    brief : whether launches call the case a few times only; set by the plan
    """

    launch: int = UNREAD
    case: str = UNREAD
    order: int = UNREAD
    samples: list[float] = []
    iterations: int = 1
    warmup: float = 0.0
    sampled: float = 0.0
    work: Work = UNREAD
    check: Check | None = None
    parts: dict[str, float] = {}
    peak_bytes: int | None = None
    against: list[float] | None = None
    flushed_bytes: int | None = None
    commonest: float | None = None
    idle_devices: list[str] = []
    control: bool = UNREAD
    search: Search | None = None
    prepared: float = 0.0
    wall_seconds: float = UNREAD
    in_a_row: bool = UNREAD
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
    seconds: float
    launch: int = UNREAD
    case: str = UNREAD


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

    identities : of accelerators, by which the runner finds their sensors
    troubles : with devices that torch sees, and that were left out
    refusals : what torch says of these devices and no trouble does, for the terminal only
    """

    devices: list[str]
    environment: Environment
    identities: dict[str, Identity] = {}
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
