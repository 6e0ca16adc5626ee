# SPDX-License-Identifier: MIT
"""The files of the project itself, without what a user's own measurements left beside them."""

import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from tests.instruments.processes.command import ROOT


def planted(root: Path, *parts: Mapping[str, object], without: str = "") -> Path:
    """Write files below a folder that stands for `/`, but not one of them; return the folder."""
    for part in parts:
        for name, content in part.items():
            if name != without:
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(f"{content}\n")
    return root


def tracked() -> set[str] | None:
    """Return the files that git keeps, by their path in the project; nothing outside a clone.

    A clone may belong to another user, as in a container.
    """
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        return None
    done = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-z"],  # noqa: S607 - whichever git is there
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return {name for name in done.stdout.split("\0") if (ROOT / name).is_file()}


@cache
def stored_runs() -> list[Path]:
    """Return the stored runs of the project, the newest last."""
    kept = tracked()
    paths = (ROOT / "results").glob("*/*.json")
    own = [path for path in paths if kept is None or path.relative_to(ROOT).as_posix() in kept]
    return sorted(own, key=lambda path: path.name)


EXAMPLE_RUN = ROOT / "results/intel-xeon-2-cores/20261123T071024Z-22208fc.json"
"""The stored run by which tests say what a run of seven quiet launches looks like."""
