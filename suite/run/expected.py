# SPDX-License-Identifier: MIT
"""What a run should take: every call, every case in the run, and the whole.

The calls are those of the newest stored run of this kind of machine; what it lacks follows from its
other cases, or else from declared work and rates that any machine reaches.
"""

import math
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Literal, NamedTuple

from msgspec import UNSET, Struct
from msgspec.structs import asdict, replace

from frobench.suite.compare.family import Forecast, forecast
from frobench.suite.journal import Collected, Declared, Identity, Measured
from frobench.suite.kit.cases import sizes
from frobench.suite.measure.climb import OVER, Climb
from frobench.suite.profiles import launches_within, settings_on, settling_seconds
from frobench.suite.run.plan import (
    choices,
    choose_case_seconds,
    is_brief,
    launch_seconds,
    longest_call,
)
from frobench.suite.stored import store
from frobench.suite.stored.differences import function_of, machine_id
from frobench.suite.stored.store import InvalidResult
from frobench.suite.stored.types import Case, Exercise, ProfileName, Run, Scalar, Settings, Work
from frobench.suite.units import format_seconds

STARTUP_SECONDS, OVERHEAD_SECONDS = 2.5, 0.05
"""Of a launch before its first case, and of a case beside its calls, where no run tells."""
PILOT_CALLS = 3
"""Calls by which a pilot explores a case."""
MOST_TRIED = 12
"""Stored runs that are read until one of them is complete and of this machine."""
TOGETHER = ("batch", "tokens")
"""Parameters that say how many items go through in a single launch."""

Basis = Literal["measured", "sizes", "rates", "nominal"]
"""Measured in a stored run of this machine, continued from other sizes or at the rates of other
cases in it, or from nominal rates of a CPU or an accelerator."""


class ExpectedCase(Identity, frozen=True, kw_only=True):
    """A case, and what is expected of it."""

    work: Work | None  # of one call
    call_seconds: float | None
    basis: Basis | None  # of `call_seconds`
    run_seconds: float | None = None  # in all launches, unless it is left out
    left_out: str | None  # why it would not be measured here


class Expected(Struct, kw_only=True):
    """What a run with these settings should be like."""

    profile: ProfileName
    machine: str
    before: str | None  # the name of the stored run that tells it
    longest_sample: float
    launches: int
    launch_seconds: float
    run_seconds: float  # the pilot included
    forecast: Forecast
    exercises: dict[str, Exercise]
    cases: list[ExpectedCase]


def newest(
    folder: Path,
    machine: str,
    is_like: Callable[[Run], bool] = lambda _: True,
    *,
    labelled: bool = True,
) -> Run | None:
    """Return the newest complete run of a machine in a folder, if one of the last few is its own.

    machine : its identity, see `suite.stored.differences.machine_id`
    is_like : whether a run of the machine is one that is looked for
    labelled : whether the identity holds a label; else runs of any label count
    """
    for path in islice(sorted(folder.glob("*.json"), reverse=True), MOST_TRIED):
        with suppress(InvalidResult, OSError):
            run = store.read(path)
            here = run.frobench.environment
            label = here.label if labelled else UNSET
            same = machine == machine_id(here.cpu, here.accelerators, label)
            if run.frobench.complete and same and is_like(run):
                return run
    return None


def expect(
    collected: Collected, declared: Declared, settings: Settings, before: Run | None
) -> Expected:
    """Return what a run of the collected cases should take, by a stored run of this machine."""
    calls, overhead = _Calls(before), _overhead(before)
    devices = {name.partition("/")[0] for case in collected.cases for name in case.devices}
    settings = settings_on(settings, sorted(devices))
    startup = STARTUP_SECONDS + settling_seconds(settings)
    same = before if before and before.frobench.profile == settings.profile else None
    measured_before = choices(same.frobench.outcomes) if same else {}
    reasons = _skipped(same) | declared.absent
    cases: list[ExpectedCase] = []
    piloted: dict[str, Measured] = {}
    for case in collected.cases:
        work = declared.works.get(case.fullname) or calls.work(case)
        seconds, basis = calls.expected(case, work)
        most = longest_call(settings, case, measured_before.get(case.fullname))
        too_long = _too_long(seconds, basis, most, settings.longest_sample)
        expected = ExpectedCase(
            **asdict(case),
            work=work,
            call_seconds=seconds,
            basis=basis,
            left_out=reasons.get(case.fullname) or too_long,
        )
        cases.append(expected)
        if expected.left_out is None:
            seen = _as_piloted(case, seconds or 0.0, overhead)
            piloted[case.fullname] = replace(seen, brief=is_brief(settings, case, seen))
    ran = [*piloted.values()]
    spent = startup + sum(record.overhead + PILOT_CALLS * min(record.samples) for record in ran)
    case_seconds = choose_case_seconds(ran, settings, startup, spent)
    launch = launch_seconds(ran, startup, case_seconds)
    launches = launches_within(settings, len(ran), spent, launch)
    return Expected(
        profile=settings.profile,
        machine=declared.machine,
        before=before.frobench.run if before else None,
        longest_sample=settings.longest_sample,
        launches=launches,
        launch_seconds=launch,
        run_seconds=spent + launches * launch,
        forecast=forecast(launches, [*piloted], before),
        exercises=collected.exercises,
        cases=[
            replace(case, run_seconds=launches * launch_seconds([record], 0.0, case_seconds))
            if (record := piloted.get(case.fullname))
            else case
            for case in cases
        ],
    )


