# SPDX-License-Identifier: MIT
"""The types of the stored file: one object a run, `Run`, with its cases, machine and launches."""

from statistics import median
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

LARGEST_INTEGER, LARGEST_NUMBER = 2**53, 1e30
"""Numbers of a stored file, at most: integers that a double holds, and numbers whose squares it
holds too. A file with larger ones cannot be read."""
Integer = Annotated[int, Meta(ge=-LARGEST_INTEGER, le=LARGEST_INTEGER)]
Number = Annotated[float, Meta(ge=-LARGEST_NUMBER, le=LARGEST_NUMBER)]
LONGEST_TEXT, LONGEST_NAME = 20_000, 2_000
"""Characters of a text, and of a name in a table, at most."""
Text = Annotated[str, Meta(max_length=LONGEST_TEXT)]
Name = Annotated[str, Meta(max_length=LONGEST_NAME)]
LABEL_DIGITS = 10
"""Hexadecimal digits of a label: of 1000 machines two share one with a probability of 5e-7."""
Label = Annotated[str, Meta(pattern=f"^[0-9a-f]{{{LABEL_DIGITS}}}$", max_length=LABEL_DIGITS)]
Scalar = Text | Integer | Number | bool | None
Severity = Literal["info", "warning", "error"]
VerdictWord = Literal["faster", "slower", "same", "unresolved", "incomparable"]
WIDE = 2.0
"""The upper end of an interval as a multiple of its lower end, above which it is wide."""


class Estimate(Struct, frozen=True):
    """A point, its interval (``None`` with too few launches for 95%), and its count of launches."""

    value: float
    low: float | None
    high: float | None
    launches: int
    confidence: float = 0.95

    @property
    def is_wide(self) -> bool:
        """Whether the interval is wider than a factor of two, so that the value is no headline."""
        if self.low is None or self.high is None:
            return False
        return self.high > max(WIDE * self.low, 0.0)


class Cpu(Struct, kw_only=True):
    """The host processor as this process may use it. Older files do not tell what has a default.

    boost : whether cores may exceed their base clock
    usable_numa_nodes, core_nodes : memory nodes that the usable cores belong to; their numbers
    huge_pages : the kernel's word on when it uses them by itself
    family, model_number, stepping : by which the vendor numbers processors
    instruction_sets : those that change how fast it computes, see `suite.stored.machine_identity`
    """

    model: Text | None
    architecture: Text
    physical_cores: Integer | None
    logical_cores: Integer | None
    usable_cores: Integer
    quota_cores: Number | None
    governor: Text | None
    max_frequency_hz: Number | None
    last_level_cache_bytes: Integer | None
    numa_nodes: Integer | None
    memory_bytes: Integer
    boost: bool | UnsetType | None = UNSET
    frequency_driver: Text | UnsetType | None = UNSET
    usable_numa_nodes: Integer | UnsetType | None = UNSET
    core_nodes: list[Integer] | UnsetType | None = UNSET
    threads_per_core: Integer | UnsetType | None = UNSET
    huge_pages: Text | UnsetType | None = UNSET
    family: Integer | UnsetType | None = UNSET
    model_number: Integer | UnsetType | None = UNSET
    stepping: Integer | UnsetType | None = UNSET
    instruction_sets: Text | UnsetType | None = UNSET


class Accelerator(Struct, kw_only=True):
    """One device that ``torch.accelerator`` offers. Older files do not tell what has a default.

    numa_node : the memory node that it is attached to
    processes : of others, that computed on it as the run began
    """

    name: Text
    type: Text
    index: Integer
    memory_bytes: Integer | None
    capability: Text | None
    driver: Text | None
    multiprocessors: Integer | None
    power_limit_watts: Number | None
    power_limit_default_watts: Number | None
    max_clock_hz: Number | None
    ecc: bool | None
    persistence: bool | None
    mig: bool | None
    pcie_generation: Integer | None
    pcie_width: Integer | None
    pcie_generation_max: Integer | None
    pcie_width_max: Integer | None
    max_memory_clock_hz: Number | UnsetType | None = UNSET
    numa_node: Integer | UnsetType | None = UNSET
    processes: Integer | UnsetType | None = UNSET

    @property
    def place(self) -> str:
        """What torch calls it, such as ``cuda:0``."""
        return f"{self.type}:{self.index}"


