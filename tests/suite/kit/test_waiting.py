# SPDX-License-Identifier: MIT
"""The first call that is proved to wait is used, and what a backend lacks is no lost device."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from frobench.suite.kit import device
from frobench.suite.kit.device import READ_BACK, RESULTS, Device, KnownWork, Wait, proved
from frobench.suite.launch.session import Session
from tests.instruments.sessions import launch_spec

READY, UNFINISHED = 1e-4, 1e-2
"""Seconds of reading a ready value, and of the known work."""


def lacking() -> None:
    raise NotImplementedError("no such call")


@pytest.fixture
def choose(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[dict[str, Any]], str]]:
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
    choose: Callable[[dict[str, Any]], str], calls: dict[str, Any], name: str
) -> None:
    assert choose(calls) == name


def test_memory_that_runs_out_proves_nothing(choose: Callable[[dict[str, Any]], str]) -> None:
    def full() -> None:
        raise torch.OutOfMemoryError("no room")

    with pytest.raises(torch.OutOfMemoryError):
        choose({"general": full, "own": READY})


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
