# SPDX-License-Identifier: MIT
"""The nouns of Frobench as typed structs; together they are the schema of the stored file.

Times are in seconds, sizes in bytes, work in floating-point operations. A value that is
not known is ``None``; its reason stands in the ``unknown`` table beside it.

The outer shape is pytest-benchmark's JSON (``machine_info``, ``commit_info``,
``benchmarks``), so that its ``compare`` command and the dashboards that read it work on a
stored run unchanged. What Frobench adds lies in ``extra_info`` and under ``frobench``.
"""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

MOST_SAMPLES = 30
"""Host samples kept for a case in a launch, at most."""
SCHEMA = 1
"""Version of the stored file's layout."""

LARGEST_INTEGER, LARGEST_NUMBER = 2**53, 1e30
"""Numbers of a stored file, at most: integers that a double holds, and numbers whose squares it
holds too. A file with larger ones cannot be read."""
Integer = Annotated[int, Meta(ge=-LARGEST_INTEGER, le=LARGEST_INTEGER)]
Number = Annotated[float, Meta(ge=-LARGEST_NUMBER, le=LARGEST_NUMBER)]
LONGEST_TEXT, LONGEST_NAME = 20_000, 2_000
"""Characters of a text, and of a name in a table, at most."""
Text = Annotated[str, Meta(max_length=LONGEST_TEXT)]
Name = Annotated[str, Meta(max_length=LONGEST_NAME)]
Scalar = Text | Integer | Number | bool | None
ProfileName = Literal["quick", "standard", "rigorous"]
Status = Literal["passed", "failed", "skipped"]
Severity = Literal["info", "warning", "error"]
Path = Literal["host", "both-ways", "between", "within"]
VerdictWord = Literal["faster", "slower", "same", "unresolved", "incomparable"]


class Estimate(Struct, frozen=True):
    """A point and the interval that belongs to it.

    ``low`` and ``high`` are ``None`` when fewer launches were made than a 95% interval
    needs; ``launches`` is the number of launches behind the value.
    """

    value: float
    low: float | None
    high: float | None
    launches: int
    confidence: float = 0.95


class Work(Struct, frozen=True, omit_defaults=True):
    """What one call of a body does, counted from its definition.

    flops : floating-point operations (a product of n x n matrices is 2 n^3)
    bytes : bytes that must be read and written at least once
    items : anything else that is counted, such as read-backs or tensors
    path : what the bytes go through, where that limits them: the link between the host and each
        device (``host``), the same in both directions at the same time (``both-ways``), the link
        between two devices (``between``), or the memory of one device (``within``)
    """

    flops: Number | None = None
    bytes: Number | None = None
    items: Number | None = None
    path: Path | None = None


class Check(Struct, frozen=True):
    """How a timed result was compared with the truth.

    compared : what was compared, in words
    error : the largest error seen, relative to what ``bound`` is relative to
    bound : the error above which the case fails
    precision : the precision inferred from the error, where it can be told
    """

    compared: Text
    error: float
    bound: float
    precision: Text | None = None

    @property
    def passed(self) -> bool:
        """Whether the error is within the bound (an error that is not a number is not)."""
        return self.error <= self.bound


class Settings(Struct, frozen=True, kw_only=True):
    """What a run was told to do; equal settings measure the same way.

    longest_sample : seconds that one call may take before its case is left out
    case_seconds : seconds spent on sampling one case in one launch, at most
    most_samples : host samples kept for a case in a launch, at most
    budget : seconds for the whole run
    least_launches : launches made whatever the budget says
    deadline : seconds a case may take in a launch before it is called hung
    launches : launches asked for; ``None`` fills the budget
    devices : names of the devices measured, such as ``cpu`` and ``cuda:0``
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


class CaseStats(Struct, kw_only=True):
    """pytest-benchmark's statistics over all host samples of a case, in seconds.

    ``data`` holds the samples, launch after launch.
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
    """How a run came by the shape of a product, which it looked for before its first launch.

    shape : rows of the first factor, their length, and columns of the second
    shapes : how many shapes were tried
    seconds : that the search took
    runner_up : the rate of the second best shape in the search, relative to the best's; the
        case's own samples were taken afterwards, so that they owe nothing to luck
    """

    shape: list[Integer]
    shapes: Integer
    seconds: Number
    runner_up: Number | None


