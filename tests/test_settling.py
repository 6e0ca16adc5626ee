# SPDX-License-Identifier: MIT
"""Accelerators are kept busy until their clocks are steady, by what fits into their memory."""

import pytest
import torch

from suite import settling
from suite.devices import Device
from suite.errors import DoesNotFitError


class Small(Device):
    """A CPU that stands for an accelerator with memory for small matrices only."""

    is_accelerator = True

    def synchronize(self) -> None:
        """Wait for nothing."""

    def free_bytes(self) -> int:
        """Say so without torch, which may be built for accelerators and then refuses a CPU."""
        return 2**30

    def uniform(self, *shape: int, dtype: str | torch.dtype = "float32") -> torch.Tensor:
        """Refuse what a small device has no room for."""
        if shape[0] > settling.SETTLERS[1]:
            raise DoesNotFitError("too large")
        return super().uniform(*shape, dtype=dtype)


def test_a_small_device_is_settled_with_what_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settling, "SETTLE_SECONDS", 1e-3)
    monkeypatch.setattr(settling, "SETTLE_CALL", 1e9)  # no product is long enough
    settling.steady_clocks([Small("cpu")])
