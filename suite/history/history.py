# SPDX-License-Identifier: MIT
"""A history, from the user's request to its findings and files: launches of commits in turn."""

import os
import random
import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import NamedTuple

from msgspec.structs import replace

from frobench.suite.compare.matching import CaseComparison, RunComparison, Unmatched
from frobench.suite.compare.runs import compare_runs
from frobench.suite.errors import CannotRunError, NothingMeasuredError
from frobench.suite.history.change_search import BrokenError, Findings, Ratios, search
from frobench.suite.history.commits import Commit, WorkTrees, commits_named, commits_of
from frobench.suite.journal import Collected, Imported, Journal, Measured, Record, Refused
from frobench.suite.plan import Plan
from frobench.suite.project.git import ask, describe, facts, project_folder
from frobench.suite.run import telemetry, unfinished
from frobench.suite.run.launches import Launches
from frobench.suite.run.lock import machine_lock
from frobench.suite.run.merge import merge
from frobench.suite.run.progress import Reporter, reasons
from frobench.suite.run.runner import Interruptions, Request, explored, sensors, settle
from frobench.suite.run.unfinished import PILOT, READINGS, RunClock
from frobench.suite.stored import store
from frobench.suite.stored.machine_identity import short_name
from frobench.suite.stored.types import Run
from frobench.suite.units import counted


class Sitting:
    """A run of one commit.

    folder : holds its plan
    first : the sitting whose cases are measured for all; without it, a pilot finds them here

    Raises what `explored` raises, and `CannotRunError` if this does not measure the commit.
    """

    def __init__(self, folder: Path, reporter: Reporter, first: "Sitting | None" = None) -> None:
        self.folder = folder
        self.clock = RunClock()
        own = Plan.read(folder)
        if first is None:
            plan = explored(own, folder, self.clock, reporter)
            require_imports([*Journal(folder / PILOT)], plan)
            self.plan = replace(plan, energy=[], without_energy={}, sustained=[])
        else:
            shutil.copyfile(first.folder / PILOT, folder / PILOT)
            self.plan = replace(
                first.plan,
                run=own.run,
                commit=own.commit,
                started=own.started,
                project_folder=own.project_folder,
                project=own.project,
                paths=own.paths,
                plan_seconds=0.0,
                body_seconds=0.0,
            )
        self.plan.write(folder)
        self._sources = sensors(folder, self.plan)
        self.launches = Launches(self.plan, folder, self.clock, reporter)

    def launch(self) -> dict[str, float]:
        """Measure every case once in a fresh process; return the median of each case's samples.

        Raises `CannotRunError` if no case could be measured.
        """
        number = self.launches.done
        with telemetry.recording(self._sources, self.folder / READINGS, self.clock.seconds):
            self.launches.add()
        records = self.launches.records
        own = [record for record in records if getattr(record, "launch", None) == number]
        measured = [record for record in own if isinstance(record, Measured)]
        if not measured:
            refused = (record for record in records if isinstance(record, Refused))
            reasons = (f"{short_name(record.case)}: {record.reason}" for record in refused)
            raise CannotRunError(next(reasons, "its launch measured nothing"))
        require_imports(own, self.plan)
        return {record.case: median(record.samples) for record in measured}

    def run(self, *, complete: bool) -> Run:
        """Return what was measured as a run of its own."""
        settings = replace(self.plan.settings, launches=self.launches.done)
        return merge(
            replace(self.plan, settings=settings),
            self.launches.records,
            self.clock.seconds(),
            telemetry.readings(self.folder / READINGS),
            complete=complete,
        )

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


def require_imports(records: Sequence[Record], plan: Plan) -> None:
    """Raise if a process imported the project's code from elsewhere than the commit.

    Raises `ForeignCodeError` where a package that the commit has came from elsewhere, and
    `CannotRunError` where nothing came from the commit.
    """
    name = describe(plan.project) if plan.project else "the commit"
    for record in (record for record in records if isinstance(record, Imported)):
        if (found := record.foreign) is not None:
            known = [os.path.relpath(path, plan.project_folder) for path in plan.paths]
            options = " ".join(f"--path {path}" for path in (found.root, *known))
            mend = f"name its folder in the commit: `{options}`"
            if found.root in known:
                mend = (
                    "uninstall it there, for it comes before PYTHONPATH, and let the benchmarks "
                    "add no folder to sys.path"
                )
            raise ForeignCodeError(
                f"{found.name} was imported from {found.folder}, and not from {name}; {mend}"
            )
        if not record.inside:
            raise CannotRunError(
                f"nothing was imported from {name}; --path names the folder in it that holds "
                "the modules"
            )


class HistoryRequest(Request, frozen=True, kw_only=True):
    """What the user asked for; `paths` are the folders of a commit that hold its modules."""

    range: str = ""  # two revisions, such as v1.0..main
    pair: tuple[str, ...] = ()  # instead of a range, the two commits to compare
    launches: int  # pairs of them, of the ends of the range
    build: str = ""  # a command of the shell that is called in each working tree


class History(NamedTuple):
    """What was found."""

    commits: Sequence[Commit]  # the one before the range, and those of the range
    findings: Findings
    comparison: RunComparison  # of the first and the last commit
    stored: Sequence[Path]  # one file for each commit that was measured


class HistoryInterrupted(Exception):  # noqa: N818 - not an error: the user asked for it
    """The user ended a history; what was measured is stored, in a file for each commit."""

    def __init__(self, stored: Sequence[Path]) -> None:
        self.stored = stored


