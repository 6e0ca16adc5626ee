# SPDX-License-Identifier: MIT
"""Where a package is missing one is told which, and `docs/offline.md` names all that one needs."""

from pathlib import Path

import pytest

from tests.instruments.processes.command import ROOT, found_first, frobench

RESULTS = ROOT / "results"
BLOCKER = """
import os, sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in os.environ["ABSENT"].split():
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocker())
"""


@pytest.mark.parametrize(
    ("verb", "module", "package"),
    [
        (("run",), "click", "click"),
        (("validate", RESULTS), "msgspec", "msgspec"),
        (("doctor",), "pynvml", "nvidia-ml-py"),
        (("run", "--devices", "cpu"), "pluggy", "pluggy"),  # seen by a launch alone
        (("report", RESULTS), "pyarrow", "pyarrow"),
    ],
)
def test_what_is_missing_is_named_in_one_line(
    tmp_path: Path, verb: tuple[object, ...], module: str, package: str
) -> None:
    (tmp_path / "sitecustomize.py").write_text(BLOCKER)
    environment = {"ABSENT": module, **found_first(tmp_path)}
    said = frobench(*verb, folder=tmp_path, environment=environment)
    assert "Traceback" not in said.stderr
    line = said.stderr.splitlines()[-1]
    assert line.startswith("frobench: ")
    assert f" has no package {package}; " in line
    assert "docs/offline.md" in line
    assert said.returncode == 3