class Software(Struct, kw_only=True):
    """Everything installed that moves a number; ``None`` and empty where no torch was imported."""

    os: Text
    kernel: Text
    container: bool | None
    python: Text
    torch: Text | None
    torch_build: dict[Name, Text | None]
    threads: Integer | None
    interop_threads: Integer | None
    flags: dict[Name, Scalar]
    variables: dict[Name, Text]
    packages: dict[Name, Text]


class Environment(Struct, kw_only=True):
    """Everything that moves a number, captured once a run.

    machine : a name for the kind of machine, used as the folder of its results
    unknown : reasons for every ``None`` above, by dotted path (``cpu.governor``)
    topology : what lies between each two accelerators (``cuda:0-cuda:1``), where there are
        several; older files do not tell
    label : which machine of this kind it is, as a seal of the name that ``--label`` gave it (see
        `suite.run.runner`); only runs with a label have it
    """

    machine: Text
    cpu: Cpu
    accelerators: list[Accelerator]
    software: Software
    unknown: dict[Name, Text]
    topology: dict[Name, Text] | UnsetType | None = UNSET
    label: Label | UnsetType = UNSET


Status = Literal["passed", "failed", "skipped"]
WorkPath = Literal["host", "both-ways", "between", "within", "network"]


class Work(Struct, frozen=True, omit_defaults=True):
    """What one call of a body does, counted from its definition.

    flops : floating-point operations (a product of n x n matrices is 2 n^3)
    bytes : that must be read and written at least once
    items : anything else that is counted, such as read-backs or tensors
    path : what limits the bytes: the link between the host and each device (``host``), the same in
        both directions at the same time (``both-ways``), the link between two devices
        (``between``), the memory of one device (``within``), or what connects the ranks of a group
        (``network``), as the bytes that each rank's link must carry
    """

    flops: Number | None = None
    bytes: Number | None = None
    items: Number | None = None
    path: WorkPath | None = None


class Check(Struct, frozen=True):
    """How a timed result was compared with the truth.

    compared : what was compared, in words
    error : the largest error, relative to what ``bound`` is relative to
    bound : the error above which the case fails
    precision : inferred from the error, where it can be told
    """

    compared: Text
    error: float
    bound: float
    precision: Text | None = None

    @property
    def passed(self) -> bool:
        """Whether the error is within the bound (an error that is not a number is not)."""
        return self.error <= self.bound


class CaseStats(Struct, kw_only=True):
    """pytest-benchmark's statistics over all host samples of a case, in seconds.

    data : the samples, launch after launch
    """

    min: Number
    max: Number
    mean: Number
    stddev: Number
    rounds: Integer
    median: Number
    iqr: Number
    q1: Number
    q3: Number
    iqr_outliers: Integer
    stddev_outliers: Integer
    outliers: Text
    ld15iqr: Number
    hd15iqr: Number
    ops: Number
    total: Number
    data: list[Number]
    iterations: Integer


class Search(Struct, frozen=True, kw_only=True):
    """How a run found the shape of a product, before its first launch.

    shape : rows of the first factor, their length, and columns of the second
    shapes : how many were tried
    seconds : that the search took
    runner_up : the rate of the second best shape, relative to the best's. The case's own samples
        were taken afterwards, so they owe nothing to luck
    """

    shape: list[Integer]
    shapes: Integer
    seconds: Number
    runner_up: Number | None


