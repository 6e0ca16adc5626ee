# SPDX-License-Identifier: MIT
"""One row a case of a run: its estimate, how sure it is on the log scale, and its rates.

Ratios of machines take a case's time to be a pseudomedian over launches, on the log scale: the
median of the means of all pairs of launches, each launch paired with itself too (Hodges and
Lehmann). It is rounded to 0.1% of the time: so the index, which has room for two characters a
time, has the ratios of the purchase page and the terminal.
"""

import math

import numpy as np
from msgspec import Struct

from frobench.reports.table.frame import device_of
from frobench.reports.table.launches import Numbers
from frobench.suite.statistics import case_medians, estimate
from frobench.suite.stored.differences import function_of
from frobench.suite.stored.types import Run, Scalar, Status

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
    by_launch = [*map(case_medians, run.benchmarks)]
    seconds = np.full((len(by_launch), max(map(len, by_launch), default=0)), math.nan)
    for row, medians in enumerate(by_launch):
        seconds[row, : len(medians)] = medians  # None becomes NaN
    logs = log_centres(seconds).tolist()
    found = []
    for case, medians, log in zip(run.benchmarks, by_launch, logs, strict=True):
        info, value = case.extra_info, estimate(medians)
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
    pairs = np.sort((logs[:, first] + logs[:, second]) / 2, axis=1)  # NaN is last
    known = np.count_nonzero(~np.isnan(pairs), axis=1)
    cases = np.arange(len(pairs))
    below, above = pairs[cases, np.maximum(known - 1, 0) // 2], pairs[cases, known // 2]
    rounded: Numbers = np.round((below + above) / 2 / STEP) * STEP
    return rounded
