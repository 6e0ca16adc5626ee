# SPDX-License-Identifier: MIT
"""What rules look at: a case, launch by launch."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from itertools import accumulate
from typing import NamedTuple

from frobench.suite.profiles import LARGEST_LOAD
from frobench.suite.statistics import middle
from frobench.suite.stored.machine_identity import benchmark_of, is_cpu
from frobench.suite.stored.types import Case, Launch, Run, Sensed
from frobench.suite.units import counted

LEAST_PART = 0.05
"""Fraction of the readings that show a device held back, at least; fewer hardly move the median."""
LEAST_AGREEING = 3
"""Fewest launches whose agreement counts: a neighbour's noise may have slowed all of fewer."""


class Observed(NamedTuple):
    """What one launch, of this number from 1, observed of a case; the names are of `CaseInfo`.

    seconds : median of the samples, each of one call
    """

    number: int
    whole: Launch
    samples: list[float]
    seconds: float
    iterations: int
    warmup: float
    position: int
    parts: dict[str, float]

    @property
    def sample(self) -> float:
        """How long a sample took, of all its calls."""
        return self.seconds * self.iterations


_known: ContextVar[dict[int, list["Observed"]]] = ContextVar("known")
"""What launches observed in the run that is judged, by its samples; else nothing is kept."""


@contextmanager
def remembered() -> Iterator[None]:
    """Compute what launches observed only once; nothing may change the run meanwhile."""
    token = _known.set({})
    try:
        yield
    finally:
        _known.reset(token)


def by_launch(run: Run, case: Case, data: list[float] | None = None) -> list[Observed]:
    """Return what each launch observed of a case it measured, of these samples or of the body's."""
    samples = case.stats.data if data is None else data
    known = _known.get({})
    if id(samples) in known:
        return known[id(samples)]
    info, ends = case.extra_info, accumulate(case.extra_info.launches)
    launches = zip(run.frobench.launches, info.launches, ends, strict=True)
    known[id(samples)] = [
        Observed(
            number=index + 1,
            whole=launch,
            samples=(own := samples[end - count : end]),
            seconds=middle(sorted(own)),
            iterations=info.iterations[index],
            warmup=info.warmup[index],
            position=info.order[index],
            parts={
                name: seconds
                for name, values in info.parts.items()
                if (seconds := values[index]) is not None
            },
        )
        for index, (launch, count, end) in enumerate(launches)
        if count
    ]
    return known[id(samples)]


def by_version(run: Run, case: Case) -> Iterator[tuple[str, list[Observed]]]:
    """Yield a message's beginning and what launches observed, of the body and its other version.

    All but the samples is the body's, and the warm-up that of both.
    """
    yield "", by_launch(run, case)
    if other := case.extra_info.against:
        yield "the other version: ", by_launch(run, case, other)


def moment(text: str) -> datetime | None:
    """Return a time in UTC, if the text is one; without a zone it is in UTC already."""
    try:
        at = datetime.fromisoformat(text)
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError):  # of the year 1 or 9999, in another zone
        return None


def accelerators(case: Case) -> list[str]:
    """Return the devices of a case that work by themselves."""
    return [device for device in case.extra_info.devices if not is_cpu(device)]


def fastest(case: Case) -> float:
    """Return the seconds of a case's fastest sample, of either version."""
    return min([*case.stats.data, *(case.extra_info.against or [])], default=0.0)


def highest_rate(case: Case, work: str) -> float:
    """Return the work of a case over its shortest time by any clock; 0 where it declares none.

    work : what of its work counts, ``flops`` or ``bytes``
    """
    amount: float | None = getattr(case.extra_info.work, work)
    parts = case.extra_info.parts
    own = [time for name in ("device", "sustained") for time in parts.get(name, []) if time]
    seconds = min([fastest(case), *own])
    return amount / seconds if amount and seconds > 0 else 0.0


def efficiencies(run: Run) -> Iterator[tuple[Case, list[float]]]:
    """Yield cases of N accelerators, and each launch's rate relative to N times a single one's.

    The single rate is that of the fastest sample of any case of one accelerator with the same
    exercise and parameters: noise slows some samples down, but not all of several launches.
    """
    counting = [case for case in run.benchmarks if _amount(case)]
    singles = [one for one in counting if len(one.extra_info.devices) == 1]
    for case in counting:
        if (many := len(set(case.extra_info.devices))) > 1:
            alone = [_amount(one) / fastest(one) for one in singles if _is_alike(one, case)]
            if best := max(alone, default=0.0):
                launches = by_launch(run, case)
                yield case, [_amount(case) / launch.seconds / many / best for launch in launches]


def _amount(case: Case) -> float:
    """Return the operations, or else items, of a case on accelerators alone; or 0."""
    info = case.extra_info
    on_accelerators = info.devices and not any(map(is_cpu, info.devices))
    return (info.work.flops or info.work.items or 0.0) if on_accelerators else 0.0


def _is_alike(single: Case, many: Case) -> bool:
    """Return whether two cases are of one exercise and one benchmark, or share parameters."""
    shared = single.params.keys() & many.params.keys() - {"device"}
    kinds = [(case.group, bool(case.extra_info.work.flops)) for case in (single, many)]
    if kinds[0] != kinds[1] or any(single.params[name] != many.params[name] for name in shared):
        return False
    return bool(shared) or benchmark_of(single.fullname) == benchmark_of(many.fullname)


def mostly(signs: Iterable[bool], part: float = 0.5) -> bool:
    """Tell whether there are signs, and more than `part` of them say yes."""
    answers = list(signs)
    return sum(answers) > part * len(answers)


def held_back(
    case: Case,
    reasons: Mapping[str, str],
    believed: Callable[[str, Sensed], bool] = lambda _name, _readings: True,
) -> Iterator[str]:
    """Say what held a case's devices back, and in what part of the readings.

    reasons : those that count, by their name, in words
    believed : whether a device's readings bear out what its driver names
    """
    for device, sensed in case.extra_info.telemetry.items():
        signs = [
            f"{reasons[name]} ({name}) in {part:.0%}"
            for name, part in (sensed.held_back or {}).items()
            if name in reasons and part >= LEAST_PART
        ]
        if signs and believed(device, sensed):
            yield f"{device} was held back by {', '.join(signs)} of {sensed.readings} readings"


def busy(run: Run) -> str:
    """Say what other programs used while a run measured; nothing where that disturbed nothing."""
    load, cores = run.frobench.others_load, run.frobench.environment.cpu.usable_cores
    if load is None or load <= LARGEST_LOAD:
        return ""
    return f"other programs used {load * cores:.1f} of {counted(cores, 'core')}"