class Sensed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the sensors of one device said while a case was in flight, in all launches together.

    readings : how often they were read
    values : the least, median and greatest reading of each quantity, whose name ends with the unit
        (see ``Telemetry``)
    held_back : the part of the readings in which something held the clock back, by NVML's name
        of it; empty where nothing did, ``None`` where the device does not tell
    """

    readings: Integer
    values: dict[Name, tuple[Number, Number, Number]]
    held_back: dict[Name, Number] | None = None


class Energy(Struct, frozen=True, kw_only=True):
    """What a call costs while it is repeated for two seconds, launch by launch.

    joules : of one call, on all devices that take part; ``None`` where a launch did not tell
    seconds : of one call in that time
    """

    joules: list[Number | None]
    seconds: list[Number | None]


class CaseInfo(Struct, kw_only=True, omit_defaults=True):
    """What Frobench knows of a case beyond its samples.

    version : hash of the benchmark's body, work and parameters
    title : what the body does, in a line
    headline : whether the answers need this case (it belongs to the quick profile)
    device, devices : the device that gives the case its name; all that take part
    launches : host samples of each launch of the run, in order; 0 where the case was not reached;
        their sum is ``stats.rounds``. ``iterations``, ``warmup``, ``order`` and every part have an
        entry a launch too
    iterations : calls of the body inside one sample
    warmup : seconds of warm-up
    work : of one call of the body
    check : the comparison of the result with the truth (the worst over launches)
    parts : other launch medians, in seconds unless the name says otherwise: ``enqueue`` (host time
        until the body returned), ``reading`` (reading one element of the result back after the
        wait), ``span`` (first to last event on the device), ``device`` (the device's own time for a
        call that was queued behind other work, so that it waited for no launch), ``sustained`` (a
        call that is repeated for seconds behind all other cases, where samples follow a rest),
        ``compile`` (compiling the body, once a launch and outside its samples). Of a body with
        several lanes: ``at_once`` and ``in_turn`` (until all was done, as the body is and with its
        entries strictly in turn, with events), ``shared`` and ``shared_in_turn`` (what the lanes'
        intervals share in these two), ``entries`` (how many intervals), ``busy`` (of all lanes
        together, in a control that was queued ahead, so that it holds no launch gap), ``shareable``
        (of all lanes but the longest), ``balance`` (the shortest lane's time as a fraction of the
        longest's, in the control), ``concurrency`` (what of ``shareable`` was shared, see
        `suite.concurrency`). ``overlap`` in older files came from the first and last event of each
        lane and proves nothing. Further names are explained by their exercise
    peak_bytes : most device memory in use while the case ran
    order : the case's place in the launch, from 1; 0 where it was not reached
    against : host samples of the other version of the body, each taken right beside the sample of
        ``stats.data`` at the same place: of a handful of such pairs, the one of the median ratio
    flushed_bytes : read (written, in older files) before each sample to make the caches cold; the
        caches are warm where it is missing
    commonest : the largest part of any input's elements that have one and the same value
    idle_devices : devices that take part and on which nothing was allocated while the case ran
    control : whether the body works strictly in turn, so that its lanes can show no overlap
    search : how its shape was found, where the run looked for one
    telemetry : what sensors said meanwhile, by device; without those that were not read
    energy : what a call costs, where the devices count it and the run had the time
    """

    version: Text
    title: Text
    headline: bool
    device: Text
    devices: list[Text]
    launches: list[Integer]
    iterations: list[Integer]
    warmup: list[Number]
    work: Work
    check: Check | None
    parts: dict[Name, list[Number | None]]
    peak_bytes: Integer | None
    order: list[Integer]
    against: list[Number] | None = None
    flushed_bytes: Integer | None = None
    commonest: Number | None = None
    idle_devices: list[Text] = field(default_factory=list)
    control: bool = False
    search: Search | None = None
    telemetry: dict[Name, Sensed] = field(default_factory=dict)
    energy: Energy | None = None


class Case(Struct, kw_only=True):
    """A case that has samples: one entry of ``benchmarks``."""

    group: Text
    name: Text
    fullname: Text
    params: dict[Name, Scalar]
    param: Text | None
    extra_info: CaseInfo
    options: dict[Name, Scalar]
    stats: CaseStats


class Outcome(Struct, kw_only=True):
    """What became of a selected case, with the reason where it has no samples.

    check : the comparison with the truth, where the case failed by it
    """

    fullname: Text
    group: Text
    params: dict[Name, Scalar]
    status: Status
    reason: Text | None = None
    check: Check | UnsetType = UNSET


MOST_SAMPLES = 30
"""Host samples kept for a case in a launch, at most."""
SCHEMA = 1
"""Version of the stored file's layout."""
MINOR = 2
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

    Older files do not tell ``begun``, ``others`` and ``runner_cores``.

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

    run : the run's name, ``<UTC>-<commit>``, of the project if one was measured
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

    @property
    def others_load(self) -> float | None:
        """The part of the usable cores that other programs kept busy in the median launch."""
        loads = [launch.others for launch in self.launches if launch.others is not UNSET]
        cores = self.environment.cpu.usable_cores
        return median(loads) / cores if loads and cores > 0 else None


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