class Sensed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the sensors of one device said while a case was in flight, in all launches together.

    readings : how often they were read
    values : the least, the median and the greatest reading of each quantity; their names end
        with the unit (see ``Telemetry``)
    held_back : the part of the readings in which something held the clock back, by NVML's name
        of it; empty where nothing did, ``None`` where the device does not tell
    pcie_replays : packets that PCIe sent again; ``None`` where the device does not count them
    """

    readings: Integer
    values: dict[Name, tuple[Number, Number, Number]]
    held_back: dict[Name, Number] | None = None
    pcie_replays: Integer | None = None


class Energy(Struct, frozen=True, kw_only=True):
    """What a call costs while it is repeated for two seconds, launch by launch.

    joules : of all devices that take part, of one call; ``None`` where a launch did not tell
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
    launches : host samples of each launch of the run, in order; 0 where the case was not
        reached; their sum is ``stats.rounds``. ``iterations``, ``warmup``, ``order`` and
        every part have an entry a launch too
    iterations : calls of the body inside one sample
    warmup : seconds of warm-up
    work : of one call of the body
    check : the comparison of the result with the truth (the worst over launches)
    parts : launch medians of what else was seen, in seconds unless the name says
        otherwise: ``enqueue`` (host time until the body returned), ``reading`` (what reading
        one element of the result back took after the wait), ``span`` (first to last event on
        the device), ``device`` (the device's own time for a call that was queued behind other
        work, so that it waited for no launch), ``sustained`` (a call that is repeated for seconds
        behind all other cases, where samples follow a rest), ``compile`` (what compiling the body
        took, once a launch and outside its samples). Of a body with several lanes: ``at_once``
        and ``in_turn`` (until all was done, as the body is and with its entries strictly in turn,
        with events), ``shared`` and ``shared_in_turn`` (what the lanes' intervals share in these
        two), ``entries`` (how many intervals), ``busy`` (of all lanes together, where the control
        was queued ahead, so that it holds no launch gap), ``shareable`` (of all lanes but the
        longest), ``balance`` (the shortest lane's time as a fraction of the longest's, in the
        control), ``concurrency`` (what of ``shareable`` was shared, see `suite.concurrency`).
        ``overlap`` in older files came from the first and last event of each lane and proves
        nothing. Further names are explained by their exercise
    peak_bytes : most device memory in use while the case ran
    order : the case's place in the launch, from 1; 0 where it was not reached
    against : host samples of the other version of the body, each taken right beside the
        sample of ``stats.data`` at the same place: of a handful of such pairs, the one whose
        ratio is in the middle
    flushed_bytes : bytes that were read (written, in older files) before each sample to make the
        caches cold; the caches are warm where it is missing
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


class Conclusion(Struct, frozen=True, kw_only=True):
    """What a rule says of a run or, with ``case``, of one case."""

    code: Text
    severity: Severity
    message: Text
    advice: Text
    case: Text | None = None


