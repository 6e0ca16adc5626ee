# SPDX-License-Identifier: MIT
"""What scores of a run are made of: the logarithms of its times and of its energy, by part.

A case is the same in two runs if its function, its version and its parameters are, its devices are
of the same kinds, and so are the shape that it found and the precision of its results
(`suite.compare.matching.other_thing`).
"""

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
import pandas as pd
from msgspec import Struct

from frobench.reports.table.launches import Numbers, log_centres
from frobench.reports.table.workloads import benchmark_name, is_selected, kind_of, on_cpu, part_of
from frobench.suite.compare.matching import by_key, failures, faults, kind
from frobench.suite.statistics import LEAST_LAUNCHES, Medians, signed_rank
from frobench.suite.stored.types import Case, Run
from frobench.suite.units import counted

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
    least = LEAST_LAUNCHES if max(launches.values(), default=0) >= LEAST_LAUNCHES else 1
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
    return Scored(
        seconds=logs(kept, medians),
        joules=logs(kept, joules),
        left_out=absent,
    )


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
    return min(max(together / apart, 0.0), 1.0) if apart > 0 else 0.0
