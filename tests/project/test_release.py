# SPDX-License-Identifier: MIT
"""What a package index shows of a release: links that lead somewhere, made from one address."""

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import noxfile
from tests.instruments.processes.command import ROOT

SOURCE = "from setuptools import build_meta; build_meta.prepare_metadata_for_build_wheel('made')"
ADDRESS = "https://example.org/frobench"


def metadata(folder: Path, address: str) -> str:
    """Return the metadata of a wheel whose project has an address."""
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    text = (ROOT / "setup.py").read_text("utf-8")
    assert text.count('REPOSITORY = ""') == 1
    (folder / "setup.py").write_text(text.replace('REPOSITORY = ""', f'REPOSITORY = "{address}"'))
    (folder / "made").mkdir()
    subprocess.run([sys.executable, "-c", SOURCE], cwd=folder, check=True, capture_output=True)
    (made,) = (folder / "made").glob("*.dist-info/METADATA")
    return made.read_text("utf-8")


def test_every_link_of_a_release_is_whole(tmp_path: Path) -> None:
    made = metadata(tmp_path, ADDRESS)
    links = re.findall(r"\]\(([^)]+)\)", made)
    assert len(links) > 20
    assert all(link.startswith(("https://", "#")) for link in links)
    assert f"{ADDRESS}/blob/main/docs/methodology.md" in links
    assert f"{ADDRESS}/raw/main/docs/screenshots/run-light.png" in links
    assert f"Project-URL: Source, {ADDRESS}\n" in made


@pytest.mark.parametrize("address", ["", ADDRESS])
def test_a_release_without_an_address_is_refused(tmp_path: Path, address: str) -> None:
    made = metadata(tmp_path, address)
    wheel = tmp_path / "frobench.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("frobench.dist-info/METADATA", made)
    assert noxfile.has_address(wheel) == bool(address)
