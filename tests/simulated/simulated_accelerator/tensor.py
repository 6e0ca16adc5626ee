# SPDX-License-Identifier: MIT
"""Tensors on a simulated device, and what happens when an operation meets one.

A `SimTensor` is a shell that PyTorch takes for a tensor on the device. Its contents are a
tensor on the CPU, whose values are up to date once the tape has been forced.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, Self

import torch

from simulated_accelerator.costs import Plan, Slot, key_of, layout, make_plan, map_leaves
from simulated_accelerator.device import Device
from simulated_accelerator.host import host, tape
from simulated_accelerator.machine import machine
from simulated_accelerator.tape import Entry, Value

aten = torch.ops.aten
_spec = machine.spec
_plans: dict[Any, Plan] = {}


class Buffer:
    """Memory taken on a device, given back when the last tensor that uses it is gone.

    value : identity of the contents
    fresh : whether nothing was ever written to it
    """

    def __init__(self, device: Device, size: int) -> None:
        self.device = device
        self.size = 0
        device.allocate(size)
        self.size = size
        self.value = Value()
        self.fresh = True

    def __del__(self) -> None:
        self.device.free(self.size)


class SimTensor(torch.Tensor):
    """A tensor on a simulated device."""

    contents: torch.Tensor
    buffer: Buffer
    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, contents: torch.Tensor, buffer: Buffer) -> Self:
        """Wrap a CPU tensor as part of what lies in ``buffer``."""
        self = torch.Tensor._make_wrapper_subclass(
            cls,
            contents.shape,
            strides=contents.stride(),
            storage_offset=contents.storage_offset(),
            dtype=contents.dtype,
            device=buffer.device.torch_device,
        )
        self.contents = contents
        self.buffer = buffer
        return self

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run an operation that has such a tensor among its arguments."""
        return dispatch(func, args, kwargs or {})

    @property
    def data(self) -> torch.Tensor:
        """The tensor without its history, as `torch.Tensor.data`."""
        return self.detach()

    @data.setter
    def data(self, other: "SimTensor") -> None:
        torch.Tensor.data.__set__(self, other)
        self.contents, self.buffer = other.contents, other.buffer

    def data_ptr(self) -> int:
        """Return an address that is the same for tensors that share their memory."""
        return self.contents.data_ptr()

    def tolist(self) -> Any:
        """Read back and return nested lists."""
        return self.cpu().tolist()

    def numpy(self, *, force: bool = False) -> Any:
        """Raise as any accelerator's tensor does, unless ``force`` says to read back."""
        if force:
            return self.detach().cpu().numpy()
        msg = (
            f"can't convert {self.device} device type tensor to numpy. "
            "Use Tensor.cpu() to copy the tensor to host memory first."
        )
        raise TypeError(msg)

    def __repr__(self, **_: object) -> str:
        return f"{self.detach().cpu()!r}"[:-1] + f", device='{self.device}')"


