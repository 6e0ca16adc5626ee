# SPDX-License-Identifier: MIT
"""The commits of a range, and their working trees, which lie in a folder that is removed."""

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

from msgspec import Struct

from frobench.suite.errors import CannotRunError
from frobench.suite.project import git

SHORT = 9
"""Characters of a revision that people are shown and can type."""


class Commit(Struct, frozen=True):
    """A commit."""

    id: str
    subject: str
    parents: int  # how many; a merge has several

    @property
    def short(self) -> str:
        """The beginning of its revision."""
        return self.id[:SHORT]

    @property
    def named(self) -> str:
        """Its revision and its subject."""
        return f'{self.short} "{self.subject}"'


def commits_of(tree: Path, text: str) -> list[Commit]:
    """Return the commit that a range such as ``v1.0..main`` begins after, then its commits.

    The oldest comes first. Only first parents are followed, so that what a merge brings counts as
    one change.

    Raises `CannotRunError` if git does not know the range, or nothing is in it.
    """
    listed = _listed(tree, f"--range {text}", "--first-parent", "--reverse", text)
    if not listed:
        raise CannotRunError(f"--range {text}: no commit is in it; are its ends exchanged?")
    first = listed[0]
    if first.parents == 0:
        raise CannotRunError(f"--range {text}: no commit comes before {first.short}{_hint(tree)}")
    return [*commits_named(tree, [f"{first.id}^"]), *listed]


def commits_named(tree: Path, revisions: Sequence[str]) -> list[Commit]:
    """Return the commits of some revisions; raise `CannotRunError` if git does not know one."""
    return [_listed(tree, name, "--max-count=1", name)[0] for name in revisions]


class WorkTrees:
    """The commits of a project as folders, each made and built when it is first asked for.

    benchmarks : are copied, so that those of all commits are the same, and none is imported from
        beside the code of another commit
    build : a command of the shell that is called once in each working tree
    paths : folders in a working tree that modules are imported from
    """

    def __init__(
        self, project: Path, benchmarks: Path, build: str, paths: Sequence[str] = ()
    ) -> None:
        if project.resolve().is_relative_to(benchmarks.resolve()):
            raise CannotRunError(
                f"{benchmarks} holds the code that it measures; put the benchmarks into a folder "
                "of their own"
            )
        self._project, self._benchmarks, self._build = project, benchmarks.resolve(), build
        self._sources = tuple(paths) or ("src", ".")
        self._made: set[str] = set()
        self._folder = Path()

    def __enter__(self) -> Self:
        self._folder = Path(tempfile.mkdtemp(prefix="frobench-history-")).resolve()
        return self

    def __exit__(self, *_: object) -> None:
        """Remove every working tree, also one that git was still making."""
        listed = git.ask(self._project, "worktree", "list", "--porcelain") or ""
        for line in listed.splitlines():
            path = line.removeprefix("worktree ")
            if path != line and Path(path).is_relative_to(self._folder):
                git.ask(self._project, "worktree", "remove", "--force", "--force", path)
        shutil.rmtree(self._folder, ignore_errors=True)

    def benchmarks(self) -> Path:
        """Return the copy of the benchmarks, in a folder of the same name.

        A `conftest.py` beside the folder comes with it, since pytest reads it too.
        """
        copy = self._folder / "copy" / self._benchmarks.name
        beside = self._benchmarks.parent / "conftest.py"
        if not copy.exists():
            left_out = shutil.ignore_patterns("__pycache__", ".git")
            shutil.copytree(self._benchmarks, copy, ignore=left_out, ignore_dangling_symlinks=True)
            if beside.is_file():
                shutil.copy(beside, copy.parent)
        return copy

    def at(self, commit: Commit, say: Callable[[str], None]) -> Path:
        """Return the tree of a commit; raise `CannotRunError` if git refuses or the build fails."""
        tree = self._folder / commit.short / self._project.name
        if commit.id not in self._made:
            arguments = ("worktree", "add", "--quiet", "--detach", str(tree), commit.id)
            git.do(self._project, "-c", "core.hooksPath=/dev/null", *arguments)
            if self._build:
                say(f"building {commit.short}")
                self._run_build(tree)
            self._made.add(commit.id)
        return tree

    def sources(self, tree: Path) -> list[str]:
        """Return the folders of a working tree that modules are imported from."""
        return [str(tree / name) for name in self._sources if (tree / name).is_dir()]

    def _run_build(self, tree: Path) -> None:
        built = subprocess.run(  # noqa: S602 - the user's own command
            self._build,
            shell=True,
            cwd=tree,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        if built.returncode:
            *_, reason = built.stdout.strip().splitlines() or ["it printed nothing"]
            raise CannotRunError(f"--build ended with {built.returncode}: {reason}")


def _listed(tree: Path, text: str, *arguments: str) -> list[Commit]:
    try:
        lines = git.do(tree, "log", "--format=%H%x1f%P%x1f%s", *arguments, "--").splitlines()
    except CannotRunError as error:
        raise CannotRunError(f"{text}: git says: {error}{_hint(tree)}") from error
    fields = (line.split("\x1f", 2) for line in lines)
    return [Commit(id, subject, len(parents.split())) for id, parents, subject in fields]  # noqa: A001


def _hint(tree: Path) -> str:
    if git.ask(tree, "rev-parse", "--is-shallow-repository") != "true":
        return ""
    return "; this clone is shallow: `git fetch --unshallow` fetches the other commits"
