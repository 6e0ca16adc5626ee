# SPDX-License-Identifier: MIT
"""Memory is accounted for as it was allocated, and as NVIDIA's own command sees it."""

from typing import TYPE_CHECKING

import pytest

from frobench.suite.machine.environment import capture
from tests.gpu import smi

if TYPE_CHECKING:
    from torch import Tensor

    from frobench.suite.kit.device import Device

MIB = 2**20
GIB = 2**30
SLACK = 64 * MIB
"""What contexts and rounding to pages may take."""


def room(gpu: "Device", size: int) -> "Tensor":
    """Return so many bytes on the GPU."""
    import torch

    return torch.empty(size, dtype=torch.uint8, device=gpu.handle)


def test_the_peak_is_the_most_that_was_there_at_once_beyond_what_was_before(gpu: "Device") -> None:
    before = room(gpu, 100 * MIB)
    gpu.reset_peak_bytes()
    first, second = room(gpu, 256 * MIB), room(gpu, 128 * MIB)
    del first
    third = room(gpu, 64 * MIB)
    peak = gpu.peak_bytes()
    del before, second, third
    assert peak is not None
    assert 384 * MIB <= peak <= 388 * MIB


def test_what_is_allocated_is_neither_free_here_nor_by_the_command(gpu: "Device") -> None:
    from frobench.suite.kit.device import release_memory

    uuid = str(gpu.uuid)
    gpu.synchronize()
    release_memory()
    free, used = gpu.free_bytes(), smi.mebibytes("memory.used", uuid)
    taken = room(gpu, 8 * GIB)
    assert gpu.free_bytes() == pytest.approx(free - 8 * GIB, abs=SLACK)
    assert smi.mebibytes("memory.used", uuid) == pytest.approx(used + 8 * GIB, abs=SLACK)
    del taken  # torch keeps it for the next allocation, and the driver does not know
    assert gpu.free_bytes() == pytest.approx(free, abs=SLACK)
    assert smi.mebibytes("memory.used", uuid) == pytest.approx(used + 8 * GIB, abs=SLACK)
    release_memory()
    assert gpu.free_bytes() == pytest.approx(free, abs=SLACK)
    assert smi.mebibytes("memory.used", uuid) == pytest.approx(used, abs=SLACK)


def test_all_and_free_memory_are_what_the_command_says(gpu: "Device") -> None:
    from frobench.suite.kit.device import release_memory

    uuid = str(gpu.uuid)
    release_memory()
    total = smi.mebibytes("memory.total", uuid)
    (device,) = capture([gpu.name]).accelerators
    # The driver keeps some for itself, of which its command speaks and torch does not.
    assert device.memory_bytes == pytest.approx(total, rel=0.02)
    assert gpu.free_bytes() == pytest.approx(smi.mebibytes("memory.free", uuid), abs=0.02 * total)
