# SPDX-License-Identifier: MIT
"""The doctor knows the machine as NVIDIA's own command does."""

import json
from pathlib import Path

from tests.gpu import smi
from tests.instruments.processes.command import frobench


def test_the_doctor_names_every_gpu_its_driver_and_its_memory(tmp_path: Path) -> None:
    made = frobench("doctor", "--json", folder=tmp_path)
    assert made.returncode == 0, made.stdout + made.stderr
    found = [
        [one["name"], one["driver"], str(round(one["memory_bytes"] / 2**20))]
        for one in json.loads(made.stdout)["there"]["accelerators"]
        if one["vendor"] == "NVIDIA"
    ]
    assert found == smi.ask("name", "driver_version", "memory.total")
