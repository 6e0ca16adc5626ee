# SPDX-License-Identifier: MIT
"""Checks reach float64 by way of the CPU: Metal has none, and converts what it copies itself."""

from typing import Any

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


def test_numbers_trainings_steps_and_forward_passes_are_checked() -> None:
    with LikeMetal():  # type: ignore[no-untyped-call]  # as above
        assert close_to(torch.ones(3), 0.0, "ones")(torch.ones(3)).passed
        one, other = (training.Training(Device("cpu"), "small", 64) for _ in "ab")
        losses = [one.step(*one.batch_of(number)).item() for number in range(100)]
        assert one.check(100)(training.Trained(one.model, losses)).passed
        assert data_parallel.outputs_of(other)(other.model(other.batch_of(0)[0])).passed
        body, check, _ = sharing.course(other, other.step, [other.model], other.batches, 1)
        assert check(body()).passed
