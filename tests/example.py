# SPDX-License-Identifier: MIT
"""Write the example pages in `docs/example`: those of the newest stored run, without downloads."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.command import ROOT

FOLDER = ROOT / "docs" / "example"
PICTURED = FOLDER / "pictured.json"
"""The sha256 of each page that a picture in `docs/screenshots` shows."""


def newest() -> Path:
    """Return the newest of the stored runs."""
    return max((ROOT / "results").glob("*/*.json"), key=lambda path: path.name)


def pages(folder: Path) -> dict[str, bytes]:
    """Return the pages below a folder, by their path in it."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.html")
    }


def build(folder: Path) -> dict[str, bytes]:
    """Write the site of the newest stored run into a folder, and return its pages."""
    command = [sys.executable, "-m", "frobench", "report", str(newest()), "-o", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
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
    return {
        name: hashlib.sha256(content).hexdigest()
        for name, content in site.items()
        if name != "index.html"
    }


def note_pictured() -> None:
    """Note that the pictures show the example pages as they are now."""
    PICTURED.write_text(json.dumps(digests(pages(FOLDER)), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    with TemporaryDirectory() as made:
        keep(build(Path(made)))
