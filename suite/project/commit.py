# SPDX-License-Identifier: MIT
"""Which project a run measures, at which of its commits, and both in words."""

from pathlib import Path

from suite.checkout import CHECKOUT
from suite.errors import CannotRunError
from suite.personal import private
from suite.project import git
from suite.stored.run import CommitInfo, Project

SHOWN = 12
"""Characters of a revision that people are shown."""


def project_folder(asked: Path | None, benchmarks: Path, checkout: Path = CHECKOUT) -> Path | None:
    """Return the working tree of the project that a run measures, if there is one.

    Without a folder that was asked for, that is the repository in which the benchmarks lie.
    Frobench's own benchmarks measure no project.

    Raises `CannotRunError` if git finds no working tree in the folder that was asked for.
    """
    if asked is not None:
        tree = git.top(asked)
        if tree is None:
            raise CannotRunError(
                f"--project {asked}: git finds no working tree there; give a folder of one"
            )
        return tree
    tree = git.top(benchmarks)
    own = benchmarks.resolve().is_relative_to(checkout) and tree == git.top(checkout)
    return None if own else tree


def facts(tree: Path) -> Project:
    """Return what is stored of the project whose working tree is `tree`.

    No path and no address of a remote is. The name is that of the repository's folder, without
    the part that is also the name of this host or its user.
    """
    commit = git.head(tree) or CommitInfo()
    changes = git.ask(tree, "status", "--porcelain", "--untracked-files=no")
    return Project(
        name=private.hide(_name(tree), private.own_names()),
        id=commit.id,
        time=commit.time,
        dirty=None if changes is None else changes != "",
    )


def _name(tree: Path) -> str:
    """Return the name of the folder of a repository, the same in all of its working trees."""
    folder = git.ask(tree, "rev-parse", "--path-format=absolute", "--git-common-dir")
    common = Path(folder) if folder else tree / ".git"
    return common.parent.name if common.name == ".git" else common.name.removesuffix(".git")


def describe(project: Project) -> str:
    """Return a project's name with its commit, for people."""
    changes = ", with uncommitted changes" if project.dirty else ""
    return f"{project.name or 'a project'} at {(project.id or 'no commit')[:SHOWN]}{changes}"
