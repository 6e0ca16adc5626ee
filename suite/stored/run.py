# SPDX-License-Identifier: MIT
"""The nouns of Frobench as typed structs; together they are the schema of the stored file.

Times are in seconds, sizes in bytes, work in floating-point operations. A value that is not known
is ``None``, with its reason in the ``unknown`` table beside it. The outer shape is
pytest-benchmark's JSON, so what reads that works on a stored run unchanged; Frobench adds
``extra_info`` and ``frobench``.
"""

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType, field

from frobench.suite.stored.basics import Estimate, Integer, Name, Number, Scalar, Severity, Text
from frobench.suite.stored.case import (
    Case,
    CaseInfo,
    Check,
    Energy,
    Outcome,
    Search,
    Sensed,
    Status,
    Work,
)
from frobench.suite.stored.machine import Accelerator, Cpu, Environment, Software

__all__ = (
    "Accelerator",
    "Case",
    "CaseInfo",
    "Check",
    "Cpu",
    "Energy",
    "Environment",
    "Estimate",
    "Outcome",
    "Scalar",
    "Search",
    "Sensed",
    "Severity",
    "Software",
    "Status",
    "Work",
)
"""What is also imported from here, and defined elsewhere in this folder."""

MOST_SAMPLES = 30
"""Host samples kept for a case in a launch, at most."""
SCHEMA = 1
"""Version of the stored file's layout."""
MINOR = 1
"""Raised with each field, and each value of a field, that is added to the layout: an older version
reads the file if it can, and else names the newer one."""
ProfileName = Literal["quick", "standard", "rigorous"]


class Settings(Struct, frozen=True, kw_only=True):
    """What a run was told to do; equal settings measure the same way.

    longest_sample : seconds that one call may take before its case is left out
    case_seconds : spent on sampling one case in one launch, at most
    budget : seconds for the whole run
    devices : names of the devices measured, such as ``cpu`` and ``cuda:0``
    most_samples : host samples kept for a case in a launch, at most
    least_launches : made whatever the budget says
    deadline : seconds a case may take in a launch before it is called hung, at most
    launches : asked for; ``None`` fills the budget
    expression : the ``-k`` expression that selected the cases
    """

    profile: ProfileName
    longest_sample: Number
    case_seconds: Number
    budget: Number
    devices: list[Text]
    most_samples: Integer = MOST_SAMPLES
    least_launches: Integer = 6
    deadline: Number = 60.0
    launches: Integer | None = None
    expression: Text = ""


class Conclusion(Struct, frozen=True, kw_only=True):
    """What a rule says of a run or, with ``case``, of one case."""

    code: Text
    severity: Severity
    message: Text
    advice: Text
    case: Text | None = None


class Launch(Struct, kw_only=True, omit_defaults=True):
    """One fresh process in which every case was measured once.

    Older files do not tell ``begun``, ``check_seconds``, ``others`` and ``runner_cores``.

    started : UTC, ISO 8601
    seconds : wall time of the process
    body_seconds : spent inside timed samples
    warmup_seconds : spent warming up, of bodies and of the device's clock
    empty_body : seconds per call that the harness reads for an empty body, by device
    timer_step : the smallest step of the clock that was seen, seconds
    state : process-wide settings at the launch's start that a benchmark must leave alone,
        such as the number of threads
    changed : facts of the environment that were different in this launch, by dotted path
        (``cpu.governor``), with their values then; without what changes by itself all the time
    check_seconds : spent comparing results with the truth
    begun : seconds since the run began, by a clock that nobody sets and that stands still between
        two sittings
    gauge : median seconds of the fixed bodies that every launch times before, between and behind
        its cases, by device and body (``cpu/product``)
    others : cores that other programs kept busy on average while the launch ran, of those that
        the run may use, with the time that a hypervisor gave to other guests; a launch that was
        taken up in another sitting does not tell
    runner_cores : cores that the runner itself used on average while the launch ran: to watch it,
        and to read sensors; `others` leaves them out
    ready_reading : seconds that reading one element of a ready value back takes, by accelerator
    waits : the call that was proved to wait for an accelerator and is used: ``read-back`` where
        only reading an element back waits, ``read-back of results`` where nothing is computed
        before it is read; older files do not tell these two
    lost : which process of a group ended or did not answer, and how; the cases of groups behind it
        have no samples of this launch
    """

    started: Text
    seconds: Number
    body_seconds: Number
    warmup_seconds: Number
    empty_body: dict[Name, Number]
    timer_step: Number
    state: dict[Name, Scalar] = field(default_factory=dict)
    changed: dict[Name, Scalar] = field(default_factory=dict)
    check_seconds: Number | UnsetType = UNSET
    begun: Number | UnsetType = UNSET
    gauge: dict[Name, Number] = field(default_factory=dict)
    others: Number | UnsetType = UNSET
    runner_cores: Number | UnsetType = UNSET
    ready_reading: dict[Name, Number] = field(default_factory=dict)
    waits: dict[Name, Text] = field(default_factory=dict)
    lost: Text = ""


