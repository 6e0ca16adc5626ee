# SPDX-License-Identifier: MIT
"""What the tests on a GPU share, and the one place that skips them where there is none."""

from typing import TYPE_CHECKING

import pytest

from tests.gpu import smi

if TYPE_CHECKING:
    from frobench.suite.kit.device import Device


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark every test of this folder; a vendor's warning must not fail it."""
    item.add_marker(pytest.mark.gpu)
    item.add_marker(pytest.mark.filterwarnings("default"))


@pytest.fixture(scope="session", autouse=True)
def gpu(request: pytest.FixtureRequest) -> "Device":
    """Return the first GPU; skip the test where torch sees none, or others are tested at once."""
    import torch

    if not torch.cuda.is_available() or torch.version.hip is not None:
        pytest.skip("torch sees no NVIDIA GPU here")
    if hasattr(request.config, "workerinput"):
        pytest.skip("tests on the GPU want it for themselves: `-n0` does one at a time")
    if not smi.is_there():
        pytest.skip("the driver's command nvidia-smi is not here")
    from frobench.suite.kit.device import Device

    return Device("cuda:0", seed=1)
