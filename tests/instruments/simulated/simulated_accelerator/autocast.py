# SPDX-License-Identifier: MIT
# ruff: noqa: ANN401 (operations take and return whatever PyTorch's do)
# mypy: disable-error-code="no-untyped-call"
"""Autocast on the device: products take what they are given in the type that was chosen."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import library

from .machine import machine

_KEY = "AutocastPrivateUse1"
_PRODUCTS = ("linear", "matmul", "mm", "bmm", "scaled_dot_product_attention")
"""What backends of PyTorch make in the lower precision, as far as it is used here."""


def register(everything: library.Library, some: library.Library) -> None:
    """Let all operations ignore autocast, but for products."""
    everything.fallback(library.fallthrough_kernel, _KEY)
    for name in _PRODUCTS:
        some.impl(name, partial(_lowered, getattr(torch.ops.aten, name).default), _KEY)


def _lowered(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Run a product on tensors of the chosen type, and cast nothing within it."""
    chosen = torch.get_autocast_dtype(machine.spec.name)
    key = torch._C._dispatch_key_parse(_KEY)
    with torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(key)):
        return func(*(_cast(argument, chosen) for argument in args), **kwargs)


def _cast(argument: Any, chosen: torch.dtype) -> Any:
    is_number = isinstance(argument, torch.Tensor) and argument.is_floating_point()
    return argument.to(chosen) if is_number else argument
