# SPDX-License-Identifier: MIT
"""What every format carries of a run: a number with its interval for each case."""

from collections.abc import Iterator

from msgspec import Struct

from suite.printable import printable
from suite.statistics import estimate, launch_medians
from suite.stored.run import Case, Estimate, Run


class Reading(Struct, frozen=True):
    """A case with the seconds of one call: the median over launches, and its 95% interval."""

    case: Case
    seconds: Estimate

    @property
    def name(self) -> str:
        """The full name of the case, without what no reader can bear."""
        return printable(self.case.fullname)

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends, or nothing where there are too few launches for an interval."""
        low, high = self.seconds.low, self.seconds.high
        return None if low is None or high is None else (low, high)


def readings(run: Run) -> Iterator[Reading]:
    """Yield every case that passed, in the order of the run."""
    passed = {outcome.fullname for outcome in run.frobench.outcomes if outcome.status == "passed"}
    for case in run.benchmarks:
        if case.fullname in passed:
            medians = launch_medians(case.stats.data, case.extra_info.launches)
            yield Reading(case, estimate(medians))
