# SPDX-License-Identifier: MIT
"""What runs on a host that others can send changes to is given little, and trusts no text."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.instruments.processes.command import ROOT
from tests.instruments.processes.git_project import commit, git, repository
from tests.instruments.processes.project_files import planted

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FROM_EVENTS = r"\$\{\{.*?(github\.(event|head_ref)|steps\.|inputs\.).*?\}\}"
"""Expressions whose text somebody else may have chosen."""

PINNED = r"(actions/[a-z-]+|pypa/gh-action-pypi-publish)@[0-9a-f]{40} # v\d+\.\d+\.\d+"
"""An action by its commit, which nobody can move, and the version for people."""


def commands(text: str) -> list[str]:
    """Return what a workflow's steps run, each with the lines that belong to it."""
    return re.findall(r"^ *(?:- )?run: (.*(?:\n {10,}.*)*)", text, re.MULTILINE)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_may_read_what_is_there_and_names_its_tools_by_commit(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert "\npermissions:\n  contents: read\n\n" in text
    used = re.findall(r"uses: (.*)", text)
    assert used
    assert all(re.fullmatch(PINNED, one) for one in used)
    assert text.count("actions/checkout@") == text.count("persist-credentials: false")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_no_text_from_outside_becomes_a_command(path: Path) -> None:
    found = commands(path.read_text(encoding="utf-8"))
    assert found
    assert not any(re.search(FROM_EVENTS, command) for command in found)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_the_tests_that_a_workflow_names_exist(path: Path) -> None:
    named = re.findall(r"\btests/[\w/.]+", path.read_text(encoding="utf-8"))
    assert all((ROOT / one).exists() for one in named)


def test_only_what_publishes_may_write() -> None:
    writing = {
        (path.stem, right)
        for path in WORKFLOWS
        for right in re.findall(r"^ +([a-z-]+): write", path.read_text("utf-8"), re.MULTILINE)
    }
    assert writing == {("report", "pages"), ("report", "id-token"), ("release", "id-token")}


def test_results_of_a_change_are_judged_by_the_sources_of_its_base(tmp_path: Path) -> None:
    """A change may bring a validator of its own; the workflow's own steps are run on a clone."""
    tree = repository(tmp_path / "tree")
    commit(planted(tree, {"validator": "strict", "results/old.json": "{}"}), "base")
    git(tree, "checkout", "--quiet", "-b", "change")
    commit(planted(tree, {"validator": "blind", "results/new.json": "{}"}), "change")
    git(tree, "checkout", "--quiet", "main")
    git(tree, "merge", "--quiet", "--no-ff", "-m", "merge", "change")
    text = (ROOT / ".github" / "workflows" / "results.yml").read_text(encoding="utf-8")
    taking = [one for one in commands(text) if "git checkout" in one]
    assert len(taking) == 2 == len([one for one in commands(text) if "nox -s" in one])
    for job in taking:
        script = job.removeprefix("|")
        subprocess.run(["bash", "-euc", script], cwd=tree, check=True)  # noqa: S607 - any bash
        assert (tree / "validator").read_text() == "strict\n"
        added = ("--diff-filter=A", "HEAD", "--", "results/*.json")
        assert git(tree, "diff", "--cached", "--name-only", *added) == "results/new.json"
        git(tree, "checkout", "--quiet", "--force", "main")
