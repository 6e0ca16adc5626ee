# SPDX-License-Identifier: MIT
"""Checks reach float64 by way of the CPU: Metal has none, and converts what it copies itself."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from frobench.suite.kit.check_result import close_to
from frobench.suite.kit.device import Device
from tests.instruments.processes.alone import BENCHMARKS, load

training = load(BENCHMARKS / "training.py")
sharing = load(BENCHMARKS / "sharing.py")
data_parallel = load(BENCHMARKS / "bench_data_parallel.py")


class LikeMetal(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch leaves it so
    """Refuses to move a tensor and to make it float64 in one go."""

    def __torch_dispatch__(self, func: Any, _: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401 - as torch has it
        kwargs = kwargs or {}
        if kwargs.get("dtype") is torch.float64 and "device" in kwargs and "_to_copy" in str(func):
            raise TypeError("Cannot convert a MPS Tensor to float64 dtype")
        return func(*args, **kwargs)


@pytest.fixture(autouse=True)
def metal() -> Iterator[None]:
    with LikeMetal():  # type: ignore[no-untyped-call]  # as above
        yield


@pytest.fixture
def one() -> "training.Training":  # type: ignore[name-defined]  # known when loaded
    return training.Training(Device("cpu"), "small", 64)


def test_numbers_are_compared() -> None:
    assert close_to(torch.ones(3), 0.0, "ones")(torch.ones(3)).passed


def test_a_training_is_checked(one: "training.Training") -> None:  # type: ignore[name-defined]  # known when loaded
    losses = [one.step(*one.batch_of(number)).item() for number in range(100)]
    assert one.check(100)(training.Trained(one.model, losses)).passed


def test_a_step_is_checked(one: "training.Training") -> None:  # type: ignore[name-defined]  # known when loaded
    body, check, _ = sharing.course(one, one.step, [one.model], one.batches, 1)
    assert check(body()).passed


def test_a_forward_pass_is_checked(one: "training.Training") -> None:  # type: ignore[name-defined]  # known when loaded
    assert data_parallel.outputs_of(one)(one.model(one.batch_of(0)[0])).passed
