# SPDX-License-Identifier: MIT
"""The CPU and whatever torch offers, chosen by name, drawn from by seed and waited for."""

import os
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest
import torch

from frobench.suite.errors import DoesNotFitError
from frobench.suite.journal import Journal, Stopped
from frobench.suite.kit import device as devices
from frobench.suite.kit.device import READ_BACK, RESULTS, Device, UnknownDeviceError, choose
from frobench.suite.launch.session import Session
from frobench.suite.profiles import settings_for
from tests.instruments.sessions import launch_spec


@pytest.mark.skipif(torch.accelerator.is_available(), reason="holds without an accelerator")
def test_without_an_accelerator_everything_falls_back_to_the_cpu() -> None:
    assert devices.try_device(0) == torch.device("cpu")
    assert devices.all_devices() == [torch.device("cpu")]
    assert choose([]) == ["cpu"]


Capability = dict[str, tuple[int, int]]


@pytest.fixture
def capability(monkeypatch: pytest.MonkeyPatch) -> Capability:
    """Put two GPUs into the machine, and let torch have code for one of them."""
    found = {"cuda:0": (9, 0), "cuda:1": (3, 5)}
    monkeypatch.setattr(devices, "accelerators", lambda: list(found))
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.cuda, "get_arch_list", lambda: ["sm_80", "sm_90"])
    monkeypatch.setattr(torch.cuda, "get_device_capability", found.get)
    monkeypatch.setattr(devices, "_multiply", lambda _: None)
    return found


def test_a_gpu_that_torch_has_no_code_for_is_chosen_only_by_name(capability: Capability) -> None:
    assert choose([]) == ["cpu", "cuda:0"]
    assert choose(["cuda:1", "cuda", "cpu", "cuda:0"]) == ["cuda:1", "cuda:0", "cpu"]
    tried = [str(devices.try_device(number)) for number in (-1, 0, 1, 2)]
    assert tried == ["cpu", "cuda:0", "cuda:1", "cpu"]
    assert devices.all_devices() == [torch.device(name) for name in capability]
    capability["cuda:0"] = (3, 5)
    assert choose([]) == ["cpu", "cuda:0", "cuda:1"]


@pytest.mark.parametrize(
    ("error", "served"),
    [
        (RuntimeError("CUDA-capable device(s) is/are busy\nMore"), False),
        (torch.OutOfMemoryError("no room"), True),
        (NotImplementedError("no products"), True),
    ],
)
def test_a_gpu_on_which_a_tiny_product_fails_is_chosen_only_by_name(
    capability: Capability, monkeypatch: pytest.MonkeyPatch, error: Exception, *, served: bool
) -> None:
    def multiply(device: Device) -> None:
        if device.name == "cuda:1":
            raise error

    capability["cuda:1"] = (9, 0)
    monkeypatch.setattr(devices, "_multiply", multiply)
    assert choose([]) == ["cpu", "cuda:0", *["cuda:1"] * served]
    busy = {} if served else {"cuda:1": "CUDA-capable device(s) is/are busy"}
    assert devices.unserved(["cpu", "cuda:0", "cuda:1"]) == busy
    assert choose(["cuda:1"]) == ["cuda:1"]


