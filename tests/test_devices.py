# SPDX-License-Identifier: MIT
"""The CPU and whatever torch offers, chosen by name and drawn from by seed."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from suite import devices
from suite.devices import Device, UnknownDeviceError, all_devices, choose, global_state, try_device
from suite.errors import DoesNotFitError
from suite.profiles import settings_for
from suite.running.journal import Journal, LaunchSpec, Stopped
from suite.session import LaunchSession
from tests.command import ROOT

cpu_only = pytest.mark.skipif(
    torch.accelerator.is_available(), reason="states what holds without an accelerator"
)


def on_two_accelerators(expression: str, **environment: str) -> str:
    """Evaluate an expression over `suite.devices` on the simulated accelerator."""
    paths = os.pathsep.join([str(ROOT / "tests" / "simulated"), str(ROOT)])
    return subprocess.run(
        [sys.executable, "-c", f"from suite.devices import *; print({expression})"],
        env=os.environ | {"PYTHONPATH": paths} | environment,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()


@cpu_only
def test_without_an_accelerator_everything_falls_back_to_the_cpu() -> None:
    assert try_device(0) == torch.device("cpu")
    assert all_devices() == [torch.device("cpu")]
    assert choose([]) == ["cpu"]


def test_devices_are_chosen_by_name_each_once_in_the_order_given() -> None:
    chosen = on_two_accelerators("choose(['sim:1', 'cpu', 'sim', 'sim:1'])")
    assert chosen == "['sim:1', 'cpu', 'sim:0']"


@pytest.fixture
def capability(monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[int, int]]:
    """Put two GPUs into the machine, and let torch have code for one of them."""
    found = {"cuda:0": (9, 0), "cuda:1": (3, 5)}
    monkeypatch.setattr(devices, "accelerators", lambda: list(found))
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.cuda, "get_arch_list", lambda: ["sm_80", "sm_90"])
    monkeypatch.setattr(torch.cuda, "get_device_capability", found.get)
    return found


def test_a_gpu_that_torch_has_no_code_for_is_chosen_only_by_name(
    capability: dict[str, tuple[int, int]],
) -> None:
    assert choose([]) == ["cpu", "cuda:0"]
    assert choose(["cuda:1"]) == ["cuda:1"]
    capability["cuda:0"] = (3, 5)
    assert choose([]) == ["cpu", "cuda:0", "cuda:1"]


@pytest.mark.parametrize("wanted", [["cuda:1"], []])
def test_a_gpu_that_torch_has_no_code_for_is_refused_before_all_its_cases_fail(
    tmp_path: Path, capability: dict[str, tuple[int, int]], wanted: list[str]
) -> None:
    if not wanted:
        capability["cuda:0"] = (3, 5)
    launch: Any = object.__new__(LaunchSession)
    launch.journal = Journal(tmp_path / "journal")
    launch.spec = LaunchSpec(
        mode="pilot",
        launch=0,
        journal="",
        benchmarks="",
        seed=0,
        settings=settings_for("quick", wanted),
    )
    with pytest.raises(pytest.exit.Exception, match=r"cuda:1 cannot be used: .* for this genera"):
        launch._look_around()
    [stopped] = launch.journal
    assert isinstance(stopped, Stopped)
    assert "--devices cpu" in stopped.message


def test_an_unknown_device_is_refused_with_what_there_is() -> None:
    with pytest.raises(UnknownDeviceError, match=r"no device 'warp:0' here; there is cpu"):
        choose(["cpu", "warp:0"])


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "float64"])
def test_inputs_are_uniform_between_minus_one_and_one(dtype: str) -> None:
    drawn = Device("cpu", seed=1).uniform(200, 300, dtype=dtype)
    assert drawn.dtype == getattr(torch, dtype)
    assert -1 <= drawn.min() < -0.98
    assert 0.98 < drawn.max() <= 1
    assert abs(drawn.double().mean()) < 0.02  # five standard errors
    assert drawn.double().var() == pytest.approx(1 / 3, rel=0.02)


def test_inputs_depend_on_the_seed_and_on_nothing_else() -> None:
    torch.manual_seed(1)
    first = Device("cpu", seed=7)
    a, b = first.uniform(50), first.uniform(50)
    torch.manual_seed(2)
    again = Device("cpu", seed=7)
    assert torch.equal(a, again.uniform(50))
    assert torch.equal(b, again.uniform(50))
    assert not torch.equal(a, b)
    assert not torch.equal(a, Device("cpu", seed=8).uniform(50))


def test_what_does_not_fit_is_refused_before_it_is_tried() -> None:
    device = Device("cpu")
    with pytest.raises(DoesNotFitError, match=r"cpu has .* GiB free"):
        device.require(2 * device.free_bytes())
    with pytest.raises(DoesNotFitError):
        device.uniform(2**20, 2**30)
    device.require(1)


def test_a_changed_setting_shows_in_the_global_state() -> None:
    before = global_state()
    torch.set_grad_enabled(False)
    try:
        assert global_state() != before
    finally:
        torch.set_grad_enabled(True)
    assert global_state() == before
