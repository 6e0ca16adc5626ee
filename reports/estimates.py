# SPDX-License-Identifier: MIT
"""One row a case of a run: its estimate, how sure it is on the log scale, and its rates."""

import math

from msgspec import Struct

from reports.frame import device_of, function_of
from suite.model import Case, Run, Scalar, Status
from suite.statistics import LEAST_LAUNCHES, estimate, launch_medians

Medians = dict[str, list[float | None]]
"""The launch medians of cases by their full names, in seconds, ``None`` of a launch without any."""
FEW_LAUNCHES = 1.25
"""What Student's quantile is of the normal one for seven launches, the usual number."""


class CaseEstimate(Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """A case of a run.

    case : full name, equal on all machines but for the device among its parameters
    params : without a meaning of their own, the device among them
    status : ``failed`` keeps its numbers; whoever computes with them must want to
    seconds, low, high : the median over launches with its 95% interval; without an interval
        below six launches
    log_mean : mean over launches of the logarithms of their medians, for ratios that are made
        without the launches: unlike `seconds` it does not jump where launches fall into two modes
    log_error : standard error of `log_mean`, see `logarithmic`; ``None`` where there is no interval
    launches : launches that measured it
    flops, bytes : work of one call, ``None`` where it is not counted; by `seconds` it is a rate
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
    log_mean: float | None
    log_error: float | None
    launches: int
    flops: float | None
    bytes: float | None
    version: str

    @property
    def flop_rate(self) -> float | None:
        """Work by time, in FLOP/s; its interval has the ends of the time's, turned round."""
        return None if self.flops is None else self.flops / self.seconds

    @property
    def byte_rate(self) -> float | None:
        """Bytes that must be moved by time, in B/s."""
        return None if self.bytes is None else self.bytes / self.seconds


def medians_of(run: Run) -> Medians:
    """Return the launch medians of every case that has samples."""
    return {
        case.fullname: launch_medians(case.stats.data, case.extra_info.launches)
        for case in run.benchmarks
    }


def estimates(run: Run, measured: Medians) -> list[CaseEstimate]:
    """Return the estimate of every case that has samples, in the order of the run.

    Parameters
    ----------
    measured
        Its launch medians.
    """
    status = {outcome.fullname: outcome.status for outcome in run.frobench.outcomes}
    return [
        _estimated(case, measured[case.fullname], status.get(case.fullname, "passed"))
        for case in run.benchmarks
    ]


def _estimated(case: Case, measured: list[float | None], status: Status) -> CaseEstimate:
    info = case.extra_info
    medians = [one for one in measured if one is not None]
    value = estimate(medians)
    log_mean, log_error = logarithmic(medians)
    return CaseEstimate(
        exercise=case.group,
        case=case.fullname,
        function=function_of(case.fullname),
        params=case.params,
        device=device_of(case),
        status=status,
        headline=info.headline,
        seconds=value.value,
        low=value.low,
        high=value.high,
        log_mean=log_mean,
        log_error=log_error,
        launches=len(medians),
        flops=info.work.flops,
        bytes=info.work.bytes,
        version=info.version,
    )


def logarithmic(medians: list[float]) -> tuple[float | None, float | None]:
    """Return the mean of the logarithms of launch medians, and its standard error.

    The error is the standard deviation of the logarithms, by the root of their number, times
    `FEW_LAUNCHES`: 1.96 of it reach as far as Student's interval does. It is for comparisons that
    have nothing else, such as those between machines in the index, and is told as approximate
    there; `frobench compare` rests on ranks.

    Parameters
    ----------
    medians
        One for each launch; there is no mean unless all are positive, and with fewer than six no
        error.
    """
    if min(medians) <= 0:
        return None, None
    logs = [math.log(one) for one in medians]
    mean = math.fsum(logs) / len(logs)
    if len(logs) < LEAST_LAUNCHES:
        return mean, None
    squares = math.fsum((one - mean) ** 2 for one in logs)  # statistics.stdev takes far longer
    return mean, FEW_LAUNCHES * math.sqrt(squares / (len(logs) - 1) / len(logs))
