# SPDX-License-Identifier: MIT
"""A git repository to be measured."""

import os
import shutil
import subprocess
from pathlib import Path

AUTHOR = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "A"), ("EMAIL", "a@example.org"), ("DATE", "1767225600 +0100"))
}
"""One moment in 2026, so that revisions are the same in every test."""

NO_CONFIGURATION = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}


def git(folder: Path, *arguments: str) -> str:
    """Have git do something in a folder, whatever the user's own configuration says."""
    answer = subprocess.run(
        [shutil.which("git") or "", "-C", str(folder), *arguments],
        env=os.environ | AUTHOR | NO_CONFIGURATION,
        capture_output=True,
        text=True,
        check=True,
    )
    return answer.stdout.strip()


def repository(folder: Path) -> Path:
    """Make an empty repository."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    return folder


def commit(folder: Path, subject: str, **files: str) -> str:
    """Commit files of Python, by their names without the ending; return the revision."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", subject)
    return git(folder, "rev-parse", "HEAD")
