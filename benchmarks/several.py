# SPDX-License-Identifier: MIT
"""Cases of one accelerator that are only there to be compared with several."""

from collections.abc import Callable
from typing import Any

import pytest
import torch


def beside_several(benchmark: Callable[..., Any]) -> Callable[..., Any]:
    """Skip a benchmark where there is a single accelerator."""
    if torch.accelerator.device_count() != 1:
        return benchmark
    reason = "compared with several accelerators; there is one"
    marked: Callable[..., Any] = pytest.mark.skip(reason=reason)(benchmark)
    return marked
