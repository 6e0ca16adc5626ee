# SPDX-License-Identifier: MIT
"""What tests of several packages use."""

from functools import partial

import pytest

from tests.instruments.devices.simulated_nvml import Install, install, install_none


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Return what puts GPUs into a machine whose drivers do not answer before."""
    install_none(monkeypatch)
    return partial(install, monkeypatch)
