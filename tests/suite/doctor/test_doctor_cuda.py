# SPDX-License-Identifier: MIT
"""What NVML lists and CUDA cannot use is no accelerator, and never measured as a CPU in silence."""

from pathlib import Path

import msgspec
import pytest

from frobench.suite.doctor import Examination
from tests.instruments.devices.planted_cuda import TOO_OLD, plant
from tests.instruments.processes.command import frobench

NO_FABRIC = "Unexpected error from cudaGetDeviceCount(). Error 802: system not yet initialized"


@pytest.mark.parametrize(
    ("driver", "refusal", "code", "message"),
    [
        ("575.57.08", TOO_OLD, "driver-too-old", "driver 575.57.08 is too old"),
        ("580.95.05", NO_FABRIC, "unused-accelerator", "Error 802: system not yet initialized"),
    ],
    ids=["an old driver", "no fabric manager"],
)
def test_a_gpu_that_nvml_lists_and_cuda_refuses_is_never_measured_as_a_cpu(
    tmp_path: Path, driver: str, refusal: str, code: str, message: str
) -> None:
    environment = plant(tmp_path, driver=driver, refusal=refusal)
    seen = frobench("doctor", "--json", folder=tmp_path, environment=environment)
    found = msgspec.json.decode(seen.stdout, type=Examination)
    assert seen.returncode == 3
    assert found.there.torch is not None
    assert (found.there.torch.devices, found.there.torch.refusal) == (0, refusal)
    [error] = [trouble for trouble in found.troubles if trouble.severity == "error"]
    assert error.code == code
    assert message in error.message
