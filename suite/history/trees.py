# SPDX-License-Identifier: MIT
"""Working trees of commits, in a folder that is removed at the end."""

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

from suite.errors import CannotRunError
from suite.history.commits import Commit
from suite.project import git

SOURCES = ("src", ".")
"""Folders of a project that modules are looked for in, unless others are named."""
IGNORED = shutil.ignore_patterns("__pycache__", ".git")


class WorkTrees:
    """The commits of a project as folders, each made and built when it is first asked for.

    project : the user's own working tree, which stays as it is
    benchmarks : are copied, so that those of all commits are the same, and none is imported from
        beside the code of another commit
    build : a command of the shell that is called once in each working tree
    """

    def __init__(
        self, project: Path, benchmarks: Path, build: str, paths: Sequence[str] = ()
    ) -> None:
        if project.resolve().is_relative_to(benchmarks.resolve()):
            raise CannotRunError(
                f"{benchmarks} holds the code that it measures; put the benchmarks into a folder "
                "of their own"
            )
        self._project = project
        self._benchmarks = benchmarks
        self._build = build
        self._sources = tuple(paths) or SOURCES
        self._made: dict[str, Path] = {}
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
        copy = self._folder / "copy" / self._benchmarks.resolve().name
        beside = self._benchmarks.resolve().parent / "conftest.py"
        if not copy.exists():
            shutil.copytree(self._benchmarks, copy, ignore=IGNORED, ignore_dangling_symlinks=True)
            if beside.is_file():
                shutil.copy(beside, copy.parent)
        return copy

    def at(self, commit: Commit, say: Callable[[str], None]) -> Path:
        """Return the working tree of a commit.

        Raises `CannotRunError` if git refuses, or if it cannot be built.
        """
        tree = self._folder / commit.short / self._project.name
        if commit.id not in self._made:
            arguments = ("worktree", "add", "--quiet", "--detach", str(tree), commit.id)
            git.do(self._project, "-c", "core.hooksPath=/dev/null", *arguments)
            if self._build:
                say(f"building {commit.short}")
                self._run_build(tree)
            self._made[commit.id] = tree
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
