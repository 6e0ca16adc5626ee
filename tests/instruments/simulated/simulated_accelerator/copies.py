# SPDX-License-Identifier: MIT
# ruff: noqa: ANN401 (operations take and return whatever PyTorch's do)
# mypy: disable-error-code="no-untyped-call"
"""Copies between the host and the devices, and between devices."""

from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from .calls import handles
from .device import machine
from .host import host, tape
from .operations import operate, refuse
from .tape import Entry, Value
from .tensor import SimTensor

_aten = torch.ops.aten
_spec = machine.spec
_POISONED = 4096
"""Elements of a destination that hold garbage until the copy is waited for."""

_pinned: dict[int, StorageWeakRef] = {}


def pin_memory(tensor: torch.Tensor, _device: object = None) -> torch.Tensor:
    """Return a copy of a CPU tensor in what passes for pinned memory."""
    return _pin(tensor.clone())


def is_pinned(tensor: torch.Tensor, _device: object = None) -> bool:
    """Return whether a CPU tensor lies in what passes for pinned memory."""
    known = _pinned.get(tensor.untyped_storage().data_ptr())
    return known is not None and not known.expired()


def _pin(tensor: torch.Tensor) -> torch.Tensor:
    storage = tensor.untyped_storage()
    _pinned[storage.data_ptr()] = StorageWeakRef(storage)
    return tensor


@handles(_aten.copy_.default)
def copy(
    begin: float,
    target: torch.Tensor,
    source: torch.Tensor,
    non_blocking: bool = False,  # noqa: FBT001, FBT002 (PyTorch passes it by position)
) -> torch.Tensor:
    """Copy ``source`` into ``target``, at least one of which is on a device."""
    if not isinstance(target, SimTensor):
        _device_to_host(begin, target, source, non_blocking=non_blocking)
    elif not isinstance(source, SimTensor):
        _host_to_device(begin, target, source, non_blocking=non_blocking)
    elif target.device == source.device:
        operate(begin, _aten.copy_.default, target, source)
    else:
        _peer(begin, target, source)
    return target


@handles(_aten._to_copy.default)
def to_copy(begin: float, source: SimTensor, **kwargs: Any) -> Any:
    """Copy a tensor to another device or type, as `torch.Tensor.to` does."""
    where = kwargs.pop("device", None) or source.device
    non_blocking = kwargs.pop("non_blocking", False)
    kwargs.pop("pin_memory", None)
    if where == source.device:
        return operate(begin, _aten._to_copy.default, source, **kwargs)
    wanted = {name: kwargs[name] for name in ("dtype", "memory_format") if kwargs.get(name)}
    target = torch.empty_like(source.contents, **wanted)
    if where.type == _spec.name:
        target = SimTensor.holding(machine.device(where), target)
    elif non_blocking:
        _pin(target)  # as on CUDA
    return copy(begin, target, source, non_blocking)


@handles(_aten._local_scalar_dense.default)
def item(begin: float, source: SimTensor) -> Any:
    """Bring one number to the host."""
    target = torch.empty((), dtype=source.dtype)
    _device_to_host(begin, target, source, non_blocking=False)
    return target.item()


def _host_to_device(
    begin: float, target: SimTensor, source: torch.Tensor, *, non_blocking: bool
) -> None:
    refuse()
    pinned = is_pinned(source)
    link = _spec.links.h2d_pinned if pinned else _spec.links.h2d_pageable
    device, value = target.buffer.device, target.buffer.value
    device.check()
    stream = machine.stream(device)
    end = device.run(stream, "h2d", link.seconds(source.nbytes), begin + _spec.launch)
    contents = target.contents
    if pinned and non_blocking:
        _later(contents, source, [], [value])
        stream.promise(end, lambda: tape.force([value]))
        host.spend(begin, _spec.launch)
    else:
        if target.buffer.fresh:
            contents.copy_(source)
        else:
            _later(contents, source.clone(), [], [value])
        stream.wait_for(end)
    target.buffer.fresh = False


def _device_to_host(begin: float, target: torch.Tensor, source: Any, *, non_blocking: bool) -> None:
    refuse()
    pinned = is_pinned(target)
    link = _spec.links.d2h_pinned if pinned else _spec.links.d2h_pageable
    device, value = source.buffer.device, source.buffer.value
    device.check()
    stream = machine.stream(device)
    if device.lazy:
        tape.force([value])
    end = device.run(stream, "d2h", link.seconds(source.nbytes), begin + _spec.launch)
    if pinned and non_blocking:
        arriving, arrival = torch.empty_like(source.contents), Value()
        _later(arriving, source.contents, [value], [arrival])
        _poison(target)

        def deliver() -> None:
            tape.force([arrival])
            target.copy_(arriving)

        stream.promise(end, deliver)
        host.spend(begin, _spec.launch)
    else:
        tape.force([value])
        target.copy_(source.contents)
        stream.wait_for(end)


def _peer(begin: float, target: SimTensor, source: SimTensor) -> None:
    """Copy between devices; the host does not wait, both streams do."""
    giver, taker = source.buffer.device, target.buffer.device
    giver.check()
    taker.check()
    sending, receiving = machine.stream(giver), machine.stream(taker)
    at = max(begin + _spec.launch, receiving.busy_until, taker.engines["h2d"])
    seconds = _spec.links.peer.seconds(source.nbytes)
    end = giver.run(sending, "d2h", seconds, at)
    receiving.busy_until = taker.engines["h2d"] = end
    target.buffer.fresh = False
    _later(target.contents, source.contents, [source.buffer.value], [target.buffer.value])
    host.spend(begin, _spec.launch)


def _later(
    target: torch.Tensor, source: torch.Tensor, reads: list[Value], writes: list[Value]
) -> None:
    tape.append(Entry(lambda: target.copy_(source), reads, writes))


def _poison(target: torch.Tensor) -> None:
    """Spoil some elements all over a tensor, few enough to take no time."""
    garbage = float("nan") if target.is_floating_point() else 85
    flat = target.view(-1) if target.is_contiguous() else target[..., 0].reshape(-1)
    flat[:: max(1, flat.numel() // _POISONED)] = garbage