def test_a_gpu_that_only_nvml_counts_is_not_named(monkeypatch: pytest.MonkeyPatch) -> None:
    properties = MagicMock(side_effect=[object(), AssertionError("Invalid device id")])
    cuda = MagicMock(return_value=torch.device("cuda"))
    monkeypatch.setattr(torch.accelerator, "current_accelerator", cuda)
    monkeypatch.setattr(torch.accelerator, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_properties", properties)
    assert devices.accelerators() == ["cuda:0"]


@pytest.mark.parametrize("wanted", [["cuda:1"], []])
def test_a_gpu_that_torch_has_no_code_for_is_refused_before_all_its_cases_fail(
    tmp_path: Path, capability: Capability, wanted: list[str]
) -> None:
    if not wanted:
        capability["cuda:0"] = (3, 5)
    journal = Journal(tmp_path / "journal")
    settings = settings_for("quick", wanted)
    spec = launch_spec("pilot", journal=str(journal.path), settings=settings, runner=os.getppid())
    with pytest.raises(pytest.exit.Exception, match=r"cuda:1 cannot be used: .* for this genera"):
        Session(spec).settle()
    [stopped] = journal
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


def test_inputs_depend_on_the_seed_and_on_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn(seed: int) -> list[list[float]]:
        device = Device("cpu", seed)
        return [device.uniform(50).tolist() for _ in "ab"]

    monkeypatch.setattr(devices, "PIECE", 20)  # as of a large tensor
    torch.manual_seed(1)
    a, b = drawn(7)
    torch.manual_seed(2)
    assert drawn(7) == [a, b]
    assert (a in (b, drawn(8)[0]), len({*a})) == (False, 50)


@pytest.mark.parametrize(("dtype", "bytes_each"), [("float32", 4), ("float64", 12), ("int8", 5)])
def test_what_does_not_fit_is_refused_before_it_is_tried(
    monkeypatch: pytest.MonkeyPatch, dtype: str, bytes_each: int
) -> None:
    monkeypatch.setattr(Device, "free_bytes", lambda _: 10 * 2**30)
    device = Device("cpu")
    device.require(9 * 2**30)
    with pytest.raises(DoesNotFitError, match=r"^needs 9.0 GiB; cpu has 10.0 GiB free$"):
        device.require(9 * 2**30 + 1)
    with pytest.raises(DoesNotFitError, match=f"needs {bytes_each * 1024}.0 GiB"):
        device.uniform(2**20, 2**20, dtype=dtype)


def test_events_count_if_time_passes_and_all_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    event = MagicMock(**{"elapsed_time.side_effect": [0.0, -0.1, 0.1]})
    monkeypatch.setattr(Device, "event", lambda _: event)
    monkeypatch.setattr(Device, "record", nullcontext)
    monkeypatch.setattr(Device, "synchronize", nullcontext)
    found = []
    for wait in (READ_BACK, READ_BACK, RESULTS):
        monkeypatch.setattr(Device, "wait", wait)
        found.append(Device("cuda:0").has_events)
    assert found == [True, False, False]


def test_a_changed_setting_shows_in_the_global_state() -> None:
    before = devices.global_state()
    with torch.no_grad():
        assert devices.global_state() == before | {"gradients": False}
    assert devices.global_state() == before


READY, UNFINISHED = 1e-4, 1e-2
"""Seconds of reading a ready value, and of the known work; by call, those of a read after it."""


OWN = "torch.cpu.synchronize"


LACKING = MagicMock(side_effect=NotImplementedError("no such call"))


@pytest.mark.parametrize(
    ("left", "name"),
    [
        ((lambda _: READY, READY, READY), "torch.accelerator.synchronize"),
        ((LACKING, READY, READY), OWN),
        ((lambda _: UNFINISHED, 1.5 * READY, READY), OWN),
        ((LACKING, 0.6 * UNFINISHED, READY), READ_BACK),
        ((lambda _: UNFINISHED, UNFINISHED, UNFINISHED), RESULTS),
    ],
)
@pytest.mark.parametrize("takes_device", [True, False])
def test_the_first_call_after_which_nothing_is_left_is_used(
    monkeypatch: pytest.MonkeyPatch, left: tuple[Any, ...], name: str, *, takes_device: bool
) -> None:
    general, own, read_back = left
    module = SimpleNamespace(synchronize=(lambda _: own) if takes_device else lambda: own)
    marker = MagicMock(**{"to.return_value.item.return_value": read_back})
    known = devices.KnownWork(torch.empty, READY, UNFINISHED)
    monkeypatch.setattr(torch.accelerator, "synchronize", general)
    monkeypatch.setattr(torch, "get_device_module", lambda _: module)
    monkeypatch.setattr(torch, "zeros", lambda _: marker)
    monkeypatch.setattr(devices, "_known_work", lambda _: known)
    monkeypatch.setattr(devices, "_left", lambda _, wait: wait())
    assert devices.proved.__wrapped__(torch.device("cpu")).name == name


WORKS = [(256, 1), (256, 16), (1024, 1), (1024, 8), (4096, 1)]
"""Edges of the matrices, and products in a row, that are tried as known work."""


@pytest.mark.parametrize(
    ("left", "called", "tried"),
    [
        ((2.0, 4.0), 0.0, WORKS[:2]),  # as long as a ready reading, and as long again
        ((2.0, 3.9, 2.0, 2.0, 2.0), 0.0, WORKS),
        ((2.0,), 6.0, WORKS[:1]),  # it computes when it is called
        ((2.0, 2.0, 4.0), 5.9, WORKS[:3]),
    ],
)
def test_known_work_is_the_least_that_is_not_done_when_it_is_queued(
    monkeypatch: pytest.MonkeyPatch, left: tuple[float, ...], called: float, tried: list[object]
) -> None:
    seen: list[tuple[int, int]] = []

    def work_left(work: Any) -> float:  # noqa: ANN401 - a partial
        seen.append((len(work.args[1][0]), len(work.args[1]) - 1))
        return left[len(seen) - 1]

    monkeypatch.setattr(torch, "matmul", lambda one, _: one)
    monkeypatch.setattr(devices, "reading", lambda _: 2.0)
    monkeypatch.setattr(devices, "TRIES", 1)
    monkeypatch.setattr(devices, "_called", lambda work: called * (len(work.args[1]) - 1))
    monkeypatch.setattr(devices, "_left", work_left)
    known = devices._known_work(torch.device("cpu"))
    assert seen == tried
    assert (known.ready, known.left) == (2.0, left[-1] - 2.0)


@pytest.mark.parametrize(
    ("error", "lost"),
    [
        (NotImplementedError("no synchronize"), False),
        (torch.OutOfMemoryError("no room"), False),
        (torch.AcceleratorError("device is lost"), True),
        (RuntimeError("an illegal memory access was encountered"), True),
    ],
)
def test_only_an_error_of_the_device_ends_the_launch(
    monkeypatch: pytest.MonkeyPatch, error: Exception, *, lost: bool
) -> None:
    monkeypatch.setattr(Device, "synchronize", MagicMock(side_effect=error))
    session = Session(launch_spec("measure", "cuda:0"))
    ends = pytest.raises(pytest.exit.Exception, match="a device no longer works")
    with ends if lost else nullcontext():
        session.recover(failed=False)
