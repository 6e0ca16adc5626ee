# SPDX-License-Identifier: MIT
"""The types of a stored case: its work, its samples, and what else was seen of it."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType, field

from frobench.suite.stored.basics import Integer, Name, Number, Scalar, Text

Status = Literal["passed", "failed", "skipped"]
Path = Literal["host", "both-ways", "between", "within", "network"]


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
    path: Path | None = None


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
    pcie_replays : packets that PCIe sent again; ``None`` where the device does not count them
    """

    readings: Integer
    values: dict[Name, tuple[Number, Number, Number]]
    held_back: dict[Name, Number] | None = None
    pcie_replays: Integer | None = None


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
