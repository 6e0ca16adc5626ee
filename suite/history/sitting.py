# SPDX-License-Identifier: MIT
"""One commit's run, whose launches come in turn with those of other commits."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from msgspec.structs import replace

from frobench.suite.compare.model import Unmatched
from frobench.suite.errors import CannotRunError
from frobench.suite.journal.records import Collected, Imported, Journal, Measured, Record, Refused
from frobench.suite.project.git import describe
from frobench.suite.run.forecast.windows import Choice
from frobench.suite.run.launches import Launches
from frobench.suite.run.merge import merge
from frobench.suite.run.plan import Draft
from frobench.suite.run.progress import Reporter
from frobench.suite.run.runner import PILOT, make_plan, sensors
from frobench.suite.run.sensed import telemetry
from frobench.suite.run.unfinished import READINGS, RunClock
from frobench.suite.stored import store
from frobench.suite.stored.names import short_name
from frobench.suite.stored.run import Run


class Sitting:
    """A run of one commit.

    folder : holds its draft
    first : the sitting whose plan holds for all; without it, one is made here by a pilot

    Raises what `make_plan` raises, and `CannotRunError` if this does not measure the commit.
    """

    def __init__(self, folder: Path, reporter: Reporter, first: "Sitting | None" = None) -> None:
        self.folder = folder
        self.clock = RunClock(folder)
        if first is None:
            plan = make_plan(folder, self.clock, reporter)
            require_imports([*Journal(folder / PILOT)], plan.draft)
            self.plan = replace(plan, counters=[], energy=Choice([], {}), sustained=[])
        else:
            shutil.copyfile(first.folder / PILOT, folder / PILOT)
            draft = Draft.read(folder)
            self.plan = replace(first.plan, draft=draft, plan_seconds=0.0, body_seconds=0.0)
        self.plan.write(folder)
        self._sources = sensors(folder, self.plan.draft)
        self._launches = Launches(self.plan, folder, self.clock, reporter)

    @property
    def has_samples(self) -> bool:
        """Whether any case was measured in any launch."""
        return any(isinstance(record, Measured) for record in self._launches.records)

    def launch(self) -> dict[str, float]:
        """Measure every case once in a fresh process; return the median of each case's samples.

        Raises `CannotRunError` if no case could be measured.
        """
        number = self._launches.done
        with telemetry.Recorder(self._sources, self.folder / READINGS, self.clock.seconds):
            self._launches.add()
        records = self._launches.records
        own = [record for record in records if getattr(record, "launch", None) == number]
        measured = [record for record in own if isinstance(record, Measured)]
        if not measured:
            refused = (record for record in records if isinstance(record, Refused))
            reasons = (f"{short_name(record.case)}: {record.reason}" for record in refused)
            raise CannotRunError(next(reasons, "its launch measured nothing"))
        require_imports(own, self.plan.draft)
        return {record.case: median(record.samples) for record in measured}

    def run(self, *, complete: bool) -> Run:
        """Return what was measured as a run of its own."""
        settings = replace(self.plan.settings, launches=self._launches.done)
        return merge(
            replace(self.plan, settings=settings),
            self._launches.records,
            self.clock.seconds(),
            telemetry.readings(self.folder / READINGS),
            complete=complete,
        )

    def store(self, results: Path, beside: Sequence[str], *, complete: bool) -> Path:
        """Store what was measured, beside the runs of other commits, by name."""
        run = self.run(complete=complete)
        run.frobench.beside = [name for name in beside if name != run.frobench.run]
        return store.write(run, results)

    def failed(self) -> list[Unmatched]:
        """Return the cases that failed in the pilot, so that no commit measured them."""
        headlines = {
            case.fullname: case.headline
            for record in Journal(self.folder / PILOT)
            if isinstance(record, Collected)
            for case in record.cases
        }
        return [
            Unmatched(one.fullname, "new", f"failed there: {one.reason}", headlines[one.fullname])
            for one in self.plan.outcomes
            if one.status == "failed"
        ]


class ForeignCodeError(Exception):
    """What is measured is not the code of the commit, whichever commit it is."""


def require_imports(records: Sequence[Record], draft: Draft) -> None:
    """Raise if a process imported the project's code from elsewhere than the commit.

    Raises `ForeignCodeError` where that was the user's own working tree, or a package that the
    commit has came from elsewhere, and `CannotRunError` where nothing came from the commit.
    """
    name = describe(draft.project) if draft.project else "the commit"
    for record in (record for record in records if isinstance(record, Imported)):
        if record.outside:
            raise ForeignCodeError(
                f"{', '.join(record.outside)} came from the project's own folder, and not from "
                f"{name}; is it installed there in a way that comes before PYTHONPATH, or does "
                "the benchmark add a folder to sys.path?"
            )
        if (found := record.foreign) is not None:
            known = [os.path.relpath(path, draft.project_folder) for path in draft.paths]
            options = " ".join(f"--path {path}" for path in (found.root, *known))
            mend = f"name its folder in the commit: `{options}`"
            if found.root in known:
                mend = "uninstall it there: it comes before PYTHONPATH"
            raise ForeignCodeError(
                f"{found.name} was imported from {found.folder}, and not from {name}; {mend}"
            )
        if not record.inside:
            raise CannotRunError(
                f"nothing was imported from {name}; --path names the folder in it that holds "
                "the modules"
            )


def ratio(before: dict[str, float], after: dict[str, float], case: str) -> float | None:
    """Return how much longer a case took in another launch; ``None`` where one lacks it."""
    old, new = before.get(case), after.get(case)
    return new / old if old and new else None
