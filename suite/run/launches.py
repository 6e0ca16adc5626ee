# SPDX-License-Identifier: MIT
"""Launches: every case of the plan once in each, whole launches until the budget is spent.

No interval decides what to measure or when to stop: such a choice makes intervals wrong.
"""

import math
import time
from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

from frobench.suite.errors import CannotRunError
from frobench.suite.journal.records import (
    Begun,
    Ended,
    Journal,
    Measured,
    Record,
    Refused,
    Rested,
    Stopped,
)
from frobench.suite.journal.spec import LaunchSpec
from frobench.suite.machine.accounts import Others
from frobench.suite.run.plan import Plan
from frobench.suite.run.process import FRUITLESS_TRIES, TRIES, LaunchProcess, lost
from frobench.suite.run.progress import Reporter, say_failure
from frobench.suite.run.sensed.energy import REST
from frobench.suite.run.unfinished import LAUNCHES, RunClock
from frobench.suite.stored.names import short_name
from frobench.suite.units import counted


class Launches:
    """The launches of a run, those of earlier sittings included."""

    def __init__(self, plan: Plan, folder: Path, clock: RunClock, reporter: Reporter) -> None:
        self._plan = plan
        self._clock = clock
        self._reporter = reporter
        self._journal = Journal(folder / LAUNCHES)
        self._journal.mend()
        self._names = {case.fullname for case in plan.cases}
        self.records: list[Record] = []
        # Kept as records arrive: whatever is sought among all of them would disturb a case.
        self._ended: dict[int, Ended] = {}
        self._failed: set[str] = set()
        self._over: defaultdict[int, set[str]] = defaultdict(set)
        self._begun = Counter[int]()
        self._cases = len(plan.cases) + len(plan.windows(0))
        self._planned = 0
        self._take_news()
        if damaged := self._journal.damaged:
            reporter.say(
                f"{self._journal.path} has {counted(len(damaged), 'damaged line')}, the first is "
                f"line {damaged[0]}: what they said is left out, and measured again"
            )

    @property
    def done(self) -> int:
        """The number of launches that ended with nothing left to measure."""
        last = max(self._ended, default=-1)
        return next(n for n in count() if n > last or not self._is_over(n))

    def run(self) -> None:
        """Add whole launches until there are enough, after a rest for the devices' idle power."""
        if self._plan.counters and not self.records:
            begun = time.monotonic()
            time.sleep(REST)
            self._journal.write(Rested(begun=begun, ended=time.monotonic()))
            self._take_news()
        while self.done < self._expected() and not self._failed >= self._names:
            self.add()
            self._reporter.say(f"launch {self.done} of about {self._expected()} done")

    def add(self) -> None:
        """Make the next launch, or measure again what a damaged line took of an earlier one."""
        number, self._planned = self.done, self._expected()
        if number in self._ended:
            self._launch(number)
            return
        measured = [record for record in self.records if isinstance(record, Measured)]
        earlier = math.fsum(r.wall_seconds for r in measured if r.launch == number)
        ends = [record.begun + record.seconds for record in self._ended.values()]
        # A process that was killed did not write the clock.
        self._clock.advance_to(max(ends, default=self._plan.plan_seconds) + earlier)
        begun, started, others = self._clock.seconds(), datetime.now(UTC), Others()
        before = time.process_time()
        self._launch(number)
        spent, seconds = time.process_time() - before, self._clock.seconds() - begun
        ended = Ended(
            launch=number,
            started=(started - timedelta(seconds=earlier)).isoformat(timespec="seconds"),
            begun=begun - earlier,
            seconds=earlier + seconds,
            others=None if earlier else others.used(),
            runner_cores=spent / seconds,
        )
        self._clock.keep()  # first, or the next sitting's clock might lie behind the launch
        self._journal.write(ended)
        self._take_news()

    def _expected(self) -> int:
        return self._plan.launches(self._clock.seconds(), self._launch_seconds(), self.done)

    def _launch_seconds(self) -> float:
        seconds = (record.seconds for record in self._ended.values())
        return max(seconds, default=self._plan.launch_seconds)

    def _launch(self, number: int) -> None:
        """Measure every case once, in a fresh process; what a lost process left, in another."""
        fruitless = 0
        for _ in range(TRIES):
            left = self._left(number)
            if not left:
                return
            self._journal.mend()
            spec = LaunchSpec(
                mode="measure",
                launch=number,
                journal=str(self._journal.path),
                benchmarks=self._plan.draft.benchmarks,
                seed=self._plan.draft.seed + number,
                settings=self._plan.settings,
                order=left,
                done=len(self._plan.cases) - len(left),
                halves=self._plan.any_on_halves(left),
                searched=self._plan.searched,
                windows=self._plan.windows(number),
                brief=self._plan.brief,
                versions={case.fullname: case.version for case in self._plan.cases},
                project=self._plan.draft.project_folder if self._plan.draft.paths else None,
                paths=self._plan.draft.paths,
                kept_out=self._plan.draft.kept_out,
            )
            process = LaunchProcess(spec, deadline=self._deadline)
            if loss := lost(process.watch(self._journal, self._hear)):
                self._reporter.say(f"launch {number + 1}: {loss} between two cases")
            fruitless = fruitless + 1 if self._left(number) == left else 0
            if fruitless == FRUITLESS_TRIES:
                raise CannotRunError(
                    f"launch {number + 1} lost {FRUITLESS_TRIES} processes in a row before a case "
                    f"ended; the last one said:\n{process.last_lines()}"
                )
        raise CannotRunError(f"launch {number + 1} lost {TRIES} processes")

    def _deadline(self, case: str) -> float:
        return self._plan.deadline(case, self._plan.settings.budget - self._clock.seconds())

    def _left(self, number: int) -> list[str]:
        """Return what this launch has still to measure; a case that failed is not tried again."""
        over = self._failed | self._over[number]
        return [name for name in self._plan.order(number) if name not in over]

    def _is_over(self, number: int) -> bool:
        return self._names <= self._failed | self._over[number]

    def _take_news(self) -> None:
        for record in self._journal.news():
            self._take(record)

    def _take(self, record: Record) -> None:
        self.records.append(record)
        if isinstance(record, Begun):
            self._begun[record.launch] += 1
        elif isinstance(record, Ended):
            self._ended[record.launch] = record
        elif isinstance(record, Measured | Refused):
            self._over[record.launch].add(record.case)
            if isinstance(record, Refused) and record.status == "failed" and not record.lost:
                self._failed.add(record.case)

    def _hear(self, record: Record) -> None:
        if isinstance(record, Stopped):
            raise CannotRunError(record.message)
        self._take(record)
        say_failure(record, self._reporter)
        if isinstance(record, Begun):
            done = (record.launch + self._begun[record.launch] / self._cases) / self._planned
            left = self._planned * self._launch_seconds() * (1 - done)
            self._reporter.at(done, left, short_name(record.case))
