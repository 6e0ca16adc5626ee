# SPDX-License-Identifier: MIT
"""The numbers of cases in each launch, which tables and findings are made of.

`ByLaunch` holds them, `frame` is their tidy table, and `estimates` has a row for each case of a
run: its estimate, how sure it is on the log scale, and its rates.

Ratios of machines take a case's time to be a pseudomedian over launches, on the log scale: the
median of the means of all pairs of launches, each launch paired with itself too (Hodges and
Lehmann). It is rounded to 0.1% of the time, so that ratios are the same on the index, on the
purchase page and in the terminal.

Launches may fall into two modes, which no single number describes: a process keeps what it drew at
its start, such as where its memory lies, so that all samples of a launch are of one mode.

`scored` has what scores of a run are made of: the logarithms of its times and of its energy, by
part. A case is the same in two runs if its function, its version and its parameters are, its
devices are of the same kinds, and so are the shape that it found and the precision of its results
(`suite.compare.matching.other_thing`).
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from statistics import NormalDist, median
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from msgspec import Struct

from frobench.reports.table.workloads import benchmark_name, is_selected, kind_of, on_cpu, part_of
from frobench.suite.compare.matching import by_key, failures, faults, kind
from frobench.suite.statistics import LEAST_LAUNCHES, Medians, case_medians, estimate, signed_rank
from frobench.suite.stored.machine_identity import function_of
from frobench.suite.stored.types import Case, Estimate, Run, Scalar, Status
from frobench.suite.units import counted, format_range

Numbers = np.ndarray[Any, np.dtype[np.float64]]
WORK = ("flops", "bytes", "items")
RATES = {
    "flop_rate": ("flops", "seconds"),
    "byte_rate": ("bytes", "seconds"),
    "item_seconds": ("seconds", "items"),
}
"""Work by time, and time by work."""
SUSTAINED_RATE = "sustained_flop_rate"
"""The rate of a body that is repeated for seconds."""
_QUOTIENTS = RATES | {
    SUSTAINED_RATE: ("flops", "part_sustained"),
    "device_flop_rate": ("flops", "device_seconds"),
    "device_byte_rate": ("bytes", "device_seconds"),
}
PART = "part_"
"""Before the name of a part of a sample, such as ``part_enqueue``."""


class ByLaunch:
    """Numbers of cases by launch (rows) and case (columns), NaN where there is none.

    ``seconds`` is the median of a launch's samples, for one call of the body, and
    ``device_seconds`` the device's own time, where it is known, in place of what a user waits;
    ``flops``, ``bytes`` and ``items`` are the work of that call, and rates are work by time, where
    a clock saw any.
    """

    def __init__(self, cases: Sequence[Case], medians: Medians | None = None) -> None:
        self._cases = cases
        self._medians = medians
        self._launches = max((len(case.extra_info.launches) for case in cases), default=0)
        self._known: dict[str, Numbers] = {}

    def __getitem__(self, name: str) -> Numbers:
        """Return numbers by their name; nothing but NaN of a part that no case has."""
        if name not in self._known:
            self._known[name] = self._numbers(name)
        return self._known[name]

    @property
    def parts(self) -> list[str]:
        """The names of the parts that any case has."""
        names = dict.fromkeys(part for case in self._cases for part in case.extra_info.parts)
        return [f"{PART}{name}" for name in names]

    def _numbers(self, name: str) -> Numbers:
        if name == "seconds":
            return self._per_launch(case_medians(case, self._medians) for case in self._cases)
        if name in WORK:
            work = [getattr(case.extra_info.work, name) for case in self._cases]
            return self._where_measured(np.array(work, float))
        if name in _QUOTIENTS:
            above, below = (self[each] for each in _QUOTIENTS[name])
            return above / np.where(below > 0, below, np.nan)
        if name == "device_seconds":
            own = self["part_device"]
            return np.where(own > 0, own, self["seconds"])
        part = name.removeprefix(PART)
        return self._where_measured(
            self._per_launch(case.extra_info.parts.get(part, []) for case in self._cases)
        )

    def _per_launch(self, columns: Iterable[Sequence[float | None]]) -> Numbers:
        """Return what each case tells of its launches, which may be of fewer than there were."""
        values = np.full((self._launches, len(self._cases)), np.nan)
        for index, column in enumerate(columns):
            values[: len(column), index] = column
        return values

    def _where_measured(self, numbers: Numbers) -> Numbers:
        return np.where(np.isnan(self["seconds"]), np.nan, numbers)


COLUMNS = (
    *("run", "machine", "exercise", "case", "function", "device", "status", "headline"),
    *("launch", "seconds", "samples"),
    *WORK,
    *RATES,
)
"""Columns of every row; the case's parameters and parts (``part_enqueue``) follow them."""


