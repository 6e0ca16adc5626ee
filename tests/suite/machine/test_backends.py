# SPDX-License-Identifier: MIT
"""A backend of another package that torch did not load is named, and not measured as a CPU."""

import json
import os
from pathlib import Path

import pytest

from frobench.suite.doctor import Offer, unusable_accelerators
from frobench.suite.machine.host import AUTOLOAD, Backend
from tests.instruments.processes.command import ROOT, frobench
from tests.instruments.processes.project_files import planted
from tests.suite.doctor.test_doctor import NVIDIA_H100

SAID = "Failed to load the backend extension: torch_npu. (OSError: libascendcl.so is missing)"
BROKEN = Offer(None, {"error": SAID}, 0)


@pytest.fixture(autouse=True)
def npu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a package bring a backend."""
    found = [Backend("torch_npu", "torch-npu", "2.9.0")]
    for module in ("machine.host", "doctor", "terminal.doctor_page"):
        monkeypatch.setattr(f"frobench.suite.{module}.installed", lambda: found)


@pytest.mark.parametrize("files", [{}, NVIDIA_H100], ids=["alone", "beside a GPU"])
def test_a_backend_that_fails_is_named_as_torch_names_it(
    tmp_path: Path, files: dict[str, str]
) -> None:
    [trouble] = unusable_accelerators(planted(tmp_path, files), {}, BROKEN)
    assert (trouble.code, trouble.severity) == ("torch-missing", "error")
    assert "Failed to load the backend extension: torch_npu." in trouble.message


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({"SIM_SPEC": '{"colour": 1}'}, "Failed to load the backend extension: simulated. You can"),
        (
            {AUTOLOAD: "0"},
            f"{AUTOLOAD}='0' switches it off\n  advice: unset {AUTOLOAD}; or measure without it",
        ),
    ],
    ids=["fails", "switched off"],
)
def test_a_run_refuses_to_measure_a_cpu_instead(
    tmp_path: Path, variables: dict[str, str], named: str
) -> None:
    path = os.pathsep.join([str(ROOT), str(ROOT / "tests" / "instruments" / "simulated")])
    environment = {"PYTHONPATH": path} | variables
    said = frobench("run", "-k", "bench_square", folder=tmp_path, environment=environment)
    assert said.returncode == 3
    assert named in said.stderr


def test_the_doctor_lists_the_devices_of_a_backend(tmp_path: Path) -> None:
    path = os.pathsep.join([str(ROOT), str(ROOT / "tests" / "instruments" / "simulated")])
    said = frobench("doctor", "--json", folder=tmp_path, environment={"PYTHONPATH": path})
    offer = json.loads(said.stdout)["there"]["torch"]
    assert offer["names"] == [
        ["sim:0", "Simulated accelerator"],
        ["sim:1", "Simulated accelerator"],
    ]
