# SPDX-License-Identifier: MIT
"""The same stored runs give the same site on every Python: `nox -s pythons`.

Each Python writes the site of the stored runs and of made-up machines with accelerators, and holds
it against those that others wrote beside it.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from frobench.reports.site.build import KEPT
from tests.instruments.processes.command import ROOT
from tests.instruments.runs import many_machines

MACHINES = 6


def main(folder: Path) -> int:
    """Write the site of this Python below a folder, and return 1 if it differs from another's."""
    made = folder / "runs"
    if not made.exists():
        many_machines.write(MACHINES, made)
    mine = folder / f"python{sys.version_info.major}.{sys.version_info.minor}"
    shutil.rmtree(mine, ignore_errors=True)
    runs = [*sorted((ROOT / "results").glob("*/*.json")), *sorted(made.glob("*/*.json"))]
    command = [sys.executable, "-m", "frobench", "report", *map(str, runs), "-o", str(mine)]
    subprocess.run(command, cwd=ROOT, check=True)
    shutil.rmtree(mine / KEPT)
    return 1 if differs(mine, folder) else 0


def differs(mine: Path, folder: Path) -> bool:
    """Say in what a site differs from those of other Pythons in a folder, and whether in any."""
    files = read(mine)
    found = False
    for other in sorted({*folder.glob("python*")} - {mine}):
        theirs = read(other)
        names = [name for name in sorted({*files, *theirs}) if files.get(name) != theirs.get(name)]
        found |= bool(names)
        told = ", ".join(names) if names else f"all {len(files)} files are the same"
        print(f"{mine.name} and {other.name}: {told}")  # noqa: T201 - a command's output
    return found


def read(folder: Path) -> dict[str, bytes]:
    """Return the content of all files below a folder by their names."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