def frame(runs: Iterable[Run]) -> pd.DataFrame:
    """Return one row for each case in each launch that measured it.

    Numbers are those of `reports.table.launches.ByLaunch`. A parameter is a column of its own,
    empty where a case does not have it. ``status`` is the case's outcome: what failed keeps its
    samples, and whoever computes with them must want to.
    """
    measured = [each for run in runs for each in facts(run)]
    cases = [case for case, _ in measured]
    numbers = ByLaunch(cases)
    there = ~np.isnan(numbers["seconds"]).T
    owner, launch = np.nonzero(there)
    samples = [cases[at].extra_info.launches[n] for at, n in zip(owner, launch, strict=True)]
    names = ("seconds", *WORK, *RATES, *numbers.parts)
    of_launches = {name: numbers[name].T[there] for name in names}
    of_cases = pd.DataFrame([each for _, each in measured])
    table = of_cases.iloc[owner].reset_index(drop=True)
    table = table.assign(launch=launch, samples=samples, **of_launches)
    return table.reindex(columns=[*dict.fromkeys((*COLUMNS, *table.columns))])


def facts(run: Run, exercise: str = "") -> Iterator[tuple[Case, dict[str, Any]]]:
    """Return each case of a run, or of one exercise, with what is equal in all its launches."""
    status = {outcome.fullname: outcome.status for outcome in run.frobench.outcomes}
    for case in run.benchmarks:
        if exercise and case.group != exercise:
            continue
        work = case.extra_info.work
        row = {
            **case.params,
            "run": run.frobench.run,
            "machine": run.frobench.environment.machine,
            "exercise": case.group,
            "case": case.fullname,
            "function": function_of(case.fullname),
            "device": device_of(case),
            "status": status.get(case.fullname, "passed"),
            "headline": case.extra_info.headline,
            **{name: getattr(work, name) for name in WORK},
        }
        yield case, row


def device_of(case: Case) -> str:
    """Return the device, or the group of them, that gives a case its name."""
    return str(case.params.get("device", case.extra_info.device))


STEP = 1e-3
"""To which natural logarithms of times are rounded."""


class CaseEstimate(Struct, frozen=True, kw_only=True):
    """A case of a run.

    case : full name, equal on all machines but for the device among its parameters
    status : ``failed`` keeps its numbers; whoever computes with them must want to
    seconds, low, high : the median over launches with its 95% interval; without an interval
        below six launches
    log_seconds : the logarithm of the time that ratios of machines are made of; ``None`` where no
        launch took any time
    medians : of each launch, in seconds, ``None`` of one without samples
    launches : launches that measured it
    flops, bytes : work of one call, ``None`` where it is not counted
    version : of the benchmark; cases of unequal versions are not the same thing
    """

    exercise: str
    case: str
    function: str
    params: dict[str, Scalar]
    device: str
    status: Status
    headline: bool
    seconds: float
    low: float | None
    high: float | None
    log_seconds: float | None
    medians: list[float | None]
    launches: int
    flops: float | None
    bytes: float | None
    version: str

    @property
    def flop_rate(self) -> float | None:
        """Work by time, in FLOP/s."""
        return self._rate(self.flops)

    @property
    def byte_rate(self) -> float | None:
        """Bytes that must be moved by time, in B/s."""
        return self._rate(self.bytes)

    def _rate(self, work: float | None) -> float | None:
        return work / self.seconds if work is not None and self.seconds > 0 else None


def estimates(run: Run) -> list[CaseEstimate]:
    """Return the estimate of every case that has samples, in the order of the run."""
    status = {outcome.fullname: outcome.status for outcome in run.frobench.outcomes}
    logs = log_centres(ByLaunch(run.benchmarks)["seconds"].T).tolist()
    found = []
    for case, log in zip(run.benchmarks, logs, strict=True):
        info, medians = case.extra_info, case_medians(case)
        value = estimate(medians)
        found.append(
            CaseEstimate(
                exercise=case.group,
                case=case.fullname,
                function=function_of(case.fullname),
                params=case.params,
                device=device_of(case),
                status=status.get(case.fullname, "passed"),
                headline=info.headline,
                seconds=value.value,
                low=value.low,
                high=value.high,
                log_seconds=None if math.isnan(log) else log,
                medians=medians,
                launches=value.launches,
                flops=info.work.flops,
                bytes=info.work.bytes,
                version=info.version,
            )
        )
    return found


