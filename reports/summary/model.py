# SPDX-License-Identifier: MIT
"""What the index and comparisons need of a run: little enough that a thousand fit in memory.

First the axes of its device: what it is worth, a number in a real unit for each thing that it does.
Each is the number of a finding, so that a figure has one estimator wherever it stands. Capacity and
power stand beside them. Their words are the same on pages and in a terminal.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Literal, NamedTuple

import pandas as pd
from msgspec import Struct
from msgspec.structs import replace

from frobench.reports.findings import peaks
from frobench.reports.findings.exercises import copies, loops, products
from frobench.reports.findings.exercises.copies import KINDS
from frobench.reports.findings.select import Cases, NotMeasuredError, cases_of
from frobench.reports.findings.values import estimate_of
from frobench.reports.summary.models import Serving, serving, speeds
from frobench.reports.summary.short import PRECISIONS
from frobench.reports.summary.views import Marks, doubtful
from frobench.reports.table import facts
from frobench.reports.table.equipment import Equipment, printed_watts
from frobench.reports.table.launches import CaseEstimate, Scored, left_out, scored
from frobench.suite.checks.case_facts import busy
from frobench.suite.checks.noise import noisy_case
from frobench.suite.checks.rule import code
from frobench.suite.compare.matching import by_key, faults
from frobench.suite.datasheets.catalog import PeakRate
from frobench.suite.project import git
from frobench.suite.statistics import Medians, estimate
from frobench.suite.stored.machine_identity import device_id, distinctions, is_cpu, machine_id
from frobench.suite.stored.types import Environment, Estimate, Run
from frobench.suite.terminal.answers import NOT_CONCLUSIVE, ModelSpeed
from frobench.suite.units import counted, format_ends, format_estimate, format_point, format_value

Name = Literal["compute", "memory", "overhead", "read_back", "link_to_device", "link_to_host"]
"""The axes in their order; compute is there once for each precision."""
LINKS: dict[Name, str] = {"link_to_device": "to-device-pinned", "link_to_host": "to-host-pinned"}
"""Kinds of copies, see `reports.findings.exercises.copies`."""
SLOPE = "slope of large copies"
TITLES: dict[Name, str] = {
    "compute": "Compute",
    "memory": "Memory",
    "overhead": "Overhead per operation",
    "read_back": "Overhead per value read back",
    "link_to_device": "Link, to the device",
    "link_to_host": "Link, to the host",
}
LOWER = "lower is better"


class Axis(Struct, frozen=True, kw_only=True):
    """What a device does, in one number.

    name : one of `TITLES`
    device : the name of the device, equal for equal devices
    precision : of compute, as the benchmarks name it; else empty
    basis : how the number was made, in a few words
    sheet, sheet_name : what the datasheet allows, in ``unit``, and what that figure is; none of an
        overhead, or where no datasheet is known
    part : ``value`` as a part of ``sheet``
    others, elsewhere : the values of other stored runs of the same device, and of the newest run of
        each other machine that has it, ascending
    cases : full names of the cases behind it
    """

    name: Name
    device: str
    value: Estimate
    unit: str
    basis: str
    precision: str = ""
    sheet: float | None = None
    sheet_name: str = ""
    part: Estimate | None = None
    others: tuple[float, ...] = ()
    elsewhere: tuple[float, ...] = ()
    cases: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str, str]:
        """What is equal for axes that can be compared."""
        return self.name, self.device, self.precision

    @property
    def lower_is_better(self) -> bool:
        """Whether it is a cost."""
        return self.unit == "s"

    @property
    def title(self) -> str:
        """What it is, of compute with its precision."""
        short = PRECISIONS.get(self.precision, self.precision)
        return f"{TITLES[self.name]}, {short}" if short else TITLES[self.name]

    def doubts(self, marks: Marks) -> tuple[str, ...]:
        """Return what makes the number doubtful."""
        wide = (NOT_CONCLUSIVE,) if self.value.is_wide else ()
        return *wide, *doubtful(self.cases, marks)

    @property
    def figure(self) -> str:
        """The number alone, or both ends of an interval wider than a factor of two."""
        return (format_ends if self.value.is_wide else format_point)(self.value, self.unit)


class DeviceAxes(Struct, frozen=True, kw_only=True):
    """What the first accelerator of a run is worth, or the CPU of a run without any.

    place : what torch calls the device
    axes : those that were measured, compute first, with the leading precision before the others
    memory_bytes : its capacity; of a CPU, the host's memory
    watts : the highest power of a case that was repeated for seconds, where it was measured
    limit_watts : its power limit, else its datasheet's; ``None`` for a CPU
    serving : what tokens per second of language models are computed from
    """

    device: str
    place: str
    axes: tuple[Axis, ...]
    memory_bytes: int | None = None
    watts: Estimate | None = None
    limit_watts: float | None = None
    serving: Serving = Serving()

    @property
    def models(self) -> tuple[ModelSpeed, ...]:
        """Language models, with their tokens per second where they fit; none without axes."""
        return tuple(speeds(self.serving, self.memory_bytes)) if self.axes else ()

    def axis(self, name: Name, precision: str = "") -> Axis | None:
        """Return an axis, of compute the leading one unless a precision is given; maybe none."""
        named = (one for one in self.axes if one.name == name)
        return next((one for one in named if precision in {"", one.precision}), None)

    def note(self, axis: Axis) -> str:
        """Spell the interval, the part of the datasheet, and how the number was made."""
        _, has_ends, text = format_estimate(axis.value, axis.unit).partition(" [")
        none = f"no interval: {counted(axis.value.launches, 'launch')}"
        ends = text.removesuffix("]").replace(", ", " to ") if has_ends else none
        shown = [remark for remark in self.remarks(axis) if remark != LOWER]  # the bar says it
        return ", ".join([NOT_CONCLUSIVE if axis.value.is_wide else ends, *shown])

    def remarks(self, axis: Axis) -> list[str]:
        """Spell the part of the datasheet, and how the number was made."""
        linked = axis.name.startswith("link")
        of = "link" if linked else "datasheet"
        known = [
            "pinned" if linked else "",
            f"{format_point(axis.part, '1')} of the {of}" if axis.part else "",
            LOWER if axis.lower_is_better else "",
            "" if is_cpu(self.place) and axis.lower_is_better else axis.basis,
        ]
        return [one for one in known if one]


def device_axes(run: Run, place: str | None = None) -> DeviceAxes:
    """Return the axes of a device of a run, from the cases that passed.

    place : what torch calls the device; by default the first accelerator, or else the CPU
    """
    if place is None:
        measured = [name for name in run.frobench.settings.devices if not is_cpu(name)]
        place = measured[0] if measured else "cpu"
    known = peaks.accelerator(run, place)
    limit = known.power_limit_watts if known else None
    return DeviceAxes(
        device=device_name(run, place),
        place=place,
        axes=tuple(_axes(run, place)),
        memory_bytes=(known or run.frobench.environment.cpu).memory_bytes,
        watts=_watts(run, place),
        serving=serving(run, place),
        limit_watts=printed_watts(known) if known and limit is None else limit,
    )


def with_others(
    own: DeviceAxes, others: Iterable[DeviceAxes], elsewhere: Iterable[DeviceAxes] = ()
) -> DeviceAxes:
    """Return axes with the values of other runs of the same device beside each.

    elsewhere : those of other machines, a run of each
    """
    both = _values(others), _values(elsewhere)
    beside = []
    for one in own.axes:
        here, there = (tuple(sorted(values.get(one.key, ()))) for values in both)
        beside.append(replace(one, others=here, elsewhere=there))
    return replace(own, axes=tuple(beside))


def _values(runs: Iterable[DeviceAxes]) -> dict[tuple[str, str, str], list[float]]:
    values: dict[tuple[str, str, str], list[float]] = {}
    for axis in (axis for run in runs for axis in run.axes):
        values.setdefault(axis.key, []).append(axis.value.value)
    return values


def device_name(run: Run, place: str) -> str:
    """Name a device by what makes it comparable: its model, and a CPU's cores with it."""
    environment = run.frobench.environment
    if is_cpu(place):
        cpu = environment.cpu
        return f"{cpu.model or cpu.architecture} with {counted(cpu.usable_cores, 'core')}"
    known = peaks.accelerator(run, place)
    return known.name if known else place


