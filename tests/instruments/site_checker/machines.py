# SPDX-License-Identifier: MIT
"""Speeds of machines beside each other, from their launches, as `docs/methodology.md` has them.

Which part of the workloads a case belongs to, and which kind it is, says the project's own table.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from itertools import combinations_with_replacement
from random import Random
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from frobench.reports.table.workloads import kind_of, part_of
from frobench.suite.stored.types import Case
from tests.instruments.site_checker.downloads import ByLaunch, Run
from tests.instruments.site_checker.intervals import LEAST_LAUNCHES, pseudomedian
from tests.instruments.site_checker.printed import RATIO, Row

RESAMPLES, AIM = 1000, 0.955
STEP = 1e-3
"""Of the logarithm of a time."""
Key = tuple[str, str]
"""An exercise and a case, whatever the machine."""
Group = Mapping[Key, float]
"""How much each case counts in a mean."""
Numbers = NDArray[np.float64]


class Speed(NamedTuple):
    """The logarithm of a ratio, and half the width of its interval."""

    log: float
    half: float | None

    def surely_above(self, log: float = 0.0) -> bool:
        """Tell whether the interval lies above a logarithm."""
        return self.half is not None and self.log - log > self.half

    def times(self, factor: float = 1.0, unit: str = RATIO, power: int = 1) -> Row:
        """Return the ratio, or with the power -1 its inverse, times an exact factor."""
        low, value, high = (
            factor * math.exp(power * self.log + way * (self.half or 0.0)) for way in (-1, 0, 1)
        )
        return Row(value, unit=unit) if self.half is None else Row(value, low, high, unit=unit)


def log_seconds(seconds: ByLaunch) -> float:
    """Return the logarithm of a case's time, in whole steps."""
    return round(pseudomedian([*map(math.log, seconds.values())]) / STEP) * STEP


class Side:
    """The cases of a machine: how long each took, as measured and in each resample of launches."""

    def __init__(self, cases: Mapping[Key, ByLaunch]) -> None:
        self.cases = cases
        self.launches = sorted({launch for one in cases.values() for launch in one})
        self.centre = {key: log_seconds(one) for key, one in cases.items()}
        self._resampled: dict[Key, Numbers] = {}

    def resampled(self, key: Key) -> Numbers:
        """Return the pseudomedian of a case in each resample; as measured without its launches."""
        if key not in self._resampled:
            logs = np.array([math.log(self.cases[key].get(one, math.nan)) for one in self.launches])
            drawn = logs[_draws(len(logs))]
            pairs = combinations_with_replacement(range(len(logs)), 2)
            means = np.array([(drawn[:, a] + drawn[:, b]) / 2 for a, b in pairs])
            there = ~np.isnan(means).all(axis=0)
            found = np.full(RESAMPLES, pseudomedian([one for one in logs if not math.isnan(one)]))
            found[there] = np.nanmedian(means[:, there], axis=0)
            self._resampled[key] = found
        return self._resampled[key]

    def variance(self, group: Group) -> float:
        """Return how far the launches leave a weighted mean open."""
        mean = sum(share * self.resampled(key) for key, share in group.items())
        count = len(self.launches)
        return float(np.var(mean, ddof=1)) * count / (count - 1)


@cache
def _draws(number: int) -> NDArray[np.int_]:
    random = Random(number)  # noqa: S311 - the draws that were made
    return np.array([random.choices(range(number), k=number) for _ in range(RESAMPLES)])


def speed(base: Side, one: Side, group: Group, asked: Group) -> Speed | None:
    """Return how many times as fast a machine is as another, by the weighted mean of cases.

    asked : the mean that Student's quantile is made for
    """
    if not group:
        return None
    log = log_ratio(base, one, group)
    counts = len(base.launches), len(one.launches)
    if base is one or min(counts) < LEAST_LAUNCHES:
        return Speed(log, 0.0 if base is one else None)
    parts = [side.variance(asked) for side in (base, one)]
    spent = sum(part**2 / (count - 1) for part, count in zip(parts, counts, strict=True))
    freedom = sum(parts) ** 2 / spent if spent else sum(counts) - 2
    error = math.sqrt(base.variance(group) + one.variance(group))
    return Speed(log, float(stdtrit(freedom, (1 + AIM) / 2)) * error)


def log_ratio(base: Side, one: Side, group: Group) -> float:
    """Return the weighted mean of the logarithms of ratios of times."""
    return math.fsum(share * (base.centre[key] - one.centre[key]) for key, share in group.items())


def common(base: Side, one: Side, exercise: str) -> Group:
    """Return the cases of an exercise that both measured, all of which count the same."""
    keys = [key for key in base.centre if key in one.centre and key[0] == exercise]
    return {key: 1 / len(keys) for key in keys}


def weighed(groups: list[Group], weights: list[float]) -> Group:
    """Return the weighted mean of the means of groups that have cases, none with two of a case."""
    every = math.fsum(weight for weight, one in zip(weights, groups, strict=True) if one)
    pairs = zip(weights, groups, strict=True) if every else ()
    return {key: weight * share / every for weight, one in pairs for key, share in one.items()}


def measured(run: Run) -> dict[Key, ByLaunch]:
    """Return the launch medians of each case that can stand in a ratio."""
    told = run.stored["frobench"]["conclusions"]
    broken = {one.get("case") for one in told if one["severity"] == "error"}
    status = {cells["case"]: cells["status"] for cells in run.tables["cases"]}
    most = max((len(run.seconds[name]) for name in status), default=0)
    found: dict[Key, ByLaunch] = {}
    for name, state in status.items():
        enough = len(run.seconds[name]) >= min(LEAST_LAUNCHES, most)
        if state != "failed" and name not in broken and enough:
            found.setdefault(_key(run, name), run.seconds[name])
    return {} if broken & {None, ""} else found


def _key(run: Run, name: str) -> Key:
    case = run.stored_cases[name]
    info = case["extra_info"]
    given = str(case["params"].get("device", info["device"]))
    device = re.sub(r"[a-z]\w*:\d+", "accelerator", given)
    params = sorted({**case["params"], "device": device}.items())
    exercise = case["group"] if "accelerator" in device else f"{case['group']}.cpu"
    return exercise, repr((name.partition("[")[0], info["version"], params))


def parts(run: Run) -> dict[Key, tuple[str, str]]:
    """Return of each case that scores use its part of the workloads, and its kind."""
    keys = measured(run)
    alone = all(key[0].endswith(".cpu") for key in keys)
    found = {}
    for name in reversed(run.stored_cases):
        case, key = msgspec.convert(run.stored_cases[name], Case), _key(run, name)
        part = part_of(case)
        if part and key in keys and key[0].endswith(".cpu") == alone:
            found[key] = part.name, kind_of(case)
    return found


def by_part(base: Side, one: Side, chosen: Mapping[Key, tuple[str, str]], part: str) -> Group:
    """Return the common cases of a part: each kind counts the same, and within it each case."""
    both = base.centre.keys() & one.centre.keys() & chosen.keys()
    keys = [key for key in sorted(both) if chosen[key][0] == part]
    kinds = Counter(chosen[key][1] for key in keys)
    return {key: 1 / len(kinds) / kinds[chosen[key][1]] for key in keys}
