# SPDX-License-Identifier: MIT
"""Questions to git: about any folder, and about the project that a run measures."""

import os
import shutil
import subprocess
from pathlib import Path

from frobench.suite import personal_data
from frobench.suite.checkout import CHECKOUT
from frobench.suite.errors import CannotRunError
from frobench.suite.stored.types import CommitInfo, Project

SHOWN = 12
"""Characters of a revision that people are shown."""
_OF_A_HOOK = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")
"""Variables by which git tells its hooks which repository they are about."""


def ask(folder: Path, *arguments: str) -> str | None:
    """Return what git answers about a folder; ``None`` where it is missing or refuses."""
    try:
        return do(folder, *arguments)
    except CannotRunError:
        return None


def do(folder: Path, *arguments: str) -> str:
    """Have git do something in a folder; return what it prints.

    Raises `CannotRunError` with the last line that git prints if it is missing or refuses.
    """
    git = shutil.which("git")
    if git is None:
        raise CannotRunError("git is not installed")
    kept = {name: value for name, value in os.environ.items() if name not in _OF_A_HOOK}
    answer = subprocess.run(  # noqa: S603 - git, and arguments that no shell reads
        [git, "-C", str(folder), *arguments],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        env=kept | {"TZ": "UTC"},
    )
    if answer.returncode:
        *_, reason = answer.stderr.strip().splitlines() or ["git fails without a word"]
        raise CannotRunError(reason)
    return answer.stdout.strip()


def top(folder: Path) -> Path | None:
    """Return the working tree that a folder lies in, if it lies in one."""
    answer = ask(folder, "rev-parse", "--show-toplevel")
    return Path(answer) if answer else None


def head(folder: Path) -> CommitInfo | None:
    """Return the revision that is checked out and when it was made, in UTC, if there is one."""
    answer = ask(folder, "show", "-s", "--date=format-local:%FT%TZ", "--format=%H %cd %ad", "HEAD")
    if not answer:
        return None
    revision, time, author_time = answer.split()
    return CommitInfo(id=revision, time=time, author_time=author_time)


def project_folder(asked: Path | None, benchmarks: Path, checkout: Path = CHECKOUT) -> Path | None:
    """Return the working tree of the folder asked for, or else that of foreign benchmarks.

    Frobench's own benchmarks measure no project. Raises `CannotRunError` if git finds no working
    tree in the folder asked for.
    """
    tree = top(asked or benchmarks)
    if asked is None:
        own = benchmarks.resolve().is_relative_to(checkout) and tree == top(checkout)
        return None if own else tree
    if tree is None:
        raise CannotRunError(
            f"--project {asked}: git finds no working tree there; give a folder of one"
        )
    return tree


def facts(tree: Path) -> Project:
    """Return what is stored of the project whose working tree is `tree`: no path and no remote.

    The name is that of the repository's folder, the same in all of its working trees, without what
    is also the name of this host or its user.
    """
    folder = ask(tree, "rev-parse", "--path-format=absolute", "--git-common-dir")
    common = Path(folder) if folder else tree / ".git"
    name = common.parent.name if common.name == ".git" else common.name.removesuffix(".git")
    commit = head(tree) or CommitInfo()
    changes = ask(tree, "status", "--porcelain", "--untracked-files=no")
    return Project(
        name=personal_data.hide(name, personal_data.own_names()),
        id=commit.id,
        time=commit.time,
        dirty=None if changes is None else changes != "",
    )


def describe(project: Project) -> str:
    """Return a project's name with its commit, for people."""
    changes = ", with uncommitted changes" if project.dirty else ""
    return f"{project.name or 'a project'} at {(project.id or 'no commit')[:SHOWN]}{changes}"