def _axes(run: Run, place: str) -> Iterator[Axis]:
    """Yield what was measured, but no cost that launches leave open to be none."""
    for name, by_launch, cases, basis, ceiling, precision in _numbers(run, place):
        value, is_cost = estimate_of(by_launch), name in {"overhead", "read_back"}
        if is_cost and value.low is not None and value.low <= 0:
            continue
        yield Axis(
            name=name,
            device=device_name(run, place),
            value=value,
            unit="s" if is_cost else "FLOP/s" if name == "compute" else "B/s",
            basis=basis,
            precision=precision,
            sheet=ceiling.rate if ceiling else None,
            sheet_name=ceiling.name if ceiling else "",
            part=estimate_of(by_launch / ceiling.rate) if ceiling else None,
            cases=cases,
        )


class _Number(NamedTuple):
    """What an axis is made of, by launch, and what the device allows."""

    name: Name
    by_launch: pd.Series
    cases: tuple[str, ...]
    basis: str
    ceiling: PeakRate | None = None
    precision: str = ""


def _numbers(run: Run, place: str) -> Iterator[_Number]:
    for one in products.attained(run, place):  # the leading precision first
        ceiling, names = peaks.peak_of(run, one.case, one.rate), (one.case.fullname,)
        yield _Number("compute", one.rate, names, one.basis, ceiling, one.precision)
    copied = cases_of(run, "copies")
    yield from _copy(copied, "memory", "within", place)
    basis = "the CPU's" if is_cpu(place) else "mostly the host's"
    with suppress(NotMeasuredError):
        operations = loops.overhead_of(cases_of(run, "many_or_one"), place)
        yield _Number("overhead", *operations, basis)
    with suppress(NotMeasuredError):
        steps = loops.read_back_of(cases_of(run, "norm_logging"), place)
        yield _Number("read_back", *steps, basis)
    if not is_cpu(place):
        for name, kind in LINKS.items():
            yield from _copy(copied, name, kind, place)


