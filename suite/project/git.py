# SPDX-License-Identifier: MIT
"""Questions to git about a folder."""

import os
import shutil
import subprocess
from pathlib import Path

from suite.errors import CannotRunError
from suite.stored.run import CommitInfo

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

    Raises `CannotRunError` with the last line of what git says if it is missing or refuses.
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
