# SPDX-License-Identifier: MIT
"""A history from the user's request to its findings and the stored files."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from suite.errors import CannotRunError
from suite.history.change_search import Findings, search
from suite.history.commits import Commit, commits_of
from suite.history.measuring import Bench, HistoryRequest
from suite.history.sitting import ForeignCodeError
from suite.history.trees import WorkTrees
from suite.project.git import facts, project_folder
from suite.run import unfinished
from suite.run.interruptions import Interruptions
from suite.run.lock import machine_lock
from suite.run.progress import Reporter
from suite.units import counted


class History(NamedTuple):
    """What was found.

    commits : the one before the range, and those of the range
    stored : files, one for each commit that was measured
    """

    commits: Sequence[Commit]
    findings: Findings
    stored: Sequence[Path]


class HistoryInterrupted(Exception):  # noqa: N818 - not an error: the user asked for it
    """The user ended a history; what was measured is stored.

    stored : files, one for each commit
    """

    def __init__(self, stored: Sequence[Path]) -> None:
        super().__init__()
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
    commits = commits_of(project, request.range)
    reporter.say(f"{counted(len(commits) - 1, 'commit')} after {commits[0].short}")
    if facts(project).dirty:
        reporter.say("the project has uncommitted changes, which are not measured")
    unfinished.sweep(request.results)
    waiting = reporter.say if request.wait else None
    trees = WorkTrees(project, request.benchmarks, request.build, request.paths)
    with machine_lock(waiting=waiting), trees:
        bench = Bench(request, project, commits, trees, reporter)
        with bench:
            try:
                findings = search(len(commits), bench, request.launches)
            except ForeignCodeError as error:
                raise CannotRunError(str(error)) from error
            except KeyboardInterrupt:
                interruptions.hold()
                raise HistoryInterrupted(bench.store(complete=False)) from None
            finally:
                interruptions.hold()
            return History(commits, findings, bench.store(complete=True))
