# SPDX-License-Identifier: MIT
"""Questions to git about a folder."""

import os
import shutil
import subprocess
from pathlib import Path

from suite.model import CommitInfo


def ask(folder: Path, *arguments: str) -> str | None:
    """Return what git answers about a folder; ``None`` where it is missing or refuses."""
    git = shutil.which("git")
    if git is None:
        return None
    answer = subprocess.run(  # noqa: S603 - git, and arguments that no shell reads
        [git, "-C", str(folder), *arguments],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        env=os.environ | {"TZ": "UTC"},
    )
    return answer.stdout.strip() if answer.returncode == 0 else None


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
