# SPDX-License-Identifier: MIT
"""Machines held against a reference, as data: what the purchase page shows and its script reads.

A machine's entry depends on its run, the reference's run and the prices alone, so leaving out
another machine moves nothing.
"""

from msgspec import Struct

from frobench.reports.table.workloads import Workload


class Exercise(Struct, frozen=True, kw_only=True):
    """An exercise as far as one kind of device does it.

    name : unique, such as ``matmul``, or ``matmul.cpu`` for its cases on the CPU alone
    total : number of the reference's comparable cases: N of "n of N"
    weight : 1, or 0 of cases on the CPU alone where the reference measured an accelerator, of
        which they say nothing
    """

    name: str
    title: str
    total: int
    weight: float


class ScoredPart(Struct, frozen=True, kw_only=True):
    """A part of the workloads, as far as the reference measured it.

    total : number of the reference's cases
    weights : by workload
    """

    name: str
    title: str
    total: int
    weights: dict[str, float]


class PartSpeeds(Struct, frozen=True, kw_only=True):
    """How fast a machine is in the parts of the workloads; its fields are as those of `Machine`.

    logs : every kind of case counts the same, and every size of a kind
    covariance : of row i the columns up to i
    """

    logs: dict[str, float]
    covariance: list[list[float]] | None
    quantile: float | None
    counts: dict[str, int]


class Less(Struct, frozen=True, kw_only=True):
    """How many joules a call takes here and on the reference, from the cases that tell on both.

    log : mean of log(reference's joules / this machine's), >0 = less energy for the same work
    variance : of the log; ``None`` where launches are too few
    cases : how many; none is of an exercise without weight
    """

    log: float
    variance: float | None
    quantile: float | None
    cases: int


class Rate(Struct, frozen=True):
    """The best rate of a matrix product that was measured on one of a machine's devices, FLOP/s.

    precision : such as ``bfloat16``
    """

    precision: str
    value: float
    low: float | None
    high: float | None


class Rent(Struct, frozen=True):
    """What all devices of a machine cost to rent for an hour; see `Machine` for the fields."""

    price: float
    currency: str
    date: str
    kind: str
    source: str


class Amount(Struct, frozen=True):
    """A number with its 95% interval; the ends are ``None`` below six launches."""

    value: float
    low: float | None
    high: float | None


class AxisValue(Struct, frozen=True):
    """What one device does, in one number; see `reports.summary.device_axes.Axis`."""

    name: str
    precision: str
    unit: str
    value: float
    low: float | None
    high: float | None


class Machine(Struct, frozen=True, kw_only=True):
    """One machine against the reference. What is not known is ``None``, never 0.

    run, title, href : the run's name, the machine's, and the run's page from the site's root
    device, count : the model of what was measured, and how many of it there are
    watts, memory_bytes, price, rent : of all of them; the price in `currency` (ISO 4217), on
        `price_date` (ISO 8601)
    load, axes : of the first device, whatever the reference; the load in W
    measured : the day of the run (ISO 8601), by which prices are old
    invalid : why no number of the run counts; empty where they do
    doubts : in short what to doubt of its cases, such as ``12 of 278 cases noisy``
    logs : by exercise, the mean log of the common cases' speed ratios, >0 = faster than the
        reference; without the exercises that have no common case
    covariance : of the logs, in the order of the comparison's exercises, with 0 for those without
        a log; ``None`` where a side has fewer than six launches
    quantile : an interval is exp(mean ± quantile · standard error), whatever the weights;
        ``None`` where there is no covariance
    counts : by exercise, the number of common cases: n of "n of N"
    beyond : by exercise, the number of this machine's comparable cases that the reference lacks
    best, worst : by exercise, what its log would be if each missing case were as good (bad) as
        the best (worst) common case of the exercise, or all of an exercise without any as the
        machine's best (worst) exercise on the same kind of device; ``None`` where it has none.
        No interval: what if
    energy : ``None`` where no case tells on both
    rates : of its own, whatever the reference
    differs : what differs between the machines and moves numbers, beyond the devices, such as
        ``driver 550 / 560``: the reference's first
    missing : why cases of the reference have no ratio, a line for each reason; of the reference
        itself, why cases can have none with any machine
    """

    run: str
    title: str
    href: str
    device: str
    count: int
    watts: float | None
    watts_source: str | None
    load: Amount | None
    axes: list[AxisValue]
    memory_bytes: int | None
    price: float | None
    currency: str | None
    price_date: str | None
    price_kind: str | None
    price_source: str | None
    logs: dict[str, float]
    covariance: list[list[float]] | None
    quantile: float | None
    counts: dict[str, int]
    beyond: dict[str, int]
    best: dict[str, float | None]
    worst: dict[str, float | None]
    parts: PartSpeeds
    energy: Less | None
    rates: list[Rate]
    differs: list[str]
    missing: list[str]
    rent: Rent | None = None
    measured: str = ""
    invalid: str = ""
    doubts: list[str] = []


class Comparison(Struct, frozen=True, kw_only=True):
    """Several machines against one reference, which is among them with logs of 0.

    approximate : whether it is made of stored estimates and their standard errors, as the index's
        script does, and not of all launches together
    reference : its run's name
    parts : of accelerators, or of the CPU where the reference measured no accelerator
    """

    approximate: bool
    reference: str
    exercises: list[Exercise]
    workloads: list[Workload]
    parts: list[ScoredPart]
    machines: list[Machine]
