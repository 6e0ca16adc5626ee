# SPDX-License-Identifier: MIT
# ruff: noqa: ANN401 (operations take and return whatever PyTorch's do)
# mypy: disable-error-code="no-untyped-call"
"""How PyTorch comes to know of the device."""

import math
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import torch
from torch import library
from torch.utils import backend_registration as registration

from . import copies
from .device import machine
from .host import Host, host
from .module import Backend, Bare, UnusableGenerator
from .operations import Graph, dispatch
from .stand_ins import standing_in

_BATCHES, _CALLS = 10, 20
_MOST_OVERHEAD = 20e-6

_DIRECT = ("copy_", "arange", "arange.start", "arange.start_step", "eye", "eye.m")
"""`torch.tensor` fills a new tensor by the first with Python dispatch switched off, and the others
would be made as empty ones and resized."""


_KEY = "AutocastPrivateUse1"
_PRODUCTS = ("linear", "matmul", "mm", "bmm", "scaled_dot_product_attention")
"""What backends of PyTorch make in the lower precision, as far as it is used here."""
_libraries: list[library.Library] = []  # they undo their registrations when they die


def register() -> None:
    """Make the device known to PyTorch."""
    module = Bare() if machine.spec.bare else Backend()
    if machine.spec.graphs:
        module.CUDAGraph = Graph  # type: ignore[attr-defined]  # a backend without has no such name
    registration._setup_privateuseone_for_python_backend(machine.spec.name, backend_module=module)
    if machine.spec.bare:
        torch.Generator = UnusableGenerator  # type: ignore[misc]  # for the life of the process
    # What has no tensor among its arguments (a factory) is dispatched to the key itself.
    everything = library.Library("_", "IMPL")
    everything.fallback(_call, "PrivateUse1")
    some = library.Library("aten", "IMPL")
    for name in _DIRECT:
        packet, _, overload = name.partition(".")
        func = getattr(getattr(torch.ops.aten, packet), overload or "default")
        some.impl(name, partial(_call, func), "PrivateUse1")
    some.impl("_pin_memory", copies.pin_memory, "CPU")
    some.impl("is_pinned", copies.is_pinned, "CPU")
    everything.fallback(library.fallthrough_kernel, _KEY)  # autocast is for products alone
    for name in _PRODUCTS:
        some.impl(name, partial(_lowered, getattr(torch.ops.aten, name).default), _KEY)
    _libraries.extend([everything, some])
    if machine.devices:
        tensor = torch.empty(1, device=machine.spec.name)
        with standing_in():
            tensor.view(1)  # the first call; views run on no device, and so leave no trace there
        if not machine.spec.virtual:  # where calls cost what they are said to
            _calibrate(tensor)
        machine.device().forget_peak()


def _call(func: Any, *args: Any, **kwargs: Any) -> Any:
    return dispatch(func, args, kwargs)


def _calibrate(tensor: torch.Tensor) -> None:
    """Learn what a call costs before the simulation sees it and after it is done."""
    quickest = math.inf
    for _ in range(_BATCHES):
        host.settle(0.0)
        begin = perf_counter()
        for _ in range(_CALLS):
            tensor.view(1)
        quickest = min(quickest, (perf_counter() - begin) / _CALLS)
    Host.overhead = min(max(0.0, quickest - machine.spec.metadata), _MOST_OVERHEAD)


def _lowered(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Run a product on tensors of the chosen type, and cast nothing within it."""
    chosen = torch.get_autocast_dtype(machine.spec.name)
    key = torch._C._dispatch_key_parse(_KEY)
    with torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(key)):
        return func(*(_cast(argument, chosen) for argument in args), **kwargs)


def _cast(argument: Any, chosen: torch.dtype) -> Any:
    is_number = isinstance(argument, torch.Tensor) and argument.is_floating_point()
    return argument.to(chosen) if is_number else argument