def _copy(cases: Cases, name: Name, kind: str, place: str) -> Iterator[_Number]:
    """Yield a bandwidth, unless all copies are so small that caches hold them."""
    with suppress(NotMeasuredError):
        rate, names = copies.bandwidth_of(cases, kind, place)
        largest = KINDS[kind].curve(cases, place).sizes[-1]
        basis = SLOPE if len(names) > 1 else f"at {format_value(largest, 'B')}"
        ceiling = peaks.bound_of_copy(cases.run, place, KINDS[kind].function)
        yield _Number(name, rate, names, basis, ceiling)


def _watts(run: Run, place: str) -> Estimate | None:
    """Return the power of the case that draws most while it is repeated."""
    drawn = []
    for case in run.benchmarks:
        spent = case.extra_info.energy
        if spent is None or case.extra_info.devices != [place]:
            continue
        each = zip(spent.joules, spent.seconds, strict=True)
        if watts := [joules / seconds for joules, seconds in each if joules and seconds]:
            drawn.append(estimate(watts))
    return max(drawn, key=lambda one: one.value, default=None)


NOISY = code(noisy_case)


class Summary(Struct, frozen=True, kw_only=True):
    """A run, as the index and comparisons see it.

    sha256 : of the stored file
    run : its name, unique together with `machine`, unless two files have the same
    href : its page, below the folder of the index; empty until the site gave it one
    machine : name of the kind of machine, and the folder of its results
    machine_id : equal for runs of what may be one machine, which have a history together
    device_id : equal for runs of equal devices, see `suite.stored.machine_identity`
    device : the name of its first accelerator, or of its processor with its cores; devices that
        differ may share it
    count : how many accelerators of that name it has; 1 for a processor
    places : what torch calls the devices that cases ran on, such as ``cuda:0``
    datetime : when the run ended, ISO 8601, as it is stored
    complete : whether every launch that was planned ended
    cases, failed, skipped : numbers of cases that have samples, that failed, that were left out
    commit : of the suite, empty where it is not known
    code : whose benchmarks were measured, and at which commit; empty for those of the suite
    faults : errors of the whole run, with any of which no number counts
    doubt : why its speed is not trusted: other programs, or most of the cases that can be compared
        are noisy; empty where it is
    scored : what scores are made of
    """

    sha256: str
    run: str
    machine: str
    machine_id: str
    device_id: str
    title: str
    device: str
    count: int
    places: tuple[str, ...]
    datetime: str
    profile: str
    complete: bool
    launches: int
    cases: int
    failed: int
    skipped: int
    commit: str
    code: str
    environment: Environment
    axes: DeviceAxes
    faults: tuple[str, ...]
    doubt: str
    scored: Scored
    href: str = ""


