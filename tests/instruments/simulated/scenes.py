# SPDX-License-Identifier: MIT
# ruff: noqa: INP001 (part of programs, not of a package)
"""The first two simulated devices and the module of their backend, for the programs beside it."""

from typing import Any

import torch

TYPE = torch._C._get_privateuse1_backend_name()
FIRST, SECOND = f"{TYPE}:0", f"{TYPE}:1"
sim: Any = torch.get_device_module(TYPE)
