# SPDX-License-Identifier: MIT
"""The CPU and whatever torch offers, chosen by name, drawn from by seed and waited for."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from frobench.suite.errors import DoesNotFitError
from frobench.suite.journal import Journal, Stopped
from frobench.suite.kit import device
from frobench.suite.kit import device as devices
from frobench.suite.kit.device import (
    PIECE,
    READ_BACK,
    RESULTS,
    Device,
    KnownWork,
    UnknownDeviceError,
    Wait,
    all_devices,
    choose,
    global_state,
    proved,
    release_memory,
    try_device,
)
from frobench.suite.launch.session import Session
from frobench.suite.profiles import settings_for
from tests.instruments.processes.command import ROOT
from tests.instruments.sessions import launch_spec

cpu_only = pytest.mark.skipif(
    torch.accelerator.is_available(), reason="states what holds without an accelerator"
)


def on_two_accelerators(expression: str, **environment: str) -> str:
    """Evaluate an expression over `suite.kit.device` on the simulated accelerator."""
    paths = os.pathsep.join([str(ROOT / "tests" / "instruments" / "simulated"), str(ROOT)])
    return subprocess.run(
        [sys.executable, "-c", f"from frobench.suite.kit.device import *; print({expression})"],
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
    monkeypatch.setattr(devices, "_multiply", lambda _: None)
    return found


def test_a_gpu_that_torch_has_no_code_for_is_chosen_only_by_name(
    capability: dict[str, tuple[int, int]],
) -> None:
    assert choose([]) == ["cpu", "cuda:0"]
    assert choose(["cuda:1"]) == ["cuda:1"]
    capability["cuda:0"] = (3, 5)
    assert choose([]) == ["cpu", "cuda:0", "cuda:1"]


@pytest.mark.parametrize(
    ("error", "served"),
    [
        (RuntimeError("CUDA-capable device(s) is/are busy or unavailable"), False),
        (torch.OutOfMemoryError("no room"), True),
        (NotImplementedError("no products"), True),
    ],
)
def test_a_gpu_on_which_a_tiny_product_fails_is_chosen_only_by_name(
    capability: dict[str, tuple[int, int]],
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    *,
    served: bool,
) -> None:
    def multiply(device: Device) -> None:
        if device.name == "cuda:1":
            raise error

    capability["cuda:1"] = (9, 0)
    monkeypatch.setattr(devices, "_multiply", multiply)
    assert choose([]) == ["cpu", "cuda:0", *(["cuda:1"] if served else [])]
    assert choose(["cuda:1"]) == ["cuda:1"]


def test_amds_architectures_are_compared_before_anything_is_computed(
    capability: dict[str, tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {"cuda:0": "gfx942:sramecc+:xnack-", "cuda:1": "gfx1036"}
    monkeypatch.setattr(torch.cuda, "get_arch_list", lambda: ["gfx90a", "gfx942", "gfx11-generic"])
    monkeypatch.setattr(Device, "gfx", property(lambda device: names[device.name]))
    assert choose([]) == ["cpu", "cuda:0"]
    names["cuda:1"] = "gfx1100"
    assert choose([]) == ["cpu", *capability]


def test_a_gpu_that_nvml_counts_and_cuda_has_not_is_not_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def properties(handle: torch.device) -> object:
        if handle.index:
            raise AssertionError("Invalid device id")
        return object()

    cuda = lambda check_available: torch.device("cuda")  # noqa: ARG005, E731 - as short as can be
    monkeypatch.setattr(torch.accelerator, "current_accelerator", cuda)
    monkeypatch.setattr(torch.accelerator, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_properties", properties)
    assert devices.accelerators() == ["cuda:0"]


@pytest.mark.parametrize("wanted", [["cuda:1"], []])
def test_a_gpu_that_torch_has_no_code_for_is_refused_before_all_its_cases_fail(
    tmp_path: Path, capability: dict[str, tuple[int, int]], wanted: list[str]
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


def test_many_numbers_do_not_depend_on_the_number_of_threads() -> None:
    count, threads = 2 * PIECE + 5, torch.get_num_threads()
    drawn = []
    try:
        for wanted in (1, 3):
            torch.set_num_threads(wanted)
            drawn.append(Device("cpu", seed=7).uniform(count))
    finally:
        torch.set_num_threads(threads)
    assert torch.equal(*drawn)
    assert drawn[0].min() < -0.999
    assert 0.999 < drawn[0].max() <= 1
    first, second, rest = (drawn[0][begin : begin + PIECE] for begin in range(0, count, PIECE))
    assert not torch.equal(first, second)
    assert len(set(rest.tolist())) == len(rest)
    device = Device("cpu", seed=7)
    assert not torch.equal(device.uniform(count), device.uniform(count))


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


@pytest.mark.parametrize(
    ("gfx", "kept_in"),
    [
        ("gfx942:sramecc+:xnack-", torch.float8_e4m3fnuz),
        ("gfx950:sramecc+:xnack-", torch.float8_e4m3fn),
        ("gfx1201", torch.float8_e4m3fn),
        (None, torch.float8_e4m3fn),
    ],
)
def test_8_bit_floats_are_of_the_type_that_the_device_has_units_for(
    monkeypatch: pytest.MonkeyPatch, gfx: str | None, kept_in: torch.dtype
) -> None:
    monkeypatch.setattr(Device, "gfx", gfx)
    drawn = Device("cpu").uniform(64, 64, dtype="float8_e4m3fn")
    assert drawn.dtype == kept_in
    assert drawn.float().abs().max() <= 1
    assert Device("cpu").uniform(4, dtype="bfloat16").dtype == torch.bfloat16


def test_the_architecture_is_asked_of_amds_devices_only(monkeypatch: pytest.MonkeyPatch) -> None:
    properties = SimpleNamespace(gcnArchName="gfx942:sramecc+:xnack-")
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: properties)
    assert Device("cuda:0").gfx is None
    monkeypatch.setattr(torch.version, "hip", "7.2")
    assert Device("cuda:0").gfx == properties.gcnArchName
    assert Device("xpu:0").gfx is None


def given_back(monkeypatch: pytest.MonkeyPatch, *, public: bool, refused: bool) -> list[str]:
    """Return what is given back where torch has a public name for pinned memory, or has not."""
    freed: list[str] = []

    def empty_cache() -> None:
        if refused:
            raise RuntimeError("this backend keeps nothing")
        freed.append("device")

    monkeypatch.setattr(torch.accelerator, "empty_cache", empty_cache)
    if public:
        name = "empty_host_cache"
        monkeypatch.setattr(torch.accelerator, name, lambda: freed.append("host"), raising=False)
    else:
        monkeypatch.delattr(torch.accelerator, "empty_host_cache", raising=False)
    pinned = lambda: freed.append("vendor's host")  # noqa: E731 - as short as can be
    monkeypatch.setattr(torch._C, "_host_emptyCache", pinned, raising=False)
    release_memory()
    return freed


def test_pinned_memory_is_given_back_too(monkeypatch: pytest.MonkeyPatch) -> None:
    assert given_back(monkeypatch, public=True, refused=False) == ["device", "host"]
    assert given_back(monkeypatch, public=False, refused=False) == ["device", "vendor's host"]
    assert given_back(monkeypatch, public=True, refused=True) == []


READY, UNFINISHED = 1e-4, 1e-2
"""Seconds of reading a ready value, and of the known work."""


def lacking() -> None:
    raise NotImplementedError("no such call")


@pytest.fixture
def first_proved(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[dict[str, Any]], str]]:
    """Return what chooses among calls, by the seconds that a read takes after each."""

    def chosen(calls: dict[str, Any]) -> str:
        candidates = [
            Wait(name, (lambda: None) if isinstance(after, float) else after)
            for name, after in calls.items()
        ]

        def left(_: object, wait: Callable[[], object]) -> float:
            wait()
            [name] = [one.name for one in candidates if one.call is wait]
            return float(calls[name])

        known = KnownWork(torch.empty, READY, UNFINISHED)
        monkeypatch.setattr(device, "_candidates", lambda _: candidates)
        monkeypatch.setattr(device, "_known_work", lambda _: known)
        monkeypatch.setattr(device, "_left", left)
        proved.cache_clear()
        return proved(torch.device("meta")).name

    yield chosen
    proved.cache_clear()


@pytest.mark.parametrize(
    ("calls", "name"),
    [
        ({"general": READY, "own": READY}, "general"),
        ({"general": lacking, "own": READY}, "own"),
        ({"general": UNFINISHED, "own": 1.5 * READY}, "own"),
        ({"general": lacking, "own": 0.6 * UNFINISHED, READ_BACK: READY}, READ_BACK),
        ({"general": UNFINISHED, "own": UNFINISHED, READ_BACK: UNFINISHED}, RESULTS),
    ],
)
def test_the_first_call_after_which_nothing_is_left_is_used(
    first_proved: Callable[[dict[str, Any]], str], calls: dict[str, Any], name: str
) -> None:
    assert first_proved(calls) == name


def test_memory_that_runs_out_proves_nothing(first_proved: Callable[[dict[str, Any]], str]) -> None:
    def full() -> None:
        raise torch.OutOfMemoryError("no room")

    with pytest.raises(torch.OutOfMemoryError):
        first_proved({"general": full, "own": READY})


@pytest.mark.parametrize(
    ("error", "lost"),
    [
        (AttributeError("no synchronize"), False),
        (NotImplementedError("no synchronize"), False),
        (torch.OutOfMemoryError("no room"), False),
        (torch.AcceleratorError("device is lost"), True),
        (RuntimeError("an illegal memory access was encountered"), True),
    ],
)
def test_only_an_error_of_the_device_ends_the_launch(
    monkeypatch: pytest.MonkeyPatch, error: Exception, *, lost: bool
) -> None:
    def synchronize(_: Device) -> None:
        raise error

    monkeypatch.setattr(Device, "synchronize", synchronize)
    session = Session(launch_spec("measure", "cuda:0"))
    if lost:
        with pytest.raises(pytest.exit.Exception, match="a device no longer works"):
            session.recover(failed=False)
    else:
        session.recover(failed=False)


def test_tensors_of_a_result_are_found_wherever_it_holds_them() -> None:
    here = torch.device("cpu")
    one, two, three = torch.ones(1), torch.ones(2), torch.ones(3)
    result = {"a": [one, (two, 3.0)], "b": [torch.ones(0), three.to("meta")]}
    assert [tensor.numel() for tensor in device.tensors(result, here)] == [1, 2]
    layer = torch.nn.Linear(2, 3)
    assert len([*device.tensors(layer, here)]) == 2
    assert [*device.tensors(1.0, here)] == []