def device_names(runs: Sequence[Summary]) -> list[str]:
    """Name the device of each run; those that share a name are told apart by what differs first."""
    words = {run.device_id: distinctions(run.environment) for run in runs}
    namesakes: dict[str, set[str]] = {}
    for run in runs:
        namesakes.setdefault(run.device, set()).add(run.device_id)

    def name(run: Summary) -> str:
        shown, alike = [run.device], [words[other] for other in namesakes[run.device]]
        for one in words[run.device_id]:
            if any(one not in other for other in alike):
                shown.append(one)
                alike = [other for other in alike if one in other]
        return ", ".join(shown)

    return [name(run) for run in runs]


def equipment_of(run: Summary) -> Equipment:
    """Return the devices of a run that have a price: those that cases ran on, or all there are."""
    there = {device.place for device in run.environment.accelerators}
    return Equipment(run.environment, run.places or there)


def summarise(run: Run, sha256: str, estimated: Sequence[CaseEstimate]) -> Summary:
    """Return what is known of a run by itself; its page's address comes later.

    sha256 : of the stored file
    estimated : the estimates of its cases (`reports.table.launches.estimates`)
    """
    part = run.frobench
    here = part.environment
    names = [one.name for one in here.accelerators]
    first = names[0] if names else device_name(run, "cpu")
    medians = {one.case: one.medians for one in estimated}
    status = Counter(outcome.status for outcome in part.outcomes)
    return Summary(
        sha256=sha256,
        run=part.run,
        machine=part.environment.machine,
        machine_id=machine_id(here.cpu, here.accelerators, here.label),
        device_id=device_id(here),
        title=facts.machine_title(run),
        device=first,
        count=max(1, names.count(first)),
        places=tuple(sorted({place for one in estimated for place in one.device.split("+")})),
        datetime=run.datetime,
        profile=part.profile,
        complete=part.complete,
        launches=len(part.launches),
        cases=len(run.benchmarks),
        failed=status["failed"],
        skipped=status["skipped"],
        commit=run.commit_info.id or "",
        code=git.describe(part.project) if part.project else "",
        environment=part.environment,
        axes=device_axes(run),
        faults=tuple(faults(run, "")),
        doubt=busy(run) or _noise(run, medians),
        scored=scored(run, medians),
    )


def _noise(run: Run, medians: Medians) -> str:
    """Say how many of the cases that can be compared are noisy, if most are."""
    noisy = {one.case for one in run.frobench.conclusions if one.code == NOISY}
    first = {case.fullname for case in by_key(run).values()} & medians.keys()
    comparable = first - left_out(run, {name: medians[name] for name in first}).keys()
    count = len(comparable & noisy)
    few = count <= len(comparable) / 2
    return "" if few else f"{count} of {counted(len(comparable), 'case')} noisy"
