# SPDX-License-Identifier: MIT
"""Speeds of machines beside each other, from their launches, as `docs/methodology.md` has them.

Which part of the workloads a case belongs to, and which kind it is, says the project's own table.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, combinations, combinations_with_replacement
from statistics import NormalDist, fmean
from typing import Any, NamedTuple

import msgspec
import numpy as np

from frobench.reports.table.workloads import kind_of, part_of, table
from frobench.suite.stored.types import Case
from tests.instruments.site_checker.downloads import ByLaunch, Run
from tests.instruments.site_checker.intervals import LEAST_LAUNCHES, pseudomedian
from tests.instruments.site_checker.printed import RATIO, Row

STEP, QUANTILE = 1e-3, 1.96
"""Of the logarithm of a time, and standard errors to the end of an interval."""
CPU = ".cpu"
LEAST_COVERAGE = 2 / 3
Weights = Mapping[str, float]
"""By part."""


class Speed(NamedTuple):
    """The logarithm of a ratio, half the width of its interval, and by how much specimens widen it.

    below, above : further down, and further up
    """

    log: float
    half: float | None
    below: float = 0.0
    above: float = 0.0

    def surely_above(self, log: float = 0.0) -> bool:
        """Tell whether the interval lies above a logarithm."""
        return self.half is not None and self.log - log > self.half + self.below

    def times(self, factor: float = 1.0, unit: str = RATIO, power: int = 1) -> Row:
        """Return the ratio, or with the power -1 its inverse, times an exact factor."""
        half = self.half or 0.0
        low, value, high = (
            factor * math.exp(power * self.log + way)
            for way in (-half - self.below, 0.0, half + self.above)
        )
        return Row(value, unit=unit) if self.half is None else Row(value, low, high, unit=unit)


def log_seconds(seconds: ByLaunch) -> float:
    """Return the logarithm of a case's time, in whole steps."""
    return round(pseudomedian([*map(math.log, seconds.values())]) / STEP) * STEP


class Side:
    """What scores of a machine are made of: its cases by part and kind, each in every launch."""

    def __init__(self, run: Run) -> None:
        self.parts: dict[str, dict[str, dict[str, ByLaunch]]] = {}
        self.run = run
        for name, seconds in measured(run).items():
            case = msgspec.convert(run.stored_cases[name], Case)
            if part := part_of(case):
                info = case.extra_info
                key = f"{_kind(name)} {info.version}"
                own = part.name + CPU * (not _is_accelerator(run.stored_cases[name]))
                kinds = self.parts.setdefault(own, {}).setdefault(kind_of(case), {})
                kinds.setdefault(key, seconds)

    @cached_property
    def launches(self) -> dict[str, dict[int, float]]:
        """How far off each launch is in each part: its mean over kinds, of that over cases."""
        found = {}
        for part, kinds in self.parts.items():
            means = [_means([*cases.values()]) for cases in kinds.values()]
            there = sorted({launch for one in means for launch in one})
            mean = {
                launch: fmean(one[launch] for one in means if launch in one) for launch in there
            }
            if len(mean) >= LEAST_LAUNCHES:
                found[part] = mean
        return found

    def error(self, part: str) -> float | None:
        """Return the standard error of a part: by the interval of signed ranks."""
        if part not in self.launches:
            return None
        values = [*self.launches[part].values()]
        n, below, k = len(values), 0, 0
        means = sorted(sum(pair) / 2 for pair in combinations_with_replacement(values, 2))
        ways = Counter(sum(ranks) for ranks in _subsets(n))
        while 2 * (below + ways[k]) <= 0.05 * 2**n:
            below, k = below + ways[k], k + 1
        return (means[-k] - means[k - 1]) / 2 / NormalDist().inv_cdf(1 - below / 2**n)

    @cached_property
    def shared(self) -> float:
        """How far the parts err together, from 0 to 1."""
        names = [name for name in self.launches if not name.endswith(CPU)] or [*self.launches]
        if len(names) < 2:
            return 0.0
        every = set.intersection(*({*self.launches[name]} for name in names))
        covariance = np.cov([[self.launches[name][one] for one in sorted(every)] for name in names])
        errors = np.sqrt(np.diag(covariance))
        apart = errors.sum() ** 2 - np.trace(covariance)
        found = (covariance.sum() - np.trace(covariance)) / apart if apart > 0 else 0.0
        return min(max(float(found), 0.0), 1.0)

    def variance(self, weights: Weights) -> float | None:
        """Return how far the launches leave a weighted mean of parts open."""
        errors = {name: self.error(name) for name in weights}
        if None in errors.values():
            return None
        each = [share * (errors[name] or 0.0) for name, share in weights.items()]
        return (1 - self.shared) * sum(one**2 for one in each) + self.shared * sum(each) ** 2

    @property
    def accelerated(self) -> bool:
        """Whether an accelerator did anything that scores are made of."""
        return any(not name.endswith(CPU) for name in self.parts)

    @cached_property
    def left(self) -> set[str]:
        """The names of cases that were left out, in which accelerators are alike."""
        outcomes = self.run.stored["frobench"]["outcomes"]
        return {_kind(one["fullname"]) for one in outcomes if one["status"] != "passed"}


