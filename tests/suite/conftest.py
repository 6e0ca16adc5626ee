# SPDX-License-Identifier: MIT
"""What tests of several rooms use."""

from functools import partial

import pytest

from tests.instruments.devices.simulated_nvml import Install, install, install_none


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Return what puts GPUs into the machine, of which no driver answers before."""
    install_none(monkeypatch)
    return partial(install, monkeypatch)
