# SPDX-License-Identifier: MIT
"""The benchmarks of `nn.DataParallel` are right, and wrong arithmetic does not pass their checks.

Builds without CUDA lack what `nn.DataParallel` copies with. On the simulated accelerator it runs
with stand-ins for that alone; where there are two accelerators, it runs as it is.
"""

import json
import os
import re
import subprocess
import sys
from typing import Any

import pytest
import torch

from tests.instruments.data_parallel import FAULTS, PARTS
from tests.instruments.processes import warm
from tests.instruments.processes.command import ROOT

pytestmark = pytest.mark.long
MODULE = "tests.instruments.data_parallel"
Seen = dict[str, Any]


@pytest.fixture(scope="module", params=["simulated", pytest.param("real", marks=pytest.mark.gpu)])
def seen(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """Play on four simulated devices, or on those that are there."""
    folder = tmp_path_factory.mktemp("benches")
    if request.param == "simulated":
        path = str(ROOT / "tests" / "instruments" / "simulated")
        variables = os.environ | {"PYTHONPATH": path, "SIM_DEVICES": "4"}
        done = warm.program(MODULE, [folder], ROOT, variables)
        assert done.returncode == 0, done.stderr
        return dict(json.loads(done.stdout))
    if torch.accelerator.device_count() < 2:
        pytest.skip("needs two accelerators")
    played = subprocess.run(
        [sys.executable, "-m", MODULE, folder],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        timeout=240,
        check=True,
    )
    return dict(json.loads(played.stdout))


def test_the_benchmarks_pass_and_say_how_many_devices_were_at_work(seen: Seen) -> None:
    for batch, at_work in ((1, r"1 of \d+"), (64, r"(\d+) of \1")):
        case = seen[f"data_parallel-{batch}"]
        assert case["passed"]
        assert re.search(f"on {at_work} devices", case["compared"])
        assert all(seen[f"{part}-{batch}"]["passed"] for part in PARTS)
    assert seen["data_parallel-5"]["passed"]


@pytest.mark.parametrize("fault", FAULTS)
def test_wrong_arithmetic_does_not_pass_the_check(seen: Seen, fault: str) -> None:
    assert not seen[fault]["passed"]