class Launch(Struct, kw_only=True, omit_defaults=True):
    """One fresh process in which every case was measured once.

    started : UTC, ISO 8601
    seconds : wall time of the process
    begun : seconds since the run began, by a clock that nobody sets and that stands still between
        two sittings; older files do not tell
    body_seconds : spent inside timed samples
    warmup_seconds : spent warming up, of bodies and of the device's clock
    check_seconds : spent comparing results with the truth; older files do not tell
    empty_body : seconds per call that the harness reads for an empty body, by device
    ready_reading : seconds that reading one element of a ready value back takes, by accelerator
    waits : the call that was proved to wait for an accelerator and is used, by its name:
        ``read-back`` where only reading an element back waits, ``read-back of results`` where
        nothing is computed before it is read; older files do not tell these two
    timer_step : the smallest step of the clock that was seen, seconds
    state : process-wide settings at the launch's start that a benchmark must leave alone,
        such as the number of threads
    changed : facts of the environment that were different in this launch, by dotted path
        (``cpu.governor``), with their values then; without what changes by itself all the time
    gauge : median seconds of the fixed bodies that every launch times before, between and behind
        its cases, by device and body (``cpu/product``)
    others : cores that other programs kept busy on average while the launch ran, of those that
        the run may use, with the time that a hypervisor gave to other guests; older files do not
        tell, nor does a launch that was taken up in another sitting
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
    ready_reading: dict[Name, Number] = field(default_factory=dict)
    waits: dict[Name, Text] = field(default_factory=dict)


class Cpu(Struct, kw_only=True):
    """The host processor as this process may use it.

    Older files do not tell what has a default: ``boost`` (whether cores may exceed their base
    clock), ``frequency_driver``, ``usable_numa_nodes`` (memory nodes that the usable cores belong
    to), ``core_nodes`` (the numbers of these nodes), ``threads_per_core``, ``huge_pages`` (the
    kernel's word on when it uses them by itself).
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


class Accelerator(Struct, kw_only=True):
    """One device that ``torch.accelerator`` offers.

    Older files do not tell what has a default: ``max_memory_clock_hz``, ``numa_node`` (the memory
    node that it is attached to), ``processes`` (of others, that computed on it as the run began).
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


class Software(Struct, kw_only=True):
    """Everything installed that moves a number."""

    os: Text
    kernel: Text
    container: bool | None
    python: Text
    torch: Text
    torch_build: dict[Name, Text | None]
    threads: Integer
    interop_threads: Integer
    flags: dict[Name, Scalar]
    variables: dict[Name, Text]
    packages: dict[Name, Text]


class Environment(Struct, kw_only=True):
    """Everything that moves a number, captured once a run.

    machine : a name for the kind of machine, used as the folder of its results
    unknown : reasons for every ``None`` above, by dotted path (``cpu.governor``)
    topology : what lies between each two accelerators (``cuda:0-cuda:1``), where there are
        several; older files do not tell
    """

    machine: Text
    cpu: Cpu
    accelerators: list[Accelerator]
    software: Software
    unknown: dict[Name, Text]
    topology: dict[Name, Text] | UnsetType | None = UNSET


class Exercise(Struct, kw_only=True):
    """A question of the suite, as its module's docstring asks it."""

    question: Text
    explanation: Text


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
    cost : CPU seconds that sampling took, for each second of it
    idle_watts : by device, before the first launch, while nothing ran; without those that do not
        count their energy
    """

    begun: Number
    step: Number
    series: dict[Name, dict[Name, list[Number | None] | None]]
    held_back: dict[Name, dict[Name, list[Number | None]]]
    launches: list[Number]
    unknown: dict[Name, Text]
    cost: Number
    idle_watts: dict[Name, Number] = field(default_factory=dict)


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


class Frobench(Struct, kw_only=True):
    """The part of the stored file that is Frobench's own.

    run : the run's name, ``<UTC>-<commit>``
    complete : whether every launch that was planned ended
    seconds : wall time of the whole run, and what of it went into planning
    digest : sha256 over the canonical JSON of the file without this field
    telemetry : what sensors said during the run
    troubles : what `frobench doctor` found wrong with the machine as the run began; older files
        do not tell
    without_energy : why a headline case's calls have no energy, by its full name; older files do
        not tell
    plan_body_seconds : of the planning, inside bodies and what warms them up, searches included;
        older files do not tell
    project : whose code was measured, where that is not Frobench's own; older files do not tell
    beside : names of the runs whose launches came in turn with this one's (`frobench history`);
        they share the machine's state, and so do not show how far separate runs lie apart
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
