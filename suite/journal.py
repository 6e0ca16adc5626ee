# SPDX-License-Identifier: MIT
"""What runner and launches write for each other: the specification of a launch, and the journal."""

from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from frobench.suite.files import JsonLines, encoded, keep
from frobench.suite.kit.search_strategy import Try
from frobench.suite.machine.accounts import Accounts
from frobench.suite.project.imports import Foreign
from frobench.suite.stored.types import (
    Check,
    Conclusion,
    Environment,
    Exercise,
    NodeFacts,
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


class LaunchSpec(Struct, kw_only=True):
    """What the runner tells a launch: where to write, what to measure, in which order.

    mode : ``collect`` lists the cases, ``pilot`` calls each a few times, ``measure`` samples,
        ``once`` calls one body for a profiler; ``alone`` is a session that no runner started
    benchmarks : the folder of benchmarks; cases are named from the folder that holds it
    order : full names of the cases in the order to measure them; empty takes all
    done : cases that earlier processes of the launch have measured
    halves : whether some of the cases run on halves of the CPU, a process each
    runner : the process that watches; a launch that outlives it ends itself
    search_seconds : for all searches of a pilot together
    searched : what is known already of cases that would search
    versions : those that benchmarks must have, by the full names of cases
    windows : cases to repeat behind all others, in this order
    brief : headline cases with long calls, which are called a few times
    trace : the file for a trace of the one call, if one is wanted
    project, paths, kept_out : see `Draft`
    """

    mode: Literal["collect", "pilot", "measure", "once", "alone"]
    launch: int
    journal: str
    benchmarks: str
    seed: int
    settings: Settings
    order: list[str] = []
    done: int = 0
    halves: bool = False
    runner: int = 0
    search_seconds: float = 0.0
    searched: dict[str, Search] = {}
    windows: list[str] = []
    brief: list[str] = []
    versions: dict[str, str] = {}
    trace: str | None = None
    project: str | None = None
    paths: list[str] = []
    kept_out: str = ""


def read_spec(path: str) -> LaunchSpec:
    """Return what a file asks of a launch."""
    return msgspec.json.decode(Path(path).read_bytes(), type=LaunchSpec)


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


class Collected(Struct, tag="collected", kw_only=True):
    """What collection found: every selected case, and the questions they answer."""

    cases: list[Identity]
    exercises: dict[str, Exercise]


class Declared(Struct, tag="declared", kw_only=True):
    """What is known of cases before they run; `absent` is why no device here can run one.

    machine, machine_id : the machine's name and, without a label, its identity
    """

    machine: str
    machine_id: str
    works: dict[str, Work]
    absent: dict[str, str]


class Begun(Struct, tag="begun", kw_only=True):
    """A case is in flight since `at`, seconds of the monotonic clock."""

    launch: int
    case: str
    at: float


class Tried(Struct, tag="tried", kw_only=True):
    """A case that searches for a shape has tried one."""

    case: str
    attempt: Try


class Measured(Struct, tag="measured", kw_only=True):
    """A case has its samples; `Measurement` and `CaseInfo` say what most fields are.

    order : its place in the launch
    wall_seconds : of the whole case, set-up and check included, but not a search
    checked : seconds of comparing results with the truth
    in_a_row : whether nothing comes between two calls, so that energy can be measured
    undisturbed : seconds of a pilot's quickest call, what it waited for the processor taken off
    accounts : of the whole case in a pilot, where the system keeps them
    brief : whether launches call the case a few times only; set by the plan
    """

    launch: int
    case: str
    order: int
    samples: list[float]
    iterations: int
    warmup: float
    sampled: float
    work: Work
    check: Check | None
    parts: dict[str, float]
    peak_bytes: int | None
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

    launch: int
    case: str
    begun: float
    ended: float
    calls: int
    seconds: float = 0.0


class Settled(Struct, tag="settled", kw_only=True):
    """Accelerators were kept busy until their clocks had settled."""

    launch: int
    seconds: float


class Rested(Struct, tag="rested", kw_only=True):
    """Nothing ran between these seconds of the monotonic clock; written by the runner."""

    begun: float
    ended: float


class Refused(Struct, tag="refused", kw_only=True):
    """A case has no samples in this launch, for a reason.

    check : the comparison with the truth, where that is the reason
    details : the error with its traceback, for the terminal only
    fatal : it took its process down with it, or hung; larger ones are not tried
    lost : the launch lost a process of a group, which says nothing of the case in other launches
    sampled : seconds of the calls that a pilot made before it knew that they take too long
    """

    launch: int
    case: str
    status: Literal["failed", "skipped"]
    reason: str
    fatal: bool = False
    check: Check | None = None
    details: str = ""
    lost: bool = False
    sampled: float = 0.0


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
    """

    devices: list[str]
    environment: Environment
    seals: dict[str, str | None] = {}
    addresses: dict[str, str] = {}
    troubles: list[Conclusion] = []


class Harness(Struct, tag="harness", kw_only=True):
    """What a launch says of the harness itself once its devices are ready; see `Launch`."""

    launch: int
    empty_body: dict[str, float]
    timer_step: float
    warmup: float
    state: dict[str, Scalar]
    environment: Environment | None = None
    ready_reading: dict[str, float] = {}
    waits: dict[str, str] = {}


class Gauged(Struct, tag="gauged", kw_only=True):
    """What the gauge of a launch's process read; see `Launch.gauge`."""

    launch: int
    seconds: dict[str, float]


class Imported(Struct, tag="imported", kw_only=True):
    """Where a process has imported the project's code from; see `suite.project.imports`."""

    launch: int
    inside: int
    outside: list[str]
    foreign: Foreign | None = None


class Ended(Struct, tag="ended", kw_only=True):
    """A launch has measured all it was given; written by the runner; see `Launch`."""

    launch: int
    started: str
    begun: float
    seconds: float
    others: float | None = None
    runner_cores: float | None = None


_OfPilot = Stopped | Surroundings | NodesSeen | Collected | Declared | Tried
_OfLaunch = Harness | Gauged | Settled | Begun | Measured | Refused | Busy | Imported
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
