# SPDX-License-Identifier: MIT
"""A backend of another package that torch did not load is named, and not measured as a CPU."""

import json
import os
from pathlib import Path

import pytest

from frobench.suite.doctor import Offer, judge, unusable_accelerators
from frobench.suite.doctor.examined import ExaminedMachine, examine_without_torch
from frobench.suite.machine.host import AUTOLOAD, Backend
from tests.instruments.processes.command import ROOT, frobench
from tests.instruments.processes.project_files import planted
from tests.suite.doctor.test_doctor import CPU_BUILD, NVIDIA_H100, codes

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


def test_a_backend_that_is_switched_off_is_named_unless_torch_offers_a_device(
    tmp_path: Path,
) -> None:
    off = {AUTOLOAD: "0"}
    [trouble] = unusable_accelerators(tmp_path, off, CPU_BUILD)
    assert trouble.code == "backend-switched-off"
    assert trouble.message.startswith("the backend torch_npu of torch-npu 2.9.0 is not loaded")
    assert trouble.advice == f"unset {AUTOLOAD}; or measure without it: --devices cpu"
    assert unusable_accelerators(tmp_path, {}, CPU_BUILD) == []
    assert unusable_accelerators(tmp_path, off, Offer("2.13.0", CPU_BUILD.builds, 1)) == []


def test_the_doctor_does_not_say_besides_that_no_accelerator_is_there(tmp_path: Path) -> None:
    there: ExaminedMachine = examine_without_torch(tmp_path, tmp_path, {})
    assert "no-accelerator" not in codes(judge(there, BROKEN, tmp_path, {}).troubles)


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