def _skipped(before: Run | None) -> dict[str, str]:
    if before is None:
        return {}
    return {
        outcome.fullname: outcome.reason
        for outcome in before.frobench.outcomes
        if outcome.status == "skipped" and outcome.reason
    }


def _overhead(before: Run | None) -> float:
    """Return the seconds of a case in a launch beside its calls."""
    if before is None or not before.benchmarks:
        return OVERHEAD_SECONDS
    beside = median(
        launch.seconds - launch.body_seconds - launch.warmup_seconds
        for launch in before.frobench.launches
    )
    return max(0.0, beside - STARTUP_SECONDS) / len(before.benchmarks)


def _too_long(
    seconds: float | None, basis: Basis | None, most: float, longest: float
) -> str | None:
    """Return why a call will be left out, or may be where its seconds are a guess."""
    if seconds is None or seconds <= most:
        return None
    takes = "takes" if basis in {"measured", "sizes"} else "may take"
    over = f"{OVER} {format_seconds(longest)}"
    return f"{takes} about {format_seconds(seconds)} a call, {over}"


def _as_piloted(case: Identity, seconds: float, overhead: float) -> Measured:
    return Measured(
        launch=0,
        case=case.fullname,
        order=0,
        samples=[seconds],
        iterations=1,
        warmup=0.0,
        sampled=0.0,
        work=Work(),
        check=None,
        parts={},
        peak_bytes=None,
        wall_seconds=overhead,
    )


class _Calls:
    """What calls should take, from a stored run and, beyond it, from declared work."""

    def __init__(self, before: Run | None) -> None:
        self._cases = [(_family(case), case) for case in before.benchmarks] if before else []
        self._climb = Climb(math.inf)
        for family, case in self._cases:
            self._climb.climbed(family, case.params, case.extra_info.work, case.stats.median)

    def work(self, case: Identity) -> Work | None:
        """Return the work that the same benchmark declared, on whatever device."""
        wanted = _beside_device(case.params)
        for family, other in self._cases:
            if family == _family(case) and _beside_device(other.params) == wanted:
                return other.extra_info.work
        return None

    def expected(
        self, case: Identity, work: Work | None
    ) -> tuple[float, Basis] | tuple[None, None]:
        """Return the seconds that a call should take, if its work is known, and their basis."""
        for family, other in self._cases:
            if other.fullname == case.fullname and family == _family(case):
                return other.stats.median, "measured"
        if work is None or work == Work():
            return None, None
        seconds, smaller = self._climb.prediction(_family(case), case.params, work)
        if smaller:
            return seconds, "sizes"
        at_rates = self._at_rates(case, work)
        return (at_rates, "rates") if at_rates else (_nominal(case, work), "nominal")

    def _at_rates(self, case: Identity, work: Work) -> float | None:
        """Scale the case of the same device whose work is nearest; launching takes its time."""
        same = [like for _, like in self._cases if like.params["device"] == case.params["device"]]
        ratios = [(_ratio(work, like.extra_info.work), like.stats.median) for like in same]
        known = [(ratio, seconds) for ratio, seconds in ratios if ratio]
        if not known:
            return None
        ratio, seconds = min(known, key=lambda pair: abs(math.log(pair[0])))
        return max(ratio * seconds, min(like.stats.median for like in same))


def _family(case: Case | Identity) -> str:
    if isinstance(case, Identity):
        return f"{case.group}.{case.function}/{case.version}"
    return f"{case.group}.{function_of(case.fullname)}/{case.extra_info.version}"


def _beside_device(parameters: dict[str, Scalar]) -> dict[str, Scalar]:
    """Return parameters with the number of devices in place of their names."""
    return parameters | {"device": str(parameters["device"]).count("+")}


def _ratio(work: Work, of: Work) -> float | None:
    """Return one work over another, by the first measure that the first one declares."""
    for mine, other in ((work.flops, of.flops), (work.bytes, of.bytes), (work.items, of.items)):
        if mine:
            return mine / other if other else None
    return None


class Nominal(NamedTuple):
    """Rates that any device of a class reaches: seconds of a call and an item, FLOP/s, bytes/s."""

    call: float
    item: float
    flops: float
    bytes: float


CPU = Nominal(call=5e-6, item=10e-6, flops=20e9, bytes=5e9)
"""A core or two of any processor of the last ten years."""
ACCELERATOR = Nominal(call=50e-6, item=20e-6, flops=2e12, bytes=5e9)
"""Any accelerator, its bytes over the link to the host."""


def _nominal(case: Identity, work: Work) -> float:
    """Return what the work takes at most, on a device of which nothing is known.

    Items may be operations or mere elements. They count where nothing else is declared. Beside FLOP
    each batch of them is one launch, and the slower of launches and arithmetic decides.
    """
    rates = CPU if all(name.startswith("cpu") for name in case.devices) else ACCELERATOR
    moved = (work.flops or 0) / rates.flops + (work.bytes or 0) / rates.bytes
    items = work.items or 0
    if work.flops:
        together = math.prod(size for name, size in sizes(case.params).items() if name in TOGETHER)
        return rates.call + max(moved, rates.item * items / together)
    return rates.call + (moved or rates.item * items)
