# SPDX-License-Identifier: MIT
"""Write the example pages in `docs/example`: those of one stored run, without downloads.

`python -m tests.project.example` writes them anew, `python -m tests.project.example FILE` those of
another run.
"""

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.instruments.processes.command import ROOT

FOLDER = ROOT / "docs" / "example"
PICTURED = FOLDER / "pictured.json"
"""The sha256 of each page that a picture in `docs/screenshots` shows."""


def pages(folder: Path) -> dict[str, bytes]:
    """Return the pages below a folder, by their path in it."""
    return {one.relative_to(folder).as_posix(): one.read_bytes() for one in folder.rglob("*.html")}


def run_shown() -> Path:
    """Return the stored run that the example pages show."""
    (name,) = pages(FOLDER).keys() - {"index.html"}
    return (ROOT / "results" / name).with_suffix(".json")


def report(*arguments: object) -> None:
    """Call `frobench report`."""
    command = [sys.executable, "-m", "frobench", "report", *map(str, arguments)]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def build(run: Path, folder: Path) -> dict[str, bytes]:
    """Write the site of a stored run into a folder, and return its pages."""
    report(run.resolve(), "-o", folder)
    return pages(folder)


def keep(site: dict[str, bytes]) -> None:
    """Replace the example pages."""
    for name in pages(FOLDER):
        (FOLDER / name).unlink()
    for name, content in site.items():
        (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
        (FOLDER / name).write_bytes(content)


def digests(site: dict[str, bytes]) -> dict[str, str]:
    """Return the sha256 of the run's page, the only one of which pictures are taken."""
    (name,) = site.keys() - {"index.html"}
    return {name: hashlib.sha256(site[name]).hexdigest()}


def note_pictured() -> None:
    """Note that the pictures show the example pages as they are now."""
    PICTURED.write_text(json.dumps(digests(pages(FOLDER)), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    with TemporaryDirectory() as made:
        keep(build(Path(sys.argv[1]) if sys.argv[1:] else run_shown(), Path(made)))
