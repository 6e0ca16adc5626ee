# SPDX-License-Identifier: MIT
# mypy: disable-error-code="no-untyped-call"
"""A graph is recorded by the first class that really works, the vendor's before the general one.

The classes here have the methods that torch documents of `torch.cuda.CUDAGraph` and
`torch.accelerator.Graph`, and record what is launched between the beginning and the end of a
capture.
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from types import ModuleType
from typing import Any, ClassVar

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from frobench.suite.kit import abilities
from frobench.suite.kit.abilities import WARM_UPS, capture
from frobench.suite.kit.device import Device

Launch = tuple[Callable[..., Any], Sequence[Any], dict[str, Any], torch.Tensor]


class Recorded(TorchDispatchMode):
    """Replays what was launched while it captured, into the same memory."""

    made: ClassVar[list[str]] = []
    """The classes of which a graph was made."""

    def __init__(self) -> None:
        super().__init__()
        self.made.append(type(self).__name__)
        self.launches: list[Launch] = []

    def capture_begin(self) -> None:
        """Begin to record."""
        self.__enter__()

    def capture_end(self) -> None:
        """End the recording."""
        self.__exit__(None, None, None)

    def replay(self) -> None:
        """Do again what was recorded."""
        for func, args, kwargs, result in self.launches:
            result.copy_(func(*args, **kwargs))

    def __torch_dispatch__(
        self,
        func: Any,  # noqa: ANN401 - as torch has it
        types: object,
        args: Any = (),  # noqa: ANN401 - as torch has it
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - as torch has it
        """Record a launch."""
        result = func(*args, **(kwargs or {}))
        self.launches.append((func, args, kwargs or {}, result))
        return result


class Vendors(Recorded):
    """A vendor's class."""


class General(Recorded):
    """The class of `torch.accelerator`."""


class Refusing(Recorded):
    """A class behind which nobody stands, as torch's own is on CUDA."""

    def __init__(self) -> None:
        super().__init__()
        raise RuntimeError("Graph is not supported on device type: cuda\nmore")


class BreaksOff(Recorded):
    """A class whose capture fails."""

    def capture_begin(self) -> None:
        """Refuse to begin."""
        raise RuntimeError("operation not permitted when stream is capturing")


class Idle(Recorded):
    """A class whose replay does nothing."""

    def replay(self) -> None:
        """Do nothing."""


class Gpu(Device):
    """A CPU that has streams, and the module of a backend with graphs."""

    module = ModuleType("torch.vendor")

    def stream(self) -> Any:  # noqa: ANN401 - stands for a stream
        """Return what is entered as a stream is."""
        return nullcontext()


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget which classes work, and let no device be chosen."""
    Recorded.made.clear()
    monkeypatch.setattr(abilities, "_graphs", {})
    monkeypatch.setattr(torch.accelerator, "device_index", nullcontext)


def gpu(monkeypatch: pytest.MonkeyPatch, general: type | None, **own: type) -> Gpu:
    """Return a device whose backend has graphs of its own, beside torch's."""
    device = Gpu("cpu")
    for name in abilities.VENDORS_GRAPHS:
        monkeypatch.delattr(device.module, name, raising=False)
    for name, graph in own.items():
        monkeypatch.setattr(device.module, name, graph, raising=False)
    if general is None:
        monkeypatch.delattr(torch.accelerator, "Graph", raising=False)
    else:
        monkeypatch.setattr(torch.accelerator, "Graph", general, raising=False)
    return device


@pytest.mark.parametrize("name", ["CUDAGraph", "XPUGraph"])
@pytest.mark.parametrize("general", [None, General, Refusing])
def test_the_vendors_class_comes_first_and_does_what_the_body_does(
    monkeypatch: pytest.MonkeyPatch, name: str, general: type | None
) -> None:
    device = gpu(monkeypatch, general, **{name: Vendors})
    number, calls = torch.ones(3), []

    def body() -> torch.Tensor:
        calls.append(1)
        return number * 5

    replay = capture(device, body)
    assert len(calls) == WARM_UPS + 1
    number.fill_(2.0)
    result = replay()
    assert result.tolist() == [10.0, 10.0, 10.0]
    assert replay() is result
    assert len(calls) == WARM_UPS + 1
    assert Recorded.made == ["Vendors", "Vendors"]  # the trial, and the body


@pytest.mark.parametrize("own", [Refusing, BreaksOff, Idle])
def test_where_the_vendors_class_does_not_work_the_general_one_is_tried(
    monkeypatch: pytest.MonkeyPatch, own: type
) -> None:
    device = gpu(monkeypatch, General, CUDAGraph=own)
    for _ in range(2):
        capture(device, lambda: torch.ones(1) + 1)
    assert Recorded.made == [own.__name__, "General", "General", "General"]


def test_a_case_is_skipped_with_every_reason_where_no_class_works(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    device = gpu(monkeypatch, Refusing, CUDAGraph=BreaksOff, XPUGraph=Idle)
    reason = (
        "no graphs here: torch.vendor.CUDAGraph: RuntimeError: "
        "operation not permitted when stream is capturing; "
        "torch.vendor.XPUGraph: a replay computes nothing; "
        "torch.accelerator.Graph: RuntimeError: Graph is not supported on device type: cuda"
    )
    for _ in range(2):
        with pytest.raises(pytest.skip.Exception) as skipped:
            capture(device, lambda: torch.ones(1) + 1)
        assert str(skipped.value) == reason
    assert Recorded.made == ["BreaksOff", "Idle", "Refusing"]  # each is tried once


def test_memory_that_runs_out_in_the_trial_fails_the_case(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(Recorded):
        def capture_begin(self) -> None:
            raise torch.OutOfMemoryError("CUDA out of memory")

    with pytest.raises(torch.OutOfMemoryError):
        capture(gpu(monkeypatch, General, CUDAGraph=Full), lambda: torch.ones(1))
