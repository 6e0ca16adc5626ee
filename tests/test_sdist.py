# SPDX-License-Identifier: MIT
"""The source archive has every file of the repository, so that its tests can run."""

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.command import ROOT
from tests.project_files import tracked

BUILD = "from setuptools.build_meta import build_sdist; build_sdist('dist')"


def test_the_source_archive_has_every_file(tmp_path: Path) -> None:
    names = tracked()
    if names is None:
        pytest.skip("this is no clone")
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    subprocess.run([sys.executable, "-c", BUILD], cwd=tmp_path, capture_output=True, check=True)
    (path,) = (tmp_path / "dist").glob("*.tar.gz")
    with tarfile.open(path) as archive:
        kept = {member.name.partition("/")[2] for member in archive if member.isfile()}
    assert names - kept == set()
    made = {"PKG-INFO", "setup.cfg"}
    assert {name for name in kept - names if "egg-info/" not in name} == made
