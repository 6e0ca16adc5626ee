# SPDX-License-Identifier: MIT
"""The commit of the project that was measured: which one is stored, and where it is shown."""

import shutil
from pathlib import Path

import pytest
from msgspec import UNSET, UnsetType

from frobench.reports.summary import plain
from frobench.reports.table import facts as page
from frobench.suite import personal_data, redaction
from frobench.suite.compare.runs import compare_runs
from frobench.suite.errors import CannotRunError
from frobench.suite.project.git import describe, facts, project_folder
from frobench.suite.run.runner import Request, require_same_commit, settle
from frobench.suite.stored import store
from frobench.suite.stored.types import Project, Run
from frobench.suite.terminal import comparison
from tests.instruments.processes.git_project import commit, git, repository
from tests.instruments.runs import factory

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project with a commit and a folder of benchmarks."""
    folder = repository(tmp_path / "mylib")
    (folder / "benchmarks").mkdir()
    commit(folder, "Begin", mylib="COST = 1\n", **{"benchmarks/bench_it": "\n"})
    return folder


def test_the_commit_is_stored_and_whether_tracked_files_differ_from_it(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    revision = git(project, "rev-parse", "HEAD")
    stored = facts(project)
    assert (stored.name, stored.id, stored.time) == ("mylib", revision, "2026-01-01T00:00:00Z")
    (project / "results.json").touch()
    assert facts(project).dirty is False
    (project / "mylib.py").write_text("COST = 2\n")
    assert facts(project).dirty is True
    monkeypatch.setenv("PATH", "")
    assert facts(project) == Project(name="mylib")


def test_nothing_of_a_remote_and_no_own_name_is_stored(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(project, "remote", "add", "origin", "https://jane:hunter2@example.org/mylib.git")
    monkeypatch.setattr(personal_data, "own_names", lambda: frozenset({"mylib"}))
    stored = facts(project)
    assert (stored.name, "hunter2" in str(stored)) == (personal_data.HIDDEN, False)


def test_frobenchs_own_benchmarks_measure_no_project(project: Path) -> None:
    installed = project / ".venv" / "site-packages"
    (installed / "benchmarks").mkdir(parents=True)
    assert project_folder(None, installed / "benchmarks", checkout=installed) is None
    assert project_folder(None, project / "benchmarks", checkout=project) is None
    assert project_folder(None, Path(__file__).parents[2] / "instruments" / "truth") is None


def test_a_run_is_not_resumed_with_another_commit(project: Path) -> None:
    request = Request(results=project / "results", benchmarks=project / "benchmarks")
    plan = settle(request)
    require_same_commit(plan)
    began = describe(facts(project))
    commit(project, "Change", mylib="COST = 2\n")
    with pytest.raises(CannotRunError, match=f"began with {began}, and there is mylib at "):
        require_same_commit(plan)


BEFORE = Project(name="mylib", id="1f" * 20, dirty=False)
AFTER = Project(name="mylib", id="2e" * 20, dirty=True)


def measured(project: Project | UnsetType, seed: int = 0) -> Run:
    """Return a run that measured a project's code."""
    run = factory.run(seed=seed)
    run.frobench.project = project
    return run


def test_the_page_shows_the_commit_in_one_row_and_only_where_it_is_stored() -> None:
    for project, row in ((UNSET, None), (AFTER, "mylib at 2e2e2e2e2e2e, with uncommitted changes")):
        assert dict(page.method(measured(project))[0].rows).get("project measured") == row
        assert plain.answers(measured(project)).project == (project or None)


def test_another_commit_is_what_a_comparison_asks_about() -> None:
    found = compare_runs(measured(BEFORE), measured(AFTER, seed=2))
    assert (found.differences, found.counts.get("incomparable")) == ([], None)
    assert comparison.of_runs(found)[0] == (
        "code measured: mylib at 1f1f1f1f1f1f -> mylib at 2e2e2e2e2e2e, with uncommitted changes"
    )
    alike = compare_runs(measured(AFTER), measured(AFTER, seed=2))
    assert comparison.projects(alike)[0].endswith("changes, in both")
    assert comparison.projects(compare_runs(factory.run(), factory.run(seed=2))) == []


def test_sharing_takes_the_name_out_and_keeps_the_commit(tmp_path: Path) -> None:
    clean, removed = redaction.redact(measured(AFTER), [])
    assert clean.frobench.project == Project(id=AFTER.id, dirty=True)
    assert "$.frobench.project.name" in {one.where for one in removed}
    assert store.read(store.write(clean, tmp_path)).frobench.project == clean.frobench.project
