# SPDX-License-Identifier: MIT
"""What the benchmarks of placement check of numbers that are drawn while they run."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from frobench.suite.kit.device import Device
from tests.benchmarks.calls import CPU, module_of

MODULE = module_of("placement")
N = 30_000
WRONG: dict[str, Callable[[Tensor], Tensor]] = {
    "a fifth wider": lambda drawn: 1.2 * drawn,
    "a tenth off": lambda drawn: drawn + 0.1,
    "uniform": torch.rand_like,
    "the last tenth left out": lambda drawn: torch.cat(
        [drawn[: N - N // 10], 0 * drawn[: N // 10]]
    ),
    "of one sign": torch.Tensor.abs,
    "one number": lambda drawn: drawn[0].expand(N),
    "not a number": lambda drawn: drawn * torch.nan,
    "in another precision": torch.Tensor.double,
    "too few": lambda drawn: drawn[1:],
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=list(WRONG))
def test_numbers_that_are_not_normally_distributed_are_told(
    wrong: Callable[[Tensor], Tensor],
) -> None:
    drawn = torch.randn(N, generator=torch.Generator().manual_seed(1))
    assert MODULE.normal(N)(drawn).passed
    assert not MODULE.normal(N)(wrong(drawn)).passed


def test_a_tensor_on_another_device_is_wrong() -> None:
    drawn = torch.randn(64)
    assert MODULE.on(CPU, MODULE.normal(64))(drawn).passed
    assert not MODULE.on(Device("meta"), MODULE.normal(64))(drawn).passed