def dispatch(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run one operation of PyTorch's on the simulated machine."""
    begin = host.begin()
    if func in _SPECIAL:
        return _SPECIAL[func](begin, *args, **kwargs)
    if _is_view(func):
        return _view(begin, func, args, kwargs)
    if func.overloadpacket in _EMPTY:
        return _empty(begin, func, args, kwargs)
    return _operate(begin, func, args, kwargs)


@cache
def _is_view(func: Any) -> bool:
    return func is aten._unsafe_view.default or any(
        one.alias_info is not None and not one.alias_info.is_write for one in func._schema.returns
    )


def _contents(tree: Any) -> Any:
    return map_leaves(tree, SimTensor, lambda tensor: tensor.contents)


def _tensors(args: Any, kwargs: dict[str, Any]) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []
    map_leaves([*args, *kwargs.values()], torch.Tensor, found.append)
    return found


def _device_of(tensors: list[torch.Tensor], kwargs: dict[str, Any]) -> Device:
    """Return where an operation runs; raise if its arguments lie on several devices."""
    if kwargs.get("device") is not None:
        return machine.device(kwargs["device"])
    # A scalar on the CPU may take part anywhere.
    places = {t.device for t in tensors if isinstance(t, SimTensor) or t.dim() > 0}
    if len(places) > 1:
        msg = (
            "Expected all tensors to be on the same device, but found at least two devices, "
            + " and ".join(sorted(map(str, places)))
            + "!"
        )
        raise RuntimeError(msg)
    return next(t.buffer.device for t in tensors if isinstance(t, SimTensor))


def _new(device: Device, contents: torch.Tensor) -> SimTensor:
    return SimTensor(contents, Buffer(device, contents.untyped_storage().nbytes()))


def _empty(begin: float, func: Any, args: Any, kwargs: dict[str, Any]) -> SimTensor:
    device = _device_of(_tensors(args, kwargs), kwargs)
    contents = func(*_contents(args), **{**kwargs, "device": "cpu", "pin_memory": False})
    result = _new(device, contents)
    host.spend(begin, _spec.metadata)
    return result


def _view(begin: float, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    base = args[0]
    result = func(*_contents(args), **kwargs)
    result = map_leaves(result, torch.Tensor, lambda part: SimTensor(part, base.buffer))
    host.spend(begin, _spec.metadata)
    return result


def _operate(begin: float, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Launch an operation that computes."""
    tensors = _tensors(args, kwargs)
    device = _device_of(tensors, kwargs)
    device.check()
    key = func, key_of(args), key_of(tuple(kwargs.items()))
    plan = _plans.get(key)
    if plan is None:
        plan = _plans[key] = make_plan(_spec, func, args, kwargs)
    new = [
        _new(device, torch.empty_strided(shape, stride, dtype=dtype))
        for shape, stride, dtype in plan.layouts
    ]
    run = _computation(func, _contents(args), _contents(kwargs), [t.contents for t in new])
    sims = [t for t in tensors if isinstance(t, SimTensor)]
    written = _written(func, args, kwargs) + new
    for tensor in written:
        tensor.buffer.fresh = False
    reads = [t.buffer.value for t in sims]
    tape.append(Entry(run, reads, [t.buffer.value for t in written], key, plan.seconds))
    at = host.spend(begin, _spec.launch)
    device.run(func.__name__, machine.stream(device), "compute", plan.seconds, at)

    def to_tensor(slot: Slot) -> torch.Tensor:
        return tensors[slot.number] if slot.given else new[slot.number]

    return map_leaves(plan.result, Slot, to_tensor)


def _written(func: Any, args: Any, kwargs: dict[str, Any]) -> list[SimTensor]:
    found: list[SimTensor] = []
    for number, argument in enumerate(func._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            value = args[number] if number < len(args) else kwargs.get(argument.name)
            map_leaves(value, SimTensor, found.append)
    return found


def _computation(
    func: Any, args: Any, kwargs: dict[str, Any], new: list[torch.Tensor]
) -> Callable[[], None]:
    if "device" in kwargs:
        kwargs = {**kwargs, "device": "cpu"}

    def compute() -> None:
        outcome = func(*args, **kwargs)
        results: list[torch.Tensor] = []
        map_leaves(outcome, torch.Tensor, results.append)
        for target, result in zip(new, results, strict=False):
            target.copy_(result)

    return compute


def _copy(
    begin: float, target: torch.Tensor, source: torch.Tensor, non_blocking: bool = False
) -> torch.Tensor:
    if isinstance(target, SimTensor) and isinstance(source, SimTensor):
        return _operate(begin, aten.copy_.default, (target, source), {})
    if isinstance(target, SimTensor):
        device, link, engine = target.buffer.device, _spec.links.h2d_pageable, "h2d"
    else:
        device, link, engine = source.buffer.device, _spec.links.d2h_pageable, "d2h"
    stream = machine.stream(device)
    at = host.spend(begin, _spec.launch)
    seconds = link.latency + source.nbytes / link.rate
    end = device.run("copy_", stream, engine, seconds, at)
    if isinstance(target, SimTensor):
        tape.force([target.buffer.value])
        target.contents.copy_(source)
        target.buffer.fresh = False
    else:
        tape.force([source.buffer.value])
        target.copy_(source.contents)
    host.settle(end)
    stream.deliver()
    host.settle(host.now() + _spec.synchronise)
    return target


def _to_copy(begin: float, source: SimTensor, **kwargs: Any) -> torch.Tensor:
    device = kwargs.get("device")
    if device is None or device == source.device:
        return _operate(begin, aten._to_copy.default, (source,), kwargs)
    target = torch.empty_like(source.contents, dtype=kwargs.get("dtype"))
    if device.type != "cpu":
        target = _new(machine.device(device), target)
    return _copy(begin, target, source, kwargs.get("non_blocking", False))


def _item(begin: float, source: SimTensor) -> Any:
    target = torch.empty((), dtype=source.dtype)
    return _copy(begin, target, source).item()


_EMPTY = {aten.empty, aten.empty_strided, aten.empty_like, aten.new_empty, aten.new_empty_strided}

_SPECIAL: dict[Any, Callable[..., Any]] = {
    aten.copy_.default: _copy,
    aten._to_copy.default: _to_copy,
    aten._local_scalar_dense.default: _item,
}
