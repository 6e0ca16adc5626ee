# SPDX-License-Identifier: MIT
"""PyTorch's data parallelism does what its documentation says, and the benchmarks rely on.

Builds without CUDA lack what `nn.DataParallel` copies with. On the simulated accelerator it runs
with stand-ins for that alone; where there are two accelerators, it runs as it is.
"""

import json
import os
import subprocess
import sys
from typing import Any

import pytest
import torch

from tests.instruments.data_parallel.benches import FAULTS, PARTS
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


def test_a_batch_is_shared_and_a_small_one_uses_fewer_replicas(seen: Seen) -> None:
    count = seen["batches"]["count"]
    for batch, (rows, devices, error) in seen["batches"]["seen"].items():
        share = -(-int(batch) // count)
        full, rest = divmod(int(batch), share)
        assert rows == sorted([share] * full + [rest] * (rest > 0)), batch
        assert devices == len(rows)
        assert error < 1e-5
    assert seen["batches"]["seen"]["1"][1] == 1


def test_updates_in_a_forward_pass_are_lost_but_in_buffers_of_the_first_device(seen: Seen) -> None:
    count = seen["batches"]["count"]
    assert seen["updates"]["calls"] == 3 * min(4, count)
    assert seen["updates"]["attribute"] == 0
    assert seen["updates"]["buffer"] == 3  # of the three calls on the first device


def test_hooks_run_once_on_each_device_before_and_after_its_pass(seen: Seen) -> None:
    ran, count = seen["hooks"]["ran"], seen["batches"]["count"]
    devices = {line.partition(" ")[2] for line in ran}
    assert len(devices) == count
    assert len(ran) == 2 * count
    for device in devices:
        assert ran.index(f"before {device}") < ran.index(f"after {device}")


def test_a_scalar_becomes_a_vector_of_one_for_each_device(seen: Seen) -> None:
    count = seen["batches"]["count"]
    assert seen["scalars"]["shape"] == [count]
    assert sum(seen["scalars"]["means"]) / count == pytest.approx(11.5)  # of 0 to 23
    assert seen["scalars"]["warned"]


def test_a_wrapper_hides_the_module_s_attributes_unless_it_forwards_them(seen: Seen) -> None:
    assert not seen["attributes"]["plain"]
    assert seen["attributes"]["forwarding"]
    assert not seen["attributes"]["absent"]
    assert seen["attributes"]["trained"]


def test_replicas_have_no_parameters_of_their_own_and_their_gradients_add_up(seen: Seen) -> None:
    count = seen["batches"]["count"]
    assert seen["copies"]["parameters"] == [0] * count
    assert seen["copies"]["gradient"] == [count] * 6


def test_a_mask_set_after_the_devices_were_used_does_nothing(seen: Seen) -> None:
    assert seen["mask"]["after"] == seen["mask"]["before"] == seen["batches"]["count"]
    assert seen["mask"]["last"] == [2.0, 2.0]


def test_the_benchmarks_pass_and_say_how_many_devices_were_at_work(seen: Seen) -> None:
    count, benches = seen["batches"]["count"], seen["benches"]
    for batch, at_work in ((1, 1), (64, min(64, count))):
        case = benches[f"data_parallel-{batch}"]
        assert case["passed"]
        assert f"on {at_work} of {count} devices" in case["compared"]
        assert all(benches[f"{part}-{batch}"]["passed"] for part in PARTS)
    assert benches["data_parallel-5"]["passed"]


@pytest.mark.parametrize("fault", FAULTS)
def test_wrong_arithmetic_does_not_pass_the_check(seen: Seen, fault: str) -> None:
    assert not seen["benches"][fault]["passed"]
