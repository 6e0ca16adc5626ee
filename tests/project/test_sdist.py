# SPDX-License-Identifier: MIT
"""The source archive has every file of the repository, so that its tests can run."""

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

import noxfile
from tests.instruments.processes.command import ROOT
from tests.instruments.processes.project_files import tracked

BUILD = "from setuptools.build_meta import build_sdist; build_sdist('dist')"


def test_the_source_archive_has_every_file(tmp_path: Path) -> None:
    names = tracked()
    if names is None:
        pytest.skip("this is no clone")
    noxfile.copy_tracked(ROOT, tmp_path)
    subprocess.run([sys.executable, "-c", BUILD], cwd=tmp_path, capture_output=True, check=True)
    (path,) = (tmp_path / "dist").glob("*.tar.gz")
    with tarfile.open(path) as archive:
        kept = {member.name.partition("/")[2] for member in archive if member.isfile()}
    assert names - kept == set()
    linked = {f"frobench/{name}" for name in names}  # an archive has files where a clone has links
    made = {"PKG-INFO", "setup.cfg"}
    assert {name for name in kept - names - linked if "egg-info/" not in name} == made
