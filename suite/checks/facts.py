# SPDX-License-Identifier: MIT
"""What rules look at: a case, launch by launch."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import accumulate
from typing import Any, NamedTuple, TypeVar

from suite.statistics import middle
from suite.stored.run import Case, Launch, Run, Sensed
from suite.units import format_seconds, format_value

T = TypeVar("T")
MOST_SAID = 1e30
"""A changed file may hold any number; larger ones are said to be this."""
LEAST_PART = 0.05
"""Readings that must show why a device was held back, as a part of all; fewer hardly move the
median."""


class Observed(NamedTuple):
    """What one launch observed of a case, in seconds; the names are those of `CaseInfo`.

    number : of the launch, from 1
    seconds : median of the samples, which are of one call each
    whole : what is stored of the launch
    position : in the launch, from 1
    parts : those that the launch has
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


_known: ContextVar[dict[Hashable, Any] | None] = ContextVar("known", default=None)
"""What is known already of the run that is judged; nothing where none is."""


def by_launch(run: Run, case: Case) -> list[Observed]:
    """Return what each launch that measured a case observed."""
    return _by_launch(run, case, case.stats.data)


def by_version(run: Run, case: Case) -> list[tuple[str, list[Observed]]]:
    """Return what was seen of the body and of the other version, if there is one, with a prefix.

    The prefix is what a message about it begins with. All but the samples is the body's, and
    the warm-up that of both.
    """
    other = case.extra_info.against
    return [("", by_launch(run, case))] + (
        [("the other version: ", _by_launch(run, case, other))] if other else []
    )


@contextmanager
def remembered() -> Iterator[None]:
    """Find out once for all rules what several ask of a run, as long as nothing changes it."""
    token = _known.set({})
    try:
        yield
    finally:
        _known.reset(token)


def once(find: Callable[..., T], run: Run, *asked: Hashable) -> T:
    """Return what a function finds of a run, found out once while the run is `remembered`."""
    known = _known.get()
    if known is None:
        return find(run, *asked)
    key = find, asked
    if key not in known:
        known[key] = find(run, *asked)
    return known[key]  # type: ignore[no-any-return] # of whichever function


def _by_launch(run: Run, case: Case, data: list[float]) -> list[Observed]:
    known = _known.get()
    if known is None:
        return _looked_at(run, case, data)
    if id(data) not in known:
        known[id(data)] = _looked_at(run, case, data)
    return known[id(data)]  # type: ignore[no-any-return] # by its key


def _looked_at(run: Run, case: Case, data: list[float]) -> list[Observed]:
    info = case.extra_info
    return [
        Observed(
            number=number + 1,
            whole=launch,
            samples=(samples := data[end - count : end]),
            seconds=middle(sorted(samples)),
            iterations=info.iterations[number],
            warmup=info.warmup[number],
            position=info.order[number],
            parts={
                name: value
                for name, values in info.parts.items()
                if (value := values[number]) is not None
            },
        )
        for number, (launch, count, end) in enumerate(
            zip(run.frobench.launches, info.launches, accumulate(info.launches), strict=True)
        )
        if count
    ]


def spell(value: float, unit: str) -> str:
    """Return a number of a file that may have been changed, with its unit."""
    bounded = max(-MOST_SAID, min(value, MOST_SAID))
    return format_seconds(bounded) if unit == "s" else format_value(bounded, unit)


def is_accelerator(device: str) -> bool:
    """Tell by its name whether a device works by itself; a worker on the CPU does not."""
    return not device.startswith("cpu")


def accelerators(case: Case) -> list[str]:
    """Return the devices of a case that work by themselves."""
    return [device for device in case.extra_info.devices if is_accelerator(device)]


def mostly(signs: Iterable[bool], part: float = 0.5) -> bool:
    """Tell whether there are signs, and more than `part` of them say yes."""
    answers = list(signs)
    return sum(answers) > part * len(answers)


def held_back(
    case: Case,
    reasons: Mapping[str, str],
    believed: Callable[[str, Sensed], bool] = lambda _, __: True,
) -> Iterator[str]:
    """Say what held a case's devices back, and in what part of the readings.

    reasons : those that count, by their name, and what each is in words
    believed : tells of a device, and of what its sensors said, whether it was so
    """
    for device, sensed in case.extra_info.telemetry.items():
        signs = [
            f"{reasons[name]} ({name}) in {part:.0%}"
            for name, part in (sensed.held_back or {}).items()
            if name in reasons and part >= LEAST_PART
        ]
        if signs and believed(device, sensed):
            yield f"{device} was held back by {', '.join(signs)} of {sensed.readings} readings"