class Exercise(Struct, kw_only=True):
    """A question of the suite, as its module's docstring asks it."""

    question: Text
    explanation: Text


class NodeFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A node of several that measure together.

    ranks : processes of the largest group that run there
    link : bytes a second of the network interface that gloo uses, as the system tells; ``None``
        where it does not, or where another backend chooses the link
    differs : facts of its environment that differ from those of the first node, which are the
        run's, by dotted path (``cpu.governor``)
    """

    ranks: Integer
    link: Number | None = None
    differs: dict[Name, Scalar] = field(default_factory=dict)


class Project(Struct, kw_only=True, omit_defaults=True):
    """The project whose code was measured, as git knows it.

    name : of the folder of its repository; ``None`` where that is not told
    id : the commit that was checked out; ``None`` where there was none yet
    time : of the commit, UTC
    dirty : whether files that git tracks differed from the commit
    """

    name: Text | None = None
    id: Text | None = None
    time: Text | None = None
    dirty: bool | None = None


class Telemetry(Struct, kw_only=True):
    """What the sensors said from the first launch to the end of the run.

    Clocks are in hertz, power in watts, energy in joules since the first reading, temperature in
    degrees Celsius; ``fan`` and ``utilization`` are fractions, ``load`` is the system's own of the
    last minute, and the CPU's clock that of its fastest usable core.

    begun, step : when the series begin, in seconds since the run began, and how long a step is
    series : by device and quantity the median of each step's readings, ``None`` where nothing was
        read in a step, or where the quantity cannot be read at all
    held_back : by device and by what held the clock back, the part of each step's readings
    launches : when the first case of each launch began, in seconds since the run began
    unknown : why a quantity could not be read, or no longer, by dotted path (``cuda:0.fan``)
    cost : CPU seconds for each second of sampling
    idle_watts : by device that counts its energy, before the first launch, while nothing ran
    """

    begun: Number
    step: Number
    series: dict[Name, dict[Name, list[Number | None] | None]]
    held_back: dict[Name, dict[Name, list[Number | None]]]
    launches: list[Number]
    unknown: dict[Name, Text]
    cost: Number
    idle_watts: dict[Name, Number] = field(default_factory=dict)


class Frobench(Struct, kw_only=True):
    """The part of the stored file that is Frobench's own.

    Older files do not tell ``troubles``, ``plan_body_seconds``, ``without_energy`` and ``project``.

    run : the run's name, ``<UTC>-<commit>``
    complete : whether every launch that was planned ended
    seconds, plan_seconds : wall time of the whole run, and what of it went into planning
    digest : sha256 over the canonical JSON of the file without this field
    telemetry : what sensors said during the run
    troubles : what `frobench doctor` found wrong with the machine as the run began
    plan_body_seconds : of the planning, inside bodies and what warms them up, searches included
    without_energy : why a headline case's calls have no energy, by its full name
    project : whose code was measured, where that is not Frobench's own
    beside : names of the runs whose launches came in turn with this one's (`frobench history`);
        they share the machine's state, and so do not show how far separate runs lie apart
    nodes : the nodes of a group, where several machines measured together
    minor : what was added to the schema when the file was written, see `MINOR`; 0 in older files
    """

    schema: Integer
    run: Text
    profile: ProfileName
    seed: Integer
    complete: bool
    seconds: Number
    plan_seconds: Number
    settings: Settings
    environment: Environment
    exercises: dict[Name, Exercise]
    launches: list[Launch]
    outcomes: list[Outcome]
    conclusions: list[Conclusion]
    digest: Text = ""
    telemetry: Telemetry | UnsetType = UNSET
    troubles: list[Conclusion] | UnsetType = UNSET
    plan_body_seconds: Number | UnsetType = UNSET
    without_energy: dict[Name, Text] | UnsetType = UNSET
    project: Project | UnsetType = UNSET
    beside: list[Text] | UnsetType = UNSET
    nodes: list[NodeFacts] | UnsetType = UNSET
    minor: Integer | UnsetType = UNSET

    @property
    def part_in_bodies(self) -> float:
        """The part of the run in bodies and what warms them up, its pilot included."""
        planned = 0.0 if self.plan_body_seconds is UNSET else self.plan_body_seconds
        launches = sum(launch.body_seconds + launch.warmup_seconds for launch in self.launches)
        return (planned + launches) / self.seconds


class CommitInfo(Struct, kw_only=True):
    """The revision of the suite that measured."""

    id: Text | None = None
    time: Text | None = None
    author_time: Text | None = None
    dirty: bool | None = None
    project: Text = "frobench"
    branch: Text | None = None


class Run(Struct, kw_only=True):
    """A stored run: one file, one truth."""

    machine_info: dict[Name, Any]
    commit_info: CommitInfo
    benchmarks: list[Case]
    datetime: Text
    version: Text
    frobench: Frobench = field()