def rate(
    flops: float | None, moved: float | None, medians: Iterable[float | None]
) -> tuple[Estimate, str] | None:
    """Return work by time, estimated from each launch's, with its unit; nothing without work."""
    if not (work := flops or moved) or not (known := [one for one in medians if one]):
        return None
    return estimate([work / seconds for seconds in known]), "FLOP/s" if flops else "B/s"


def log_centres(seconds: Numbers) -> Numbers:
    """Return the rounded pseudomedian of each case's logarithms; NaN without a positive time.

    Parameters
    ----------
    seconds
        Cases x launches. NaN stands where a launch did not measure the case.
    """
    if not seconds.shape[1]:
        return np.full(len(seconds), np.nan)
    logs = np.log(np.where(seconds > 0, seconds, np.nan))
    first, second = np.triu_indices(seconds.shape[1])
    pairs = np.sort((logs[:, first] + logs[:, second]) / 2, axis=1)  # NaN is last, or alone
    known = np.count_nonzero(~np.isnan(pairs), axis=1)
    cases = np.arange(len(pairs))
    below, above = pairs[cases, (known - 1) // 2], pairs[cases, known // 2]
    rounded: Numbers = np.round((below + above) / 2 / STEP) * STEP
    return rounded


LEAST_OF_A_MODE = 2
"""Launches of a mode, at least."""
MODES_GAP = math.log(1.25)
"""Logarithm of the ratio between the nearest launches of two modes, at least."""
MODES_APART = 3.0
"""The gap between two modes as a multiple of the wider mode's range, at least."""
TWO_MODES = "two modes"
"""What marks such a number."""


class Modes(NamedTuple):
    """The median of the lower and of the upper mode."""

    low: float
    high: float

    def text(self, unit: str) -> str:
        """Spell both, such as "22 or 41 µs"."""
        return format_range(self.low, self.high, unit, " or ", digits=2)


def two_modes(by_launch: Sequence[float | None]) -> Modes | None:
    """Return the two modes of positive numbers, one of each launch; nothing where there is one."""
    ordered = sorted(value for value in by_launch if value is not None)
    if len(ordered) < 2 * LEAST_OF_A_MODE or ordered[0] <= 0:
        return None
    logs = [math.log(value) for value in ordered]
    cuts = range(LEAST_OF_A_MODE, len(logs) - LEAST_OF_A_MODE + 1)
    cut = max(cuts, key=lambda at: logs[at] - logs[at - 1])
    gap = logs[cut] - logs[cut - 1]
    widest = max(logs[cut - 1] - logs[0], logs[-1] - logs[cut])
    if gap < MODES_GAP or gap < MODES_APART * widest:
        return None
    return Modes(median(ordered[:cut]), median(ordered[cut:]))


def modes_of(case: Case) -> Modes | None:
    """Return the two modes of a case's launch medians, in seconds; nothing where there is one."""
    return two_modes(case_medians(case))


ON_CPU = ".cpu"
"""Behind the name of an exercise, or of a part of the workloads, as far as the CPU does it."""
ALPHA = 0.05


class Logs(Struct, frozen=True):
    """Logarithms of seconds, or of joules, of the cases that scores are made of.

    centres : the pseudomedian over launches, by part of the workloads, by kind of case and by case
    errors : by part, the standard error of its mean over kinds; without those that fewer than six
        launches measured
    shared : correlation of the errors of two parts, from 0 to 1, which gives their mean over all
        the error that the launches show it to have; of those that need an accelerator, if any
    """

    centres: dict[str, dict[str, dict[str, float]]]
    errors: dict[str, float]
    shared: float


class Scored(Struct, frozen=True):
    """What scores are made of.

    left_out : why a case has no number, by the case's name, in which accelerators are alike
    """

    seconds: Logs
    joules: Logs
    left_out: dict[str, str]


def left_out(run: Run, medians: Medians) -> dict[str, str]:
    """Return why cases can stand in no ratio with another run's, by full name.

    A case that failed or has an error cannot, nor any of a run with an error; nor, where others
    have the six launches of an interval, one that has fewer.

    medians : of launches, by full name; other cases are passed over
    """
    launches = {
        name: sum(median is not None and median > 0 for median in each)
        for name, each in medians.items()
    }
    whole = next(iter(faults(run, "")), None)
    failed = failures(run, "")
    least = LEAST_LAUNCHES if any(one >= LEAST_LAUNCHES for one in launches.values()) else 1
    few = {
        name: f"measured in {counted(known, 'launch')}"
        for name, known in launches.items()
        if known < least
    }
    return {
        name: reason for name in launches if (reason := whole or failed.get(name) or few.get(name))
    }


def scored(run: Run, medians: Medians) -> Scored:
    """Return what scores of a run are made of.

    medians : of launches, by full name
    """
    cases = [case for case in by_key(run).values() if case.fullname in medians]
    why = left_out(run, {case.fullname: medians[case.fullname] for case in cases})
    kept = [case for case in cases if case.fullname not in why]
    groups = {case.fullname: case.group for case in cases}
    absent = {
        kind(one.fullname): f"{one.status}: {one.reason}"
        for one in run.frobench.outcomes
        if one.status != "passed" and is_selected(benchmark_name(one.group, one.fullname))
    }
    absent |= {
        kind(name): reason
        for name, reason in why.items()
        if is_selected(benchmark_name(groups[name], name))
    }
    counting = {case.fullname: case.extra_info.energy for case in kept}
    joules = {name: energy.joules for name, energy in counting.items() if energy}
    return Scored(seconds=logs(kept, medians), joules=logs(kept, joules), left_out=absent)


def logs(cases: Sequence[Case], launches: Medians) -> Logs:
    """Return the logarithms of a quantity of cases in each launch, which `launches` has by name."""
    rows: dict[tuple[str, str, str], list[float]] = {}
    for case in cases:
        values = [one if one and one > 0 else math.nan for one in launches.get(case.fullname, [])]
        if (part := part_of(case)) and not all(map(math.isnan, values)):
            rows[part.name + ON_CPU * on_cpu(case), kind_of(case), identity(case)] = values
    centres: dict[str, dict[str, dict[str, float]]] = {}
    if not rows:
        return Logs(centres, {}, 0.0)
    frame = pd.DataFrame([*rows.values()], index=pd.MultiIndex.from_tuples(rows))
    for (part_name, work, case_name), log in zip(rows, log_centres(frame.to_numpy()), strict=True):
        centres.setdefault(part_name, {}).setdefault(work, {})[case_name] = float(log)
    means = deviations(frame.apply(np.log))
    errors = {str(name): error(mean.to_numpy()) for name, mean in means.iterrows()}
    leading = [name for name in errors if not name.endswith(ON_CPU)] or [*errors]
    return Logs(centres, errors, shared(means.loc[leading].to_numpy()))


def identity(case: Case) -> str:
    """Return what is equal for cases of two runs that are the same, the case's name first."""
    info = case.extra_info
    shape = tuple(info.search.shape) if info.search else ""
    precision = info.check.precision if info.check else ""
    return f"{kind(case.fullname)} {info.version} {shape} {precision or ''}"


def deviations(frame: pd.DataFrame) -> pd.DataFrame:
    """Return how far off each launch is in each part: its mean over kinds, of that over cases.

    frame : logarithms by part, kind and case (rows) and launch; NaN where nothing was measured
    """
    off = frame.sub(frame.mean(axis=1), axis=0)
    means = off.groupby(level=[0, 1], sort=False).mean().groupby(level=0, sort=False).mean()
    return means[means.count(axis=1) >= LEAST_LAUNCHES]


def error(means: Numbers) -> float:
    """Return the standard error of the launches' pseudomedian, from its interval by signed ranks.

    The interval is the narrowest with a confidence of 95% or more, and the error is half of it by
    the normal quantile of that confidence, which is 97% for six launches (Hodges and Lehmann).
    Where launches fall into two modes, a pseudomedian moves further than a mean, and the standard
    deviation would promise too much.
    """
    known = means[~np.isnan(means)]
    first, second = np.triu_indices(len(known))
    sums = np.sort(known[first] + known[second])
    chances = signed_rank(len(known))
    k = sum(chance <= ALPHA for chance in chances)
    return float(sums[-k] - sums[k - 1]) / 4 / NormalDist().inv_cdf(1 - chances[k - 1] / 2)


def shared(means: Numbers) -> float:
    """Return the correlation that gives the mean of parts its error; parts x launches."""
    if len(means) < 2:  # noqa: PLR2004 - one has nothing to share
        return 0.0
    covariance = np.cov(means[:, ~np.isnan(means).any(axis=0)])
    errors = np.sqrt(np.diag(covariance))
    apart = float(errors.sum() ** 2 - np.trace(covariance))
    together = float(covariance.sum() - np.trace(covariance))
    return max(together / apart, 0.0) if apart > 0 else 0.0
