# SPDX-License-Identifier: MIT
"""Accelerators are kept busy until their clocks are steady, by what fits into their memory."""

import os
from pathlib import Path
from typing import Any

import pytest
import torch

from frobench.suite.errors import DoesNotFitError
from frobench.suite.kit.device import Device
from frobench.suite.launch.session import Session
from frobench.suite.machine import environment
from frobench.suite.measure import settling_and_gauge
from tests.instruments.sessions import launch_spec


class Small(Device):
    """A CPU that stands for an accelerator with memory for small matrices only."""

    is_accelerator = True

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.made: list[int] = []

    def synchronize(self) -> None:
        """Wait for nothing."""

    def free_bytes(self) -> int:
        """Say so without torch, which may be built for accelerators and then refuses a CPU."""
        return 2**30

    def uniform(self, *shape: int, dtype: str | torch.dtype = "float32") -> torch.Tensor:
        """Refuse what a small device has no room for."""
        if shape[0] > settling_and_gauge.SETTLERS[1]:
            raise DoesNotFitError("too large")
        self.made.append(shape[0])
        return super().uniform(*shape, dtype=dtype)


@pytest.mark.parametrize(("long_enough", "tried"), [(1e9, [256, 512]), (0.0, [256])])
def test_a_small_device_is_settled_with_the_smallest_long_product_or_what_fits(
    monkeypatch: pytest.MonkeyPatch, long_enough: float, tried: list[int]
) -> None:
    monkeypatch.setattr(settling_and_gauge, "SETTLE_CALL", long_enough)
    device = Small("cpu")
    settling_and_gauge.steady_clocks([device], 1e-3)
    assert sorted({rows for rows in device.made if rows in settling_and_gauge.SETTLERS}) == tried


class Refusing(Small):
    """A CPU that stands for an accelerator that is full or lost."""

    error: Exception

    def uniform(self, *shape: int, dtype: str | torch.dtype = "float32") -> torch.Tensor:  # noqa: ARG002 - as every device's
        """Give nothing."""
        raise self.error


@pytest.mark.parametrize(
    "error", [torch.OutOfMemoryError("no room"), torch.AcceleratorError("device is lost")]
)
def test_a_device_that_refuses_is_left_alone_and_the_others_are_settled(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(Refusing, "error", error, raising=False)
    monkeypatch.setattr(settling_and_gauge, "SETTLERS", settling_and_gauge.SETTLERS[:2])
    calls: list[int] = []

    def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        calls.append(1)
        return a @ b

    monkeypatch.setattr(torch, "matmul", product)
    settling_and_gauge.steady_clocks([Refusing("cpu"), Small("cpu")], 1e-3)
    assert calls
    calls.clear()
    settling_and_gauge.steady_clocks([Refusing("cpu")], 1e-3)
    assert not calls


class DescribedError(Exception):
    """The machine is being described."""


@pytest.mark.parametrize("mode", ["pilot", "measure"])
def test_the_machine_is_described_when_its_links_are_awake(
    mode: Any,  # noqa: ANN401 - as the specification has it
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A PCIe link that is idle shows a lower generation than the one at which copies run."""
    seen: list[str] = []

    def capture(devices: list[str]) -> None:
        seen.append(f"described {devices}")
        raise DescribedError

    monkeypatch.setattr(f"{Session.__module__}.steady_clocks", lambda *_: seen.append("settled"))
    monkeypatch.setattr(environment, "capture", capture)
    journal = str(tmp_path / "journal")
    session = Session(launch_spec(mode, journal=journal, runner=os.getppid()))
    with pytest.raises(DescribedError):  # noqa: PT012 - a pilot is described by the first
        session.settle()
        session.get_ready(1)
    assert seen == ["settled", "described ['cpu']"]