Specimens = Mapping[Side, Sequence[Side]]
"""The other specimens of the devices of machines."""


def _subsets(n: int) -> Iterator[tuple[int, ...]]:
    ranks = range(1, n + 1)
    return chain.from_iterable(combinations(ranks, size) for size in range(n + 1))


def reach(side: Side, others: Specimens, weights: Weights) -> tuple[float, float]:
    """Return how far down and up the other specimens of a device lie from it in some parts."""
    logs = [0.0]
    for other in others.get(side, ()):
        found = {name: both[0] for name in weights if (both := in_part(side, other, name))}
        if found:
            total = sum(weights[name] for name in found)
            logs.append(sum(weights[name] * log for name, log in found.items()) / total)
    return min(logs), max(logs)


def widened(speed: Speed, base: Side, one: Side, others: Specimens, weights: Weights) -> Speed:
    """Return a speed with an interval that the range of specimens on either side widens."""
    mine = reach(one, others, weights)
    its = (0.0, 0.0) if base is one else reach(base, others, weights)
    return speed._replace(below=its[1] - mine[0], above=mine[1] - its[0])


def score(
    base: Side, one: Side, workload: str, others: Specimens | None = None
) -> tuple[Speed | None, float]:
    """Return how fast a machine is beside another, and the share of the weight that both have.

    others : the other specimens of each device
    """
    cpu = not (base.accelerated and one.accelerated)
    asked = {
        part.name + CPU * cpu: part.weights[workload]
        for part in table().parts
        if workload in part.weights and part.kind in {None, "cpu" if cpu else "accelerator"}
    }
    found = {name: both for name in asked if (both := in_part(base, one, name))}
    every = sum(asked.values())
    coverage = (
        sum(asked[name] * share for name, (_, share) in found.items()) / every if every else 0
    )
    needs = next(each.needs for each in table().workloads if each.name == workload)
    named = not needs or any(name.removesuffix(CPU) in needs for name in found)
    if not found or not named or coverage < LEAST_COVERAGE - 1e-9:
        return None, coverage
    total = sum(asked[name] for name in found)
    weights = {name: asked[name] / total for name in found}
    log = sum(share * found[name][0] for name, share in weights.items())
    parts = [side.variance(weights) for side in (base, one)]
    known = [part for part in parts if part is not None]
    half = QUANTILE * math.sqrt(sum(known)) if len(known) == len(parts) else None
    speed = Speed(log, 0.0 if base is one else half)
    return widened(speed, base, one, others or {}, weights), coverage


def in_part(base: Side, one: Side, part: str) -> tuple[float, float] | None:
    """Return the log ratio of a part, and the share of it that both measured; maybe none."""
    logs, shares, kinds = [], 0.0, 0
    mine, its = one.parts.get(part, {}), base.parts.get(part, {})
    for kind in sorted({*mine, *its}):
        both = mine.get(kind, {}).keys() & its.get(kind, {}).keys()
        missing = [
            key
            for here, side in ((mine, base), (its, one))
            for key in here.get(kind, {}).keys() - both
            if key.partition(" ")[0] in side.left
        ]
        kinds += 1
        if both:
            logs.append(fmean(log_seconds(its[kind][k]) - log_seconds(mine[kind][k]) for k in both))
            shares += len(both) / (len(both) + len(missing))
    return (fmean(logs), shares / kinds) if logs else None


def measured(run: Run) -> dict[str, ByLaunch]:
    """Return the launch medians of each case that can stand in a ratio, by its full name."""
    told = run.stored["frobench"]["conclusions"]
    broken = {one.get("case") for one in told if one["severity"] == "error"}
    status = {cells["case"]: cells["status"] for cells in run.tables["cases"]}
    most = max((len(run.seconds[name]) for name in status), default=0)
    found: dict[str, ByLaunch] = {}
    names: set[str] = set()
    for name, state in status.items():
        enough = len(run.seconds[name]) >= min(LEAST_LAUNCHES, most)
        if state != "failed" and name not in broken and enough and _kind(name) not in names:
            found[name] = run.seconds[name]
        names.add(_kind(name))
    return {} if broken & {None, ""} else found


def _means(cases: list[ByLaunch]) -> dict[int, float]:
    """Return how far off each launch is, over the cases that it measured."""
    logs = [{launch: math.log(one) for launch, one in each.items()} for each in cases]
    off = [{launch: log - fmean(each.values()) for launch, log in each.items()} for each in logs]
    launches = sorted({launch for each in off for launch in each})
    return {one: fmean(each[one] for each in off if one in each) for one in launches}


def _kind(name: str) -> str:
    return re.sub(r"[a-z]\w*:\d+", "accelerator", name)


def _is_accelerator(case: Mapping[str, Any]) -> bool:
    return "accelerator" in _kind(str(case["params"].get("device", case["extra_info"]["device"])))