def history(request: HistoryRequest, reporter: Reporter, interruptions: Interruptions) -> History:
    """Measure commits of a range, and search for those at which cases changed.

    No working tree is left behind, however it ends.

    Raises `CannotRunError`, `NothingSelectedError` and `HistoryInterrupted`.
    """
    project = project_folder(request.project, request.benchmarks)
    if project is None:
        raise CannotRunError(
            f"no project: {request.benchmarks} lies in Frobench's own repository or in none; name "
            "the project's benchmarks with --benchmarks, or its folder with --project"
        )
    if request.pair:
        commits = commits_named(project, request.pair)
    else:
        commits = commits_of(project, request.range)
        reporter.say(f"{counted(len(commits) - 1, 'commit')} after {commits[0].short}")
    ends = (commits[0].id, commits[-1].id)
    if changed := ask(project, "diff", "--name-only", *ends, "--", str(request.benchmarks)):
        reporter.say(
            f"the benchmarks differ between the ends of the range ({', '.join(changed.split())}); "
            "every commit is measured by those of the working tree"
        )
    if facts(project).dirty:
        reporter.say("the project has uncommitted changes, which are not measured")
    unfinished.sweep(request.results)
    waiting = reporter.say if request.wait else None
    trees = WorkTrees(project, request.benchmarks, request.build, request.paths)
    with machine_lock(waiting=waiting), trees, ExitStack() as folders:
        bench = Bench(request, commits, trees, reporter, folders)
        try:
            findings = search(len(commits), bench, request.launches, bench.compare_ends)
        except ForeignCodeError as error:
            raise CannotRunError(str(error)) from error
        except BrokenError as error:
            named, end = commits[error.position].named, "last" if error.position else "first"
            where = "" if request.pair else f", the {end} commit of the range,"
            mend = "" if request.pair else "; choose another --range"
            raise CannotRunError(f"{named}{where} cannot be measured: {error}{mend}") from error
        except KeyboardInterrupt:
            interruptions.hold()
            raise HistoryInterrupted(bench.store(complete=False)) from None
        finally:
            interruptions.hold()
        return History(commits, findings, bench.comparison, bench.store(complete=True))


class Bench:
    """Measures commits of a range in pairs; see `suite.history.change_search.Measure`.

    folders : in the end lets go of the runs' folders, and removes them
    comparison : of the ends, once they are compared
    """

    comparison: RunComparison

    def __init__(
        self,
        request: HistoryRequest,
        commits: Sequence[Commit],
        trees: WorkTrees,
        reporter: Reporter,
        folders: ExitStack,
    ) -> None:
        self._random = random.Random(request.seed)  # noqa: S311 - not for secrets
        seed = self._random.randrange(2**31) if request.seed is None else request.seed
        self._request = replace(request, seed=seed)
        self._commits, self._trees, self._folders = commits, trees, folders
        self._reporter = reporter
        self._sittings: dict[int, Sitting] = {}

    def __call__(self, first: int, second: int, launches: int) -> Ratios:
        """Launch two commits so many times each, in turn and in random order."""
        both = " beside ".join(self._commits[position].short for position in (first, second))
        self._reporter.say(f"{both}: {launches} launches each")
        sittings = {position: self._sitting(position) for position in (first, second)}
        seconds: dict[int, list[dict[str, float]]] = {first: [], second: []}
        for _ in range(launches):
            pair = [first, second]
            self._random.shuffle(pair)
            for position in pair:
                try:
                    seconds[position].append(sittings[position].launch())
                except CannotRunError as error:
                    raise BrokenError(position, _briefly(error)) from error
        ratios: dict[str, list[float | None]] = {}
        for case in [case.fullname for case in sittings[first].plan.cases]:
            taken = zip(seconds[first], seconds[second], strict=True)
            pairs = [(old.get(case), new.get(case)) for old, new in taken]
            ratios[case] = [new / old if old and new else None for old, new in pairs]
        return ratios

    def compare_ends(self, ratios: Ratios) -> dict[str, CaseComparison]:
        """Compare the first and the last commit as any two runs, but by pairs of launches."""
        first, last = self._sittings[0], self._sittings[len(self._commits) - 1]
        base, new = first.run(complete=True), last.run(complete=True)
        self.comparison = compare_runs(base, new, pairs=ratios)
        self.comparison.unmatched.extend(first.failed())
        return {one.fullname: one for one in self.comparison.cases if one.p_value is not None}

    def store(self, *, complete: bool) -> list[Path]:
        """Store a run for each commit that was measured; return the files' paths."""
        measured = [
            sitting
            for _, sitting in sorted(self._sittings.items())
            if any(isinstance(record, Measured) for record in sitting.launches.records)
        ]
        paths = []
        for run in [sitting.run(complete=complete) for sitting in measured]:
            names = [sitting.folder.name for sitting in measured]
            run.frobench.beside = [name for name in names if name != run.frobench.run]
            paths.append(store.write(run, self._request.results))
        return paths

    def _sitting(self, position: int) -> Sitting:
        if position not in self._sittings:
            try:
                self._sittings[position] = self._begin(self._commits[position])
            except (CannotRunError, NothingMeasuredError) as error:
                raise BrokenError(position, _briefly(error)) from error
        return self._sittings[position]

    def _begin(self, commit: Commit) -> Sitting:
        tree = self._trees.at(commit, self._reporter.say)
        request = replace(
            self._request,
            benchmarks=self._trees.benchmarks(),
            project=tree,
            paths=self._trees.sources(tree),
        )
        folder = unfinished.begin(request.results, settle(request))
        first = next(iter(self._sittings.values()), None)
        self._folders.callback(unfinished.remove, folder)
        self._folders.enter_context(unfinished.locked(folder))
        sitting = Sitting(folder, self._reporter, first)
        for line in [] if first else reasons(sitting.plan.outcomes):
            self._reporter.say(line)
        return sitting


def _briefly(error: Exception) -> str:
    return (str(error).strip().splitlines() or ["no reason was given"])[0]
