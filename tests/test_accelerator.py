# SPDX-License-Identifier: MIT
"""What NVIDIA's driver tells of a GPU is stored in SI units, and what it refuses with a reason."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pynvml
import pytest

from suite.machine.accelerator import READINGS, told_by_driver

ROOT = Path(__file__).parent.parent
SIMULATED = ROOT / "tests" / "simulated"
UUID = "8932f937-d72c-4106-c12f-20bd9faed9f6"
ANSWERS: dict[str, Any] = {
    "nvmlSystemGetDriverVersion": "580.95.05",
    "nvmlDeviceGetPowerManagementLimit": 600_000,
    "nvmlDeviceGetPowerManagementDefaultLimit": 700_000,
    "nvmlDeviceGetMaxClockInfo": 1980,
    "nvmlDeviceGetEccMode": [1, 0],
    "nvmlDeviceGetPersistenceMode": 1,
    "nvmlDeviceGetMigMode": [0, 1],
    "nvmlDeviceGetCurrPcieLinkGeneration": 4,
    "nvmlDeviceGetCurrPcieLinkWidth": 8,
    "nvmlDeviceGetMaxPcieLinkGeneration": 5,
    "nvmlDeviceGetMaxPcieLinkWidth": 16,
}


class Refusal(Exception):  # noqa: N818 - NVML says no, which is no error of ours
    """What the library raises."""


class Nvml:
    """A driver's library that gives the answers above, less those it is told to refuse."""

    NVMLError = Refusal
    NVML_CLOCK_SM = 1

    def __init__(self, *refused: str) -> None:
        self._refused = refused

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - stands for a library without types
        if not hasattr(pynvml, name):
            raise AttributeError(name)

        def answer(*arguments: object) -> object:
            if name in self._refused:
                msg = "Not Supported"
                raise Refusal(msg)
            return f"handle of {arguments[0]}" if name.endswith("ByUUID") else ANSWERS.get(name)

        return answer


def test_the_drivers_facts_are_in_watts_and_hertz() -> None:
    told, reasons = told_by_driver(UUID, Nvml())
    assert told == {
        "driver": "580.95.05",
        "power_limit_watts": 600.0,
        "power_limit_default_watts": 700.0,
        "max_clock_hz": 1.98e9,
        "ecc": True,
        "persistence": True,
        "mig": False,
        "pcie_generation": 4,
        "pcie_width": 8,
        "pcie_generation_max": 5,
        "pcie_width_max": 16,
    }
    assert reasons == {}


def test_a_fact_that_is_refused_has_the_drivers_reason_and_takes_no_other_along() -> None:
    told, reasons = told_by_driver(UUID, Nvml("nvmlDeviceGetEccMode"))
    assert reasons == {"ecc": "NVML: Not Supported"}
    assert told.keys() == READINGS.keys() - {"ecc"}


@pytest.mark.parametrize("step", ["nvmlInit", "nvmlDeviceGetHandleByUUID"])
def test_without_a_driver_every_fact_has_a_reason(step: str) -> None:
    told, reasons = told_by_driver(UUID, Nvml(step))
    assert told == {}
    assert reasons == dict.fromkeys(READINGS, "NVML: Not Supported")


def test_the_real_library_answers_in_the_same_way() -> None:
    told, reasons = told_by_driver(UUID)
    assert told.keys() | reasons.keys() == READINGS.keys()


def test_a_backend_that_nobody_knew_is_described_by_what_it_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    code = """
from suite.environment import capture
environment = capture(["cpu", "sim:0", "sim:1"])
last = environment.accelerators[1]
print(environment.machine, last.type, last.index, last.memory_bytes > 0, last.driver)
print(environment.unknown["accelerators.1.driver"])
"""
    monkeypatch.setenv("PYTHONPATH", str(SIMULATED))
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    facts, reason = told.stdout.splitlines()
    assert facts == "2x-simulated-accelerator sim 1 True None"
    assert "sim devices" in reason
